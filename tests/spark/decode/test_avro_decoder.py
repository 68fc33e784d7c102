"""Bytes in Avro, plain and in Confluent's wire format; fastavro is the witness of the bytes."""

import datetime as dt
import io
import json
from decimal import Decimal
from typing import Any
from uuid import uuid4

import fastavro
import pytest

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.schema_registry import (
    RegisteredSchema,
    RegistryUnavailableError,
    Schema,
    SchemaMismatchError,
    UnknownSchemaError,
    WireFormatError,
)
from aiokafka_lite.schema_registry.avro import TrailingBytesError
from aiokafka_lite.schema_registry.wire_format import guid_header
from aiokafka_lite.spark.decode.avro_decoder import AvroDecoder, parse_reader
from aiokafka_lite.spark.decode.blocking_registry import FoundSchema


def record(**fields: Any) -> str:
    listed = [
        {"name": field, "type": kind} if isinstance(kind, str | list) else {"name": field, **kind}
        for field, kind in fields.items()
    ]
    return json.dumps({"type": "record", "name": "Order", "fields": listed})


def written(schema: str, value: Any, schema_id: int | None = None) -> bytes:
    out = io.BytesIO()
    if schema_id is not None:
        out.write(b"\0" + schema_id.to_bytes(4, "big"))
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(schema)), value)
    return out.getvalue()


def stored(schema_id: int, kind: Any, text: str, references: tuple[str, ...] = ()) -> FoundSchema:
    return FoundSchema(RegisteredSchema(Schema(text, kind), schema_id), references)


ORDER = record(id="long", name=["null", "string"])


class Schemas:
    """What a registry has; counts the questions."""

    def __init__(self) -> None:
        self.known: dict[int | str, FoundSchema] = {1: stored(1, "AVRO", ORDER)}
        self.asked: list[int | str] = []

    def find(self, schema_id: int | str) -> FoundSchema:
        self.asked.append(schema_id)
        if schema_id not in self.known:
            raise UnknownSchemaError(f"no schema {schema_id}")
        return self.known[schema_id]


def test_plain_avro_is_of_the_readers_schema() -> None:
    decoder = AvroDecoder(parse_reader(ORDER))
    for value in ({"id": 1, "name": "ü"}, {"id": -(2**62), "name": None}):
        assert decoder.decode(written(ORDER, value)) == value


def test_logical_types_become_values_or_stay_what_they_are_made_of() -> None:
    schema = record(
        at={"type": {"type": "long", "logicalType": "timestamp-millis"}},
        price={"type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        took={"type": {"type": "int", "logicalType": "time-millis"}},
    )
    value = {
        "at": dt.datetime(2026, 1, 2, tzinfo=dt.UTC),
        "price": Decimal("-1.25"),
        "took": dt.time(0, 0, 1),
    }
    found = AvroDecoder(parse_reader(schema)).decode(written(schema, value))
    assert found == {**value, "took": 1000}


def test_each_value_is_read_by_the_schema_it_names_as_the_readers() -> None:
    """Avro's resolution: fields by name, wider numbers, defaults for what was not written yet."""
    schemas = Schemas()
    newer = record(extra="string", id="int")
    schemas.known[2] = stored(2, "AVRO", newer)
    reader = record(id="long", name={"type": ["null", "string"], "default": None})
    decoder = AvroDecoder(parse_reader(reader), schemas.find)
    for _ in range(3):
        assert decoder.decode(written(ORDER, {"id": 1, "name": "a"}, 1)) == {"id": 1, "name": "a"}
        assert decoder.decode(written(newer, {"id": 2, "extra": "b"}, 2)) == {"id": 2, "name": None}
    assert schemas.asked == [1, 2]


def test_schemas_may_refer_to_others() -> None:
    schemas = Schemas()
    city = json.dumps(
        {"type": "record", "name": "x.City", "fields": [{"name": "a", "type": "string"}]}
    )
    both = record(home="x.City", work=["null", "x.City"])
    schemas.known[3] = stored(3, "AVRO", both, (city,))
    parsed = parse_reader(both, [city])
    value = {"home": {"a": "B"}, "work": {"a": "C"}}
    wire = written(json.dumps([json.loads(city), json.loads(both)]), ("Order", value))
    decoder = AvroDecoder(parsed, schemas.find)
    assert decoder.decode(b"\0\0\0\0\3" + wire[1:]) == value  # without the number of the union


def test_a_schema_may_be_named_by_its_guid() -> None:
    schemas, guid = Schemas(), str(uuid4())
    schemas.known[guid] = schemas.known[1]
    decoder = AvroDecoder(parse_reader(ORDER), schemas.find)
    data = guid_header(guid) + written(ORDER, {"id": 7, "name": "a"})
    for _ in range(2):
        assert decoder.decode(data) == {"id": 7, "name": "a"}
    assert schemas.asked == [guid]


def test_branches_of_a_union_may_share_a_reference() -> None:
    """The first branch defines the type, and the second names it."""
    schemas = Schemas()

    def of(name: str, field: str, kind: str) -> str:
        return json.dumps(
            {"type": "record", "name": name, "fields": [{"name": field, "type": kind}]}
        )

    city, home = of("x.City", "a", "string"), of("x.Home", "at", "x.City")
    work = of("x.Work", "by", "x.City")
    union = '["x.Home", "x.Work"]'
    schemas.known[3] = stored(3, "AVRO", union, (city, home, work))
    decoder = AvroDecoder(parse_reader(union, [city, home, work]), schemas.find)
    assert decoder.decode(b"\0\0\0\0\3" + b"\0\2B") == {"at": {"a": "B"}}
    assert decoder.decode(b"\0\0\0\0\3" + b"\2\2C") == {"by": {"a": "C"}}


@pytest.mark.parametrize(
    ("wire", "error", "said"),
    [
        (b"", WireFormatError, "0 bytes are too few"),
        (b"\0\0\0\1", WireFormatError, "4 bytes are too few"),
        (b'{"id": 1}', WireFormatError, "begins with the byte 123, and not with 0"),
        (b"\0\0\0\0\1" + b"\2\0\0", TrailingBytesError, "ends 1 bytes before"),
        (b"\0\0\0\0\1" + b"\2", EOFError, "end before the value"),
        (b"\0\0\0\0\1" + b"\2\2\2\xff", UnicodeDecodeError, "utf-8"),
        (b"\0\0\0\0\1" + b"\2\x08", Exception, "."),
        (b"\0\0\0\0\2", SchemaMismatchError, "schema 2 is PROTOBUF, not AVRO"),
        (b"\0\0\0\0\3", SchemaMismatchError, "schema 3: .*this is not an Avro schema"),
        (b"\0\0\0\0\4", SchemaMismatchError, r"value\.id was written as date"),
        (b"\0\0\0\0\5", UnknownSchemaError, "no schema 5"),
    ],
)
def test_what_cannot_be_read_says_why(wire: bytes, error: type[Exception], said: str) -> None:
    schemas = Schemas()
    schemas.known[2] = stored(2, "PROTOBUF", "message Order {}")
    schemas.known[3] = stored(3, "AVRO", '{"type": "nonsense"}')
    date = record(id={"type": {"type": "int", "logicalType": "date"}}, name="string")
    schemas.known[4] = stored(4, "AVRO", date)
    decoder = AvroDecoder(parse_reader(ORDER), schemas.find)
    for _ in range(2):
        with pytest.raises(error, match=said):
            decoder.decode(wire)


def test_a_registry_that_does_not_answer_is_remembered_of_no_schema() -> None:
    answers: list[Any] = [RegistryUnavailableError("not now"), stored(1, "AVRO", ORDER)]

    def find(schema_id: int | str) -> FoundSchema:
        answer: FoundSchema | RegistryUnavailableError = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    decoder = AvroDecoder(parse_reader(ORDER), find)
    wire = written(ORDER, {"id": 1, "name": None}, 1)
    with pytest.raises(RegistryUnavailableError):
        decoder.decode(wire)
    assert decoder.decode(wire)["id"] == 1


@pytest.mark.parametrize("text", ["{", "nonsense", '{"type": "record"}', "7", "[]x"])
def test_what_is_no_schema_is_refused(text: str) -> None:
    with pytest.raises(KafkaConfigurationError, match="this is not an Avro schema"):
        parse_reader(text)
    assert parse_reader("long") == parse_reader('"long"')
