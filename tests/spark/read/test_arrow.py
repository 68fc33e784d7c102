"""Records in the schema and the exact Arrow types of Spark's own Kafka source."""

import pickle

import pyarrow as pa
import pytest

from aiokafka_lite.arrow.record_schema import record_schema
from aiokafka_lite.spark.read.arrow import COLUMNS, SparkColumns, ddl, default_columns

ALL = [(name, kind) for name, (_, kind) in COLUMNS.items()]


def records(rows: list[dict[str, object]]) -> pa.RecordBatch:
    """What getmany_arrow returns."""
    whole = {
        "topic": "t",
        "partition": 0,
        "timestamp": None,
        "timestamp_type": -1,
        "key": None,
        "value": None,
        "headers": [],
    }
    return pa.RecordBatch.from_pylist(
        [{**whole, "offset": number, **row} for number, row in enumerate(rows)],
        schema=record_schema(),
    )


def test_the_schema_is_the_official_one() -> None:
    assert ddl(default_columns(include_headers=False)) == (
        "key binary, value binary, topic string, partition int, offset bigint,"
        " timestamp timestamp, timestampType int"
    )
    assert ddl(default_columns(include_headers=True)).endswith(
        ", headers array<struct<key:string,value:binary>>"
    )


def test_types_are_those_of_spark_to_the_letter() -> None:
    """Spark compares by `equals`, and wants every field nullable."""
    converted = SparkColumns(ALL).convert(records([{"headers": [{"key": "h", "value": b"1"}]}]), 9)
    entry = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])
    assert converted.schema.equals(
        pa.schema(
            [
                ("key", pa.binary()),
                ("value", pa.binary()),
                ("topic", pa.string()),
                ("partition", pa.int32()),
                ("offset", pa.int64()),
                ("timestamp", pa.timestamp("us", tz="UTC")),
                ("timestampType", pa.int32()),
                ("headers", pa.list_(pa.field("element", entry))),
            ]
        )
    )
    assert all(field.nullable for field in converted.schema)
    converted.validate(full=True)


def test_values_are_the_official_ones() -> None:
    """No headers are NULL, no timestamp is the millisecond before 1970."""
    batch = records(
        [
            {"key": b"k", "value": b"v", "timestamp": 1234, "timestamp_type": 1},
            {"headers": [{"key": "h", "value": None}, {"key": "h", "value": b"x"}]},
            {},
        ]
    )
    rows = SparkColumns(ALL).convert(batch, 3)
    rows.validate(full=True)
    assert rows["timestamp"].cast(pa.int64()).to_pylist() == [1_234_000, -1000, -1000]
    assert rows["timestampType"].to_pylist() == [1, -1, -1]
    assert rows["headers"].to_pylist() == [
        None,
        [{"key": "h", "value": None}, {"key": "h", "value": b"x"}],
        None,
    ]
    assert rows["key"].to_pylist() == [b"k", None, None]


def test_only_the_columns_asked_for_are_fetched_in_their_order() -> None:
    columns = SparkColumns([("value", "binary"), ("timestampType", "int")])
    assert list(columns.asked) == ["value", "timestamp_type", "offset"]
    batch = records([{"value": b"v"}]).select(["offset", "value", "timestamp_type"])
    assert columns.convert(batch, 1).to_pylist() == [{"value": b"v", "timestampType": -1}]
    assert pickle.loads(pickle.dumps(columns)).names == columns.names
    assert list(SparkColumns([("offset", "bigint")]).asked) == ["offset"]


@pytest.mark.parametrize(("end", "left"), [(0, []), (5, [3]), (6, [3, 5]), (9, [3, 5, 8])])
def test_rows_behind_the_end_are_left_out(end: int, left: list[int]) -> None:
    batch = records([{"offset": offset} for offset in (3, 5, 8)])
    assert SparkColumns(ALL).convert(batch, end)["offset"].to_pylist() == left


def test_other_columns_and_types_are_refused() -> None:
    with pytest.raises(ValueError, match="no column 'when'; the columns are key, value, topic"):
        SparkColumns([("when", "timestamp")])
    with pytest.raises(ValueError, match="column value is binary, not string; cast it afterwards"):
        SparkColumns([("value", "string")])
    with pytest.raises(ValueError, match="a column at least"):
        SparkColumns([])
