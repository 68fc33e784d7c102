"""The public values keep aiokafka's shapes."""

from aiokafka_lite.model import (
    ConsumerRecord,
    Node,
    OffsetAndMetadata,
    OffsetAndTimestamp,
    RecordMetadata,
    TopicPartition,
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


def test_the_record_is_found_here_by_users_and_pickles() -> None:
    """tests/test_consumer_record.py has what it promises."""
    assert ConsumerRecord.__module__ == "aiokafka_lite.model"
    assert ConsumerRecord.__qualname__ == "ConsumerRecord"
