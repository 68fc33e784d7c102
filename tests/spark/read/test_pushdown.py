"""A filter leaves out of a range only what it would throw away row by row."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.spark.offsets import OffsetRange
from aiokafka_lite.spark.read.pushdown import begin_at, earliest_timestamp_ms, narrow


@dataclass
class Filter:
    """As those of pyspark.sql.datasource, by their names."""

    column: str
    value: Any = None

    @property
    def attribute(self) -> tuple[str, ...]:
        return tuple(self.column.split("."))


class EqualTo(Filter): ...


class EqualNullSafe(Filter): ...


class GreaterThan(Filter): ...


class GreaterThanOrEqual(Filter): ...


class LessThan(Filter): ...


class LessThanOrEqual(Filter): ...


class In(Filter): ...


class IsNotNull(Filter): ...


class Not(Filter): ...


TESTS: dict[type[Filter], Any] = {
    EqualTo: lambda own, value: own == value,
    EqualNullSafe: lambda own, value: own == value,
    GreaterThan: lambda own, value: own > value,
    GreaterThanOrEqual: lambda own, value: own >= value,
    LessThan: lambda own, value: own < value,
    LessThanOrEqual: lambda own, value: own <= value,
}


def at(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


RANGES = [OffsetRange("a", 0, 3, 9), OffsetRange("a", 1, 0, 5), OffsetRange("b", 0, 7, 20)]
numbers = st.builds(
    lambda kind, column, value: kind(column, value),
    st.sampled_from([*TESTS]),
    st.sampled_from(["partition", "offset"]),
    st.integers(-1, 21),
)


@given(st.lists(numbers, max_size=4))
def test_what_is_left_is_all_that_passes_and_a_comparison_leaves_nothing_else(
    filters: list[Filter],
) -> None:
    rows = {
        (each.topic, each.partition, offset)
        for each in RANGES
        for offset in range(each.start, each.end)
    }
    passing = {
        row
        for row in rows
        if all(
            TESTS[type(each)](row[1] if each.column == "partition" else row[2], each.value)
            for each in filters
        )
    }
    left = {
        (each.topic, each.partition, offset)
        for each in narrow(RANGES, filters)
        for offset in range(each.start, each.end)
    }
    assert left == passing


@pytest.mark.parametrize(
    ("each", "left"),
    [
        (EqualTo("topic", "b"), [2]),
        (In("topic", ("a", "c")), [0, 1]),
        (In("partition", (0,)), [0, 2]),
        (EqualNullSafe("topic", "none"), []),
    ],
)
def test_topics_and_lists_are_understood(each: Filter, left: list[int]) -> None:
    assert narrow(RANGES, [each]) == [RANGES[number] for number in left]


@pytest.mark.parametrize(
    "each",
    [
        Not("offset", 1),
        IsNotNull("offset"),
        EqualTo("offset", None),
        EqualTo("offset", 1.5),
        In("offset", (4, 5)),
        LessThan("topic", "b"),
        EqualTo("value", b"x"),
        EqualTo("headers.offset", 1),
        GreaterThan("timestamp", at(5)),
    ],
)
def test_what_is_not_understood_leaves_everything_in(each: Filter) -> None:
    assert narrow(RANGES, [each]) == RANGES


def test_only_a_lower_bound_of_the_time_says_where_to_begin() -> None:
    """Times in a log need not rise: behind a young record there may be an old one."""
    filters = [GreaterThan("timestamp", at(5)), GreaterThanOrEqual("timestamp", at(9))]
    assert earliest_timestamp_ms([*filters, LessThan("timestamp", at(1))]) == 9
    assert earliest_timestamp_ms([EqualTo("timestamp", at(7))]) == 7
    assert earliest_timestamp_ms([LessThan("timestamp", at(1))]) is None
    naive = datetime(2026, 1, 1)  # noqa: DTZ001 - which zone it is of is not known
    assert earliest_timestamp_ms([GreaterThan("timestamp", naive)]) is None
    assert earliest_timestamp_ms([GreaterThan("offset", 5)]) is None


def test_ranges_begin_at_the_offsets_found() -> None:
    first = {each.topic_partition: 5 for each in RANGES}
    assert begin_at(RANGES, first) == [OffsetRange("a", 0, 5, 9), RANGES[2]]
