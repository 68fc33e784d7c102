"""Ids that were seen, ids that were not, and ids that nobody knows."""

import pytest

from aiokafka_lite.schema_registry import (
    AvroDeserializer,
    AvroSerializer,
    RegistryUnavailableError,
    SchemaMismatchError,
    SchemaRegistryClient,
    UnknownSchemaError,
    WireFormatError,
    schema_deserializer,
)
from aiokafka_lite.schema_registry.wire_format import id_prefix
from aiokafka_lite.serialization import NotPreparedError
from aiokafka_lite.testing.fake_clock import FakeClock
from aiokafka_lite.testing.schema_registry_server import SchemaRegistryServer


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
