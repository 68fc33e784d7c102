"""Tests of `record/memory_records.py`."""

import struct

import pytest

from aiokafka_lite.errors import CorruptRecordException
from aiokafka_lite.record.memory_records import has_complete_batch, iter_batches

MAGIC_1 = struct.pack(">qiIbbqii", 40, 22, 0, 1, 0, 123, -1, -1)


@pytest.fixture
def two_batches(raw_batch, raw_record):
    return raw_batch([raw_record(0), raw_record(1)], base_offset=10), raw_batch(
        [raw_record(0)], base_offset=12, last_offset_delta=7
    )


def test_batches_are_found_with_their_places(two_batches):
    first, second = two_batches
    found = list(iter_batches(first + second + MAGIC_1))
    assert [(b.base_offset, b.last_offset, b.size, b.magic, b.position) for b in found] == [
        (10, 11, len(first), 2, 0),
        (12, 19, len(second), 2, len(first)),
        (40, 40, len(MAGIC_1), 1, len(first) + len(second)),
    ]
    assert [bytes(b.view) for b in found] == [first, second, MAGIC_1]


def test_partial_tail_is_dropped_wherever_it_is_cut(two_batches):
    """A partial batch after a full one is ignored, wherever it is cut (2b-12)."""
    first, second = two_batches
    for cut in range(len(second)):
        assert [b.base_offset for b in iter_batches(first + second[:cut])] == [10]


def test_first_batch_may_be_partial_itself(two_batches):
    """A first batch may be partial: bytes, but no whole batch (2b-12, A4)."""
    first, _ = two_batches
    assert has_complete_batch(memoryview(first))
    for cut in range(len(first)):
        assert not has_complete_batch(memoryview(first[:cut]))
        assert list(iter_batches(first[:cut])) == []


@pytest.mark.parametrize(
    ("offset", "form", "value", "words"),
    [
        (8, ">i", -1, "batch length -1"),
        (8, ">i", 13, "batch length 13"),
        (8, ">i", 48, "batch length 48"),
        (8, ">i", -(2**31), "batch length"),
        (16, ">b", 3, "magic 3"),
        (16, ">b", -1, "magic 255"),
        (0, ">q", -5, "base offset -5"),
        (0, ">q", 2**63 - 1, "base offset"),
    ],
)
def test_impossible_sizes_are_an_error_behind_the_batches_before(
    two_batches, offset, form, value, words
):
    first, second = two_batches
    bad = bytearray(second)
    struct.pack_into(form, bad, offset, value)
    batches = iter_batches(first + bad)
    assert next(batches).base_offset == 10
    with pytest.raises(CorruptRecordException, match=words):
        next(batches)
    assert has_complete_batch(memoryview(bad))  # so that reading it says what is wrong
