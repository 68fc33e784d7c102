"""The public values keep aiokafka's shapes."""

from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.model import (
    ConsumerRecord,
    Node,
    OffsetAndMetadata,
    OffsetAndTimestamp,
    RecordMetadata,
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
