"""The ids in front of serialized values, or in their headers, as Confluent's serializers do it.

    id     a zero byte and four bytes
    guid   a byte 1 and 16 bytes

Serializers write the id in front of the value, or the guid into the header `__key_schema_id` or
`__value_schema_id`. Each form is read in each place. Protobuf adds the indexes of the message
within its file. Does not wait. Sources: Confluent's "Wire format", DualSchemaIdDeserializer.
"""

import struct
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from aiokafka_lite.codec.writer import base128_bytes
from aiokafka_lite.schema_registry.registry_errors import WireFormatError
from aiokafka_lite.serialization import Headers

PREFIX_BYTES: Final = 5
_PREFIX: Final = struct.Struct(">bI")
_ID_MAGIC: Final = b"\x00"
_GUID_MAGIC: Final = b"\x01"
_GUID_BYTES: Final = 17
_MOST_INDEXES: Final = 100
"""How deep a message may be nested; protoc's own limit is lower."""
_MOST_VARINT_BYTES: Final = 10


def id_prefix(schema_id: int) -> bytes:
    """Return the five bytes in front of a value."""
    return _PREFIX.pack(0, schema_id)


def schema_id_of(data: bytes) -> int:
    """Return the id in front of a value. Raises: WireFormatError for other bytes."""
    key = schema_key(data)
    if key[:1] == _GUID_MAGIC:
        raise WireFormatError(
            f"the value begins with the guid {guid_of(key)}, where the id of a schema is read"
        )
    return int.from_bytes(key[1:], "big")


def schema_key(data: bytes) -> bytes:
    """Return the five bytes of an id, or the 17 of a guid, that a value or header begins with.

    Raises: WireFormatError for other bytes.
    """
    magic = data[:1]
    size = PREFIX_BYTES if magic == _ID_MAGIC else _GUID_BYTES
    if magic not in (_ID_MAGIC, _GUID_MAGIC) and len(data) >= PREFIX_BYTES:
        raise WireFormatError(
            f"the value begins with the byte {data[0]}, and not with 0 and the id of a schema;"
            " was it written without a schema registry?"
        )
    if len(data) < size:
        raise WireFormatError(
            f"{len(data)} bytes are too few for a schema's id, which has five, or 17 as a guid"
        )
    return data[:size]


def key_in_headers(headers: Headers, name: str) -> bytes | None:
    """Return the key in the last header of a name; None without one, and for an empty one.

    Raises: WireFormatError for a header that holds neither id nor guid.
    """
    for each, value in reversed(headers):
        if each == name:
            return None if value is None else _key_of_header(name, value)
    return None


def end_of_key_in_front(data: bytes) -> int:
    """Return the position behind the id or guid in front of a value. Raises: WireFormatError."""
    return len(schema_key(data))


def _key_of_header(name: str, value: bytes) -> bytes:
    try:
        return schema_key(value)
    except WireFormatError:
        raise WireFormatError(
            f"the header {name} of {len(value)} bytes holds neither a byte 0 and an id of four"
            " bytes, nor a byte 1 and a guid of 16"
        ) from None


def header_name(*, is_key: bool) -> str:
    """Return the name of the header with the schema of a key or value."""
    return "__key_schema_id" if is_key else "__value_schema_id"


def guid_header(guid: str) -> bytes:
    """Return a header's value for a schema's guid."""
    return _GUID_MAGIC + UUID(guid).bytes


def guid_of(key: bytes) -> str:
    """Return the guid in a key of 17 bytes."""
    return str(UUID(bytes=key[1:_GUID_BYTES]))


def message_indexes(indexes: Sequence[int]) -> bytes:
    """Return the bytes of the indexes that lead to a message within its file."""
    if list(indexes) == [0]:
        return b"\x00"  # the first message of a file, which is the usual one
    return b"".join(_varint(number) for number in (len(indexes), *indexes))


def end_of_indexes(data: bytes, position: int) -> int:
    """Return the position behind the message indexes. Raises: WireFormatError."""
    count, position = _read_varint(data, position)
    if not 0 <= count <= _MOST_INDEXES:
        raise WireFormatError(f"{count} message indexes; the limit is {_MOST_INDEXES}")
    for _ in range(count):
        _, position = _read_varint(data, position)
    return position


def _varint(number: int) -> bytes:
    number = number << 1 if number >= 0 else (-number << 1) - 1  # zigzag
    return base128_bytes(number)


def _read_varint(data: bytes, position: int) -> tuple[int, int]:
    number = 0
    for index, byte in enumerate(data[position : position + _MOST_VARINT_BYTES]):
        number |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return (number >> 1) ^ -(number & 1), position + index + 1
    raise WireFormatError("the indexes of a Protobuf message end beyond the value")


__all__ = [
    "PREFIX_BYTES",
    "end_of_indexes",
    "end_of_key_in_front",
    "guid_header",
    "guid_of",
    "header_name",
    "id_prefix",
    "key_in_headers",
    "message_indexes",
    "schema_id_of",
    "schema_key",
]
