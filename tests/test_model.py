"""The public values keep aiokafka's shapes."""

import copy
import dataclasses
import pickle

import pytest

from aiokafka_lite.model import (
    ConsumerRecord,
    Node,
    OffsetAndMetadata,
    OffsetAndTimestamp,
    RecordMetadata,
    TimestampType,
    TopicPartition,
)

# aiokafka 0.14, structs.py
RECORD_FIELDS = (
    "topic",
    "partition",
    "offset",
    "timestamp",
    "timestamp_type",
    "key",
    "value",
    "checksum",
    "serialized_key_size",
    "serialized_value_size",
    "headers",
)


def record(**changes: object) -> ConsumerRecord[bytes, bytes]:
    facts: dict[str, object] = {
        "topic": "orders",
        "partition": 3,
        "offset": 42,
        "timestamp": 1_700_000_000_000,
        "timestamp_type": TimestampType.CREATE_TIME,
        "key": b"k",
        "value": b"v",
        "checksum": None,
        "serialized_key_size": 1,
        "serialized_value_size": 1,
        "headers": (("h", b"x"),),
    }
    return ConsumerRecord(**(facts | changes))  # type: ignore[arg-type]  # a table of fields


def test_tuples_have_aiokafkas_fields() -> None:
    assert TopicPartition._fields == ("topic", "partition")
    assert OffsetAndMetadata._fields == ("offset", "metadata")
    assert OffsetAndTimestamp._fields == ("offset", "timestamp")
    assert RecordMetadata._fields == (
        "topic",
        "partition",
        "topic_partition",
        "offset",
        "timestamp",
        "timestamp_type",
        "log_start_offset",
    )
    assert Node(1, "h", 9092) == (1, "h", 9092, None)
    assert {TopicPartition("t", 0)} == {("t", 0)}


def test_record_is_a_dataclass_with_aiokafkas_fields_in_their_order() -> None:
    assert tuple(field.name for field in dataclasses.fields(ConsumerRecord)) == RECORD_FIELDS
    assert dataclasses.asdict(record())["offset"] == 42
    assert dataclasses.replace(record(), offset=43).offset == 43


def test_record_takes_its_fields_by_position_too() -> None:
    assert ConsumerRecord(*dataclasses.astuple(record())) == record()


def test_record_compares_by_value_and_prints_its_fields() -> None:
    assert record() == record()
    assert record() != record(offset=43)
    assert record() != "something else"
    assert repr(record()).startswith("ConsumerRecord(topic='orders', partition=3, offset=42,")


def test_record_is_mutable_takes_new_attributes_and_is_not_hashable() -> None:
    one = record()
    one.value = b"changed"
    one.trace = "mine"  # type: ignore[attr-defined]  # users do this
    assert one.value == b"changed"
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


def test_record_may_be_subclassed_and_parametrised() -> None:
    class Order(ConsumerRecord[str, dict[str, int]]):
        @property
        def total(self) -> int:
            return (self.value or {})["total"]

    order = Order(**dataclasses.asdict(record(value={"total": 7})))
    assert order.total == 7
    assert order != record(value={"total": 7})


def test_record_can_be_copied_and_pickled() -> None:
    assert copy.copy(record()) == record()
    assert copy.deepcopy(record()) == record()
    assert pickle.loads(pickle.dumps(record())) == record()
