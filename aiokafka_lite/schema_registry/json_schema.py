"""JSON that is checked against its JSON Schema, by jsonschema.

References are taken from the registry only: a `$ref` to another address is an error, and nothing is
fetched. The name of a reference is relative to the schema that uses it, and to its `$id`.
jsonschema is imported at the first use.
"""

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import urldefrag, urljoin, urlsplit

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import KafkaConfigurationError, SerializationError
from aiokafka_lite.schema_registry.libraries import library
from aiokafka_lite.schema_registry.registered_schema import (
    Schema,
    SchemaReference,
    SchemaText,
    check_flags,
)
from aiokafka_lite.schema_registry.registry_errors import SchemaMismatchError
from aiokafka_lite.schema_registry.schema_deserializer import Read, SchemaDeserializer
from aiokafka_lite.schema_registry.schema_registry_client import SchemaRegistryClient
from aiokafka_lite.schema_registry.schema_serializer import SchemaSerializer, Write
from aiokafka_lite.serialization import json_deserializer, json_serializer

Check = Callable[[Any], None]
_NOT_A_SCHEMA: Final = "this is not a JSON Schema"
_MOST_SHOWN: Final = 100
_MOST_ADDRESSES: Final = 5_000
"""Under how many addresses the references of one schema are found."""
_MOST_ADDRESS_CHARACTERS: Final = 2_000


class JSONSerializer(SchemaSerializer):
    """Writes JSON. `schema` is a JSON Schema as text or dict, or a `Schema` with references."""

    _kind = "JSON"

    def __init__(
        self,
        registry: SchemaRegistryClient,
        schema: Schema | SchemaText | None = None,
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
        self._schema = self._own_schema(schema, to_dict)
        _check_alone(self._schema)
        self._to_dict = to_dict
        check_flags(validate=validate)
        self._validate = validate

    async def _schema_to_write(self) -> Schema:
        assert self._schema is not None
        return self._schema

    async def _record_name(self) -> str | None:
        if self._schema is None:
            return None
        parsed = _parsed(self._schema.schema_str)
        return parsed.get("title") if isinstance(parsed, dict) else None

    def _writer(self, schema: Schema, references: Mapping[SchemaReference, Schema]) -> Write:
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
        schema: Schema | SchemaText | None = None,
        *,
        from_dict: Callable[[Any], Any] | None = None,
        validate: bool = True,
        **options: Any,
    ) -> None:
        """`schema`: what each value must be, as text, dict, or a `Schema` with references of its
        own; None: what it was written as.

        `validate`: check each value. `options` are those of `SchemaDeserializer`. Raises:
        KafkaConfigurationError for a text that is not a JSON Schema.
        """
        super().__init__(registry, schema, from_dict, **options)
        _check_alone(self._schema)
        self._from_dict = from_dict
        check_flags(validate=validate)
        self._validate = validate

    def _reader(
        self,
        schema: Schema,
        references: Mapping[SchemaReference, Schema],
        own: Mapping[SchemaReference, Schema],
    ) -> Read:
        check = None
        if self._validate and self._schema is not None:
            check = validator(self._schema, own)
        elif self._validate:
            check = validator(schema, references)
        from_dict = self._from_dict

        def read(data: bytes, position: int) -> Any:
            found = json_deserializer(data[position:])
            if check is not None:
                check(found)
            return found if from_dict is None else from_dict(found)

        return read


def validator(schema: Schema, references: Mapping[SchemaReference, Schema]) -> Check:
    """Return what raises SerializationError for a value that a schema does not allow.

    `references` holds every schema that it needs, directly or not. Raises: SchemaMismatchError for
    a text that is not a JSON Schema.
    """
    jsonschema, referencing = library("jsonschema"), library("referencing")
    parsed = _parsed(schema.schema_str)
    kind = jsonschema.validators.validator_for(parsed, default=jsonschema.Draft7Validator)
    try:
        kind.check_schema(parsed)
    except jsonschema.SchemaError as error:
        raise SchemaMismatchError(
            f"{_NOT_A_SCHEMA}: {error.json_path:.100}: {error.message[:_MOST_SHOWN]}"
        ) from None
    resources = _addressed(schema, references)
    # A registry of its own: without one, jsonschema would fetch what a `$ref` names.
    checker = kind(parsed, registry=referencing.Registry().with_resources(resources.items()))

    def check(value: Any) -> None:
        try:
            checker.validate(value)
        except jsonschema.ValidationError as error:
            raise SerializationError(_fault(error)) from None
        except referencing.exceptions.Unresolvable as error:
            raise SerializationError(
                f"the JSON Schema refers to {quoted(error.ref)}, which is none of its references"
            ) from None

    return check


def _addressed(schema: Schema, references: Mapping[SchemaReference, Schema]) -> dict[str, Any]:
    """Return the schemas of the references by each address under which a `$ref` may look for them.

    A name is relative to the `$id` of the schema at the top, as in Java's serializers. It is also
    relative to each `$id` of the schema that uses it. A schema without one has the address of its
    reference. Of two at one address the first counts.
    """
    resources = {each: _resource(text.schema_str) for each, text in references.items()}
    ids = {each: _ids(resource) for each, resource in resources.items()}
    tops = ["", *_bases("", _ids(_resource(schema.schema_str)))]
    found: dict[str, Any] = {}
    todo = [(each, tops) for each in reversed(schema.references)]
    while todo:
        reference, bases = todo.pop()
        resource = resources[reference]
        for base in dict.fromkeys((*bases, *tops)):
            address = urldefrag(urljoin(base, reference.name))[0]
            if address in found or len(address) > _MOST_ADDRESS_CHARACTERS:
                continue
            found[address] = resource
            if len(found) > _MOST_ADDRESSES:
                raise SchemaMismatchError(
                    f"the references of the JSON Schema have more than {_MOST_ADDRESSES:,}"
                    " addresses; merge some of the schemas"
                )
            inside = [*_bases(address, ids[reference])]
            todo += [(each, inside) for each in reversed(references[reference].references)]
    return found


def _resource(text: str) -> Any:
    contents = _parsed(text)
    if not isinstance(contents, (dict, bool)):
        raise SchemaMismatchError(f"{_NOT_A_SCHEMA}: it is neither an object nor a boolean")
    draft_7 = library("referencing.jsonschema").DRAFT7
    return library("referencing").Resource.from_contents(contents, default_specification=draft_7)


def _ids(resource: Any, *outer: str) -> set[tuple[str, ...]]:
    """Return each `$id` of a schema, behind those around it; () stands for none at all."""
    try:
        own = resource.id()
        path = outer if own is None else (*outer, own)
        found = {path}
        for each in resource.subresources():
            found |= _ids(each, *path)
        if own is not None:
            urlsplit(own)  # is it an address?
    except (AttributeError, TypeError, ValueError, RecursionError):
        raise SchemaMismatchError(f"{_NOT_A_SCHEMA}, or has a wrong $id") from None
    return found


def _bases(address: str, ids: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Yield what the names in a schema are relative to: its address, or its `$id`, and each `$id`
    inside.
    """
    for each in sorted(ids, key=len):
        yield functools.reduce(urljoin, each, address)


def _fault(error: Any) -> str:
    """Return where a value is against its schema, and by which rule; nothing of the value."""
    rules = error.absolute_schema_path
    # Names that the schema has, too, are no data.
    place = "".join(
        f"[{each}]" if isinstance(each, int) else f".{each}" if each in rules else ".*"
        for each in error.absolute_path
    )
    rule = _names(f"{quoted(error.validator_value)}")
    return (
        f"${place:.100}: a value of type {type(error.instance).__name__} is against the rule"
        f" {error.validator!r}: {rule} of the JSON Schema"
    )


def _names(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def _check_alone(schema: Schema | None) -> None:
    """Raise KafkaConfigurationError unless a user's schema is one, as far as it is known here."""
    if schema is not None and schema.schema_type == "JSON" and not schema.references:
        try:
            validator(schema, {})
        except SchemaMismatchError as error:
            raise KafkaConfigurationError(error.args[0]) from None


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SchemaMismatchError(f"{_NOT_A_SCHEMA}: {error!s:.100}") from None


__all__ = ["JSONDeserializer", "JSONSerializer", "validator"]
