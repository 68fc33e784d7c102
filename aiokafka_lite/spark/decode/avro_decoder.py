"""Decodes Avro bytes into rows.

All values have one schema, or each value has the wire format of Confluent's serializers and names
its schema by a registry id. A registry lookup blocks, once per schema. One instance serves one
process.
"""

import io
import json
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

import fastavro

from aiokafka_lite.errors import KafkaConfigurationError, SerializationError
from aiokafka_lite.spark.decode.avro_types import Schema, kept_logical_types, logical_conflicts
from aiokafka_lite.spark.decode.schema_registry import RegisteredSchema

_HEADER: Final = struct.Struct(">bI")
_MAGIC: Final = 0


class WireFormatError(SerializationError):
    """Bytes that do not begin like the wire format."""


class SchemaMismatchError(SerializationError):
    """A schema whose values cannot be read as the requested columns."""


class TrailingBytesError(SerializationError):
    """More bytes than the value needs: another schema wrote them."""


def parse_avro(text: str, references: Iterable[str] = ()) -> Schema:
    """Return a schema from its JSON, for `AvroDecoder`; `references` are the schemas it names.

    Raises: KafkaConfigurationError for JSON that is not a schema.
    """
    named: dict[str, Any] = {}
    try:
        for each in references:
            fastavro.parse_schema(kept_logical_types(json.loads(each)), named_schemas=named)
        schema = json.loads(text) if text.lstrip()[:1] in ('"', "{", "[") else text.strip()
        parsed = fastavro.parse_schema(
            kept_logical_types(schema), named_schemas=named, expand=bool(named)
        )
    except (
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        fastavro.schema.SchemaParseException,
    ) as error:
        raise KafkaConfigurationError(
            f"this is not an Avro schema: {type(error).__name__}: {error}"
        ) from error
    return parsed


@dataclass(frozen=True, slots=True)
class _Writer:
    """The schema of a writer, or the reason why its values cannot be read."""

    schema: Schema = None
    reader: Schema = None
    """None if it equals the reader's.

    Then resolution is skipped, which saves a third of the time.
    """
    fault: Exception | None = None


class AvroDecoder:
    """Decodes values to Python objects of the reader's schema."""

    def __init__(
        self, reader: Schema, find_schema: Callable[[int], RegisteredSchema] | None = None
    ) -> None:
        """`reader`: a result of `parse_avro`.

        `find_schema` returns the schema of an id. With it, this decodes the wire format. Without
        it, all values have the reader's schema.
        """
        self._reader = reader
        self._find_schema = find_schema
        self._writers: dict[int, _Writer] = {}

    def decode(self, value: bytes) -> Any:
        """Return the decoded value.

        Raises: the error of the value or its schema, of any class; SchemaRegistryError when the
        registry does not answer. Only the latter says nothing about the value.
        """
        if self._find_schema is None:
            return _read(value, 0, self._reader, None)
        if len(value) < _HEADER.size:
            raise WireFormatError(f"{len(value)} bytes are too few for a schema's id")
        magic, schema_id = _HEADER.unpack_from(value)
        if magic != _MAGIC:
            raise WireFormatError(f"it begins with the byte {magic & 0xFF}, not with 0")
        writer = self._writers.get(schema_id)
        if writer is None:
            writer = self._writers[schema_id] = self._prepare(self._find_schema(schema_id))
        if writer.fault is not None:
            raise writer.fault
        return _read(value, _HEADER.size, writer.schema, writer.reader)

    def _prepare(self, found: RegisteredSchema) -> _Writer:
        if found.kind != "AVRO":
            return _Writer(
                fault=SchemaMismatchError(f"schema {found.schema_id} is {found.kind}, not AVRO")
            )
        try:
            schema = parse_avro(found.text, found.references)
        except KafkaConfigurationError as error:
            return _Writer(fault=SchemaMismatchError(f"schema {found.schema_id}: {error}"))
        conflicts = logical_conflicts(schema, self._reader)
        if conflicts:
            listed = "; ".join(conflicts)
            return _Writer(fault=SchemaMismatchError(f"schema {found.schema_id}: {listed}"))
        return _Writer(schema=schema, reader=None if schema == self._reader else self._reader)


def _read(value: bytes, start: int, writer: Schema, reader: Schema) -> Any:
    stream = io.BytesIO(value)
    stream.seek(start)
    try:
        found = fastavro.schemaless_reader(stream, writer, reader)
    except EOFError:
        raise EOFError("the bytes end before the value does") from None
    if stream.tell() != len(value):
        raise TrailingBytesError(
            f"the value ends {len(value) - stream.tell()} bytes before its bytes do"
        )
    return found


__all__ = [
    "AvroDecoder",
    "SchemaMismatchError",
    "TrailingBytesError",
    "WireFormatError",
    "parse_avro",
]
