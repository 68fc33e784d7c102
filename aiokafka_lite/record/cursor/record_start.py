"""The rarer parts of a record, which the hot loop of `_batch_reader_py` decodes by calls.

These are records with large lengths or deltas, and headers. Each function takes the batch's
decompressed bytes and a position. It returns the values and the position behind them.
"""

from collections.abc import Callable
from itertools import repeat
from typing import Final

from aiokafka_lite.errors import CorruptRecordException
from aiokafka_lite.record.varint import read_varint
from aiokafka_lite.serialization import Headers

_LONGER: Final = -(1 << 40)
_SHORT: Final = tuple((byte >> 1) ^ -(byte & 1) if byte < 128 else _LONGER for byte in range(256))
"""The value of a one-byte varint. Longer ones are impossibly small, so `read_varint` reads them."""


def read_record_start(buffer: bytes, position: int) -> tuple[int, int, int, int, int]:
    """Return a record's end, timestamp delta, offset delta, key length, and the start of its key.

    Raises: CorruptRecordException; IndexError for a position beyond the buffer.
    """
    size, position = read_varint(buffer, position)
    end = position + size
    timestamp_delta, position = read_varint(buffer, position + 1, 10)
    offset_delta, position = read_varint(buffer, position)
    key_size, position = read_varint(buffer, position)
    return end, timestamp_delta, offset_delta, key_size, position


def size_of_records(buffer: bytes | bytearray | memoryview, position: int, count: int) -> int:
    """Return how many bytes the next `count` records take, their lengths included."""
    start = position
    for _ in range(count):
        size, position = read_varint(buffer, position)
        position += size
    return position - start


def read_headers(
    buffer: bytes, start: int, decode: Callable[[bytes], str] = bytes.decode
) -> tuple[Headers, int]:
    """Return the headers of a record that has some, and the position behind them.

    Raises: CorruptRecordException; IndexError if they go on beyond the buffer.
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
    except UnicodeDecodeError:  # as Java's client: the name is useless, but the record is useful
        return read_headers(buffer, start, _replacing)
    if position > len(buffer):
        raise IndexError
    return tuple(headers), position


def _replacing(name: bytes) -> str:
    return name.decode(errors="replace")


__all__ = ["read_headers", "read_record_start", "size_of_records"]
