"""Random Arrow data: both twins of the row reader make the same records of it.

`make sanitize` runs this file under AddressSanitizer, with many more examples.
"""

from random import Random
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.errors import SerializationError
from aiokafka_lite.producer.append.arrow import _arrow_rows_py
from aiokafka_lite.record import _batch_builder_py
from aiokafka_lite.record._batch_reader_py import RecordCursor
from tests.fuzzing.arrow_tables import random_table
from tests.support.twins import native_twin

ALL = 1_000_000
FIELDS = ("partition", "timestamp_ms", "key", "value", "headers")
NOW_MS = 12_345


@pytest.fixture(scope="module")
def twins() -> tuple[tuple[ModuleType, ModuleType], ...]:
    """The row reader and the batch builder: native ones, then pure ones."""
    native = native_twin("aiokafka_lite.producer.append.arrow._arrow_rows")
    builder = native_twin("aiokafka_lite.record._batch_builder")
    return (native, builder), (_arrow_rows_py, _batch_builder_py)


def field_of(rows: Any, name: str, row: int) -> object:
    try:
        value = getattr(rows, name)(row)
    except SerializationError:
        return "refused"
    return tuple(value) if name == "headers" else value


def batch_of(rows: Any, builder: Any, first: int, *, use_timestamps: bool) -> list[object]:
    """Return how many rows a batch of that size took, and the records it has now."""
    taken = rows.append_to(
        builder, rows.numbers(0, len(rows)), first, NOW_MS, use_timestamps=use_timestamps
    )
    seen: list[object] = [taken, builder.max_timestamp]
    if taken:
        cursor = RecordCursor(bytes(builder.wire()), topic="t", partition=0, fetch_offset=0)
        seen += [(r.timestamp, r.key, r.value, r.headers) for r in cursor.take(ALL)]
    return seen


def rows_read(data: Any, rng: Random, reader: ModuleType, builders: ModuleType) -> list[object]:
    """Return everything the sender asks of Arrow rows."""
    seen: list[object] = []
    for rows in reader.arrow_batches(data):
        count = len(rows)
        seen.append((count, rows.has_topics, rows.has_partitions, rows.has_timestamps))
        seen += [[field_of(rows, name, row) for name in FIELDS] for row in range(count)]
        if rows.has_topics:
            seen += [rows.topic(row) for row in range(count)]
            seen += [(topic, list(numbers)) for topic, numbers in rows.by_topic(0, count)]
        for by_key in (True, False):
            for by_column in (True, False):
                parts = rows.by_partition(
                    rows.numbers(0, count), 3, by_key=by_key, by_column=by_column
                )
                seen.append(sorted((-1 if at is None else at, list(of)) for at, of in parts))
        builder = builders.RecordBatchBuilder(bytearray(rng.choice([200, 5000])))
        first = rng.choice([0, 0, min(count, 2)])
        seen += batch_of(rows, builder, first, use_timestamps=rng.random() < 0.7)
    return seen


@given(seed=st.integers(min_value=0, max_value=2**32))
def test_arrow_rows_are_the_same_from_both_twins(
    twins: tuple[tuple[ModuleType, ModuleType], ...], seed: int
) -> None:
    """A table of any type, slice or chunking that `send_arrow` takes becomes the same records in
    both builds.
    """
    native, pure = (rows_read(random_table(Random(seed)), Random(seed), *twin) for twin in twins)
    assert native == pure
