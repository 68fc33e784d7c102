"""Avro by fastavro: the schema that wrote a value is resolved to the reader's, by Avro's rules.

fastavro is imported at the first use.
"""

import io
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.schema_registry.libraries import library
from aiokafka_lite.schema_registry.registered_schema import Schema
from aiokafka_lite.schema_registry.registry_errors import SchemaMismatchError, WireFormatError
from aiokafka_lite.schema_registry.schema_deserializer import Read, SchemaDeserializer
from aiokafka_lite.schema_registry.schema_registry_client import SchemaRegistryClient
from aiokafka_lite.schema_registry.schema_serializer import SchemaSerializer, Write

AvroSchema = Any
"""A name, a list (a union) or a dict, as in JSON."""


class TrailingBytesError(WireFormatError):
    """More bytes than the value needs: another schema wrote them."""


class AvroSerializer(SchemaSerializer):
    """Writes Avro. `schema` is JSON, or a `Schema` with references."""

    _kind = "AVRO"

    def __init__(
        self,
        registry: SchemaRegistryClient,
        schema: str | Schema | None = None,
        *,
        to_dict: Callable[[Any], Any] | None = None,
        **options: Any,
    ) -> None:
        """`schema` None: with `use_latest_version=True`, that of the subject.

        `to_dict` turns an object into what fastavro takes, such as a dict. `options` are those of
        `SchemaSerializer`. Raises: KafkaConfigurationError.
        """
        super().__init__(registry, **options)
        if schema is None and not self._use_latest:
            raise KafkaConfigurationError(
                "an AvroSerializer needs a schema, or use_latest_version=True"
            )
        self._schema = Schema(schema) if isinstance(schema, str) else schema
        self._to_dict = to_dict

    async def _schema_to_write(self) -> Schema:
        assert self._schema is not None
        return self._schema

    async def _record_name(self) -> str | None:
        if self._schema is None:
            return None
        references = await self._registry.resolve_references(self._schema)
        parsed = _parsed(self._schema, references)
        return parsed.get("name") if isinstance(parsed, dict) else None

    def _writer(self, schema: Schema, references: Mapping[str, Schema]) -> Write:
        fastavro = library("fastavro")
        parsed = _parsed(schema, references)
        to_dict, write_to = self._to_dict, fastavro.schemaless_writer
        if _is_bytes(parsed):
            return lambda prefix, obj: prefix + bytes(obj if to_dict is None else to_dict(obj))

        def write(prefix: bytes, obj: Any) -> bytes:
            stream = io.BytesIO()
            stream.write(prefix)
            write_to(stream, parsed, obj if to_dict is None else to_dict(obj))
            return stream.getvalue()

        return write


class AvroDeserializer(SchemaDeserializer):
    """Reads Avro to dicts, or to what `from_dict` makes of them."""

    _kind = "AVRO"

    def __init__(
        self,
        registry: SchemaRegistryClient,
        reader_schema: str | None = None,
        *,
        from_dict: Callable[[Any], Any] | None = None,
        **options: Any,
    ) -> None:
        """`reader_schema`: what each value becomes, as JSON; None: what it was written as.

        `options` are those of `SchemaDeserializer`. Raises: KafkaConfigurationError for JSON that
        is not a schema.
        """
        super().__init__(registry, **options)
        self._reader_schema = None if reader_schema is None else parse_avro(reader_schema)
        self._from_dict = from_dict

    def _reader(self, schema: Schema, references: Mapping[str, Schema]) -> Read:
        writer, reader = _parsed(schema, references), self._reader_schema
        from_dict = self._from_dict
        read = avro_reader(writer, None if reader == writer else reader)
        if _is_bytes(writer):
            read = _read_bytes
        if from_dict is None:
            return read
        return lambda data, position: from_dict(read(data, position))


def parse_avro(
    text: str,
    references: Iterable[str] = (),
    *,
    revise: Callable[[Any], Any] = lambda schema: schema,
) -> AvroSchema:
    """Return a schema from its JSON; `references` are the schemas it names, in their order.

    `revise` may change each schema's JSON before. Raises: KafkaConfigurationError for JSON that is
    not a schema.
    """
    fastavro = library("fastavro")
    named: dict[str, Any] = {}
    try:
        for each in references:
            fastavro.parse_schema(revise(json.loads(each)), named_schemas=named)
        schema = json.loads(text) if text.lstrip()[:1] in ('"', "{", "[") else text.strip()
        return fastavro.parse_schema(revise(schema), named_schemas=named, expand=bool(named))
    except (
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        RecursionError,
        fastavro.schema.SchemaParseException,
    ) as error:
        raise KafkaConfigurationError(
            f"this is not an Avro schema: {type(error).__name__}: {error}"
        ) from error


def avro_reader(writer: AvroSchema, reader: AvroSchema) -> Read:
    """Return what reads the values of a writer's schema.

    `reader` None: without resolution, which saves a third of the time.
    """
    read_from = library("fastavro").schemaless_reader

    def read(data: bytes, position: int) -> Any:
        stream = io.BytesIO(data)
        stream.seek(position)
        try:
            found = read_from(stream, writer, reader)
        except EOFError:
            raise EOFError("the bytes end before the value does") from None
        if stream.tell() != len(data):
            raise TrailingBytesError(
                f"the value ends {len(data) - stream.tell()} bytes before its bytes do"
            )
        return found

    return read


def _parsed(schema: Schema, references: Mapping[str, Schema]) -> AvroSchema:
    try:
        return parse_avro(schema.schema_str, [each.schema_str for each in references.values()])
    except KafkaConfigurationError as error:
        raise SchemaMismatchError(error.args[0]) from error


def _read_bytes(data: bytes, position: int) -> bytes:
    return data[position:]


def _is_bytes(parsed: AvroSchema) -> bool:
    """Return whether values are bare bytes: Confluent's serializers write no length of them."""
    return parsed == "bytes" or (isinstance(parsed, dict) and parsed.get("type") == "bytes")


__all__ = [
    "AvroDeserializer",
    "AvroSchema",
    "AvroSerializer",
    "TrailingBytesError",
    "avro_reader",
    "parse_avro",
]
