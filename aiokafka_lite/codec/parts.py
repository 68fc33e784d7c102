"""Chooses what joins and sends the parts of a frame, at import: the native twin if it was built,
else the one in Python.
"""

from typing import TYPE_CHECKING

from aiokafka_lite.native import native

_twin = native("aiokafka_lite.codec._parts")

if TYPE_CHECKING or _twin is None:
    from aiokafka_lite.codec._parts_py import joined_parts, send_parts
else:
    joined_parts = _twin.joined_parts
    send_parts = _twin.send_parts

Parts = list[bytes | bytearray | memoryview]
"""The bytes of a frame, in order. Each is of single bytes. Natively one may be a batch that lies in
several places. It has the length and the buffer protocol of such a view, and nothing else."""

__all__ = ["Parts", "joined_parts", "send_parts"]
