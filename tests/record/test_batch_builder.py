"""Tests of `record/batch_builder.py` and its pure twin."""

import pytest

from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.record.batch_builder import RecordBatchBuilder, record_upper_bound
from aiokafka_lite.record.batch_header import validate_batch
from aiokafka_lite.record.batch_reader import RecordCursor


@pytest.mark.parametrize("compression", CompressionType)
def test_what_was_appended_is_read_back(compression):
    builder = RecordBatchBuilder(bytearray(16_384), compression=compression)
    for index in range(100):
        assert builder.append(1_000 + index, b"k%d" % index, b"v" * index) == index
    builder.stamp(7, 1, 40)
    header = validate_batch(builder.wire())
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (7, 1, 40)
    cursor = RecordCursor(builder.wire(), topic="t", partition=0, fetch_offset=0)
    records = cursor.take(1_000)
    assert [(r.offset, r.timestamp, r.key, r.value) for r in records] == [
        (index, 1_000 + index, b"k%d" % index, b"v" * index) for index in range(100)
    ]


def test_first_record_fits_a_buffer_of_its_upper_bound():
    key, value, headers = b"k" * 300, b"v" * 70_000, [("h", None), ("ü", b"x")]
    builder = RecordBatchBuilder(bytearray(record_upper_bound(key, value, headers)))
    assert builder.append(-1, key, value, headers) == 0
    assert builder.append(-1, None, b"no room any more") is None
