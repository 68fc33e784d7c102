"""Schemas as a registry knows them: text, type and references, with id, subject and version.

What a user gives is checked here, as options are. Does not wait. Source: Confluent's Schema
Registry API.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Self, cast, get_args

from aiokafka_lite.checks.value_checks import is_int, whole
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.schema_registry.registry_errors import SchemaRegistryError

SchemaType = Literal["AVRO", "JSON", "PROTOBUF"]
SchemaText = str | Mapping[str, Any] | list[Any]
"""The text of a schema, or the JSON in it, as `json.loads` returns it."""
_FILE_NAME: Final = re.compile(r"[^\s{}\[\]\"]+\.(avsc|avdl|avpr|json|proto)\Z", re.IGNORECASE)
NEWEST: Final = -1
"""Stands for a subject's newest version in a reference, as in Confluent's clients."""
_JSON_SCHEMA_TYPES: Final = ("object", "integer", "number")
_MOST_SHOWN: Final = 80


@dataclass(frozen=True, slots=True)
class SchemaReference:
    """A schema that another one uses."""

    name: str
    """The name that the other schema uses: an Avro name, a `$ref`, or an imported file."""
    subject: str
    version: int
    """-1: the newest, at each question."""

    def __post_init__(self) -> None:
        """Raises: KafkaConfigurationError for an argument of another type."""
        checked_name("name", self.name, "the name that the other schema uses")
        checked_name("subject", self.subject, "the name of a subject")
        if self.version != NEWEST:
            checked_version(self.version)


@dataclass(frozen=True, slots=True)
class Schema:
    """The text of a schema, its type, and the schemas it refers to.

    Instead of the text, `schema_str` may be given as the JSON in it: a dict or a list.
    """

    schema_str: str
    schema_type: SchemaType = "AVRO"
    references: tuple[SchemaReference, ...] = ()

    def __post_init__(self) -> None:
        """Raises: KafkaConfigurationError for arguments that cannot be a schema."""
        kind: object = self.schema_type
        if not isinstance(kind, str) or kind not in get_args(SchemaType):
            raise KafkaConfigurationError(
                f"schema_type: {shown(kind)} is no type of schemas; give 'AVRO', 'JSON' or"
                " 'PROTOBUF'"
            )
        object.__setattr__(self, "schema_str", _text(self.schema_str, kind))
        references: Any = self.references
        if not isinstance(references, (tuple, list)) or not all(
            isinstance(each, SchemaReference) for each in references
        ):
            raise KafkaConfigurationError(
                f"references: {shown(references)} is no tuple of SchemaReference; give"
                " (SchemaReference(name, subject, version),)"
            )
        object.__setattr__(self, "references", tuple(references))

    def body(self) -> dict[str, Any]:
        """Return the schema as the body of a request."""
        body: dict[str, Any] = {"schema": self.schema_str, "schemaType": self.schema_type}
        if self.references:
            body["references"] = [
                {"name": each.name, "subject": each.subject, "version": each.version}
                for each in self.references
            ]
        return body

    @classmethod
    def of(cls, answer: dict[str, Any], place: str) -> Self:
        """Return the schema in an answer to the request `place`.

        Raises: SchemaRegistryError for an answer without a schema.
        """
        text = answer.get("schema")
        try:
            references = tuple(
                SchemaReference(str(each["name"]), str(each["subject"]), int(each["version"]))
                for each in answer.get("references") or ()
            )
        except (TypeError, KeyError, ValueError):
            raise SchemaRegistryError(f"{place}: its references cannot be read") from None
        kind = answer.get("schemaType") or "AVRO"
        try:
            return cls(cast("str", text), cast("SchemaType", kind), references)
        except ValueError:
            raise SchemaRegistryError(
                f"{place}: an answer without a schema of type AVRO, JSON or PROTOBUF; is that a"
                " schema registry?"
            ) from None


@dataclass(frozen=True, slots=True)
class RegisteredSchema:
    """A schema in a registry."""

    schema: Schema
    schema_id: int
    subject: str | None = None
    version: int | None = None
    guid: str | None = None
    """The schema's id that all registries share; None if the registry does not tell it."""


def schema_of(value: object, kind: SchemaType) -> Schema:
    """Return what a user gave as a schema of this type; a `Schema` keeps the type it names.

    Raises: KafkaConfigurationError for anything but a Schema, a text, or the JSON in it.
    """
    if isinstance(value, Schema):
        return value
    schema = Schema(cast("str", value), kind)
    if kind == "AVRO" and _is_json_schema(schema.schema_str):
        raise KafkaConfigurationError(
            "schema: this is a JSON Schema, and not Avro; give Schema(text, 'JSON')"
        )
    return schema


def checked_name(name: str, value: object, meaning: str) -> str:
    """Return the argument `name`. Raises: KafkaConfigurationError unless it is a text."""
    if not isinstance(value, str) or not value:
        raise KafkaConfigurationError(
            f"{name}: {shown(value)} is no name; give {meaning}, which is a str"
        )
    return value


def checked_version(value: object) -> int:
    """Return the version of a subject. Raises: KafkaConfigurationError unless it can be one."""
    version = whole(value)
    if not is_int(version) or version < 1:
        raise KafkaConfigurationError(
            f"version: {shown(value)} is no version of a subject; give an int from 1 on"
        )
    return version


def check_flags(**flags: object) -> None:
    """Raise KafkaConfigurationError for the first option that is neither True nor False."""
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise KafkaConfigurationError(f"{name}={shown(value)} must be True or False")


def shown(value: object) -> str:
    """Return an argument as errors show it: a short text or number as it is, or the type."""
    text = repr(value) if isinstance(value, (str, int, float, type(None))) else ""
    return text if 0 < len(text) <= _MOST_SHOWN else f"a value of type {type(value).__name__}"


def _text(value: object, kind: str) -> str:
    if isinstance(value, (Mapping, list)) and kind != "PROTOBUF":
        try:
            return json.dumps(dict(value) if isinstance(value, Mapping) else value)
        except (TypeError, ValueError, RecursionError) as error:
            raise KafkaConfigurationError(
                f"schema: a {type(value).__name__} that JSON cannot hold: {error!s:.100}"
            ) from None
    if isinstance(value, os.PathLike):
        raise KafkaConfigurationError(
            f"schema: {shown(value)} is no schema; give the file's text: path.read_text()"
        )
    if not isinstance(value, str):
        raise KafkaConfigurationError(
            f"schema: {shown(value)} is no schema; give its text, the JSON in it as a dict or"
            " list, or a Schema"
        )
    if _FILE_NAME.match(value):
        raise KafkaConfigurationError(
            f"schema: {shown(value)} looks like the name of a file; give the file's text:"
            " Path(name).read_text()"
        )
    if not value.strip():
        raise KafkaConfigurationError("schema: the text is empty; give the text of a schema")
    return value


def _is_json_schema(text: str) -> bool:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and (
        not found.keys().isdisjoint(("$schema", "$id", "$ref", "properties"))
        or found.get("type") in _JSON_SCHEMA_TYPES
    )


__all__ = [
    "NEWEST",
    "RegisteredSchema",
    "Schema",
    "SchemaReference",
    "SchemaText",
    "SchemaType",
    "check_flags",
    "checked_name",
    "checked_version",
    "schema_of",
    "shown",
]
