"""Avro: ours and confluent-kafka's write the same bytes and read each other's."""

import datetime as dt
import decimal
import json
from typing import Any

import pytest
from confluent_kafka.schema_registry import Schema as TheirSchema
from confluent_kafka.schema_registry import SchemaReference as TheirReference
from confluent_kafka.schema_registry import SchemaRegistryClient as TheirClient
from confluent_kafka.schema_registry import header_schema_id_serializer
from confluent_kafka.schema_registry.avro import AvroDeserializer as TheirDeserializer
from confluent_kafka.schema_registry.avro import AvroSerializer as TheirSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from aiokafka_lite.errors import KafkaConfigurationError, SerializationError
from aiokafka_lite.schema_registry import (
    AvroDeserializer,
    AvroSerializer,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
)
from aiokafka_lite.schema_registry.avro import TrailingBytesError, parse_avro
from aiokafka_lite.serialization import NotPreparedError
from aiokafka_lite.testing.schema_registry_server import SchemaRegistryServer

ORDER = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "name", "type": ["null", "string"], "default": None},
        {
            "name": "price",
            "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
        },
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "tags", "type": {"type": "map", "values": {"type": "array", "items": "double"}}},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
    ],
}
VALUE = {
    "id": 2**40,
    "name": "ü",
    "price": decimal.Decimal("12.34"),
    "at": dt.datetime(2026, 1, 2, 3, 4, 5, 6000, tzinfo=dt.UTC),
    "tags": {"x": [1.5, -2.0]},
    "kind": "B",
}
CONTEXT = SerializationContext("orders", MessageField.VALUE)


@pytest.mark.parametrize(
    ("schema", "value"),
    [(ORDER, VALUE), ("string", "x"), ("bytes", b"raw"), ("int", -7), (["null", "int"], 7)],
)
async def test_both_write_the_same_bytes_and_read_them(
    server: SchemaRegistryServer,
    registry: SchemaRegistryClient,
    schema: Any,
    value: Any,
    theirs: TheirClient,
) -> None:
    text = json.dumps(schema)
    serializer, deserializer = AvroSerializer(registry, text), AvroDeserializer(registry)
    await serializer.prepare("orders")
    ours = serializer.serialize("orders", [], value)
    assert TheirSerializer(theirs, text)(value, CONTEXT) == ours
    assert TheirDeserializer(theirs)(ours, CONTEXT) == value
    await deserializer.prepare(1)
    assert deserializer.deserialize("orders", (), ours) == value


async def test_theirs_is_read_by_a_reader_of_another_schema(
    server: SchemaRegistryServer, registry: SchemaRegistryClient, theirs: TheirClient
) -> None:
    data = TheirSerializer(theirs, json.dumps(ORDER))(VALUE, CONTEXT)
    reader = {
        "type": "record",
        "name": "Order",
        "namespace": "shop",
        "fields": [{"name": "id", "type": "long"}, {"name": "new", "type": "int", "default": 5}],
    }
    deserializer = AvroDeserializer(
        registry, json.dumps(reader), from_dict=lambda found: tuple(found.values())
    )
    await deserializer.prepare(1)
    assert deserializer.deserialize("orders", (), data) == (2**40, 5)


async def test_theirs_is_read_with_the_id_in_a_header(
    server: SchemaRegistryServer, registry: SchemaRegistryClient, theirs: TheirClient
) -> None:
    headers: list[Any] = []
    context = SerializationContext("orders", MessageField.VALUE, headers)
    conf = {"schema.id.serializer": header_schema_id_serializer}
    data = TheirSerializer(theirs, '"int"', conf=conf)(7, context)
    ours = AvroSerializer(registry, '"int"', schema_id_location="header")
    await ours.prepare("orders")
    our_headers: list[tuple[str, bytes | None]] = []
    assert ours.serialize("orders", our_headers, 7) == data
    assert our_headers == headers
    (name, header), deserializer = headers[0], AvroDeserializer(registry)
    with pytest.raises(NotPreparedError) as raised:
        deserializer.deserialize("orders", [(name, header)], data)
    await raised.value.prepare()
    assert deserializer.deserialize("orders", [(name, header)], data) == 7


async def test_references_are_followed(
    server: SchemaRegistryServer, registry: SchemaRegistryClient, theirs: TheirClient
) -> None:
    address = {"type": "record", "name": "n.A", "fields": [{"name": "street", "type": "string"}]}
    person = {"type": "record", "name": "n.P", "fields": [{"name": "home", "type": "n.A"}]}
    server.register("address", address)
    schema = Schema(json.dumps(person), references=(SchemaReference("n.A", "address", 1),))
    serializer, deserializer = AvroSerializer(registry, schema), AvroDeserializer(registry)
    await serializer.prepare("orders")
    value = {"home": {"street": "x"}}
    data = serializer.serialize("orders", [], value)
    their_schema = TheirSchema(json.dumps(person), "AVRO", [TheirReference("n.A", "address", 1)])
    assert TheirSerializer(theirs, their_schema)(value, CONTEXT) == data
    assert TheirDeserializer(theirs)(data, CONTEXT) == value
    await deserializer.prepare(2)
    assert deserializer.deserialize("orders", (), data) == value


async def test_objects_are_turned_into_dicts_and_back(registry: SchemaRegistryClient) -> None:
    serializer = AvroSerializer(
        registry, json.dumps(ORDER), to_dict=lambda key: {**VALUE, "id": key}
    )
    deserializer = AvroDeserializer(registry, from_dict=lambda found: found["id"])
    await serializer.prepare("orders")
    await deserializer.prepare(1)
    assert deserializer.deserialize("orders", (), serializer.serialize("orders", [], 9)) == 9


async def test_damaged_bytes_are_an_error(
    server: SchemaRegistryServer, registry: SchemaRegistryClient
) -> None:
    server.register("orders-value", "string")
    deserializer = AvroDeserializer(registry)
    await deserializer.prepare(1)
    with pytest.raises(EOFError, match="the bytes end before the value does"):
        deserializer.deserialize("orders", (), b"\0\0\0\0\1\6x")
    with pytest.raises(TrailingBytesError, match="ends 1 bytes before"):
        deserializer.deserialize("orders", (), b"\0\0\0\0\1\2xy")


@pytest.mark.parametrize("text", ['{"type": "record"}', "nothing", "[", '{"type": 7}'])
def test_what_is_not_a_schema_is_refused(text: str) -> None:
    with pytest.raises(KafkaConfigurationError, match="this is not an Avro schema"):
        parse_avro(text)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({**VALUE, "id": "SECRET"}, r"type dict does not fit the Avro schema, field id: TypeError"),
        ({**VALUE, "name": b"SECRET"}, r"does not fit the Avro schema, field name: ValueError"),
        ({"id": 7}, r"does not fit the Avro schema, field price: \w+"),
        ("SECRET", r"a value of type str does not fit the Avro schema, field id: \w+"),
    ],
)
async def test_a_value_that_does_not_fit_is_not_quoted(
    registry: SchemaRegistryClient, wrong: Any, said: str
) -> None:
    serializer = AvroSerializer(registry, ORDER)
    await serializer.prepare("orders")
    with pytest.raises(SerializationError, match=said) as raised:
        serializer.serialize("orders", [], wrong)
    assert "SECRET" not in str(raised.value)
    assert raised.value.__suppress_context__, "the library's text is in no traceback"
