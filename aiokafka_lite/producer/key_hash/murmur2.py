"""Chooses the hash of keys: `_murmur2` if it was built, `_murmur2_py` otherwise. Does not wait."""

from typing import TYPE_CHECKING

from aiokafka_lite.native import native

_twin = native("aiokafka_lite.producer.key_hash._murmur2")
USES_C = _twin is not None

if TYPE_CHECKING or _twin is None:
    from aiokafka_lite.producer.key_hash._murmur2_py import KeyHashes, murmur2
else:
    KeyHashes = _twin.KeyHashes
    murmur2 = _twin.murmur2

__all__ = ["USES_C", "KeyHashes", "murmur2"]
