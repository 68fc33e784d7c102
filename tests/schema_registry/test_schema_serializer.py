"""The subject, the id and where it stands: what the serializers of all formats share."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf.wrappers_pb2 import StringValue

from aiokafka_lite.errors import KafkaConfigurationError, SerializationError
from aiokafka_lite.schema_registry import (
    AvroDeserializer,
    AvroSerializer,
    JSONDeserializer,
    JSONSerializer,
    ProtobufDeserializer,
    ProtobufSerializer,
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


Make = Callable[[SchemaRegistryClient], object]


class _Untyped:
    """Gives classes back without their types, which would refuse the wrong arguments below."""

    def __getitem__(self, kind: Any) -> Any:
        return kind


ANY = _Untyped()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda _: ANY[AvroSerializer]("http://localhost:8081", "int"),
            r"registry: 'http:.* is no Schema",
        ),
        (lambda _: ANY[AvroDeserializer](None), r"registry: None is no SchemaRegistryClient; give"),
        (lambda _: ANY[JSONSerializer]("{}", {}), r"registry: '{}' is no SchemaRegistryClient"),
        (lambda _: ANY[ProtobufSerializer](StringValue, StringValue), r"registry: a value of type"),
        (
            lambda r: ANY[ProtobufSerializer](r, StringValue()),
            r"message_type: a value of type StringValue",
        ),
        (
            ANY[ProtobufDeserializer],
            r"message_type: .* type SchemaRegistryClient is no class",
        ),
        (
            lambda _: ANY[ProtobufDeserializer]("shop.Order"),
            r"message_type: 'shop.Order' is no class",
        ),
        (
            lambda r: ANY[AvroSerializer](r, "order.avsc"),
            r"'order\.avsc' looks like the name of a file",
        ),
        (
            lambda r: ANY[AvroSerializer](r, "nothing"),
            r"this is not an Avro schema: UnknownType: nothing",
        ),
        (lambda r: ANY[AvroSerializer](r, 7), r"schema: 7 is no schema"),
        (lambda r: ANY[AvroSerializer](r, '{"properties": {}}'), r"is a JSON Schema, and not Avro"),
        (lambda r: ANY[AvroSerializer](r, "int", to_dict="x"), r"to_dict: 'x' cannot be called"),
        (lambda r: ANY[AvroDeserializer](r, "order.avsc"), r"looks like the name of a file"),
        (lambda r: ANY[AvroDeserializer](r, "nothing"), r"this is not an Avro schema"),
        (
            lambda r: ANY[AvroDeserializer](r, Schema("{}", "JSON")),
            r"of type JSON cannot be read by Avro",
        ),
        (lambda r: ANY[AvroDeserializer](r, from_dict=7), r"from_dict: 7 cannot be called"),
        (lambda r: ANY[JSONSerializer](r, "order.json"), r"looks like the name of a file"),
        (lambda r: ANY[JSONSerializer](r, "{"), r"this is not a JSON Schema: Expecting"),
        (
            lambda r: ANY[JSONSerializer](r, {"type": "nothing"}),
            r"this is not a JSON Schema: \$\.type",
        ),
        (
            lambda r: ANY[JSONDeserializer](r, {"minimum": "x"}),
            r"this is not a JSON Schema: \$\.minimum",
        ),
        (
            lambda r: ANY[AvroSerializer](r, "int", auto_register_schemas="false"),
            r"auto_register_schemas='false' must be True or False",
        ),
        (lambda r: ANY[AvroDeserializer](r, is_key=1), r"is_key=1 must be True or False"),
        (lambda r: ANY[JSONSerializer](r, {}, validate=None), r"validate=None must be True or"),
        (
            lambda _: ANY[ProtobufDeserializer](StringValue, is_key="value"),
            r"is_key='value' must be True or False",
        ),
        (
            lambda r: ANY[AvroSerializer](r, "int", subject_name_strategy="TopicNameStrategy"),
            r"subject_name_strategy: 'TopicNameStrategy' cannot be called; give a function",
        ),
    ],
)
async def test_arguments_are_checked_in_the_constructor(
    registry: SchemaRegistryClient, make: Make, said: str
) -> None:
    with pytest.raises(KafkaConfigurationError, match=said):
        make(registry)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda r: ANY[AvroSerializer](r, "int", auto_register=True), "auto_register_schemas"),
        (
            lambda r: ANY[JSONSerializer](r, "{}", **{"use.latest.version": True}),
            "use_latest_version",
        ),
        (lambda r: ANY[AvroSerializer](r, "int", todict=str), "to_dict"),
        (lambda r: ANY[AvroDeserializer](r, fromdict=str), "from_dict"),
        (lambda r: ANY[JSONDeserializer](r, iskey=True), "is_key"),
        (
            lambda r: ANY[ProtobufSerializer](r, StringValue, normalize_schema=True),
            "normalize_schemas",
        ),
    ],
)
async def test_an_option_that_does_not_exist_names_the_one_that_was_meant(
    registry: SchemaRegistryClient, make: Make, said: str
) -> None:
    with pytest.raises(TypeError, match=f"unexpected keyword argument .*did you mean '{said}'"):
        make(registry)


@pytest.mark.parametrize(
    ("kind", "schema", "value"),
    [
        (AvroSerializer, {"type": "record", "name": "R", "fields": []}, {}),
        (AvroSerializer, ["null", "int"], 7),
        (JSONSerializer, {"type": "integer"}, 7),
    ],
)
async def test_a_schema_may_be_given_as_json(
    registry: SchemaRegistryClient, kind: Any, schema: Any, value: Any
) -> None:
    as_json, as_text = kind(registry, schema), kind(registry, json.dumps(schema))
    for each in (as_json, as_text):
        await each.prepare("t")
    assert as_json.serialize("t", [], value) == as_text.serialize("t", [], value)
    assert await registry.get_versions("t-value") == [1]


async def test_topics_and_ids_are_checked(registry: SchemaRegistryClient) -> None:
    topics: Any = ["t"]
    with pytest.raises(KafkaConfigurationError, match="topic: a value of type list is no name"):
        await AvroSerializer(registry, "int").prepare(topics)
    for wrong in ("1", None, True, -1, 1 << 32):
        number: Any = wrong
        with pytest.raises(KafkaConfigurationError, match=r"schema_id: .* is no id of a schema"):
            await AvroDeserializer(registry).prepare(number)
