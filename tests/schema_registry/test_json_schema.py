"""JSON Schema: ours and confluent-kafka's write the same bytes, and refuse the same values."""

import json
from typing import Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient as TheirClient
from confluent_kafka.schema_registry.json_schema import JSONDeserializer as TheirDeserializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer as TheirSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from aiokafka_lite.errors import KafkaConfigurationError, SerializationError
from aiokafka_lite.schema_registry import (
    JSONDeserializer,
    JSONSerializer,
    Schema,
    SchemaMismatchError,
    SchemaReference,
    SchemaRegistryClient,
    record_name_strategy,
)
from aiokafka_lite.schema_registry.json_schema import validator
from aiokafka_lite.testing.schema_registry_server import SchemaRegistryServer

ORDER = json.dumps(
    {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Order",
        "type": "object",
        "properties": {"id": {"type": "integer", "minimum": 1}, "name": {"type": "string"}},
        "required": ["id"],
    }
)
VALUE = {"id": 7, "name": "ü"}
CONTEXT = SerializationContext("orders", MessageField.VALUE)


async def test_both_write_the_same_bytes_and_read_them(
    registry: SchemaRegistryClient, theirs: TheirClient
) -> None:
    serializer, deserializer = JSONSerializer(registry, ORDER), JSONDeserializer(registry)
    await serializer.prepare("orders")
    data = serializer.serialize("orders", [], VALUE)
    assert TheirSerializer(ORDER, theirs)(VALUE, CONTEXT) == data
    their_reader = TheirDeserializer(None, schema_registry_client=theirs)
    assert their_reader(data, CONTEXT) == VALUE
    await deserializer.prepare(1)
    assert deserializer.deserialize("orders", (), data) == VALUE


async def test_a_wrong_value_is_refused_on_both_sides(registry: SchemaRegistryClient) -> None:
    serializer = JSONSerializer(registry, ORDER)
    careless = JSONSerializer(registry, ORDER, validate=False)
    await serializer.prepare("orders")
    await careless.prepare("orders")
    too_small = r"\$\.id: a value of type int is against the rule 'minimum': 1 of"
    without = r"\$: a value of type dict is against the rule 'required': \['id'\] of"
    for wrong, said in (({"id": 0}, too_small), ({}, without)):
        with pytest.raises(SerializationError, match=said):
            serializer.serialize("orders", [], wrong)
        data = careless.serialize("orders", [], wrong)
        deserializer = JSONDeserializer(registry)
        await deserializer.prepare(1)
        with pytest.raises(SerializationError, match=said):
            deserializer.deserialize("orders", (), data)
        trusting = JSONDeserializer(registry, validate=False)
        await trusting.prepare(1)
        assert trusting.deserialize("orders", (), data) == wrong
    strict = JSONDeserializer(registry, '{"maxProperties": 0}')
    await strict.prepare(1)
    with pytest.raises(SerializationError, match="maxProperties"):
        strict.deserialize("orders", (), careless.serialize("orders", [], VALUE))


async def test_references_are_taken_from_the_registry(
    server: SchemaRegistryServer, registry: SchemaRegistryClient
) -> None:
    server.register("name", {"type": "string"}, schema_type="JSON")
    schema = Schema(
        json.dumps({"title": "P", "properties": {"name": {"$ref": "name.json"}}}),
        "JSON",
        (SchemaReference("name.json", "name", 1),),
    )
    serializer = JSONSerializer(registry, schema, subject_name_strategy=record_name_strategy)
    await serializer.prepare("t")
    assert await registry.get_versions("P") == [1]
    assert serializer.serialize("t", [], {"name": "x"}).endswith(b'{"name":"x"}')
    with pytest.raises(
        SerializationError, match=r"\$\.name: a value of type int.*'type': 'string'"
    ):
        serializer.serialize("t", [], {"name": 7})


def test_nothing_is_fetched_for_a_reference(server: SchemaRegistryServer) -> None:
    check = validator(Schema(json.dumps({"$ref": f"{server.url}/x"}), "JSON"), {})
    with pytest.raises(SerializationError, match="none of its references"):
        check(1)
    assert not server.requests


async def test_objects_are_turned_into_dicts_and_back(registry: SchemaRegistryClient) -> None:
    serializer = JSONSerializer(registry, ORDER, to_dict=lambda number: {"id": number})
    deserializer = JSONDeserializer(registry, from_dict=lambda found: found["id"])
    await serializer.prepare("orders")
    await deserializer.prepare(1)
    assert deserializer.deserialize("orders", (), serializer.serialize("orders", [], 9)) == 9


@pytest.mark.parametrize("text", ["{", '{"type": "nothing"}', '{"minimum": "x"}'])
def test_what_is_no_schema_is_refused(text: str) -> None:
    with pytest.raises(SchemaMismatchError, match="this is not a JSON Schema"):
        validator(Schema(text, "JSON"), {})


async def test_a_schema_is_needed(registry: SchemaRegistryClient) -> None:
    with pytest.raises(KafkaConfigurationError, match="needs a schema"):
        JSONSerializer(registry)
    newest: Any = JSONSerializer(registry, use_latest_version=True, auto_register_schemas=False)
    assert await newest._record_name() is None


@pytest.mark.parametrize(
    ("schema", "wrong", "place"),
    [
        (
            {"additionalProperties": {"type": "string"}},
            {"SECRET": 7},
            r"\$\.\*: a value of type int",
        ),
        ({"additionalProperties": False}, {"SECRET": 7}, r"\$: a value of type dict"),
        ({"items": {"enum": ["a"]}}, ["a", "SECRET"], r"\$\[1\]: a value of type str"),
        ({"propertyNames": {"maxLength": 3}}, {"SECRET": 7}, r"\$: a value of type str"),
        ({"properties": {"a": {"const": 1}}}, {"a": "SECRET" * 99}, r"\$\.a: a value of type str"),
    ],
)
def test_a_wrong_value_is_not_quoted(schema: Any, wrong: Any, place: str) -> None:
    check = validator(Schema(schema, "JSON"), {})
    with pytest.raises(SerializationError, match=place) as raised:
        check(wrong)
    assert "SECRET" not in str(raised.value)
    check([] if isinstance(wrong, list) else {})
