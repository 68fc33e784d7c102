"""Avro's schemas as columns, by the rules of Avro's specification."""

from typing import Any

import pyarrow as pa
import pytest

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.spark.decode.avro_types import column_type, kept_logical_types, logical_conflicts


def logical(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": name, **more}


def record(**fields: Any) -> dict[str, Any]:
    listed = [{"name": name, "type": kind} for name, kind in fields.items()]
    return {"type": "record", "name": "R", "fields": listed}


CITY_TYPE = pa.struct([("a", pa.int32())])
CITY = {
    "type": "record",
    "name": "City",
    "namespace": "x",
    "fields": [{"name": "a", "type": "int"}],
}


@pytest.mark.parametrize(
    ("schema", "arrow", "ddl"),
    [
        ("boolean", pa.bool_(), "boolean"),
        ("long", pa.int64(), "bigint"),
        ({"type": "float"}, pa.float32(), "float"),
        ({"type": {"type": "bytes"}}, pa.binary(), "binary"),
        (["null", "string"], pa.string(), "string"),
        (["null"], pa.null(), "void"),
        (["int", "null", "long"], pa.int64(), "bigint"),
        (["double", "float"], pa.float64(), "double"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, pa.string(), "string"),
        ({"type": "fixed", "name": "F", "size": 4}, pa.binary(), "binary"),
        (logical("int", "date"), pa.date32(), "date"),
        (logical("long", "timestamp-millis"), pa.timestamp("us", "UTC"), "timestamp"),
        (logical("long", "local-timestamp-micros"), pa.timestamp("us"), "timestamp_ntz"),
        (logical("bytes", "decimal", precision=9, scale=2), pa.decimal128(9, 2), "decimal(9,2)"),
        (
            {"type": "array", "items": ["null", "int"]},
            pa.list_(pa.field("element", pa.int32())),
            "array<int>",
        ),
        (
            {"type": "map", "values": "double"},
            pa.map_(pa.string(), pa.float64()),
            "map<string,double>",
        ),
        (
            record(home=CITY, work=["null", "City"], other="x.City"),
            pa.struct([(name, CITY_TYPE) for name in ("home", "work", "other")]),
            "struct<`home`:struct<`a`:int>,`work`:struct<`a`:int>,`other`:struct<`a`:int>>",
        ),
    ],
)
def test_each_schema_has_a_column(schema: Any, arrow: pa.DataType, ddl: str) -> None:
    found = column_type(schema)
    assert (found.arrow, found.ddl) == (arrow, ddl)


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (record(a=["string", "int"]), r"for value\.a: a union of 2 types"),
        (record(next=["null", "R"]), r"for value\.next: the record R contains itself"),
        (
            record(a={"type": "array", "items": "Gone"}),
            r"value\.a\[\]: the type 'Gone' is not known",
        ),
        (record(), "value: a record without fields"),
        (logical("bytes", "decimal", precision=39), "a decimal of 39 digits"),
    ],
)
def test_what_no_column_can_be_is_refused_by_its_field(schema: Any, said: str) -> None:
    with pytest.raises(KafkaConfigurationError, match=said):
        column_type(schema)


def test_logical_types_without_a_column_of_their_own_are_what_they_are_made_of() -> None:
    schema = record(
        id=logical("string", "uuid"),
        at=["null", logical("long", "time-micros")],
        days={"type": "array", "items": logical("int", "date")},
    )
    kept = kept_logical_types(schema)
    assert kept == record(
        id={"type": "string"},
        at=["null", {"type": "long"}],
        days={"type": "array", "items": logical("int", "date")},
    )


def test_a_reader_that_takes_numbers_for_times_is_told() -> None:
    millis, micros = logical("long", "timestamp-millis"), logical("long", "timestamp-micros")
    assert logical_conflicts(record(a=millis, b="long"), record(a=micros, c=millis)) == []
    assert logical_conflicts(record(a="long"), record(a=["null", millis])) == [
        "value.a was written as a plain value, and is read as timestamp"
    ]
    inside = {"type": "map", "values": logical("int", "date")}
    assert logical_conflicts(record(a=inside), record(a={"type": "map", "values": "int"})) == [
        "value.a[] was written as date, and is read as a plain value"
    ]
    home = record(home=CITY, work="x.City")
    assert logical_conflicts(home, home) == []
