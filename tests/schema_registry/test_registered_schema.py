"""A schema as the body of a request, and out of an answer."""

from typing import Any

import pytest

from aiokafka_lite.schema_registry.registered_schema import Schema, SchemaReference
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
