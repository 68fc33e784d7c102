"""The parts of a record the hot loop of `_batch_reader_py` leaves to calls.

Far or large beginnings, and headers.

All of it takes the batch's decompressed bytes and a position, and returns what was read and where
it ends.
"""

from collections.abc import Callable
from itertools import repeat
from typing import Final

from aiokafka_lite.errors import CorruptRecordException
from aiokafka_lite.record.varint import read_varint
from aiokafka_lite.serialization import Headers

_LONGER: Final = -(1 << 40)
_SHORT: Final = tuple((byte >> 1) ^ -(byte & 1) if byte < 128 else _LONGER for byte in range(256))
"""A one-byte varint's value; longer ones are impossibly small, which sends them to `read_varint`.
"""


def read_record_start(buffer: bytes, position: int) -> tuple[int, int, int, int, int]:
    """Return a record's end, timestamp delta, offset delta, key length, and where its key begins.

    Raises CorruptRecordException, or IndexError beyond the buffer.
    """
    size, position = read_varint(buffer, position)
    end = position + size
    timestamp_delta, position = read_varint(buffer, position + 1, 10)
    offset_delta, position = read_varint(buffer, position)
    key_size, position = read_varint(buffer, position)
    return end, timestamp_delta, offset_delta, key_size, position


def read_headers(
    buffer: bytes, start: int, decode: Callable[[bytes], str] = bytes.decode
) -> tuple[Headers, int]:
    """Return the headers of a record that has some, and where they end.

    Raises CorruptRecordException or, where they go on beyond the buffer, IndexError.
    """
    count, position = read_varint(buffer, start)
    if not 0 <= count <= (len(buffer) - position) // 2:
        raise CorruptRecordException(f"{count:,} headers in {len(buffer) - position:,} bytes")
    short = _SHORT
    headers: list[tuple[str, bytes | None]] = []
    append = headers.append
    try:
        for _ in repeat(None, count):
            size = short[buffer[position]]
            if size >= 0:
                position += 1
            else:
                size, position = read_varint(buffer, position)
                if size < 0:
                    raise CorruptRecordException(f"a header name of {size:,} bytes")
            name = decode(buffer[position : (position := position + size)])
            size = short[buffer[position]]
            if size >= 0:
                position += 1
            else:
                size, position = read_varint(buffer, position)
            if size >= 0:
                append((name, buffer[position : (position := position + size)]))
            elif size == -1:
                append((name, None))
            else:
                raise CorruptRecordException(f"a header value of {size:,} bytes")
    except UnicodeDecodeError:  # as Java's client: the name is of no use, the record is
        return read_headers(buffer, start, _replacing)
    if position > len(buffer):
        raise IndexError
    return tuple(headers), position


def _replacing(name: bytes) -> str:
    return name.decode(errors="replace")


__all__ = ["read_headers", "read_record_start"]
