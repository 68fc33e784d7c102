"""Tests of `record/cursor/record_deserializer.py`."""

import pytest

from aiokafka_lite.errors import RecordDeserializationError
from aiokafka_lite.model import ConsumerRecord, TopicPartition
from aiokafka_lite.record.cursor.record_deserializer import MadeInVain, RecordDeserializer


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


def test_what_was_made_in_vain_is_not_made_ahead_again() -> None:
    """Whatever the order of the drops; many stretches count as one (A12)."""
    in_vain = MadeInVain()
    made = [record(offset, None, b"v") for offset in range(200)]
    assert in_vain.allowed(made, 1) == 200
    in_vain.add(made[20:25])
    in_vain.add(made[10:15])
    assert in_vain.allowed(made, 1) == 10
    assert in_vain.allowed(made[11:], 2) == 2
    assert in_vain.allowed(made[15:], 0) == 5
    assert in_vain.allowed(made[25:], 0) == 175
    in_vain.add(made[12:22])
    assert in_vain.allowed(made[15:], 0) == 0
    assert in_vain.allowed(made[12:], 100) == 188
    for start in range(30, 200, 4):
        in_vain.add(made[start : start + 1])
    assert in_vain.allowed(made[25:], 0) == 0
