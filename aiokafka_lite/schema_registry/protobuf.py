"""Protobuf messages, with the indexes of their type behind the schema's id.

The schema is that of the message's file, in the serialized form that registries take. The files it
imports are registered as references, under their names. protobuf is imported at the first use.
"""

import base64
from collections.abc import Mapping
from typing import Any

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import KafkaConfigurationError, SerializationError
from aiokafka_lite.schema_registry.registered_schema import (
    Schema,
    SchemaReference,
    check_flags,
    shown,
)
from aiokafka_lite.schema_registry.registry_errors import SchemaRegistryError
from aiokafka_lite.schema_registry.schema_registry_client import SchemaRegistryClient
from aiokafka_lite.schema_registry.schema_serializer import SchemaSerializer, Write
from aiokafka_lite.schema_registry.wire_format import (
    PREFIX_BYTES,
    end_of_indexes,
    end_of_key_in_front,
    header_name,
    key_in_headers,
    message_indexes,
)
from aiokafka_lite.serialization import Headers

_BUILT_IN = ("google/protobuf/", "google/type/", "confluent/")
"""Files that every registry has."""


class ProtobufSerializer(SchemaSerializer):
    """Writes the messages of one type."""

    _kind = "PROTOBUF"

    def __init__(self, registry: SchemaRegistryClient, message_type: Any, **options: Any) -> None:
        """`message_type`: a generated class. `options` are those of `SchemaSerializer`.

        Raises: KafkaConfigurationError.
        """
        super().__init__(registry, **options)
        self._type = _checked_type(message_type)
        self._indexes = message_indexes(_path_of(message_type.DESCRIPTOR))

    async def _schema_to_write(self) -> Schema:
        return await self._schema_of(self._type.DESCRIPTOR.file, {})

    async def _schema_of(self, file: Any, known: dict[str, SchemaReference]) -> Schema:
        references = []
        for imported in file.dependencies:
            name = imported.name
            if name.startswith(_BUILT_IN):
                continue
            if name not in known:
                schema = await self._schema_of(imported, known)
                found = await self._find_schema(name, schema)
                if found.version is None:  # some registries tell it to a lookup only
                    found = await self._registry.lookup_schema(name, schema)
                if found.version is None:
                    raise SchemaRegistryError(
                        f"subject {quoted(name)}: the registry tells no version of it"
                    )
                known[name] = SchemaReference(name, name, found.version)
            references.append(known[name])
        text = base64.b64encode(file.serialized_pb).decode()
        return Schema(text, "PROTOBUF", tuple(references))

    async def _record_name(self) -> str | None:
        return str(self._type.DESCRIPTOR.full_name)

    def _suffix(self) -> bytes:
        return self._indexes

    def _writer(self, _schema: Schema, _references: Mapping[SchemaReference, Schema]) -> Write:
        message_type = self._type

        def write(prefix: bytes, obj: Any) -> bytes:
            if not isinstance(obj, message_type):
                raise SerializationError(
                    f"a {type(obj).__name__} was given to the serializer of"
                    f" {message_type.DESCRIPTOR.full_name}"
                )
            data: bytes = obj.SerializeToString()
            return prefix + data

        return write


class ProtobufDeserializer:
    """Reads messages of one type. It asks no registry: messages carry their fields' numbers."""

    def __init__(self, message_type: Any, *, is_key: bool = False) -> None:
        """`message_type`: a generated class. `is_key`: it reads keys, which have another header.

        Raises: KafkaConfigurationError for anything but a generated class.
        """
        check_flags(is_key=is_key)
        self._parse = _checked_type(message_type).FromString
        self._header = header_name(is_key=is_key)

    def deserialize(self, _topic: str, headers: Headers, data: bytes, /) -> Any:
        """Return the message of a record's bytes. Does not wait.

        Raises: WireFormatError without the id of a schema; protobuf's DecodeError for damaged
        bytes.
        """
        if headers and key_in_headers(headers, self._header) is not None:
            return self._parse(data)
        if data[:1] == b"\0" and data[PREFIX_BYTES : PREFIX_BYTES + 1] == b"\0":
            return self._parse(data[PREFIX_BYTES + 1 :])  # the first type of its file
        return self._parse(data[end_of_indexes(data, end_of_key_in_front(data)) :])


def _checked_type(value: Any) -> Any:
    if not isinstance(value, type) or not hasattr(value, "DESCRIPTOR"):
        raise KafkaConfigurationError(
            f"message_type: {shown(value)} is no class of messages; give the generated class,"
            " such as order_pb2.Order"
        )
    return value


def _path_of(descriptor: Any) -> list[int]:
    """Return the indexes that lead from the file to a message type."""
    path: list[int] = []
    while (outer := descriptor.containing_type) is not None:
        path.insert(0, [each.name for each in outer.nested_types].index(descriptor.name))
        descriptor = outer
    return [list(descriptor.file.message_types_by_name).index(descriptor.name), *path]


__all__ = ["ProtobufDeserializer", "ProtobufSerializer"]
