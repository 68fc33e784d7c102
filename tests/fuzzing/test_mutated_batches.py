"""Damaged record batches: both twins of a reader see the same, and an error is one of two kinds.

`make sanitize` runs this file under AddressSanitizer, with many more examples.
"""

from random import Random
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.arrow import _record_columns_py
from aiokafka_lite.errors import CorruptRecordException
from aiokafka_lite.record import _batch_reader_py
from tests.fuzzing.mutated_batches import CursorOptions, cursor_options, mutated_fetch
from tests.support.twins import native_twin

SEEDS = st.integers(min_value=0, max_value=2**32)


@pytest.fixture(scope="module")
def readers() -> tuple[ModuleType, ModuleType]:
    """The native module and the pure one."""
    return native_twin("aiokafka_lite.record._batch_reader"), _batch_reader_py


@pytest.fixture(scope="module")
def columns() -> tuple[ModuleType, ModuleType]:
    return native_twin("aiokafka_lite.arrow._record_columns"), _record_columns_py


def records_read(reader: ModuleType, data: bytes, options: CursorOptions) -> list[object]:
    """Return what a cursor tells of `data`, take by take; any other error passes."""
    try:
        cursor = reader.RecordCursor(data, topic="t", partition=0, **options.arguments)
    except CorruptRecordException:
        return ["refused"]
    seen: list[object] = [bool(cursor.has_complete_batch), cursor.end_offset()]
    for count, max_bytes in options.takes:
        try:
            for record in cursor.take(count, max_bytes):
                fields = (record.offset, record.timestamp, record.timestamp_type, record.key)
                sizes = (record.serialized_key_size, record.serialized_value_size)
                seen.append((*fields, record.value, record.headers, *sizes, record.checksum))
        except CorruptRecordException:
            seen.append("corrupt")
        seen.append((cursor.next_offset, cursor.last_leader_epoch, bool(cursor.exhausted)))
    return seen


def columns_read(
    reader: ModuleType, columns: ModuleType, data: bytes, options: CursorOptions
) -> list[object]:
    """Return the same as columns, which pyarrow finds valid."""
    try:
        cursor = reader.RecordCursor(data, topic="t", partition=3, **options.arguments)
    except CorruptRecordException:
        return ["refused"]
    seen: list[object] = []
    for count, max_bytes in options.takes:
        builder = columns.RecordColumnsBuilder(count, max_bytes)
        try:
            seen.append(cursor.take_columns(builder))
        except CorruptRecordException:
            seen.append("corrupt")
        batch = builder.finish().to_pyarrow()
        batch.validate(full=True)
        seen.append(batch)
        seen.append((cursor.next_offset, bool(cursor.exhausted)))
    return seen


@given(seed=SEEDS)
def test_damaged_batches_are_read_alike_or_refused_alike(
    readers: tuple[ModuleType, ModuleType], seed: int
) -> None:
    """Whatever the bytes are, a cursor returns records or raises CorruptRecordException, and both
    twins return the same records, offsets and errors.
    """
    rng = Random(seed)
    data, options = mutated_fetch(rng), cursor_options(rng)
    native, pure = (records_read(reader, data, options) for reader in readers)
    assert native == pure


@given(seed=SEEDS)
def test_damaged_batches_make_the_same_valid_columns(
    readers: tuple[ModuleType, ModuleType], columns: tuple[ModuleType, ModuleType], seed: int
) -> None:
    """Columns made of damaged batches are valid Arrow data, and the same from both twins."""
    rng = Random(seed)
    data, options = mutated_fetch(rng), cursor_options(rng)
    native, pure = (
        columns_read(reader, made, data, options)
        for reader, made in zip(readers, columns, strict=True)
    )
    assert native == pure
