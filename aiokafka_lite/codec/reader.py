"""Reads Kafka's primitive types out of a buffer, checking bounds. Knows no message. Does not wait.

`Reader` serves the few places that parse by hand: headers, consumer protocol blobs and tests.
Compiled code (`schema/`) decodes messages and shares the varint functions below. Every fault of the
bytes is a `ProtocolDecodeError`. The functions check a length against the buffer before they
allocate memory for it. Source: the protocol guide, "Protocol Primitive Types".
"""

from struct import Struct

from aiokafka_lite.errors import ProtocolDecodeError

_INT16 = Struct(">h")
_INT32 = Struct(">i")

MAX_UNSIGNED_VARINT_BYTES = 5


def unsigned_varint_at(buffer: bytes | memoryview, position: int) -> tuple[int, int]:
    """Return the unsigned 32-bit varint at `position`, and the position behind it.

    Raises: ProtocolDecodeError if it ends beyond the buffer, or exceeds 5 bytes or 32 bits.
    """
    try:
        # Lengths of up to 2 MiB, which is nearly all of them, are read without the loop.
        value = buffer[position]
        if value < 0x80:
            return value, position + 1
        second = buffer[position + 1]
        if second < 0x80:
            return value & 0x7F | second << 7, position + 2
        third = buffer[position + 2]
        if third < 0x80:
            return value & 0x7F | (second & 0x7F) << 7 | third << 14, position + 3
    except IndexError:
        raise _cut_off(buffer, position) from None
    value, end = _base128_at(buffer, position)
    if value > 0xFFFFFFFF:
        raise ProtocolDecodeError(
            f"varint {value} at byte {position} does not fit 32 bits; the bytes are corrupt "
            "or of another protocol"
        )
    return value, end


def _base128_at(buffer: bytes | memoryview, position: int) -> tuple[int, int]:
    value = 0
    size = len(buffer)
    for index in range(MAX_UNSIGNED_VARINT_BYTES):
        if position + index >= size:
            raise _cut_off(buffer, position)
        byte = buffer[position + index]
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value, position + index + 1
    raise ProtocolDecodeError(
        f"varint at byte {position} has more than {MAX_UNSIGNED_VARINT_BYTES} bytes; "
        "the bytes are corrupt or of another protocol"
    )


def _cut_off(buffer: bytes | memoryview, position: int) -> ProtocolDecodeError:
    return ProtocolDecodeError(
        f"varint at byte {position} is cut off: the buffer ends at byte {len(buffer)}"
    )


class Reader:
    """A position in a buffer. Each value read moves it forward.

    A null string or null bytes come as None. `pos` is public: the caller may read it, or set it
    back to an earlier position.
    """

    __slots__ = ("_size", "pos", "view")

    def __init__(self, view: memoryview | bytes | bytearray, pos: int = 0) -> None:
        self.view = memoryview(view)
        self.pos = pos
        self._size = len(self.view)

    @property
    def remaining(self) -> int:
        """Bytes not read yet."""
        return self._size - self.pos

    # Fixed width…

    def int16(self) -> int:
        return self._fixed(_INT16)

    def int32(self) -> int:
        return self._fixed(_INT32)

    # Variable width…

    def unsigned_varint(self) -> int:
        """An unsigned varint of at most 32 bits."""
        value, self.pos = unsigned_varint_at(self.view, self.pos)
        return value

    def raw(self, size: int) -> memoryview:
        """A view (no copy) of the next `size` bytes."""
        if size < 0 or size > self._size - self.pos:
            raise ProtocolDecodeError(
                f"{size} bytes are announced at byte {self.pos}, but {self._size - self.pos} "
                f"are left"
            )
        start = self.pos
        self.pos = start + size
        return self.view[start : self.pos]

    def string(self) -> str:
        size = self.int16()
        if size == -1:
            raise ProtocolDecodeError(f"null stands at byte {self.pos} where a string is required")
        return self._text(size)

    def nullable_string(self) -> str | None:
        size = self.int16()
        return None if size == -1 else self._text(size)

    def nullable_bytes(self) -> bytes | None:
        size = self.int32()
        return None if size == -1 else bytes(self.raw(size))

    def array_count(self, min_element_size: int = 1) -> int:
        """The element count, -1 for null. A count that the buffer cannot hold is refused."""
        count = self.int32()
        if count < -1 or count * min_element_size > self._size - self.pos:
            raise ProtocolDecodeError(
                f"an array of {count} elements is announced at byte {self.pos}, but "
                f"{self._size - self.pos} bytes are left"
            )
        return count

    def skip_tagged_fields(self) -> None:
        """Skip the tagged fields at the end of a flexible struct. Source: KIP-482."""
        for _ in range(self.unsigned_varint()):
            self.unsigned_varint()
            self.raw(self.unsigned_varint())

    def _fixed(self, struct: Struct) -> int:
        end = self.pos + struct.size
        if end > self._size:
            raise ProtocolDecodeError(
                f"{struct.size} bytes are needed at byte {self.pos}, "
                f"but {self._size - self.pos} are left"
            )
        value: int = struct.unpack_from(self.view, self.pos)[0]
        self.pos = end
        return value

    def _text(self, size: int) -> str:
        start = self.pos
        try:
            return str(self.raw(size), "utf-8")
        except UnicodeDecodeError as error:
            raise ProtocolDecodeError(f"string at byte {start} is not UTF-8: {error}") from error


__all__ = ["Reader", "unsigned_varint_at"]
