"""Chooses what writes and reads the bytes of Produce: `_produce_bytes` if it was built,
`_produce_bytes_py` otherwise. Does not wait.

Nearly every request holds batches, and nearly every response says that all are written. Their bytes
are fixed but for the numbers. So they need no object for each part of the message.
"""

from typing import TYPE_CHECKING

from aiokafka_lite.native import native

_twin = native("aiokafka_lite.producer.send._produce_bytes")

if TYPE_CHECKING or _twin is None:
    from aiokafka_lite.producer.send._produce_bytes_py import (
        Written,
        read_written,
        request_parts,
    )
else:
    Written = _twin.Written
    read_written = _twin.read_written
    request_parts = _twin.request_parts

__all__ = ["Written", "read_written", "request_parts"]
