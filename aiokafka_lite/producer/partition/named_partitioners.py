"""The partitioners of librdkafka that have a name: each gives a key the partition it has there.

Imported by a producer that names one. Does not wait. Source: librdkafka, rdkafka_msg.c.
"""

import zlib
from collections.abc import Callable
from typing import Final, NamedTuple

from aiokafka_lite.producer.key_hash.murmur2 import murmur2
from aiokafka_lite.producer.producer_config import PartitionerName


class NamedPartitioner(NamedTuple):
    """A hash of keys, and which records have none to hash."""

    hash: Callable[[bytes], int]
    """Returns a number from 0 on; the partition is its remainder."""
    spreads_null: bool
    """Whether a record without key goes to the sticky partition, and not where b"" goes."""
    spreads_empty: bool = False
    """Whether a record whose key is b"" goes there, too."""

    def spreads(self, key: bytes | None) -> bool:
        """Say whether a record with this key goes to the sticky partition."""
        if key is None:
            return self.spreads_null
        return self.spreads_empty and not key

    def partition(self, key: bytes | None, count: int) -> int:
        """Return the partition of `key`, of `count` partitions."""
        return self.hash(key or b"") % count


def fnv1a(data: bytes) -> int:
    """Return Sarama's hash of keys: 32 bits of FNV-1a as a signed number, without its sign."""
    h = 0x811C9DC5
    for byte in data:
        h = (h ^ byte) * 0x01000193 & 0xFFFFFFFF
    return h if h < 0x80000000 else 0x100000000 - h


def _javas(data: bytes) -> int:
    return murmur2(data) & 0x7FFFFFFF


NAMED_PARTITIONERS: Final[dict[PartitionerName, NamedPartitioner]] = {
    "consistent": NamedPartitioner(zlib.crc32, spreads_null=False),
    "consistent_random": NamedPartitioner(zlib.crc32, spreads_null=True, spreads_empty=True),
    "murmur2": NamedPartitioner(_javas, spreads_null=False),
    "fnv1a": NamedPartitioner(fnv1a, spreads_null=False),
    "fnv1a_random": NamedPartitioner(fnv1a, spreads_null=True),
}
"""Without "murmur2_random", which is what a producer without a partitioner does."""


__all__ = ["NAMED_PARTITIONERS", "NamedPartitioner", "fnv1a"]
