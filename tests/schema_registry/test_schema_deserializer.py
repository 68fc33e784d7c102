"""Ids that were seen, ids that were not, and ids that nobody knows."""

from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient as TheirClient
from confluent_kafka.schema_registry.avro import AvroDeserializer as TheirAvroDeserializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer as TheirJSONDeserializer
from confluent_kafka.schema_registry.protobuf import (
    ProtobufDeserializer as TheirProtobufDeserializer,
)
from confluent_kafka.serialization import MessageField, SerializationContext

from aiokafka_lite.schema_registry import (
    AvroDeserializer,
    AvroSerializer,
    JSONDeserializer,
    ProtobufDeserializer,
    ProtobufSerializer,
    RegistryUnavailableError,
    SchemaMismatchError,
    SchemaRegistryClient,
    UnknownSchemaError,
    WireFormatError,
    schema_deserializer,
)
from aiokafka_lite.schema_registry.wire_format import guid_header, id_prefix
from aiokafka_lite.serialization import NotPreparedError
from aiokafka_lite.testing.fake_clock import FakeClock
from aiokafka_lite.testing.schema_registry_server import SchemaRegistryServer
from tests.schema_registry.test_protobuf import TYPES


async def test_an_id_is_asked_for_at_its_first_value(
    server: SchemaRegistryServer, registry: SchemaRegistryClient
) -> None:
    server.register("t-value", "int")
    deserializer = AvroDeserializer(registry)
    with pytest.raises(NotPreparedError, match="the schema 1 was not asked for") as raised:
        deserializer.deserialize("t", (), b"\0\0\0\0\1\2")
    assert not server.requests
    await raised.value.prepare()
    await deserializer.prepare(1)
    assert deserializer.deserialize("t", (), b"\0\0\0\0\1\2") == 1
    assert server.requests == ["GET /schemas/ids/1"]


async def test_an_id_in_a_header_goes_first(
    server: SchemaRegistryServer, registry: SchemaRegistryClient
) -> None:
    serializer = AvroSerializer(registry, '"int"', schema_id_location="header")
    await serializer.prepare("t")
    headers: list[tuple[str, bytes | None]] = [("other", b"")]
    data = serializer.serialize("t", headers, 7)
    deserializer = AvroDeserializer(registry)
    with pytest.raises(NotPreparedError) as raised:
        deserializer.deserialize("t", headers, data)
    await raised.value.prepare()
    assert deserializer.deserialize("t", headers, data) == 7
    with pytest.raises(WireFormatError):
        AvroDeserializer(registry, is_key=True).deserialize("t", headers, data)


async def test_an_unknown_id_is_a_fault_of_the_record_for_a_minute(
    server: SchemaRegistryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema_deserializer, "_MOST_FAULTS", 2)
    clock = FakeClock()
    async with SchemaRegistryClient(server.url, clock=clock) as registry:
        deserializer = AvroDeserializer(registry, clock=clock)
        await deserializer.prepare(1)
        for _ in range(2):
            with pytest.raises(UnknownSchemaError, match="schema id 1"):
                deserializer.deserialize("t", (), id_prefix(1) + b"\2")
        server.register("t-value", "int")
        await clock.advance(61)
        with pytest.raises(NotPreparedError) as raised:
            deserializer.deserialize("t", (), id_prefix(1) + b"\2")
        await raised.value.prepare()
        assert deserializer.deserialize("t", (), id_prefix(1) + b"\2") == 1
        await deserializer.prepare(11, 12, 13)
        with pytest.raises(NotPreparedError):  # forgotten, because only two are remembered
            deserializer.deserialize("t", (), id_prefix(11))


async def test_a_registry_that_does_not_answer_blames_no_record(
    server: SchemaRegistryServer, registry: SchemaRegistryClient
) -> None:
    server.register("t-value", "int")
    deserializer = AvroDeserializer(registry)
    server.failures = [503]
    with pytest.raises(RegistryUnavailableError):
        await deserializer.prepare(1)
    with pytest.raises(NotPreparedError):
        deserializer.deserialize("t", (), b"\0\0\0\0\1\2")


@pytest.mark.parametrize(
    ("schema", "kind", "said"),
    [
        ("{}", "JSON", "schema .* is JSON, not AVRO; use the deserializer of that type"),
        ('{"type": "nothing"}', "AVRO", "schema .*this is not an Avro schema"),
    ],
)
async def test_a_schema_that_cannot_be_read_is_a_fault_of_the_record(
    server: SchemaRegistryServer, registry: SchemaRegistryClient, schema: str, kind: str, said: str
) -> None:
    server.register("t-value", schema, schema_type=kind)
    deserializer = AvroDeserializer(registry)
    await deserializer.prepare(1)
    with pytest.raises(SchemaMismatchError, match=said):
        deserializer.deserialize("t", (), b"\0\0\0\0\1\2")


@pytest.mark.parametrize("data", [b"", b"\0\0", b"{}", b"\5\0\0\0\1\2"])
async def test_bytes_without_an_id_are_a_fault_of_the_record(
    registry: SchemaRegistryClient, data: bytes
) -> None:
    with pytest.raises(WireFormatError):
        AvroDeserializer(registry).deserialize("t", (), data)


Other = TYPES["shop.Other"]
FORMS = ("id in front", "guid in front", "id in a header", "guid in a header", "empty header")


def placed(form: str, name: str, schema_id: int, guid: str, data: bytes, indexes: bytes) -> Any:
    """Return headers and bytes of a value whose schema stands where `form` says."""
    own_id, own_guid = id_prefix(schema_id) + indexes, guid_header(guid) + indexes
    return {
        "id in front": ([], own_id + data),
        "guid in front": ([], own_guid + data),
        "id in a header": ([("x", None), (name, own_id)], data),
        "guid in a header": ([(name, own_guid), ("x", b"")], data),
        "empty header": ([(name, None)], own_id + data),
    }[form]


@pytest.mark.asyncio(loop_factories=["asyncio"])
@pytest.mark.parametrize("is_key", [False, True], ids=["value", "key"])
@pytest.mark.parametrize("form", FORMS)
async def test_the_schema_is_found_wherever_confluents_find_it(
    server: SchemaRegistryServer,
    registry: SchemaRegistryClient,
    theirs: TheirClient,
    form: str,
    is_key: bool,
) -> None:
    server.register("avro", '"string"')
    server.register("json", {"type": "string"}, schema_type="JSON")
    await ProtobufSerializer(registry, Other).prepare("protobuf")
    name = "__key_schema_id" if is_key else "__value_schema_id"
    field = MessageField.KEY if is_key else MessageField.VALUE
    message = Other(text="sencha")
    kinds: list[tuple[Any, Any, bytes, bytes, Any]] = [
        (
            AvroDeserializer(registry, is_key=is_key),
            TheirAvroDeserializer(theirs),
            b"\x0csencha",
            b"",
            "sencha",
        ),
        (
            JSONDeserializer(registry, is_key=is_key),
            TheirJSONDeserializer(None, schema_registry_client=theirs),
            b'"sencha"',
            b"",
            "sencha",
        ),
        (
            ProtobufDeserializer(Other, is_key=is_key),
            TheirProtobufDeserializer(Other, schema_registry_client=theirs),
            message.SerializeToString(),
            b"\x02\x02",  # the second type of its file
            message,
        ),
    ]
    newest = await registry.get_latest_version("protobuf-value")
    numbers = (1, 2, newest.schema_id)
    for number, (ours, their, data, indexes, value) in zip(numbers, kinds, strict=True):
        guid = (await registry.get_schema(number)).guid
        assert guid is not None
        headers, written = placed(form, name, number, guid, data, indexes)
        context = SerializationContext("t", field, headers)
        assert their(written, context) == value
        if number < 3:
            with pytest.raises(NotPreparedError) as raised:
                ours.deserialize("t", headers, written)
            await raised.value.prepare()
        assert ours.deserialize("t", headers, written) == value
        other = "__value_schema_id" if is_key else "__key_schema_id"
        mixed = [(other, b"of the other half"), *headers]
        assert ours.deserialize("t", mixed, written) == value


async def test_of_two_headers_the_last_counts(
    server: SchemaRegistryServer, registry: SchemaRegistryClient
) -> None:
    """As in Java: who passes a record on appends its own."""
    server.register("a", "string")
    server.register("b", "int")
    deserializer = AvroDeserializer(registry)
    await deserializer.prepare(2)
    headers = [("__value_schema_id", id_prefix(number)) for number in (1, 2)]
    assert deserializer.deserialize("t", headers, b"\x0e") == 7


async def test_an_unknown_guid_is_a_fault_of_the_record(registry: SchemaRegistryClient) -> None:
    guid = str(uuid4())
    deserializer = AvroDeserializer(registry)
    with pytest.raises(NotPreparedError, match=guid) as raised:
        deserializer.deserialize("t", (), guid_header(guid) + b"x")
    await raised.value.prepare()
    with pytest.raises(UnknownSchemaError, match=guid):
        deserializer.deserialize("t", (), guid_header(guid) + b"x")


@pytest.mark.parametrize("header", [b"", b"\0\0\0", b"\1" * 9, b"SECRET" * 9])
@pytest.mark.parametrize("kind", ["avro", "protobuf"])
async def test_a_header_that_holds_no_schema_is_a_fault_of_the_record(
    registry: SchemaRegistryClient, header: bytes, kind: str
) -> None:
    of_kind = {"avro": AvroDeserializer(registry), "protobuf": ProtobufDeserializer(Other)}
    deserializer: Any = of_kind[kind]
    with pytest.raises(
        WireFormatError, match=f"__value_schema_id of {len(header)} bytes"
    ) as raised:
        deserializer.deserialize("t", [("__value_schema_id", header)], b"x")
    assert "SECRET" not in str(raised.value)
