"""The plain values of the public API: topics, partitions, nodes, offsets and records.

Two functions name partitions in a text and group them by topic. Does not wait.
"""

from collections.abc import Iterable
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final, NoReturn, Self

from aiokafka_lite.consumer_record._consumer_record_py import KT, VT
from aiokafka_lite.light_named_tuple import NamedTuple
from aiokafka_lite.native import native


class TimestampType:
    """Which clock set a record's timestamp. Source: record batch attributes, bit 3."""

    NO_TIMESTAMP: Final = -1
    """The record's format (magic 0) has no timestamp."""
    CREATE_TIME: Final = 0
    """The producer."""
    LOG_APPEND_TIME: Final = 1
    """The broker, when it appended the batch."""


class TopicPartition(NamedTuple):
    """A partition, by its topic's name and its number."""

    topic: str
    partition: int


_MOST_NAMED = 10
"""How many partitions a text names."""


def names_of(partitions: Iterable[TopicPartition]) -> str:
    """Return "orders-0, orders-1", in the order given. Of many, only the first are named."""
    names = [f"{topic}-{partition}" for topic, partition in partitions]
    if len(names) <= _MOST_NAMED:
        return ", ".join(names)
    return f"{', '.join(names[:_MOST_NAMED])} and {len(names) - _MOST_NAMED} more"


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

    `leader_epoch` belongs to the record before that offset; -1 means unknown. It is an attribute
    outside the tuple. So values still unpack and compare as two fields (KIP-320).
    """

    leader_epoch: int

    def __new__(cls, offset: int, metadata: str = "", leader_epoch: int = -1) -> Self:
        self = super().__new__(cls, offset, metadata)
        self.leader_epoch = leader_epoch
        return self

    @classmethod
    def _make(cls, iterable: Iterable[Any]) -> Self:  # type: ignore[override]
        made = super()._make(iterable)
        made.leader_epoch = -1
        return made

    def _replace(self, /, **changes: Any) -> Self:
        epoch = changes.pop("leader_epoch", self.leader_epoch)
        made = super()._replace(**changes)
        made.leader_epoch = epoch
        return made

    __replace__ = _replace


class ConsumerGroupMetadata(NamedTuple):
    """A consumer's identity in its group, for a producer that commits in its name (KIP-447)."""

    group_id: str
    generation_id: int = -1
    member_id: str = ""
    group_instance_id: str | None = None


class OffsetAndTimestamp(NamedTuple):
    """The first offset at or after a time, and its timestamp in ms (None if it has none)."""

    offset: int
    timestamp: int | None


class SubscriptionPattern(NamedTuple):
    """A regular expression for the names of topics, which the broker matches (KIP-848)."""

    pattern: str
    """In the syntax of RE2; the whole name has to match."""


class OffsetSpec(IntEnum):
    """Offsets that a partition's leader knows without a time. An int from 0 on is a time in ms."""

    LATEST = -1
    """The end: after the last record, or after the last one that is committed."""
    EARLIEST = -2
    """The first record that is kept."""
    MAX_TIMESTAMP = -3
    """The record with the greatest timestamp (KIP-734)."""
    EARLIEST_LOCAL = -4
    """The first record on the leader's own disk (KIP-405)."""
    LATEST_TIERED = -5
    """The last record in remote storage (KIP-1005)."""
    EARLIEST_PENDING_UPLOAD = -6
    """The first record that is not in remote storage yet (KIP-1023)."""


class AcknowledgeType(IntEnum):
    """What becomes of a record of a share group."""

    ACCEPT = 1
    """It was processed; nobody gets it again."""
    RELEASE = 2
    """It was not processed; it is delivered again, here or to another member."""
    REJECT = 3
    """It cannot be processed; nobody gets it again."""
    RENEW = 4
    """It is still being processed: its lock begins anew (KIP-1222)."""


class _RecordMetadata(NamedTuple):
    topic: str
    partition: int
    topic_partition: TopicPartition
    offset: int
    """-1 with acks=0: the broker then reports no offset."""
    timestamp: int | None
    """Milliseconds since the epoch: the record's own, or the broker's under log-append time."""
    timestamp_type: int
    log_start_offset: int | None


class RecordMetadata(_RecordMetadata):
    """Where a produced record was written.

    The serialized sizes are attributes outside the tuple. So it unpacks and compares like
    aiokafka's seven fields.
    """

    serialized_key_size: int = -1
    """Bytes; -1 without a key, and where the client did not keep the size."""
    serialized_value_size: int = -1
    """Bytes; -1 without a value, and where the client did not keep the size."""

    def _replace(self, /, **changes: Any) -> Self:
        sizes = {name: changes.pop(name, size) for name, size in self.__dict__.items()}
        made = super()._replace(**changes)
        made.__dict__.update(sizes)
        return made

    __replace__ = _replace

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{name} cannot be set to {value!r}: RecordMetadata is immutable")


# Chosen at import: the native record, or its pure twin, a dataclass.
_twin = native("aiokafka_lite.consumer_record._consumer_record")
if TYPE_CHECKING or _twin is None:
    from aiokafka_lite.consumer_record._consumer_record_py import ConsumerRecord
else:
    ConsumerRecord = _twin.ConsumerRecord

__all__ = [
    "KT",
    "VT",
    "AcknowledgeType",
    "ConsumerGroupMetadata",
    "ConsumerRecord",
    "Node",
    "OffsetAndMetadata",
    "OffsetAndTimestamp",
    "OffsetSpec",
    "RecordMetadata",
    "SubscriptionPattern",
    "TimestampType",
    "TopicPartition",
    "by_topic",
    "names_of",
]
