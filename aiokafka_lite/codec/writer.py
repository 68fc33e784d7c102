"""Writes Kafka's primitive types at the end of a bytearray. Knows no message. Does not wait.

The counterpart of `reader.py`. A value that does not fit its type is the caller's mistake:
`ValueError`. Source: the protocol guide, "Protocol Primitive Types".
"""

import struct
from struct import Struct

_INT16 = Struct(">h")
_INT32 = Struct(">i")

ONE_BYTE_VARINTS = tuple(bytes((value,)) for value in range(0x80))
MAX_STRING_BYTES = 0x7FFF


def unsigned_varint_bytes(value: int) -> bytes:
    """Return the unsigned varint of a value below 2**32.

    Raises: ValueError if the value is negative or has more than 32 bits.
    """
    if 0 <= value < 0x80:
        return ONE_BYTE_VARINTS[value]
    if 0x80 <= value < 0x4000:
        return bytes((value & 0x7F | 0x80, value >> 7))
    if 0x4000 <= value < 0x200000:
        return bytes((value & 0x7F | 0x80, value >> 7 & 0x7F | 0x80, value >> 14))
    if not 0 <= value <= 0xFFFFFFFF:
        raise ValueError(f"{value} does not fit an unsigned varint of 32 bits")
    return base128_bytes(value)


def base128_bytes(value: int) -> bytes:
    """Return a number of any size, not negative, in groups of seven bits, the lowest first."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


class Writer:
    """Appends values to `buffer`. The caller owns it and may read it or write to it in between."""

    __slots__ = ("buffer",)

    def __init__(self, buffer: bytearray | None = None) -> None:
        self.buffer = bytearray() if buffer is None else buffer

    # Fixed width…

    def int16(self, value: int) -> None:
        self._fixed(_INT16, value)

    def int32(self, value: int) -> None:
        self._fixed(_INT32, value)

    # Variable width…

    def string(self, value: str) -> None:
        encoded = _utf8(value)
        self._fixed(_INT16, len(encoded))
        self.buffer += encoded

    def nullable_string(self, value: str | None) -> None:
        if value is None:
            self._fixed(_INT16, -1)
        else:
            self.string(value)

    def nullable_bytes(self, value: bytes | bytearray | memoryview | None) -> None:
        if value is None:
            self._fixed(_INT32, -1)
        else:
            self._fixed(_INT32, len(value))
            self.buffer += value

    def array_count(self, count: int) -> None:
        """The element count of an array; -1 for null."""
        self._fixed(_INT32, count)

    def _fixed(self, layout: Struct, value: int) -> None:
        try:
            self.buffer += layout.pack(value)
        except struct.error as error:
            raise ValueError(f"{value!r} does not fit {layout.size} bytes: {error}") from error


def _utf8(value: str) -> bytes:
    encoded = value.encode()
    if len(encoded) > MAX_STRING_BYTES:
        raise ValueError(
            f"a string of {len(encoded)} bytes exceeds the protocol's limit of {MAX_STRING_BYTES}"
        )
    return encoded


__all__ = [
    "MAX_STRING_BYTES",
    "ONE_BYTE_VARINTS",
    "Writer",
    "base128_bytes",
    "unsigned_varint_bytes",
]
