"""Protobuf: ours and confluent-kafka's write the same bytes and read each other's."""

from typing import Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient as TheirClient
from confluent_kafka.schema_registry import header_schema_id_serializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer as TheirDeserializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer as TheirSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from aiokafka_lite.errors import SerializationError
from aiokafka_lite.schema_registry import (
    ProtobufDeserializer,
    ProtobufSerializer,
    SchemaRegistryClient,
    WireFormatError,
    record_name_strategy,
)

CONTEXT = SerializationContext("orders", MessageField.VALUE)


def message_types() -> dict[str, Any]:
    """Return classes as protoc would generate them: two files, one imported by the other."""
    pool = descriptor_pool.DescriptorPool()
    units = descriptor_pb2.FileDescriptorProto(
        name="shop/units.proto", package="shop", syntax="proto3"
    )
    units.message_type.add(name="Money").field.add(name="cents", number=1, type=3, label=1)
    pool.Add(units)
    orders = descriptor_pb2.FileDescriptorProto(
        name="shop/orders.proto", package="shop", syntax="proto3", dependency=["shop/units.proto"]
    )
    order = orders.message_type.add(name="Order")
    order.field.add(name="id", number=1, type=5, label=1)
    order.field.add(name="price", number=2, type=11, label=1, type_name=".shop.Money")
    other = orders.message_type.add(name="Other")
    other.field.add(name="text", number=1, type=9, label=1)
    inner = other.nested_type.add(name="Inner")
    inner.field.add(name="flag", number=1, type=8, label=1)
    pool.Add(orders)
    names = ("shop.Money", "shop.Order", "shop.Other", "shop.Other.Inner")
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(name)) for name in names
    }


TYPES = message_types()
MESSAGES = [
    TYPES["shop.Order"](id=7, price=TYPES["shop.Money"](cents=100)),
    TYPES["shop.Other"](text="ü"),
    TYPES["shop.Other.Inner"](flag=True),
    TYPES["shop.Money"](),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda each: each.DESCRIPTOR.full_name)
async def test_both_write_the_same_bytes_and_read_them(
    registry: SchemaRegistryClient, theirs: TheirClient, message: Any
) -> None:
    serializer = ProtobufSerializer(registry, type(message))
    await serializer.prepare("orders")
    data = serializer.serialize("orders", [], message)
    assert TheirSerializer(type(message), theirs)(message, CONTEXT) == data
    assert TheirDeserializer(type(message), schema_registry_client=theirs)(data, CONTEXT) == message
    assert ProtobufDeserializer(type(message)).deserialize("orders", (), data) == message


async def test_imported_files_are_registered_under_their_names(
    registry: SchemaRegistryClient,
) -> None:
    serializer = ProtobufSerializer(
        registry, TYPES["shop.Order"], subject_name_strategy=record_name_strategy
    )
    await serializer.prepare("orders")
    assert await registry.get_subjects() == ["shop/units.proto", "shop.Order"]
    (reference,) = (await registry.get_latest_version("shop.Order")).schema.references
    assert (reference.name, reference.version) == ("shop/units.proto", 1)


@pytest.mark.parametrize("message", MESSAGES[:3], ids=lambda each: each.DESCRIPTOR.full_name)
async def test_the_id_may_stand_in_a_header(
    registry: SchemaRegistryClient, theirs: TheirClient, message: Any
) -> None:
    serializer = ProtobufSerializer(registry, type(message), schema_id_location="header")
    await serializer.prepare("orders")
    headers: list[tuple[str, bytes | None]] = []
    data = serializer.serialize("orders", headers, message)
    their_headers: list[Any] = []
    context = SerializationContext("orders", MessageField.VALUE, their_headers)
    conf = {"schema.id.serializer": header_schema_id_serializer}
    assert TheirSerializer(type(message), theirs, conf=conf)(message, context) == data
    assert their_headers == headers
    deserializer = ProtobufDeserializer(type(message))
    assert deserializer.deserialize("orders", [("x", b""), *headers], data) == message


async def test_another_type_is_refused(registry: SchemaRegistryClient) -> None:
    serializer = ProtobufSerializer(registry, TYPES["shop.Order"])
    await serializer.prepare("orders")
    with pytest.raises(SerializationError, match="Money was given to the serializer of"):
        serializer.serialize("orders", [], MESSAGES[3])


@pytest.mark.parametrize("data", [b"", b"\0\0\0\0\1", b"\1\0\0\0\1\0", b"\0\0\0\0\1\x80"])
def test_bytes_without_id_or_indexes_are_refused(data: bytes) -> None:
    with pytest.raises(WireFormatError):
        ProtobufDeserializer(TYPES["shop.Order"]).deserialize("orders", (), data)


def test_damaged_bytes_are_an_error() -> None:
    with pytest.raises(DecodeError):
        ProtobufDeserializer(TYPES["shop.Order"]).deserialize("t", (), b"\0\0\0\0\1\0\x0a")
