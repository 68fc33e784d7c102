"""The subject, the id and where it stands: what the serializers of all formats share."""

from collections.abc import Callable
from typing import Any

import pytest

from aiokafka_lite.errors import KafkaConfigurationError, SerializationError
from aiokafka_lite.schema_registry import (
    AvroSerializer,
    Schema,
    SchemaMismatchError,
    SchemaRegistryClient,
    UnknownSchemaError,
    record_name_strategy,
    topic_record_name_strategy,
)
from aiokafka_lite.schema_registry.wire_format import guid_header
from aiokafka_lite.serialization import NotPreparedError
from aiokafka_lite.testing.schema_registry_server import SchemaRegistryServer

ORDER = (
    '{"type": "record", "name": "Order", "namespace": "shop",'
    ' "fields": [{"name": "id", "type": "int"}]}'
)


async def test_a_topic_is_prepared_once(
    server: SchemaRegistryServer, registry: SchemaRegistryClient
) -> None:
    serializer = AvroSerializer(registry, ORDER)
    with pytest.raises(NotPreparedError, match="topic 'orders' has no id yet; await prepare"):
        serializer.serialize("orders", [], {"id": 1})
    assert not server.requests
    for _ in range(2):
        await serializer.prepare("orders", "others")
    assert serializer.serialize("orders", [], {"id": 1}) == b"\0\0\0\0\1\2"
    assert serializer.serialize("others", [], {"id": 1}) == b"\0\0\0\0\1\2"
    assert server.requests == [
        "POST /subjects/orders-value/versions",
        "POST /subjects/others-value/versions",
    ]


async def test_what_has_to_be_awaited_comes_with_the_error(
    registry: SchemaRegistryClient,
) -> None:
    serializer = AvroSerializer(registry, ORDER)
    with pytest.raises(NotPreparedError) as raised:
        serializer.serialize("orders", [], {"id": 1})
    await raised.value.prepare()
    assert serializer.serialize("orders", [], {"id": 1})


@pytest.mark.parametrize(
    ("options", "subject"),
    [
        ({"is_key": True}, "orders-key"),
        ({"subject_name_strategy": record_name_strategy}, "shop.Order"),
        ({"subject_name_strategy": topic_record_name_strategy}, "orders-shop.Order"),
        (
            {"subject_name_strategy": lambda topic, _is_key, name: f"{name}@{topic}"},
            "shop.Order@orders",
        ),
    ],
)
async def test_the_strategy_names_the_subject(
    registry: SchemaRegistryClient, options: dict[str, Any], subject: str
) -> None:
    await AvroSerializer(registry, ORDER, **options).prepare("orders")
    assert await registry.get_subjects() == [subject]


async def test_a_schema_is_only_looked_up_where_it_must_not_be_registered(
    server: SchemaRegistryServer, registry: SchemaRegistryClient
) -> None:
    serializer = AvroSerializer(
        registry, ORDER, auto_register_schemas=False, normalize_schemas=True
    )
    with pytest.raises(UnknownSchemaError, match="subject 'orders-value'"):
        await serializer.prepare("orders")
    server.register("orders-value", ORDER)
    await serializer.prepare("orders")
    assert server.requests == ["POST /subjects/orders-value?normalize=true"] * 2


async def test_the_newest_version_is_written(
    server: SchemaRegistryServer, registry: SchemaRegistryClient
) -> None:
    server.register("t-value", "int")
    server.register("t-value", "string")
    serializer = AvroSerializer(registry, use_latest_version=True, auto_register_schemas=False)
    await serializer.prepare("t")
    assert serializer.serialize("t", [], "x") == b"\0\0\0\0\2\2x"


async def test_the_id_may_stand_in_a_header(
    server: SchemaRegistryServer, registry: SchemaRegistryClient
) -> None:
    serializer = AvroSerializer(registry, '"int"', schema_id_location="header")
    await serializer.prepare("t")
    headers: list[tuple[str, bytes | None]] = [("a", b"b")]
    assert serializer.serialize("t", headers, 1) == b"\2"
    guid = (await registry.get_latest_version("t-value")).guid
    assert guid is not None
    assert headers == [("a", b"b"), ("__value_schema_id", guid_header(guid))]
    with pytest.raises(SerializationError, match="needs a list of headers"):
        serializer.serialize("t", (), 1)


async def test_a_registry_without_guids_cannot_be_used_with_headers(
    server: SchemaRegistryServer, registry: SchemaRegistryClient
) -> None:
    server.answers["/subjects/t-value/versions"] = {"id": 1}
    serializer = AvroSerializer(registry, '"int"', schema_id_location="header")
    with pytest.raises(SchemaMismatchError, match="no guid of subject 't-value'"):
        await serializer.prepare("t")


async def test_a_schema_of_another_type_is_refused(
    server: SchemaRegistryServer, registry: SchemaRegistryClient
) -> None:
    server.register("t-value", "{}", schema_type="JSON")
    serializer = AvroSerializer(registry, use_latest_version=True, auto_register_schemas=False)
    with pytest.raises(
        SchemaMismatchError, match="'t-value' has a schema of type JSON, and not AVRO"
    ):
        await serializer.prepare("t")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (AvroSerializer, "needs a schema"),
        (
            lambda registry: AvroSerializer(registry, "int", use_latest_version=True),
            "auto_register",
        ),
        (
            lambda registry: AvroSerializer(registry, Schema("int"), schema_id_location="tail"),
            "'tail' must be 'prefix' or 'header'",
        ),
    ],
)
async def test_arguments_that_contradict_each_other(
    registry: SchemaRegistryClient, make: Callable[[SchemaRegistryClient], object], said: str
) -> None:
    with pytest.raises(KafkaConfigurationError, match=said):
        make(registry)
