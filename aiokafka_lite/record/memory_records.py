"""Splits a partition's bytes into batches without decoding them.

It says where each batch lies and where the partial tail begins. Checksums are not checked. A broker
may cut its response anywhere, so everything behind the last whole batch is dropped. An impossible
length is an error instead.
"""

from collections.abc import Iterator
from struct import Struct
from typing import Final

from aiokafka_lite.errors import CorruptRecordException
from aiokafka_lite.light_named_tuple import NamedTuple
from aiokafka_lite.record.batch_header import (
    HEADER_BYTES,
    LAST_OFFSET_DELTA_OFFSET,
    LOG_OVERHEAD,
    MAGIC_OFFSET,
    MAX_OFFSET,
    parse_header,
)

_OFFSET_AND_LENGTH = Struct(">qi")
_OFFSET = Struct(">q")
_LAST_OFFSET_DELTA = Struct(">i")
_MIN_MESSAGE_LENGTH: Final = 14
"""Length of a magic 0 message without key and value: CRC, magic, attributes, two lengths."""


class BatchSlice(NamedTuple):
    """One whole batch of any magic; with magic 0 and 1 one message, which may be a wrapper."""

    base_offset: int
    """Magic 0 and 1: the message's own offset; a wrapper has the offset of its last message."""
    last_offset: int
    size: int
    magic: int
    position: int
    """The batch's start in the bytes in which it was found."""
    view: memoryview


def next_batch_size(data: memoryview, position: int) -> int:
    """Return the bytes of the batch at `position`; 0 if it is not complete.

    Raises: CorruptRecordException for an impossible length or an unknown magic.
    """
    available = len(data) - position
    if available < LOG_OVERHEAD:
        return 0
    offset, length = _OFFSET_AND_LENGTH.unpack_from(data, position)
    if length < _MIN_MESSAGE_LENGTH:
        raise CorruptRecordException(
            f"batch length {length:,} is less than a message's {_MIN_MESSAGE_LENGTH} bytes"
        )
    size: int = length + LOG_OVERHEAD
    if size > available:
        return 0
    magic = data[position + MAGIC_OFFSET]
    if magic > 2:
        raise CorruptRecordException(f"magic {magic} is not 0, 1 or 2")
    if magic == 2 and size < HEADER_BYTES:
        raise CorruptRecordException(
            f"batch length {length:,} is less than its header's {HEADER_BYTES - LOG_OVERHEAD} bytes"
        )
    if not 0 <= offset <= MAX_OFFSET:
        raise CorruptRecordException(f"base offset {offset} is impossible")
    return size


def has_complete_batch(data: memoryview) -> bool:
    """Return whether the first batch is complete.

    An impossible length counts as complete, so that reading it reports the fault.
    """
    try:
        return next_batch_size(data, 0) > 0
    except CorruptRecordException:
        return True


def end_offset(data: memoryview, start_offset: int) -> int | None:
    """Return the offset behind the last whole batch, at least `start_offset`.

    Return None for an impossible length or offset.
    """
    end, position = start_offset, 0
    try:
        while size := next_batch_size(data, position):
            (last,) = _OFFSET.unpack_from(data, position)
            if data[position + MAGIC_OFFSET] == 2:
                (delta,) = _LAST_OFFSET_DELTA.unpack_from(data, position + LAST_OFFSET_DELTA_OFFSET)
                last += delta
                if delta < 0 or last > MAX_OFFSET:
                    return None
            end = max(end, last + 1)
            position += size
    except CorruptRecordException:
        return None
    return end


def iter_batches(data: bytes | bytearray | memoryview) -> Iterator[BatchSlice]:
    """Yield the whole batches in order; the partial tail is dropped.

    Raises: CorruptRecordException at the first batch with impossible sizes; earlier batches come
    first.
    """
    view = memoryview(data)
    position = 0
    while size := next_batch_size(view, position):
        magic = view[position + MAGIC_OFFSET]
        batch = view[position : position + size]
        if magic == 2:
            header = parse_header(batch)
            base_offset, last_offset = header.base_offset, header.last_offset
        else:
            (base_offset, _) = _OFFSET_AND_LENGTH.unpack_from(batch)
            last_offset = base_offset
        yield BatchSlice(base_offset, last_offset, size, magic, position, batch)
        position += size


__all__ = ["BatchSlice", "end_offset", "has_complete_batch", "iter_batches", "next_batch_size"]
