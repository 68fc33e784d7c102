"""Serializes and deserializes records of a known schema, by ours and by confluent-kafka's classes.

Both use the same registry on this machine, fastavro and protobuf. The schema is asked for before.
"""

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

from confluent_kafka.schema_registry import SchemaRegistryClient as ConfluentClient
from confluent_kafka.schema_registry import avro as confluent_avro
from confluent_kafka.schema_registry import protobuf as confluent_protobuf
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from aiokafka_lite.schema_registry import (
    AvroDeserializer,
    AvroSerializer,
    ProtobufDeserializer,
    ProtobufSerializer,
    SchemaRegistryClient,
)
from aiokafka_lite.testing.schema_registry_server import SchemaRegistryServer
from benchmarks.leaves.contest import Contender, Samples, measure

RECORDS = 5_000
SCHEMA = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "item", "type": "string"},
            {"name": "price", "type": "double"},
            {"name": "note", "type": ["null", "string"], "default": None},
        ],
    }
)
ORDER = {"id": 4711, "item": "tea, green, 100 g", "price": 4.95, "note": None}
TOPIC = "orders"


def _message_type() -> Any:
    """Return the class that protoc would make of the same record."""
    file = descriptor_pb2.FileDescriptorProto(name="order.proto", package="shop", syntax="proto3")
    order = file.message_type.add(name="Order")
    for number, (name, kind) in enumerate({"id": 3, "item": 9, "price": 1, "note": 9}.items()):
        order.field.add(name=name, number=number + 1, type=kind, label=1)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.Order"))


def schema_rows(rounds: int) -> Iterator[tuple[str, Samples]]:
    """Yield the name and the samples of each row."""
    message = _message_type()(**ORDER)
    with SchemaRegistryServer() as server, ConfluentClient({"url": server.url}) as client:
        ours = asyncio.run(_ours(server.url, message))
        theirs = _theirs(client, message)
        for row, (call, argument) in ours.items():
            their_call, their_argument = theirs[row]
            contenders = {
                "aiokafka-lite": _repeated(call, argument),
                "confluent-kafka": _repeated(their_call, their_argument),
            }
            yield row, measure(contenders, rounds)


Row = tuple[Callable[[Any], object], Any]


async def _ours(url: str, message: Any) -> dict[str, Row]:
    async with SchemaRegistryClient(url) as registry:
        avro, reader = AvroSerializer(registry, SCHEMA), AvroDeserializer(registry)
        protobuf = ProtobufSerializer(registry, type(message), is_key=True)
        await avro.prepare(TOPIC)
        await protobuf.prepare(TOPIC)
        await reader.prepare(1)
    parser = ProtobufDeserializer(type(message))
    headers: list[tuple[str, bytes | None]] = []
    data = avro.serialize(TOPIC, headers, ORDER)
    wire = protobuf.serialize(TOPIC, headers, message)
    return {
        "Avro, serialize": (lambda each: avro.serialize(TOPIC, headers, each), ORDER),
        "Avro, deserialize": (lambda each: reader.deserialize(TOPIC, (), each), data),
        "Protobuf, serialize": (lambda each: protobuf.serialize(TOPIC, headers, each), message),
        "Protobuf, deserialize": (lambda each: parser.deserialize(TOPIC, (), each), wire),
    }


def _theirs(client: ConfluentClient, message: Any) -> dict[str, Row]:
    context = SerializationContext(TOPIC, MessageField.VALUE)
    key_context = SerializationContext(TOPIC, MessageField.KEY)
    avro = confluent_avro.AvroSerializer(client, SCHEMA)
    reader = confluent_avro.AvroDeserializer(client)
    protobuf = confluent_protobuf.ProtobufSerializer(type(message), client)
    parser = confluent_protobuf.ProtobufDeserializer(type(message), schema_registry_client=client)
    data, wire = avro(ORDER, context), protobuf(message, key_context)
    return {
        "Avro, serialize": (lambda each: avro(each, context), ORDER),
        "Avro, deserialize": (lambda each: reader(each, context), data),
        "Protobuf, serialize": (lambda each: protobuf(each, key_context), message),
        "Protobuf, deserialize": (lambda each: parser(each, key_context), wire),
    }


def _repeated(call: Callable[[Any], object], argument: Any) -> Contender:
    def run() -> int:
        for _ in range(RECORDS):
            call(argument)
        return RECORDS

    return run


__all__ = ["schema_rows"]
