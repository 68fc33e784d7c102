"""Schemas as a registry knows them: text, type and references, with id, subject and version.

Does not wait. Source: Confluent's Schema Registry API.
"""

from dataclasses import dataclass
from typing import Any, Literal, Self, cast

from aiokafka_lite.schema_registry.registry_errors import SchemaRegistryError

SchemaType = Literal["AVRO", "JSON", "PROTOBUF"]


@dataclass(frozen=True, slots=True)
class SchemaReference:
    """A schema that another one uses."""

    name: str
    """The name that the other schema uses: an Avro name, a `$ref`, or an imported file."""
    subject: str
    version: int


@dataclass(frozen=True, slots=True)
class Schema:
    """The text of a schema, its type, and the schemas it refers to."""

    schema_str: str
    schema_type: SchemaType = "AVRO"
    references: tuple[SchemaReference, ...] = ()

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
        if not isinstance(text, str) or kind not in ("AVRO", "JSON", "PROTOBUF"):
            raise SchemaRegistryError(
                f"{place}: an answer without a schema of type AVRO, JSON or PROTOBUF; is that a"
                " schema registry?"
            )
        return cls(text, cast("SchemaType", kind), references)


@dataclass(frozen=True, slots=True)
class RegisteredSchema:
    """A schema in a registry."""

    schema: Schema
    schema_id: int
    subject: str | None = None
    version: int | None = None
    guid: str | None = None
    """The schema's id that all registries share; None if the registry does not tell it."""


__all__ = ["RegisteredSchema", "Schema", "SchemaReference", "SchemaType"]
