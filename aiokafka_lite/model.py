"""The plain values of the public API: topics, partitions, nodes, offsets and records.

No behaviour, no waiting.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, Self

if TYPE_CHECKING:
    # Their default (PEP 696) is for type checkers alone: a bare ConsumerRecord is one of bytes.
    from typing_extensions import TypeVar

    KT = TypeVar("KT", default=bytes)
    VT = TypeVar("VT", default=bytes)
else:
    from typing import TypeVar

    KT = TypeVar("KT")
    VT = TypeVar("VT")


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


@dataclass(eq=True)
class ConsumerRecord(Generic[KT, VT]):
    """A record as it was read.

    Mutable, without slots and not hashable, as aiokafka's: interceptors and processing steps may
    set attributes of their own on it.
    """

    topic: str
    partition: int
    offset: int
    timestamp: int
    """Milliseconds since the epoch, -1 when there is none."""
    timestamp_type: int
    """One of `TimestampType`."""
    key: KT | None
    value: VT | None
    checksum: int | None
    """The CRC of a magic 0 or 1 record; None since magic 2."""
    serialized_key_size: int
    """Bytes, -1 without a key."""
    serialized_value_size: int
    """Bytes, -1 without a value."""
    headers: Sequence[tuple[str, bytes | None]]
    """In the producer's order; a name may occur more than once."""


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
]
