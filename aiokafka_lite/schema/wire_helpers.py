"""The functions that compiled code calls in rarer cases: long lengths, ids, errors.

The functions for errors return the exception: generated code reads `raise overrun(...)`. Does not
wait.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from struct import Struct
from typing import Any
from uuid import UUID

from aiokafka_lite.codec.reader import unsigned_varint_at
from aiokafka_lite.codec.writer import MAX_STRING_BYTES, unsigned_varint_bytes
from aiokafka_lite.errors import ProtocolDecodeError, UnsupportedVersionError
from aiokafka_lite.schema.field_types import ZERO_UUID

_READY_RUNS = 64
_UUIDS_KEPT = 8192


class IntegerRuns:
    """Packs and unpacks arrays of one fixed-width type. Short arrays use a cached `Struct`."""

    __slots__ = ("_code", "_ready")

    def __init__(self, code: str) -> None:
        self._code = code
        self._ready: list[Struct | None] = [None] * _READY_RUNS

    def of(self, count: int) -> Struct:
        if count >= _READY_RUNS:
            return Struct(f">{count}{self._code}")
        ready = self._ready[count]
        if ready is None:
            ready = self._ready[count] = Struct(f">{count}{self._code}")
        return ready

    def pack(self, values: Sequence[Any]) -> bytes:
        return self.of(len(values)).pack(*values)

    def unpack(self, buffer: bytes | memoryview, position: int, count: int) -> list[Any]:
        return list(self.of(count).unpack_from(buffer, position))


@cache
def integer_runs(code: str) -> IntegerRuns:
    """Return the one `IntegerRuns` of a `struct` letter."""
    return IntegerRuns(code)


@lru_cache(maxsize=_UUIDS_KEPT)
def uuid_of(raw: bytes) -> UUID:
    """Return the id of 16 bytes.

    The ids are cached: each response names the same topics, and making an id is slow.
    """
    found = UUID(bytes=raw)
    return ZERO_UUID if found == ZERO_UUID else found


def string_length(encoded_length: int) -> bytes:
    """Return the compact length of a string of 127 bytes or more, given as length + 1."""
    if encoded_length - 1 > MAX_STRING_BYTES:
        raise ValueError(
            f"a string of {encoded_length - 1} bytes exceeds the protocol's limit of "
            f"{MAX_STRING_BYTES}"
        )
    return unsigned_varint_bytes(encoded_length)


def skip_tagged_fields(buffer: bytes | memoryview, position: int, size: int) -> int:
    """Return the position behind the tagged fields that start at `position`. Source: KIP-482."""
    count, position = unsigned_varint_at(buffer, position)
    for _ in range(count):
        tag, position = unsigned_varint_at(buffer, position)
        length, position = unsigned_varint_at(buffer, position)
        if length > size - position:
            raise ProtocolDecodeError(
                f"tagged field {tag} announces {length} bytes at byte {position}, but "
                f"{size - position} are left"
            )
        position += length
    return position


# Faults of the bytes…


def overrun(label: str, path: str, length: int, left: int) -> ProtocolDecodeError:
    return ProtocolDecodeError(
        f"{label}: {path} announces {length} bytes, but {left} are left in the frame"
    )


def array_overrun(label: str, path: str, count: int, left: int) -> ProtocolDecodeError:
    return ProtocolDecodeError(
        f"{label}: {path} announces {count} elements, more than the {left} bytes left can hold"
    )


def refused_length(label: str, path: str, length: int) -> ProtocolDecodeError:
    if length == -1:
        return ProtocolDecodeError(f"{label}: {path} is null, which this version does not allow")
    return ProtocolDecodeError(f"{label}: {path} has the impossible length {length}")


def overlong_string(label: str, path: str, length: int) -> ProtocolDecodeError:
    return ProtocolDecodeError(
        f"{label}: {path} has {length} bytes, above the protocol's limit of {MAX_STRING_BYTES}"
    )


def uneven_tag(label: str, tag: int, end: int, position: int) -> ProtocolDecodeError:
    return ProtocolDecodeError(
        f"{label}: tagged field {tag} should end at byte {end}, but its value ends at {position}"
    )


def malformed(label: str, position: int, size: int, cause: Exception) -> ProtocolDecodeError:
    if isinstance(cause, UnicodeDecodeError):
        return ProtocolDecodeError(
            f"{label}: a string near byte {position} is not UTF-8 ({cause.reason})"
        )
    return ProtocolDecodeError(
        f"{label}: the frame of {size} bytes ends in the middle of a value, near byte {position}"
    )


def labelled(label: str, error: ProtocolDecodeError) -> ProtocolDecodeError:
    """Return the error with the message's name in front, which the codec does not know."""
    text = str(error.args[0])
    return error if text.startswith(label) else ProtocolDecodeError(f"{label}: {text}")


class BytesLeftOverError(ProtocolDecodeError):
    """A whole message, and bytes after it, which most peers may step over."""

    def __init__(self, text: str = "", message: Any = None) -> None:
        super().__init__(text)
        self.message = message
        """The message in front of those bytes."""


def trailing(label: str, position: int, size: int, message: object) -> BytesLeftOverError:
    text = f"{label}: {size - position} bytes are left over after its {position} bytes"
    return BytesLeftOverError(text, message)


# Faults of the values…


def unsupported(label: str, path: str, needs: str) -> UnsupportedVersionError:
    lack = f"{label} has no field {path}"
    remedy = "which is set; leave it unset or use a version with it"
    return UnsupportedVersionError(f"{needs}: {lack}" if needs else f"{lack}, {remedy}")


def unsupported_null(label: str, path: str) -> UnsupportedVersionError:
    return UnsupportedVersionError(
        f"{label} does not allow null for {path}; give a value or use a version that allows it"
    )


__all__ = [
    "BytesLeftOverError",
    "IntegerRuns",
    "array_overrun",
    "integer_runs",
    "labelled",
    "malformed",
    "overlong_string",
    "overrun",
    "refused_length",
    "skip_tagged_fields",
    "string_length",
    "trailing",
    "uneven_tag",
    "unsupported",
    "unsupported_null",
    "uuid_of",
]
