"""Zigzag varints of any length, for code that does not inline the short ones."""

from typing import Final

from aiokafka_lite.codec.writer import base128_bytes
from aiokafka_lite.errors import CorruptRecordException

_64_BITS: Final = (1 << 64) - 1


def read_varint(
    data: bytes | bytearray | memoryview, position: int, max_bytes: int = 5
) -> tuple[int, int]:
    """Return the value at `position`, and the position behind it.

    Five bytes hold 32 bits; ten (max_bytes=10) hold 64. Raises: CorruptRecordException for a longer
    varint; IndexError if the data ends within it.
    """
    raw = 0
    for shift in range(0, max_bytes * 7, 7):
        byte = data[position]
        position += 1
        raw |= (byte & 0x7F) << shift
        if byte < 0x80:
            raw &= _64_BITS  # a tenth byte may have more bits
            return (raw >> 1) ^ -(raw & 1), position
    raise CorruptRecordException(f"a varint is longer than {max_bytes} bytes")


def encode_varint(value: int) -> bytes:
    """Return the zigzag varint of a signed number of up to 64 bits."""
    return base128_bytes((value << 1) ^ (value >> 63))


def varint_size(value: int) -> int:
    """Return how many bytes `encode_varint` makes of a value."""
    return max(1, (((value << 1) ^ (value >> 63)).bit_length() + 6) // 7)


__all__ = ["encode_varint", "read_varint", "varint_size"]
