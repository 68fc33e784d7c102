"""Equal rows have equal fingerprints, however they come; others do not."""

from typing import Any

import pytest

from tests.conftest import NO_SPARK

pytest.importorskip("pyarrow", reason=NO_SPARK)

import pyarrow as pa

from aiokafka_lite.spark.write.row_fingerprint import RowFingerprint

SCHEMA = pa.schema(
    [
        ("key", pa.string()),
        ("value", pa.binary()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("timestamp", pa.timestamp("us", tz="UTC")),
        ("headers", pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
    ]
)
ROW: dict[str, Any] = {
    "key": "k",
    "value": b"v",
    "topic": "t",
    "partition": 1,
    "timestamp": 1_000_000,
    "headers": [{"key": "h", "value": b"1"}],
}
NULLS: dict[str, Any] = dict.fromkeys(ROW)
ROWS = [ROW, NULLS, {**ROW, "key": None}, {**ROW, "value": b"w"}]


def fingerprint(*batches: list[dict[str, Any]], topic: str | None = None) -> tuple[int, str]:
    taken = RowFingerprint(topic)
    for rows in batches:
        taken.add(pa.RecordBatch.from_pylist(rows, schema=SCHEMA))
    return taken.rows, taken.digest()


def test_order_and_batches_do_not_matter() -> None:
    expected = fingerprint(ROWS)
    assert fingerprint(ROWS[::-1]) == expected
    assert fingerprint(ROWS[2:], [], ROWS[:2]) == expected
    assert expected[0] == 4


@pytest.mark.parametrize(
    "change",
    [
        {"key": "x"},
        {"key": None},
        {"key": ""},
        {"value": None},
        {"value": b""},
        {"topic": "u"},
        {"topic": None},
        {"partition": 2},
        {"timestamp": 1_000_001},
        {"headers": []},
        {"headers": None},
        {"headers": [{"key": "h", "value": b"2"}]},
    ],
    ids=str,
)
def test_each_column_matters(change: dict[str, Any]) -> None:
    assert fingerprint([ROW, NULLS, {**ROW, **change}]) != fingerprint([ROW, NULLS, ROW])


def test_a_key_belongs_to_its_value() -> None:
    one, two = {**ROW, "key": "x"}, {**ROW, "value": b"w"}
    both = {**ROW, "key": "x", "value": b"w"}
    assert fingerprint([one, two]) != fingerprint([both, ROW])


def test_the_topic_of_all_rows_matters() -> None:
    assert fingerprint(ROWS, topic="a") != fingerprint(ROWS, topic="b")


def test_seconds_as_a_double_are_taken() -> None:
    def digest(*seconds: float | None) -> str:
        taken = RowFingerprint("t")
        batch = pa.RecordBatch.from_pydict({"timestamp": pa.array(seconds, pa.float64())})
        taken.add(batch)
        return taken.digest()

    assert digest(1.5, None) == digest(None, 1.5) != digest(1.5, 2.0)


def test_columns_without_any_value_count_as_they_do_among_others() -> None:
    """They are passed over, which saves their rows; the sum is the same."""
    nulls = [{**ROW, "headers": None, "timestamp": None, "partition": None}] * 3
    assert fingerprint(nulls, [ROW]) == fingerprint([nulls[0], ROW, *nulls[1:]])
    assert fingerprint(nulls) != fingerprint([ROW] * 3)
