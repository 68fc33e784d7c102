"""Decodes Avro bytes into rows.

All values have one schema, or each value has the wire format of Confluent's serializers and names
its schema by a registry id. A registry lookup blocks, once per schema. One instance serves one
process.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.schema_registry.avro import avro_reader, parse_avro
from aiokafka_lite.schema_registry.registry_errors import SchemaMismatchError
from aiokafka_lite.schema_registry.schema_deserializer import Read
from aiokafka_lite.schema_registry.wire_format import (
    PREFIX_BYTES,
    guid_of,
    schema_id_of,
    schema_key,
)
from aiokafka_lite.spark.decode.avro_types import Schema, kept_logical_types, logical_conflicts
from aiokafka_lite.spark.decode.blocking_registry import FoundSchema


def parse_reader(text: str, references: Iterable[str] = ()) -> Schema:
    """Return a schema from its JSON, for `AvroDecoder`; `references` are the schemas it names.

    Raises: KafkaConfigurationError for JSON that is not a schema.
    """
    return parse_avro(text, references, revise=kept_logical_types)


@dataclass(frozen=True, slots=True)
class _Writer:
    """What reads the values of a writer's schema, or the reason why they cannot be read."""

    read: Read | None = None
    fault: Exception | None = None


class AvroDecoder:
    """Decodes values to Python objects of the reader's schema."""

    def __init__(
        self, reader: Schema, find_schema: Callable[[int | str], FoundSchema] | None = None
    ) -> None:
        """`reader`: a result of `parse_reader`.

        `find_schema` returns the schema of an id or a guid. With it, this decodes the wire format.
        Without it, all values have the reader's schema.
        """
        self._reader = reader
        self._read = avro_reader(reader, None)
        self._find_schema = find_schema
        self._writers: dict[bytes, _Writer] = {}

    def decode(self, value: bytes) -> Any:
        """Return the decoded value.

        Raises: the error of the value or its schema, of any class, also UnknownSchemaError; another
        SchemaRegistryError when the registry does not answer. Only the latter says nothing about
        the value.
        """
        if self._find_schema is None:
            return self._read(value, 0)
        key = schema_key(value)
        writer = self._writers.get(key)
        if writer is None:
            name = schema_id_of(key) if len(key) == PREFIX_BYTES else guid_of(key)
            writer = self._writers[key] = self._prepare(self._find_schema(name))
        if writer.read is None:
            assert writer.fault is not None
            raise writer.fault
        return writer.read(value, len(key))

    def _prepare(self, found: FoundSchema) -> _Writer:
        schema, what = found.registered.schema, f"schema {found.registered.schema_id}"
        if schema.schema_type != "AVRO":
            return _Writer(fault=SchemaMismatchError(f"{what} is {schema.schema_type}, not AVRO"))
        try:
            writer = parse_reader(schema.schema_str, found.references)
        except KafkaConfigurationError as error:
            return _Writer(fault=SchemaMismatchError(f"{what}: {error}"))
        conflicts = logical_conflicts(writer, self._reader)
        if conflicts:
            return _Writer(fault=SchemaMismatchError(f"{what}: {'; '.join(conflicts)}"))
        return _Writer(avro_reader(writer, None if writer == self._reader else self._reader))


__all__ = ["AvroDecoder", "parse_reader"]
