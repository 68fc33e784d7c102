"""The plain values of the public API: topics, partitions, nodes, offsets and records.

Two functions name partitions in a text and group them by topic.

No behaviour, no waiting.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from aiokafka_lite._consumer_record_py import KT, VT
from aiokafka_lite.native import native


class TimestampType:
    """Who set a record's timestamp. Source: record batch attributes, bit 3."""

    NO_TIMESTAMP: Final = -1
    """The record's format (magic 0) has none."""
    CREATE_TIME: Final = 0
    """The producer."""
    LOG_APPEND_TIME: Final = 1
    """The broker, when it wrote the batch."""


class TopicPartition(NamedTuple):
    """A partition, by its topic's name and its number."""

    topic: str
    partition: int


def names_of(partitions: Iterable[TopicPartition]) -> str:
    """Return "orders-0, orders-1", in the order given."""
    return ", ".join(f"{topic}-{partition}" for topic, partition in partitions)


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """Return the partition numbers of each topic, topics and numbers in the order given."""
    grouped: dict[str, list[int]] = {}
    for topic, partition in partitions:
        grouped.setdefault(topic, []).append(partition)
    return grouped


class Node(NamedTuple):
    """A broker as the cluster's metadata names it."""

    node_id: int
    host: str
    port: int
    rack: str | None = None


class _OffsetAndMetadata(NamedTuple):
    offset: int
    metadata: str


class OffsetAndMetadata(_OffsetAndMetadata):
    """A committed offset (the next one to read) and the committer's note of at most a few KiB.

    `leader_epoch`, of the record before that offset, is -1 when it is not known. It is an attribute
    and no part of the tuple, so that two values still unpack and compare as two (KIP-320).
    """

    leader_epoch: int

    def __new__(cls, offset: int, metadata: str = "", leader_epoch: int = -1) -> Self:
        self = super().__new__(cls, offset, metadata)
        self.leader_epoch = leader_epoch
        return self


class ConsumerGroupMetadata(NamedTuple):
    """Who a consumer is in its group, for a producer that commits in its name (KIP-447)."""

    group_id: str
    generation_id: int = -1
    member_id: str = ""
    group_instance_id: str | None = None


class OffsetAndTimestamp(NamedTuple):
    """The first offset at or after a time, and its timestamp in ms (None if it has none)."""

    offset: int
    timestamp: int | None


class _RecordMetadata(NamedTuple):
    topic: str
    partition: int
    topic_partition: TopicPartition
    offset: int
    """-1 when the broker does not say (acks=0)."""
    timestamp: int | None
    """Milliseconds since the epoch: the record's own, or the broker's under log-append time."""
    timestamp_type: int
    log_start_offset: int | None


class RecordMetadata(_RecordMetadata):
    """Where a produced record ended up.

    The serialized sizes are attributes and no part of the tuple, so that it unpacks and compares
    as aiokafka's seven fields do.
    """

    serialized_key_size: int = -1
    """Bytes, -1 without a key and where it was not kept."""
    serialized_value_size: int = -1
    """Bytes, -1 without a value and where it was not kept."""


# Chosen at import: the native record, or the dataclass it is the twin of.
_twin = native("aiokafka_lite._consumer_record")
if TYPE_CHECKING or _twin is None:
    from aiokafka_lite._consumer_record_py import ConsumerRecord
else:
    ConsumerRecord = _twin.ConsumerRecord

__all__ = [
    "KT",
    "VT",
    "ConsumerGroupMetadata",
    "ConsumerRecord",
    "Node",
    "OffsetAndMetadata",
    "OffsetAndTimestamp",
    "RecordMetadata",
    "TimestampType",
    "TopicPartition",
    "by_topic",
    "names_of",
]
