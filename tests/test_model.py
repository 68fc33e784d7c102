"""The public values keep aiokafka's shapes."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.model import (
    ConsumerGroupMetadata,
    ConsumerRecord,
    Node,
    OffsetAndMetadata,
    OffsetAndTimestamp,
    RecordMetadata,
    SubscriptionPattern,
    TopicPartition,
    by_topic,
    names_of,
)


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


def test_partitions_are_named_in_the_order_given() -> None:
    named = [TopicPartition("u", 0), TopicPartition("t", 12)]
    assert names_of(named) == "u-0, t-12"
    assert names_of([]) == ""
    many = [TopicPartition("t", number) for number in range(1000)]
    assert names_of(many).endswith("t-8, t-9 and 990 more")


@given(st.lists(st.builds(TopicPartition, st.sampled_from("tuv"), st.integers(0, 9)), unique=True))
def test_partitions_by_topic_are_all_of_them_in_order(partitions: list[TopicPartition]) -> None:
    grouped = by_topic(partitions)
    assert list(grouped) == list(dict.fromkeys(topic for topic, _ in partitions))
    for topic, numbers in grouped.items():
        assert numbers == [number for name, number in partitions if name == topic]


def test_the_record_is_found_here_by_users_and_pickles() -> None:
    """tests/consumer_record/test_consumer_record.py has what it promises."""
    assert ConsumerRecord.__module__ == "aiokafka_lite.model"
    assert ConsumerRecord.__qualname__ == "ConsumerRecord"


RECORD_METADATA = RecordMetadata("t", 0, TopicPartition("t", 0), 5, 7, 0, None)
vars(RECORD_METADATA).update(serialized_key_size=3, serialized_value_size=9)
WAYS: dict[str, Callable[[Any], Any]] = {
    "_replace": lambda value: value._replace(),
    "__replace__": lambda value: value.__replace__(),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "value",
    [
        TopicPartition("t", 1),
        OffsetAndMetadata(5, "note", 3),
        OffsetAndTimestamp(5, None),
        ConsumerGroupMetadata("g", 4, "m", "i"),
        SubscriptionPattern("a.*"),
        Node(1, "h", 9092, "r"),
        RECORD_METADATA,
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_made_of_another_has_all_of_it(value: Any, way: str) -> None:
    """Attributes outside the tuple included."""
    made = WAYS[way](value)
    assert (type(made), made, vars_of(made)) == (type(value), value, vars_of(value))


def vars_of(value: Any) -> dict[str, Any]:
    return dict(getattr(value, "__dict__", {}))


def test_offsets_are_changed_with_their_epoch() -> None:
    at = OffsetAndMetadata(5, "note", 3)
    assert at._replace(offset=4).leader_epoch == 3
    assert at._replace(leader_epoch=2).leader_epoch == 2
    assert OffsetAndMetadata._make((6, "note")).leader_epoch == -1
    assert RECORD_METADATA._replace(offset=6).serialized_value_size == 9
    for change in (at._replace, RECORD_METADATA._replace):
        with pytest.raises((TypeError, ValueError), match="unexpected field names"):
            change(colour="red")
