"""Writing Kafka's primitive types at the end of a bytearray: never waits, knows no message.

The counterpart of `reader.py`. A value that does not fit its type is the caller's mistake:
`ValueError`. Source: the protocol guide, "Protocol Primitive Types".
"""

import struct
from struct import Struct
from uuid import UUID

_INT8 = Struct(">b")
_INT16 = Struct(">h")
_INT32 = Struct(">i")
_INT64 = Struct(">q")
_UINT16 = Struct(">H")
_UINT32 = Struct(">I")
_FLOAT64 = Struct(">d")

ONE_BYTE_VARINTS = tuple(bytes((value,)) for value in range(0x80))
MAX_STRING_BYTES = 0x7FFF


def unsigned_varint_bytes(value: int) -> bytes:
    """Return the unsigned varint of a value below 2**32.

    Raises:
        ValueError: the value is negative or has more than 32 bits.
    """
    if 0 <= value < 0x80:
        return ONE_BYTE_VARINTS[value]
    if 0x80 <= value < 0x4000:
        return bytes((value & 0x7F | 0x80, value >> 7))
    if 0x4000 <= value < 0x200000:
        return bytes((value & 0x7F | 0x80, value >> 7 & 0x7F | 0x80, value >> 14))
    if not 0 <= value <= 0xFFFFFFFF:
        raise ValueError(f"{value} does not fit an unsigned varint of 32 bits")
    return _base128(value)


def _base128(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


class Writer:
    """Appends values to `buffer`, which the caller owns and may look at or write to in between."""

    __slots__ = ("buffer",)

    def __init__(self, buffer: bytearray | None = None) -> None:
        self.buffer = bytearray() if buffer is None else buffer

    # Fixed width…

    def int8(self, value: int) -> None:
        self._fixed(_INT8, value)

    def int16(self, value: int) -> None:
        self._fixed(_INT16, value)

    def int32(self, value: int) -> None:
        self._fixed(_INT32, value)

    def int64(self, value: int) -> None:
        self._fixed(_INT64, value)

    def uint16(self, value: int) -> None:
        self._fixed(_UINT16, value)

    def uint32(self, value: int) -> None:
        self._fixed(_UINT32, value)

    def float64(self, value: float) -> None:
        self._fixed(_FLOAT64, value)

    def boolean(self, value: bool) -> None:
        self.buffer.append(1 if value else 0)

    def uuid(self, value: UUID) -> None:
        self.buffer += value.bytes

    # Variable width…

    def unsigned_varint(self, value: int) -> None:
        self.buffer += unsigned_varint_bytes(value)

    def varint(self, value: int) -> None:
        """A zigzag varint of at most 32 bits."""
        if not -0x80000000 <= value <= 0x7FFFFFFF:
            raise ValueError(f"{value} does not fit a varint of 32 bits")
        self.buffer += _base128((value << 1 ^ value >> 31) & 0xFFFFFFFF)

    def varlong(self, value: int) -> None:
        """A zigzag varint of at most 64 bits."""
        if not -(1 << 63) <= value < 1 << 63:
            raise ValueError(f"{value} does not fit a varint of 64 bits")
        self.buffer += _base128((value << 1 ^ value >> 63) & 0xFFFFFFFFFFFFFFFF)

    def raw(self, value: bytes | bytearray | memoryview) -> None:
        self.buffer += value

    def string(self, value: str) -> None:
        encoded = _utf8(value)
        self._fixed(_INT16, len(encoded))
        self.buffer += encoded

    def nullable_string(self, value: str | None) -> None:
        if value is None:
            self._fixed(_INT16, -1)
        else:
            self.string(value)

    def compact_string(self, value: str) -> None:
        encoded = _utf8(value)
        self.unsigned_varint(len(encoded) + 1)
        self.buffer += encoded

    def compact_nullable_string(self, value: str | None) -> None:
        if value is None:
            self.buffer.append(0)
        else:
            self.compact_string(value)

    def bytes_(self, value: bytes | bytearray | memoryview) -> None:
        self._fixed(_INT32, len(value))
        self.buffer += value

    def nullable_bytes(self, value: bytes | bytearray | memoryview | None) -> None:
        if value is None:
            self._fixed(_INT32, -1)
        else:
            self.bytes_(value)

    def compact_bytes(self, value: bytes | bytearray | memoryview) -> None:
        self.unsigned_varint(len(value) + 1)
        self.buffer += value

    def compact_nullable_bytes(self, value: bytes | bytearray | memoryview | None) -> None:
        if value is None:
            self.buffer.append(0)
        else:
            self.compact_bytes(value)

    def array_count(self, count: int) -> None:
        """The element count of an array; -1 for null."""
        self._fixed(_INT32, count)

    def compact_array_count(self, count: int) -> None:
        """As `array_count`, in the compact form of flexible versions."""
        self.unsigned_varint(count + 1)

    def no_tagged_fields(self) -> None:
        """The end of a flexible struct that has no tagged fields. Source: KIP-482."""
        self.buffer.append(0)

    def _fixed(self, layout: Struct, value: float) -> None:
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
