"""Avro by fastavro: the schema that wrote a value is resolved to the reader's, by Avro's rules.

fastavro is imported at the first use.
"""

import io
import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from aiokafka_lite.errors import KafkaConfigurationError, SerializationError
from aiokafka_lite.schema_registry.libraries import library
from aiokafka_lite.schema_registry.registered_schema import Schema, SchemaReference, SchemaText
from aiokafka_lite.schema_registry.registry_errors import SchemaMismatchError, WireFormatError
from aiokafka_lite.schema_registry.schema_deserializer import Read, SchemaDeserializer
from aiokafka_lite.schema_registry.schema_registry_client import SchemaRegistryClient, by_name
from aiokafka_lite.schema_registry.schema_serializer import SchemaSerializer, Write

AvroSchema = Any
"""A name, a list (a union) or a dict, as in JSON."""
_PRIMITIVES: Final = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
_NAMED: Final = ("record", "error", "enum", "fixed")
_FIELD: Final = re.compile(r"(?: on field |no value and no default for )(\w+)")
_NOT_A_SCHEMA: Final = "this is not an Avro schema"


class TrailingBytesError(WireFormatError):
    """More bytes than the value needs: another schema wrote them."""


class AvroSerializer(SchemaSerializer):
    """Writes Avro. `schema` is JSON as text or dict, or a `Schema` with references."""

    _kind = "AVRO"

    def __init__(
        self,
        registry: SchemaRegistryClient,
        schema: Schema | SchemaText | None = None,
        *,
        to_dict: Callable[[Any], Any] | None = None,
        **options: Any,
    ) -> None:
        """`schema` None: with `use_latest_version=True`, that of the subject.

        `to_dict` turns an object into what fastavro takes, such as a dict. `options` are those of
        `SchemaSerializer`. Raises: KafkaConfigurationError.
        """
        super().__init__(registry, **options)
        self._schema = self._own_schema(schema, to_dict)
        _check_alone(self._schema)
        self._to_dict = to_dict

    async def _schema_to_write(self) -> Schema:
        assert self._schema is not None
        return self._schema

    async def _record_name(self) -> str | None:
        if self._schema is None:
            return None
        references = await self._registry.find_references(self._schema)
        parsed = _parsed(self._schema, references)
        return parsed.get("name") if isinstance(parsed, dict) else None

    def _writer(self, schema: Schema, references: Mapping[SchemaReference, Schema]) -> Write:
        fastavro = library("fastavro")
        parsed = _parsed(schema, references)
        to_dict, write_to = self._to_dict, fastavro.schemaless_writer
        if _is_bytes(parsed):
            return lambda prefix, obj: prefix + bytes(obj if to_dict is None else to_dict(obj))

        def write(prefix: bytes, obj: Any) -> bytes:
            stream = io.BytesIO()
            stream.write(prefix)
            content = obj if to_dict is None else to_dict(obj)
            try:
                write_to(stream, parsed, content)
            except Exception as error:  # noqa: BLE001 - of many classes; their texts quote the value
                found = _FIELD.search(str(error))
                field = f", field {found[1]:.80}" if found else ""
                raise SerializationError(
                    f"a value of type {type(content).__name__} does not fit the Avro schema{field}:"
                    f" {type(error).__name__}"
                ) from None
            return stream.getvalue()

        return write


class AvroDeserializer(SchemaDeserializer):
    """Reads Avro to dicts, or to what `from_dict` makes of them."""

    _kind = "AVRO"

    def __init__(
        self,
        registry: SchemaRegistryClient,
        reader_schema: Schema | SchemaText | None = None,
        *,
        from_dict: Callable[[Any], Any] | None = None,
        **options: Any,
    ) -> None:
        """`reader_schema`: what each value becomes, as JSON, or as a `Schema` with references of
        its own; None: what it was written as.

        `options` are those of `SchemaDeserializer`. Raises: KafkaConfigurationError for JSON that
        is not a schema.
        """
        super().__init__(registry, reader_schema, from_dict, **options)
        _check_alone(self._schema)
        self._from_dict = from_dict

    def _reader(
        self,
        schema: Schema,
        references: Mapping[SchemaReference, Schema],
        own: Mapping[SchemaReference, Schema],
    ) -> Read:
        writer = _parsed(schema, references)
        reader = None if self._schema is None else _parsed(self._schema, own)
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

    What is returned needs no reference: each type is defined where it is first named. `revise` may
    change each schema's JSON before. Raises: KafkaConfigurationError for JSON that is not a schema.
    """
    fastavro = library("fastavro")
    try:
        used = [revise(_json(each)) for each in references]
        schema = revise(_json(text))
        return fastavro.parse_schema(_self_contained(schema, used) if used else schema)
    except (
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        RecursionError,
        fastavro.schema.SchemaParseException,
    ) as error:
        raise KafkaConfigurationError(
            f"{_NOT_A_SCHEMA}: {type(error).__name__}: {error!s:.100}"
        ) from error


def _json(text: str) -> Any:
    return json.loads(text) if text.lstrip()[:1] in ('"', "{", "[") else text.strip()


def _self_contained(schema: Any, references: Iterable[Any]) -> Any:
    definitions: dict[str, Any] = {}
    for each in references:
        _collect(each, "", definitions)
    return _placed(_collect(schema, "", definitions), "", definitions, set())


def _collect(schema: Any, namespace: str, definitions: dict[str, Any]) -> Any:
    """Return the schema with the full name of each named type in place of its definition.

    `definitions` gets the definitions, by full name. Raises: ValueError for a type that is defined
    twice, and differently.
    """
    if isinstance(schema, list):
        return [_collect(each, namespace, definitions) for each in schema]
    if isinstance(schema, str):
        return _full_name(schema, namespace, definitions)
    kind = schema["type"]
    if kind in ("array", "map"):
        inner = "items" if kind == "array" else "values"
        return {**schema, inner: _collect(schema[inner], namespace, definitions)}
    if kind not in _NAMED:  # such as {"type": "shop.Money"}
        return schema if kind in _PRIMITIVES else _collect(kind, namespace, definitions)
    name, namespace = schema["name"], schema.get("namespace", namespace)
    if "." in name:
        namespace = name.rpartition(".")[0]
    elif namespace:
        name = f"{namespace}.{name}"
    definition = {**schema, "name": name}
    definition.pop("namespace", None)
    known = definitions.setdefault(name, definition)
    if "fields" in schema:
        definition["fields"] = [
            {**each, "type": _collect(each["type"], namespace, definitions)}
            for each in schema["fields"]
        ]
    if known is not definition and known != definition:
        raise ValueError(f"{name:.80} is defined twice, and differently")
    return name


def _full_name(name: str, namespace: str, definitions: Mapping[str, Any]) -> str:
    if name in _PRIMITIVES or "." in name or not namespace:
        return name
    scoped = f"{namespace}.{name}"
    # As Java's parser: a type without a namespace is found from within one, too.
    return name if scoped not in definitions and name in definitions else scoped


def _placed(schema: Any, namespace: str, definitions: Mapping[str, Any], placed: set[str]) -> Any:
    """Return the schema with each definition in place of the first use of its name."""
    if isinstance(schema, list):
        return [_placed(each, namespace, definitions, placed) for each in schema]
    if isinstance(schema, dict):
        inner = {"array": "items", "map": "values"}.get(schema["type"])
        if inner is None:
            return schema
        return {**schema, inner: _placed(schema[inner], namespace, definitions, placed)}
    if schema in _PRIMITIVES:
        return schema
    if schema not in definitions:
        raise ValueError(f"the type {schema:.80} is defined neither here nor in a reference")
    # fastavro looks for a bare name in the namespace around it alone.
    name = f"{namespace}.{schema}" if namespace and "." not in schema else schema
    if name in placed:
        return name
    placed.add(name)
    definition = {**definitions[schema], "name": name}
    if "fields" in definition:
        definition["fields"] = [
            {**each, "type": _placed(each["type"], name.rpartition(".")[0], definitions, placed)}
            for each in definition["fields"]
        ]
    return definition


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


def _check_alone(schema: Schema | None) -> None:
    """Raise KafkaConfigurationError unless a user's schema is one, as far as it is known here."""
    if schema is not None and schema.schema_type == "AVRO" and not schema.references:
        parse_avro(schema.schema_str)


def _parsed(schema: Schema, references: Mapping[SchemaReference, Schema]) -> AvroSchema:
    used = by_name(references).values()
    try:
        return parse_avro(schema.schema_str, [each.schema_str for each in used])
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
