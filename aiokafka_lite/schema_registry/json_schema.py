"""JSON that is checked against its JSON Schema, by jsonschema.

References are taken from the registry only: a `$ref` to another address is an error, and nothing is
fetched. jsonschema is imported at the first use.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from aiokafka_lite.errors import KafkaConfigurationError, SerializationError
from aiokafka_lite.schema_registry.libraries import library
from aiokafka_lite.schema_registry.registered_schema import Schema
from aiokafka_lite.schema_registry.registry_errors import SchemaMismatchError
from aiokafka_lite.schema_registry.schema_deserializer import Read, SchemaDeserializer
from aiokafka_lite.schema_registry.schema_registry_client import SchemaRegistryClient
from aiokafka_lite.schema_registry.schema_serializer import SchemaSerializer, Write
from aiokafka_lite.serialization import json_deserializer, json_serializer

Check = Callable[[Any], None]
_MOST_SHOWN = 300


class JSONSerializer(SchemaSerializer):
    """Writes JSON. `schema` is a JSON Schema, or a `Schema` with references."""

    _kind = "JSON"

    def __init__(
        self,
        registry: SchemaRegistryClient,
        schema: str | Schema | None = None,
        *,
        to_dict: Callable[[Any], Any] | None = None,
        validate: bool = True,
        **options: Any,
    ) -> None:
        """`schema` None: with `use_latest_version=True`, that of the subject.

        `to_dict` turns an object into what JSON takes. `validate`: check each object, which costs
        far more than writing it. `options` are those of `SchemaSerializer`.

        Raises: KafkaConfigurationError.
        """
        super().__init__(registry, **options)
        if schema is None and not self._use_latest:
            raise KafkaConfigurationError(
                "a JSONSerializer needs a schema, or use_latest_version=True"
            )
        self._schema = Schema(schema, "JSON") if isinstance(schema, str) else schema
        self._to_dict = to_dict
        self._validate = validate

    async def _schema_to_write(self) -> Schema:
        assert self._schema is not None
        return self._schema

    async def _record_name(self) -> str | None:
        if self._schema is None:
            return None
        parsed = _parsed(self._schema.schema_str)
        return parsed.get("title") if isinstance(parsed, dict) else None

    def _writer(self, schema: Schema, references: Mapping[str, Schema]) -> Write:
        check = validator(schema, references) if self._validate else None
        to_dict = self._to_dict

        def write(prefix: bytes, obj: Any) -> bytes:
            content = obj if to_dict is None else to_dict(obj)
            if check is not None:
                check(content)
            return prefix + json_serializer(content)

        return write


class JSONDeserializer(SchemaDeserializer):
    """Reads JSON to Python's own types, or to what `from_dict` makes of them."""

    _kind = "JSON"

    def __init__(
        self,
        registry: SchemaRegistryClient,
        schema: str | Schema | None = None,
        *,
        from_dict: Callable[[Any], Any] | None = None,
        validate: bool = True,
        **options: Any,
    ) -> None:
        """`schema`: what each value must be, without references; None: what it was written as.

        `validate`: check each value. `options` are those of `SchemaDeserializer`. Raises:
        SchemaMismatchError for a text that is not a JSON Schema.
        """
        super().__init__(registry, **options)
        schema = Schema(schema, "JSON") if isinstance(schema, str) else schema
        self._check = None if schema is None else validator(schema, {})
        self._from_dict = from_dict
        self._validate = validate

    def _reader(self, schema: Schema, references: Mapping[str, Schema]) -> Read:
        check = None
        if self._validate:
            check = self._check or validator(schema, references)
        from_dict = self._from_dict

        def read(data: bytes, position: int) -> Any:
            found = json_deserializer(data[position:])
            if check is not None:
                check(found)
            return found if from_dict is None else from_dict(found)

        return read


def validator(schema: Schema, references: Mapping[str, Schema]) -> Check:
    """Return what raises SerializationError for a value that a schema does not allow.

    Raises: SchemaMismatchError for a text that is not a JSON Schema.
    """
    jsonschema, referencing = library("jsonschema"), library("referencing")
    parsed = _parsed(schema.schema_str)
    kind = jsonschema.validators.validator_for(parsed, default=jsonschema.Draft7Validator)
    specification = library("referencing.jsonschema").DRAFT7
    resources = [
        (
            name,
            referencing.Resource.from_contents(
                _parsed(each.schema_str), default_specification=specification
            ),
        )
        for name, each in references.items()
    ]
    try:
        kind.check_schema(parsed)
    except jsonschema.SchemaError as error:
        raise SchemaMismatchError(
            f"this is not a JSON Schema: {error.json_path}: {error.message[:_MOST_SHOWN]}"
        ) from None
    # A registry of its own: without one, jsonschema would fetch what a `$ref` names.
    checker = kind(parsed, registry=referencing.Registry().with_resources(resources))

    def check(value: Any) -> None:
        try:
            checker.validate(value)
        except jsonschema.ValidationError as error:
            raise SerializationError(
                f"{error.json_path}: {error.message[:_MOST_SHOWN]}, by the rule"
                f" {error.validator!r} of the JSON Schema"
            ) from None
        except referencing.exceptions.Unresolvable as error:
            raise SerializationError(
                f"the JSON Schema refers to {error.ref!r}, which is none of its references"
            ) from None

    return check


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SchemaMismatchError(f"this is not a JSON Schema: {error}") from None


__all__ = ["JSONDeserializer", "JSONSerializer", "validator"]
