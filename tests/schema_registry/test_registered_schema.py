"""A schema as the body of a request, and out of an answer."""

import json
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.schema_registry.registered_schema import (
    Schema,
    SchemaReference,
    schema_of,
)
from aiokafka_lite.schema_registry.registry_errors import SchemaRegistryError


def test_a_schema_comes_back_as_it_was_sent() -> None:
    schema = Schema("{}", "JSON", (SchemaReference("a.json", "a", 3),))
    body = schema.body()
    assert body["references"] == [{"name": "a.json", "subject": "a", "version": 3}]
    assert Schema.of(body, "here") == schema
    assert Schema.of({"schema": '"int"'}, "here") == Schema('"int"')


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"id": 7}, "here: an answer without a schema"),
        ({"schema": 7}, "here: an answer without a schema"),
        ({"schema": "{}", "schemaType": "THRIFT"}, "of type AVRO, JSON or PROTOBUF"),
        ({"schema": "{}", "references": [{"name": "x"}]}, "here: its references cannot be read"),
        ({"schema": "{}", "references": 7}, "here: its references cannot be read"),
    ],
)
def test_what_is_no_schema_is_refused(answer: dict[str, Any], said: str) -> None:
    with pytest.raises(SchemaRegistryError, match=said):
        Schema.of(answer, "here")


LONG = "SECRET" * 200_000


@pytest.mark.parametrize("given", [{"type": "int"}, MappingProxyType({"type": "int"}), ["int"]])
def test_a_schema_may_be_given_as_json(given: Any) -> None:
    schema = schema_of(given, "AVRO")
    assert schema == Schema(json.dumps(dict(given) if not isinstance(given, list) else given))
    assert hash(schema) == hash(schema_of(given, "AVRO"))
    assert schema_of(schema, "JSON") is schema


def test_references_may_be_given_as_a_list() -> None:
    reference = SchemaReference("a", "b", 1)
    listed: Any = [reference]
    assert Schema("int", "AVRO", listed).references == (reference,)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Schema(7), r"schema: 7 is no schema; give its text"),  # type: ignore[arg-type]
        (lambda: Schema(b"int"), r"schema: a value of type bytes is no schema"),  # type: ignore[arg-type]
        (lambda: Schema(Path("order.avsc")), r"path\.read_text\(\)"),  # type: ignore[arg-type]
        (lambda: Schema("order.avsc"), r"'order\.avsc' looks like the name of a file; give"),
        (lambda: Schema("a/order.json", "JSON"), r"looks like the name of a file"),
        (lambda: Schema("C:\\x\\Order.proto", "PROTOBUF"), r"looks like the name of a file"),
        (lambda: Schema(" "), r"schema: the text is empty"),
        (lambda: Schema({"a": object()}), r"a dict that JSON cannot hold"),  # type: ignore[arg-type]
        (lambda: Schema({}, "PROTOBUF"), r"schema: a value of type dict is no schema"),  # type: ignore[arg-type]
        (lambda: Schema("{}", "json"), r"'json' is no type of schemas; give 'AVRO'"),  # type: ignore[arg-type]
        (lambda: Schema("{}", []), r"of type list is no type of schemas"),  # type: ignore[arg-type]
        (lambda: Schema("{}", "JSON", ("x",)), r"references: .* is no tuple of Schema"),  # type: ignore[arg-type]
        (lambda: Schema("{}", "JSON", {"name": 1}), r"references: .* of type dict"),  # type: ignore[arg-type]
        (
            lambda: Schema("{}", "JSON", SchemaReference("a", "b", 1)),  # type: ignore[arg-type]
            r"of type SchemaReference is no tuple",
        ),
        (lambda: SchemaReference({}, "b", 1), r"name: a value of type dict is no name"),  # type: ignore[arg-type]
        (lambda: SchemaReference("a", Schema("int"), 1), r"subject: .* of type Schema"),  # type: ignore[arg-type]
        (lambda: SchemaReference("a", "", 1), r"subject: '' is no name"),
        (lambda: SchemaReference("a", "b", "latest"), r"version: 'latest' is no version"),  # type: ignore[arg-type]
        (lambda: SchemaReference("a", "b", True), r"version: True is no version"),
        (lambda: SchemaReference("a", "b", 0), r"version: 0 is no version"),
        (lambda: Schema(LONG + ".avsc"), r"a value of type str looks like"),
        (lambda: Schema("{}", LONG), r"schema_type: a value of type str"),  # type: ignore[arg-type]
        (lambda: SchemaReference("a", "b", LONG), r"version: a value of type str"),  # type: ignore[arg-type]
        (
            lambda: schema_of('{"$schema": "x"}', "AVRO"),
            r"is a JSON Schema.*; give Schema",
        ),
        (lambda: schema_of({"type": "object"}, "AVRO"), r"is a JSON Schema, and not Avro"),
    ],
)
def test_arguments_are_checked_where_they_are_given(make: Callable[[], object], said: str) -> None:
    with pytest.raises(KafkaConfigurationError, match=said) as raised:
        make()
    assert "SECRET" not in str(raised.value)
