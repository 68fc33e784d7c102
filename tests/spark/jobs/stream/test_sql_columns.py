"""Which columns of records a job reads for a user's SQL."""

import pytest

from aiokafka_lite.spark.jobs.stream.sql_columns import columns_used
from aiokafka_lite.spark.read.arrow import COLUMNS


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ("key, upper(string(value)) AS value", ("key", "value")),
        (
            "SELECT `Key`, OFFSET FROM records WHERE r.timestampType > 0",
            ("key", "offset", "timestampType"),
        ),
        ("keys, my_value, timestamps", ("offset",)),
        ("SELECT count(*), Count( * ) FROM records", ("offset",)),
        ("SELECT record.topic FROM events", ("topic",)),
    ],
)
def test_a_column_is_read_if_its_name_occurs(text: str, used: tuple[str, ...]) -> None:
    assert columns_used(text) == used


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM records",
        "SELECT r.* FROM records r",
        "SELECT key FROM records NATURAL JOIN others",
        "FROM records |> WHERE partition = 0",
        "TABLE records",
        "SELECT key FROM records PIVOT (max(value) FOR partition IN (0, 1))",
        "SELECT to_json(record) FROM events",
    ],
)
def test_what_may_use_columns_without_their_names_gets_all(text: str) -> None:
    assert columns_used(text) == tuple(COLUMNS)


def test_texts_count_together() -> None:
    assert columns_used("key", "partition = 0") == ("key", "partition")
