"""Schemas with references: what is written and read with them, in each format.

The witness is confluent-kafka. Where Java's serializers do more than it, the case says so.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from confluent_kafka.schema_registry import Schema as TheirSchema
from confluent_kafka.schema_registry import SchemaReference as TheirReference
from confluent_kafka.schema_registry import SchemaRegistryClient as TheirClient
from confluent_kafka.schema_registry.avro import AvroDeserializer as TheirAvroDeserializer
from confluent_kafka.schema_registry.avro import AvroSerializer as TheirAvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer as TheirJSONDeserializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer as TheirJSONSerializer
from confluent_kafka.schema_registry.protobuf import (
    ProtobufDeserializer as TheirProtobufDeserializer,
)
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer as TheirProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import (
    any_pb2,
    descriptor_pb2,
    descriptor_pool,
    duration_pb2,
    message_factory,
    timestamp_pb2,
)

from aiokafka_lite.errors import SerializationError
from aiokafka_lite.schema_registry import (
    AvroDeserializer,
    AvroSerializer,
    JSONDeserializer,
    JSONSerializer,
    ProtobufDeserializer,
    ProtobufSerializer,
    Schema,
    SchemaMismatchError,
    SchemaReference,
    SchemaRegistryClient,
    SchemaRegistryError,
    json_schema,
)
from aiokafka_lite.testing.schema_registry_server import SchemaRegistryServer

pytestmark = pytest.mark.asyncio(loop_factories=["asyncio"])  # schemas know of no loop
CONTEXT = SerializationContext("t", MessageField.VALUE)
References = Sequence[tuple[str, str, int]]
"""(name, subject, version)"""


@dataclass(frozen=True)
class Case:
    """Schemas that are registered first, the schema of the topic, and values of it."""

    first: Sequence[tuple[str, Any, References]]
    schema: Any
    references: References
    values: Sequence[Any]
    wrong: Any = None
    """A value that the schema does not allow."""
    has_witness: bool = True
    """False: confluent-kafka cannot, and Java can."""


def record(name: str, **fields: Any) -> dict[str, Any]:
    listed = [{"name": each, "type": kind} for each, kind in fields.items()]
    return {"type": "record", "name": name, "fields": listed}


ADDRESS: Any = ("Address", record("ex.Address", street="string"), [])
TO_ADDRESS: Any = [("ex.Address", "Address", 1)]
CUSTOMER: Any = ("Customer", record("ex.Customer", home="ex.Address"), TO_ADDRESS)
SUPPLIER: Any = ("Supplier", record("ex.Supplier", site="ex.Address"), TO_ADDRESS)
TO_BOTH: Any = [("ex.Customer", "Customer", 1), ("ex.Supplier", "Supplier", 1)]
SHARED: Any = [ADDRESS, CUSTOMER, SUPPLIER]
BOTH = ["ex.Customer", "ex.Supplier"]
ANN = {"home": {"street": "a"}}
BOB = {"site": {"street": "b"}}
NODE = record("ex.Node", value="int", next=["null", "ex.Node"])
NODES = {"value": 1, "next": {"value": 2, "next": None}}

AVRO = {
    "union": Case(SHARED, BOTH, TO_BOTH, [ANN, BOB]),
    "union with null": Case(SHARED, ["null", *BOTH], TO_BOTH, [None, ANN, BOB]),
    "array of a union": Case(SHARED, {"type": "array", "items": BOTH}, TO_BOTH, [[ANN, BOB, ANN]]),
    "map of a union": Case(
        SHARED, {"type": "map", "values": BOTH}, TO_BOTH, [{"x": ANN, "y": BOB}]
    ),
    "map of arrays": Case(
        SHARED,
        {"type": "map", "values": {"type": "array", "items": BOTH}},
        TO_BOTH,
        [{"x": [ANN], "y": [BOB, ANN]}],
    ),
    "array of a record": Case(
        SHARED, {"type": "array", "items": "ex.Customer"}, TO_BOTH[:1], [[ANN, ANN]]
    ),
    "diamond in a record": Case(
        SHARED,
        record("ex.Deal", by="ex.Customer", of="ex.Supplier"),
        TO_BOTH,
        [{"by": ANN, "of": BOB}],
    ),
    "diamond and its own use": Case(
        SHARED,
        record("ex.Deal", by="ex.Customer", at="ex.Address", of=["null", "ex.Supplier"]),
        [*TO_BOTH, *TO_ADDRESS],
        [{"by": ANN, "at": {"street": "c"}, "of": BOB}],
    ),
    "repeated": Case(
        SHARED,
        record("ex.Move", old="ex.Address", new="ex.Address"),
        TO_ADDRESS,
        [{"old": {"street": "a"}, "new": {"street": "b"}}],
    ),
    "recursive": Case(
        [("Node", NODE, [])], ["null", "ex.Node"], [("ex.Node", "Node", 1)], [NODES, None]
    ),
    "recursive in an array": Case(
        [("Node", NODE, [])],
        {"type": "array", "items": "ex.Node"},
        [("ex.Node", "Node", 1)],
        [[NODES]],
    ),
    "enum and fixed": Case(
        [
            ("Kind", {"type": "enum", "name": "ex.Kind", "symbols": ["A", "B"]}, []),
            ("Mark", {"type": "fixed", "name": "ex.Mark", "size": 2}, []),
        ],
        ["ex.Kind", "ex.Mark"],
        [("ex.Kind", "Kind", 1), ("ex.Mark", "Mark", 1)],
        ["B", b"xy"],
    ),
    "short names in one namespace": Case(
        [("Address", {**record("Address", street="string"), "namespace": "ex"}, [])],
        [{**record("Customer", home="Address"), "namespace": "ex"}, "null"],
        TO_ADDRESS,
        [ANN, None],
    ),
    "three deep": Case(
        [*SHARED, ("Deal", record("ex.Deal", by="ex.Customer"), TO_BOTH[:1])],
        [{"type": "array", "items": "ex.Deal"}, "ex.Supplier"],
        [("ex.Deal", "Deal", 1), TO_BOTH[1]],
        [[{"by": ANN}], BOB],
    ),
    "another namespace": Case(
        [("Money", record("money.Money", cents="long"), [])],
        [record("shop.Order", price="money.Money"), record("shop.Refund", price="money.Money")],
        [("money.Money", "Money", 1)],
        [{"price": {"cents": 5}}],
    ),
    "a version that is not the newest": Case(
        [ADDRESS, ("Address", record("ex.Address", zip="int"), [])],
        [record("ex.Customer", home="ex.Address"), "null"],
        TO_ADDRESS,
        [ANN],
    ),
    "a name alone": Case(SHARED, "ex.Customer", TO_BOTH[:1], [ANN], has_witness=False),
    "a name as a type": Case(
        SHARED,
        record("ex.Deal", by={"type": "ex.Customer"}),
        TO_BOTH[:1],
        [{"by": ANN}],
        has_witness=False,
    ),
    "a type inside a reference": Case(
        [("Customer", record("ex.Customer", home=ADDRESS[1]), [])],
        ["ex.Address", "ex.Customer"],
        TO_BOTH[:1],
        [{"street": "a"}, ANN],
        has_witness=False,
    ),
    "no namespace, used within one": Case(
        [("Address", record("Address", street="string"), [])],
        record("ex.Move", old="Address", new=["null", "Address"]),
        [("Address", "Address", 1)],
        [{"old": {"street": "a"}, "new": {"street": "b"}}],
        has_witness=False,
    ),
    "two versions of one name": Case(
        [
            ADDRESS,
            ("Address", record("ex.Address", zip="int"), []),
            CUSTOMER,
            ("Supplier", SUPPLIER[1], [("ex.Address", "Address", 2)]),
        ],
        BOTH,
        TO_BOTH,
        [ANN, BOB],  # the first counts, as in the registry
        has_witness=False,
    ),
}

NAME = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
TO_CUSTOMER: Any = [("customer.json", "customer", 1)]
BY_ANN = {"by": {"name": "ann"}}
BY_NOBODY = {"by": {"name": 7}}


def order(ref: str, own_id: str | None = None, **more: Any) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": {"by": {"$ref": ref}}, **more}
    return schema if own_id is None else {"$id": own_id, **schema}


def of_order(
    ref: str, own_id: str | None, name: str, customer: Any = NAME, *, has_witness: bool = False
) -> Case:
    """Return a case of two schemas: an order whose `$ref` leads to a customer."""
    return Case(
        [("customer", customer, [])],
        order(ref, own_id),
        [(name, "customer", 1)],
        [BY_ANN],
        BY_NOBODY,
        has_witness,
    )


BASE = "https://example.com/schemas/"
JSON = {
    "no $id": of_order("customer.json", None, "customer.json", has_witness=True),
    "relative $id": of_order("customer.json", "order.json", "customer.json", has_witness=True),
    "relative $id with a folder": of_order("customer.json", "shop/order.json", "customer.json"),
    "absolute $id": of_order("customer.json", f"{BASE}order.json", "customer.json"),
    "absolute $id and #": of_order("customer.json", f"{BASE}order.json#", "customer.json"),
    "absolute $ref": of_order(f"{BASE}customer.json", f"{BASE}order.json", "customer.json"),
    "absolute name": of_order(
        "customer.json", f"{BASE}order.json", f"{BASE}customer.json", has_witness=True
    ),
    "name above": of_order("../customer.json", f"{BASE}order.json", "../customer.json"),
    "name below": of_order("parts/customer.json", f"{BASE}order.json", "parts/customer.json"),
    "name from the root": of_order("/customer.json", f"{BASE}order.json", "/customer.json"),
    "urn as $id": of_order("customer.json", "urn:example:order", "customer.json", has_witness=True),
    "both have an $id": of_order(
        "customer.json",
        f"{BASE}order.json",
        "customer.json",
        {"$id": f"{BASE}customer.json", **NAME},
        has_witness=True,
    ),
    "the reference has an $id of its own": of_order(
        "https://other.org/c",
        f"{BASE}order.json",
        "customer.json",
        {"$id": "https://other.org/c", **NAME},
        has_witness=True,
    ),
    "a part of a reference": of_order(
        "customer.json#/definitions/name",
        f"{BASE}order.json",
        "customer.json",
        {"definitions": {"name": NAME}},
    ),
    "an $id inside": Case(
        [("customer", NAME, [])],
        {"$id": f"{BASE}order.json", "properties": {"x": order("customer.json", "deep/x.json")}},
        TO_CUSTOMER,
        [{"x": BY_ANN}],
        {"x": BY_NOBODY},
        has_witness=False,
    ),
    "a reference of a reference": Case(
        [
            ("name", {"type": "string"}, []),
            (
                "customer",
                {"properties": {"name": {"$ref": "name.json"}}},
                [("name.json", "name", 1)],
            ),
        ],
        order("customer.json", f"{BASE}order.json"),
        TO_CUSTOMER,
        [BY_ANN],
        BY_NOBODY,
        has_witness=False,
    ),
    "a reference of a reference with its own $id": Case(
        [
            ("name", {"type": "string"}, []),
            (
                "customer",
                {"$id": "https://other.org/c.json", "properties": {"name": {"$ref": "name.json"}}},
                [("name.json", "name", 1)],
            ),
        ],
        order("customer.json", f"{BASE}order.json"),
        TO_CUSTOMER,
        [BY_ANN],
        BY_NOBODY,
        has_witness=False,
    ),
    "a reference of a reference in a folder": Case(
        [
            ("name", {"type": "string"}, []),
            (
                "customer",
                {"properties": {"name": {"$ref": "name.json"}}},
                [("name.json", "name", 1)],
            ),
        ],
        order("parts/customer.json"),
        [("parts/customer.json", "customer", 1)],
        [BY_ANN],
        BY_NOBODY,
        has_witness=False,
    ),
    "2020-12, with $defs": Case(
        [
            (
                "customer",
                {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"n": NAME}},
                [],
            )
        ],
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **order("customer.json#/$defs/n", f"{BASE}order.json"),
        },
        TO_CUSTOMER,
        [BY_ANN],
        BY_NOBODY,
        has_witness=False,
    ),
    "draft-04, whose id has no $": Case(
        [("customer", NAME, [])],
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "id": f"{BASE}order.json",
            **order("customer.json"),
        },
        TO_CUSTOMER,
        [BY_ANN],
        BY_NOBODY,
        has_witness=False,
    ),
    "the newest version": Case(
        [("customer", {"type": "string"}, []), ("customer", NAME, [])],
        order("customer.json"),
        [("customer.json", "customer", -1)],
        [BY_ANN],
        BY_NOBODY,
        has_witness=False,
    ),
    "back to the top": Case(
        [
            (
                "customer",
                {
                    **NAME,
                    "properties": {"name": {"type": "string"}, "last": {"$ref": "order.json"}},
                },
                [],
            )
        ],
        order("customer.json", f"{BASE}order.json"),
        TO_CUSTOMER,
        [{"by": {"name": "ann", "last": BY_ANN}}],
        {"by": {"name": "ann", "last": BY_NOBODY}},
        has_witness=False,
    ),
}


def register(server: SchemaRegistryServer, case: Case, kind: Any) -> Schema:
    """Register what the case's schema refers to, and return that schema."""
    for subject, schema, references in case.first:
        server.register(subject, schema, schema_type=kind, references=references)
    return Schema(
        json.dumps(case.schema), kind, tuple(SchemaReference(*each) for each in case.references)
    )


def their_schema(schema: Schema) -> TheirSchema:
    references = [
        TheirReference(each.name, each.subject, each.version) for each in schema.references
    ]
    return TheirSchema(schema.schema_str, schema.schema_type, references)


def schema_id(data: bytes) -> int:
    return int.from_bytes(data[1:5], "big")


@pytest.mark.parametrize("case", AVRO.values(), ids=AVRO)
async def test_avro_out_and_back(
    server: SchemaRegistryServer,
    registry: SchemaRegistryClient,
    request: pytest.FixtureRequest,
    case: Case,
) -> None:
    schema = register(server, case, "AVRO")
    serializer, deserializer = AvroSerializer(registry, schema), AvroDeserializer(registry)
    own = AvroDeserializer(registry, schema)
    await serializer.prepare("t")
    for value in case.values:
        data = serializer.serialize("t", [], value)
        for each in (deserializer, own):
            await each.prepare(schema_id(data))
            assert each.deserialize("t", (), data) == value
        if case.has_witness and value is not None:  # of None they make a tombstone
            theirs = request.getfixturevalue("theirs")
            assert TheirAvroSerializer(theirs, their_schema(schema))(value, CONTEXT) == data
            assert TheirAvroDeserializer(theirs)(data, CONTEXT) == value


@pytest.mark.parametrize("case", JSON.values(), ids=JSON)
async def test_json_out_and_back(
    server: SchemaRegistryServer,
    registry: SchemaRegistryClient,
    request: pytest.FixtureRequest,
    case: Case,
) -> None:
    schema = register(server, case, "JSON")
    serializer, deserializer = JSONSerializer(registry, schema), JSONDeserializer(registry)
    own = JSONDeserializer(registry, schema)
    careless = JSONSerializer(registry, schema, validate=False)
    await serializer.prepare("t")
    await careless.prepare("t")
    wrong = careless.serialize("t", [], case.wrong)
    with pytest.raises(SerializationError, match="against the rule 'type'"):
        serializer.serialize("t", [], case.wrong)
    for value in case.values:
        data = serializer.serialize("t", [], value)
        for each in (deserializer, own):
            await each.prepare(schema_id(data))
            assert each.deserialize("t", (), data) == value
            with pytest.raises(SerializationError, match="against the rule 'type'"):
                each.deserialize("t", (), wrong)
        if case.has_witness:
            theirs = request.getfixturevalue("theirs")
            assert TheirJSONSerializer(their_schema(schema), theirs)(value, CONTEXT) == data
            their = TheirJSONDeserializer(None, schema_registry_client=theirs)
            assert their(data, CONTEXT) == value


async def test_a_reader_has_references_of_its_own_version(
    server: SchemaRegistryServer, registry: SchemaRegistryClient
) -> None:
    newer = record("ex.Address", street="string")
    newer["fields"].append({"name": "zip", "type": "int", "default": 7})
    schema = register(server, AVRO["union"], "AVRO")
    server.register("Address", newer)
    to_newer = (SchemaReference("ex.Address", "Address", 2),)
    customer = Schema(json.dumps(["null", CUSTOMER[1]]), "AVRO", to_newer)
    serializer, deserializer = (
        AvroSerializer(registry, schema),
        AvroDeserializer(registry, customer),
    )
    await serializer.prepare("t")
    data = serializer.serialize("t", [], ANN)
    await deserializer.prepare(schema_id(data))
    assert deserializer.deserialize("t", (), data) == {"home": {"street": "a", "zip": 7}}

    strict = {**NAME, "required": ["name", "zip"]}
    server.register("customer", strict, schema_type="JSON")
    wanted = Schema(
        json.dumps(order("customer.json", f"{BASE}x.json")),
        "JSON",
        (SchemaReference("customer.json", "customer", 1),),
    )
    writer = JSONSerializer(registry, {"type": "object"})
    await writer.prepare("u")
    reader = JSONDeserializer(registry, wanted)
    data = writer.serialize("u", [], BY_ANN)
    await reader.prepare(schema_id(data))
    with pytest.raises(SerializationError, match="'required'"):
        reader.deserialize("u", (), data)


async def test_what_a_deleted_version_wrote_is_read(
    server: SchemaRegistryServer, registry: SchemaRegistryClient, theirs: TheirClient
) -> None:
    schema = register(server, AVRO["union"], "AVRO")
    serializer = AvroSerializer(registry, schema)
    await serializer.prepare("t")
    data = serializer.serialize("t", [], ANN)
    await registry.delete_subject("Address")
    async with SchemaRegistryClient(server.url, max_retries=0) as another:
        deserializer = AvroDeserializer(another)
        await deserializer.prepare(schema_id(data))
        assert deserializer.deserialize("t", (), data) == ANN
    assert TheirAvroDeserializer(theirs)(data, CONTEXT) == ANN
    await registry.delete_subject("Address", permanent=True)
    async with SchemaRegistryClient(server.url, max_retries=0) as another:
        own = AvroDeserializer(another, schema)
        await own.prepare(schema_id(data))
        with pytest.raises(SchemaRegistryError, match="subject 'Address' version 1"):
            own.deserialize("t", (), data)


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ('["ex.Address", "ex.Nobody"]', "ex.Nobody is defined neither here nor in a reference"),
        (json.dumps(record("ex.Address", zip="int")), "ex.Address is defined twice"),
    ],
)
async def test_avro_references_that_do_not_suffice(
    server: SchemaRegistryServer, registry: SchemaRegistryClient, own: str, said: str
) -> None:
    server.register(*ADDRESS[:2])
    schema = Schema(own, "AVRO", (SchemaReference("ex.Address", "Address", 1),))
    with pytest.raises(SchemaMismatchError, match=said):
        await AvroSerializer(registry, schema).prepare("t")


@pytest.mark.parametrize(
    "customer", ["[]", '{"properties": 7}', '{"$id": 7}', '{"$id": "http://["}', "{"]
)
async def test_json_references_that_are_no_schemas(
    server: SchemaRegistryServer, registry: SchemaRegistryClient, customer: str
) -> None:
    server.register("customer", customer, schema_type="JSON")
    schema = Schema(json.dumps(order("c")), "JSON", (SchemaReference("c", "customer", 1),))
    with pytest.raises(SchemaMismatchError, match="this is not a JSON Schema"):
        await JSONSerializer(registry, schema).prepare("t")


async def test_addresses_without_end_are_refused(
    server: SchemaRegistryServer, registry: SchemaRegistryClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_schema, "_MOST_ADDRESSES", 100)
    inside = {f"p{n}": {"$id": f"{n}/x.json"} for n in range(9)}
    to_both = [("a.json", "a", 1), ("b.json", "b", 1)]  # each needs both
    server.register("a", {"properties": inside}, schema_type="JSON", references=to_both)
    server.register("b", {"definitions": inside}, schema_type="JSON", references=to_both)
    schema = Schema("{}", "JSON", tuple(SchemaReference(*each) for each in to_both))
    with pytest.raises(SchemaMismatchError, match="more than 100 addresses"):
        await JSONSerializer(registry, schema).prepare("t")


def protobuf_types() -> Iterator[Any]:
    """Yield classes of files with imports: public ones, built-in ones, in folders, and diamonds."""
    pool = descriptor_pool.DescriptorPool()
    for built_in in (any_pb2, duration_pb2, timestamp_pb2):
        pool.AddSerializedFile(built_in.DESCRIPTOR.serialized_pb)

    def add(name: str, *imports: str, public: Sequence[int] = (), **messages: Any) -> None:
        file = descriptor_pb2.FileDescriptorProto(
            name=name, package="shop", syntax="proto3", dependency=imports, public_dependency=public
        )
        for message, fields in messages.items():
            made = file.message_type.add(name=message)
            for number, (field, kind) in enumerate(fields.items(), 1):
                if isinstance(kind, dict):  # a message inside
                    inner = made.nested_type.add(name=field)
                    for position, (each, each_kind) in enumerate(kind.items(), 1):
                        inner.field.add(name=each, number=position, type=each_kind, label=1)
                elif isinstance(kind, str):
                    made.field.add(name=field, number=number, type=11, label=1, type_name=kind)
                else:
                    made.field.add(name=field, number=number, type=kind, label=1)
        pool.Add(file)

    text, number = 9, 3
    add(
        "common/money.proto", Money={"cents": number}, Rate={"percent": number, "Part": {"x": text}}
    )
    add(
        "common/address.proto",
        "google/protobuf/timestamp.proto",
        Address={"street": text, "since": ".google.protobuf.Timestamp"},
    )
    add("common/all.proto", "common/money.proto", "common/address.proto", public=[0, 1])
    add(
        "shop/customer.proto",
        "common/address.proto",
        "google/protobuf/any.proto",
        Customer={
            "home": ".shop.Address",
            "note": ".google.protobuf.Any",
            "Card": {"number": text},
        },
    )
    add(
        "shop/order.proto",
        "common/all.proto",
        "shop/customer.proto",
        "google/protobuf/duration.proto",
        First={"x": number},
        Order={
            "by": ".shop.Customer",
            "price": ".shop.Money",
            "at": ".shop.Address",
            "part": ".shop.Rate.Part",
            "takes": ".google.protobuf.Duration",
            "Line": {"item": text},
        },
    )
    for name in ("First", "Order", "Order.Line", "Customer", "Customer.Card", "Rate.Part"):
        yield message_factory.GetMessageClass(pool.FindMessageTypeByName(f"shop.{name}"))


def filled(message: Any, depth: int = 0) -> Any:
    """Return the message with all of its fields set."""
    for field in message.DESCRIPTOR.fields:
        if field.message_type is not None:
            getattr(message, field.name).SetInParent()
            if field.message_type.full_name != "google.protobuf.Any":
                filled(getattr(message, field.name), depth + 1)
        elif field.cpp_type == field.CPPTYPE_STRING:
            setattr(message, field.name, f"ü{depth}")
        elif field.cpp_type in (field.CPPTYPE_INT32, field.CPPTYPE_INT64):
            setattr(message, field.name, 7 + depth)
    return message


@pytest.mark.parametrize("kind", [*protobuf_types()], ids=lambda each: each.DESCRIPTOR.full_name)
async def test_protobuf_imports_are_registered_as_theirs(
    server: SchemaRegistryServer, registry: SchemaRegistryClient, kind: Any
) -> None:
    message = filled(kind())
    serializer = ProtobufSerializer(registry, kind)
    await serializer.prepare("t")
    data = serializer.serialize("t", [], message)
    with SchemaRegistryServer() as other, TheirClient({"url": other.url}) as theirs:
        assert TheirProtobufSerializer(kind, theirs)(message, CONTEXT) == data
        async with SchemaRegistryClient(other.url) as reader:
            assert sorted(await reader.get_subjects()) == sorted(await registry.get_subjects())
            for subject in await reader.get_subjects():
                found = await registry.get_latest_version(subject)
                assert found == await reader.get_latest_version(subject)
        their_reader = TheirProtobufDeserializer(kind, schema_registry_client=theirs)
        assert their_reader(data, CONTEXT) == message
    assert ProtobufDeserializer(kind).deserialize("t", (), data) == message
    asked = [each for each in server.requests if each.startswith("POST")]
    assert len(asked) == len({*asked}), "no file is asked for twice"


async def test_a_protobuf_import_without_a_version_is_an_error(
    server: SchemaRegistryServer, registry: SchemaRegistryClient
) -> None:
    *_, order_type = (each for each in protobuf_types() if each.DESCRIPTOR.name == "Order")
    for file in ("common%2Fmoney.proto", "common%2Faddress.proto"):
        server.answers[f"/subjects/{file}"] = server.answers[f"/subjects/{file}/versions"] = {
            "id": 1
        }
    with pytest.raises(SchemaRegistryError, match="tells no version"):
        await ProtobufSerializer(registry, order_type).prepare("t")
