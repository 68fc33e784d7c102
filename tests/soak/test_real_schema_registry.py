"""A real schema registry: what the client and the serializers do with one.

The witness is confluent-kafka, whose client and serializers use the same registry.
"""

import json
import secrets
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient as TheirClient
from confluent_kafka.schema_registry.avro import AvroDeserializer as TheirAvroDeserializer
from confluent_kafka.schema_registry.avro import AvroSerializer as TheirAvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer as TheirJSONDeserializer
from confluent_kafka.schema_registry.protobuf import (
    ProtobufDeserializer as TheirProtobufDeserializer,
)
from confluent_kafka.serialization import MessageField, SerializationContext

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.schema_registry import (
    AvroDeserializer,
    AvroSerializer,
    IncompatibleSchemaError,
    InvalidSchemaError,
    JSONDeserializer,
    JSONSerializer,
    ProtobufDeserializer,
    ProtobufSerializer,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    UnknownSchemaError,
)
from aiokafka_lite.schema_registry.registered_schema import NEWEST
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.schema_registry.test_protobuf import TYPES
from tests.schema_registry.test_references import AVRO, JSON, Case, protobuf_types
from tests.schema_registry.test_references import filled as filled_message
from tests.spark.decode.test_avro_decoder import record
from tests.support.apicurio_registry import apicurio_registry

CONTEXT = SerializationContext("orders", MessageField.VALUE)
ORDER = record(id="long", item="string")
NEWER = record(id="long", item="string", note={"type": "string", "default": "?"})
OTHER = record(id="string", item="string")
_JSON_SCHEMA = {"$schema": "http://json-schema.org/draft-07/schema#"}
"""By this the registry knows that a text is JSON Schema."""
CENTS = json.dumps({**_JSON_SCHEMA, "type": "integer", "minimum": 1})
PAYMENT = {**_JSON_SCHEMA, "title": "Payment", "type": "object"}

pytestmark = [pytest.mark.soak, pytest.mark.timeout(900)]


@pytest.fixture(scope="module", name="url")
def _url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with apicurio_registry(tmp_path_factory.mktemp("apicurio")) as url:
        yield url


@pytest.fixture(name="registry")
async def _registry(url: str) -> AsyncIterator[SchemaRegistryClient]:
    async with SchemaRegistryClient(url) as client:
        yield client


@pytest.fixture(name="theirs")
def _theirs(url: str) -> Iterator[TheirClient]:
    with TheirClient({"url": url}) as client:
        yield client


async def test_subjects_versions_and_ids(
    registry: SchemaRegistryClient, theirs: TheirClient
) -> None:
    first = await registry.register_schema("s-value", Schema(ORDER))
    second = await registry.register_schema("s-value", Schema(NEWER))
    assert first.schema_id != second.schema_id
    assert await registry.register_schema("s-value", Schema(ORDER)) == first, "it had that before"
    assert (await registry.lookup_schema("s-value", Schema(NEWER))).version == 2
    assert await registry.get_versions("s-value") == [1, 2]
    assert "s-value" in await registry.get_subjects()
    newest = await registry.get_latest_version("s-value")
    assert (newest.schema_id, newest.version) == (second.schema_id, 2)
    assert json.loads(newest.schema.schema_str) == json.loads(NEWER)
    seen = theirs.get_latest_version("s-value")
    assert (seen.schema_id, seen.version) == (second.schema_id, 2)
    async with SchemaRegistryClient(str(registry.urls[0])) as another:
        found = await another.get_schema(first.schema_id)
    assert json.loads(found.schema.schema_str) == json.loads(ORDER)


async def test_what_is_unknown_refused_or_no_schema(registry: SchemaRegistryClient) -> None:
    with pytest.raises(UnknownSchemaError, match="4711"):
        await registry.get_schema(4711)
    with pytest.raises(UnknownSchemaError, match="nobody"):
        await registry.get_versions("nobody")
    with pytest.raises(UnknownSchemaError):
        await registry.lookup_schema("nobody", Schema(ORDER))
    with pytest.raises(InvalidSchemaError):
        await registry.register_schema("bad-value", Schema('{"type": "nothing"}'))
    await registry.register_schema("c-value", Schema(ORDER))
    await registry.set_compatibility("BACKWARD", "c-value")
    assert await registry.get_compatibility("c-value") == "BACKWARD"
    assert await registry.test_compatibility("c-value", Schema(NEWER))
    assert not await registry.test_compatibility("c-value", Schema(OTHER))
    with pytest.raises(IncompatibleSchemaError):
        await registry.register_schema("c-value", Schema(OTHER))


async def test_what_is_deleted_is_unknown(registry: SchemaRegistryClient) -> None:
    subject = f"d-{secrets.token_hex(4)}"  # what is deleted keeps its versions
    await registry.register_schema(subject, Schema(ORDER))
    await registry.register_schema(subject, Schema(NEWER))
    await registry.delete_version(subject, 1)
    assert await registry.get_versions(subject) == [2]
    await registry.delete_subject(subject)
    assert subject not in await registry.get_subjects()


async def test_avro_out_and_back(
    registry: SchemaRegistryClient, theirs: TheirClient, kafka_broker: EmbeddedBroker
) -> None:
    value = {"id": 2**40, "item": "tea"}
    serializer = AvroSerializer(registry, ORDER)
    address = kafka_broker.bootstrap_servers
    async with AIOKafkaProducer(bootstrap_servers=address, value_serializer=serializer) as producer:
        await producer.send_and_wait("orders", value)
    async with AIOKafkaConsumer(
        "orders",
        bootstrap_servers=address,
        auto_offset_reset="earliest",
        value_deserializer=AvroDeserializer(registry, NEWER),
    ) as consumer:
        assert (await consumer.getone()).value == {**value, "note": "?"}
    (sent,) = kafka_broker.log(("orders", 0)).records()
    assert TheirAvroDeserializer(theirs)(sent.value, CONTEXT) == value
    assert TheirAvroSerializer(theirs, ORDER)(value, CONTEXT) == sent.value


async def test_references_of_each_format(
    registry: SchemaRegistryClient, theirs: TheirClient
) -> None:
    await registry.register_schema("money", Schema(CENTS, "JSON"))
    properties = {"cents": {"$ref": "money.json"}}
    payment = Schema(
        json.dumps({**PAYMENT, "properties": properties}),
        "JSON",
        (SchemaReference("money.json", "money", 1),),
    )
    serializer = JSONSerializer(registry, payment)
    await serializer.prepare("orders")
    data = serializer.serialize("orders", [], {"cents": 5})
    deserializer = JSONDeserializer(registry)
    await deserializer.prepare(int.from_bytes(data[1:5], "big"))
    assert deserializer.deserialize("orders", (), data) == {"cents": 5}
    assert TheirJSONDeserializer(json.dumps(PAYMENT))(data, CONTEXT) == {"cents": 5}

    money = TYPES["shop.Money"](cents=100)
    message = TYPES["shop.Order"](id=7, price=money)
    protobuf = ProtobufSerializer(registry, type(message))
    await protobuf.prepare("protobuf")
    data = protobuf.serialize("protobuf", [], message)
    assert ProtobufDeserializer(type(message)).deserialize("protobuf", (), data) == message
    their = TheirProtobufDeserializer(type(message), {"use.deprecated.format": False})
    assert their(data, CONTEXT) == message
    assert "shop/units.proto" in await registry.get_subjects()


async def registered(registry: SchemaRegistryClient, case: Case, kind: Any) -> Schema:
    """Register what the case's schema refers to, under names of its own; return that schema."""
    prefix = secrets.token_hex(4)

    def made(content: Any, references: Any) -> Schema:
        if kind == "JSON":  # by this the registry knows the type
            content = {**_JSON_SCHEMA, **content}
        listed = (SchemaReference(name, f"{prefix}-{of}", n) for name, of, n in references)
        return Schema(json.dumps(content), kind, tuple(listed))

    for subject, content, references in case.first:
        await registry.register_schema(f"{prefix}-{subject}", made(content, references))
    return made(case.schema, case.references)


@pytest.mark.parametrize(
    ("kind", "name"), [*(("AVRO", name) for name in AVRO), *(("JSON", name) for name in JSON)]
)
async def test_each_shape_of_references(
    registry: SchemaRegistryClient, url: str, kind: str, name: str
) -> None:
    case = {"AVRO": AVRO, "JSON": JSON}[kind][name]
    if any(version == NEWEST for _, _, version in case.references):
        pytest.skip("this registry takes no -1 for the newest version")
    schema = await registered(registry, case, kind)
    topic = secrets.token_hex(4)
    serializer: Any = {"AVRO": AvroSerializer, "JSON": JSONSerializer}[kind](registry, schema)
    await serializer.prepare(topic)
    async with SchemaRegistryClient(url) as another:  # which knows what the registry tells
        reader: Any = {"AVRO": AvroDeserializer, "JSON": JSONDeserializer}[kind](another)
        for value in case.values:
            data = serializer.serialize(topic, [], value)
            await reader.prepare(int.from_bytes(data[1:5], "big"))
            assert reader.deserialize(topic, (), data) == value


async def test_protobuf_imports(registry: SchemaRegistryClient, theirs: TheirClient) -> None:
    for kind in protobuf_types():
        message = filled_message(kind())
        topic = secrets.token_hex(4)
        serializer = ProtobufSerializer(registry, kind)
        await serializer.prepare(topic)
        data = serializer.serialize(topic, [], message)
        assert ProtobufDeserializer(kind).deserialize(topic, (), data) == message
        newest = await registry.get_latest_version(f"{topic}-value")
        own = [
            each.name
            for each in kind.DESCRIPTOR.file.dependencies
            if not each.name.startswith("google/")
        ]
        assert [each.name for each in newest.schema.references] == own
