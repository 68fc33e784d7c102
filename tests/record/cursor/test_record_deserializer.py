"""Tests of `record/cursor/record_deserializer.py`."""

import pytest

from aiokafka_lite.errors import RecordDeserializationError
from aiokafka_lite.model import ConsumerRecord, TopicPartition
from aiokafka_lite.record.cursor.record_deserializer import RecordDeserializer


def record(offset, key, value):
    return ConsumerRecord("t", 3, offset, 77, 0, key, value, None, 0, 0, (("h", b"x"),))


def fields(records):
    return [(r.offset, r.key, r.value) for r in records]


def test_each_field_has_its_own_deserializer():
    records = [record(0, b"1", b"2"), record(1, None, b"3"), record(2, b"4", None)]
    assert RecordDeserializer("t", 3, int, bytes.decode).apply(records) is None
    assert fields(records) == [(0, 1, "2"), (1, None, "3"), (2, 4, None)]


def test_field_without_a_deserializer_stays_bytes():
    records = [record(0, b"1", b"2")]
    assert RecordDeserializer("t", 3, None, int).apply(records) is None
    assert fields(records) == [(0, b"1", 2)]


@pytest.mark.parametrize(("key", "value", "field"), [(b"x", b"2", "key"), (b"1", b"x", "value")])
def test_list_is_cut_before_the_record_that_fails(key, value, field):
    """Deserializing a list returns the records before the one that fails (2b-20)."""
    records = [record(5, b"1", b"2"), record(6, key, value), record(7, b"1", b"2")]
    error = RecordDeserializer("t", 3, int, int).apply(records)
    assert fields(records) == [(5, 1, 2)]
    assert isinstance(error, RecordDeserializationError)
    assert f"t-3 at offset 6: the {field} cannot be deserialized: ValueError" in str(error)
    assert "seek to offset 7" in str(error)
    assert error.topic_partition == TopicPartition("t", 3)
    assert (error.offset, error.timestamp, error.headers) == (6, 77, (("h", b"x"),))
    assert (error.key_bytes, error.value_bytes) == (key, value)
    assert isinstance(error.__cause__, ValueError)


def test_deserializer_may_ask_for_topic_and_headers():
    class Schemas:
        def deserialize(self, topic, headers, data):
            return topic, headers, data

    records = [record(0, b"k", b"v")]
    assert RecordDeserializer("t", 3, None, Schemas()).apply(records) is None
    assert records[0].value == ("t", (("h", b"x"),), b"v")
