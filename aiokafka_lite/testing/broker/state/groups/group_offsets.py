"""A group's committed offsets by partition, and those of transactions that are still open.

Does not wait. Source: OffsetMetadataManager; KIP-98, KIP-447.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from aiokafka_lite.errors import OffsetMetadataTooLargeError
from aiokafka_lite.model import TopicPartition

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StoredOffset:
    """The next offset to read, committed by a group."""

    offset: int
    leader_epoch: int = -1
    """The leader epoch of the last processed record; -1 if the client did not send one."""
    metadata: str = ""
    timestamp_ms: int = -1
    """The time of the commit, ms since the epoch."""


@dataclass(slots=True)
class _Pending:
    """One producer's commits in its open transaction, with the order of each commit."""

    producer_epoch: int
    offsets: dict[TopicPartition, tuple[int, StoredOffset]] = field(default_factory=dict)


class GroupOffsets:
    """The commits of one group, oldest partition first."""

    def __init__(self, metadata_max_bytes: int) -> None:
        self._metadata_max_bytes = metadata_max_bytes
        self._offsets: dict[TopicPartition, StoredOffset] = {}
        self._commits = 0
        self._orders: dict[TopicPartition, int] = {}
        """The number of each partition's last commit."""
        self._pending: dict[int, _Pending] = {}
        """Producer id -> its open transaction."""

    def __iter__(self) -> Iterator[tuple[TopicPartition, StoredOffset]]:
        return iter(self._offsets.items())

    def get(self, topic_partition: TopicPartition) -> StoredOffset | None:
        """Return the last committed offset; None if nothing was committed."""
        return self._offsets.get(topic_partition)

    def commit(self, topic_partition: TopicPartition, committed: StoredOffset) -> None:
        """Store an offset in place of the one before. Raises: OffsetMetadataTooLargeError."""
        self._check_size(topic_partition, committed)
        self._commits += 1
        self._orders[topic_partition] = self._commits
        self._offsets[topic_partition] = committed

    def _check_size(self, topic_partition: TopicPartition, committed: StoredOffset) -> None:
        size = len(committed.metadata)
        if size > self._metadata_max_bytes:
            raise OffsetMetadataTooLargeError(
                f"the metadata of {topic_partition} has {size} characters; "
                f"at most {self._metadata_max_bytes} are kept"
            )

    def delete(self, topic_partition: TopicPartition) -> None:
        """Forget the last committed offset; harmless without one. Open transactions go on."""
        self._offsets.pop(topic_partition, None)
        self._orders.pop(topic_partition, None)

    # In transactions…

    def commit_in_transaction(
        self,
        topic_partition: TopicPartition,
        committed: StoredOffset,
        producer_id: int,
        producer_epoch: int,
    ) -> None:
        """Store an offset until its transaction ends. Raises: OffsetMetadataTooLargeError."""
        self._check_size(topic_partition, committed)
        pending = self._pending.setdefault(producer_id, _Pending(producer_epoch))
        pending.producer_epoch = producer_epoch
        self._commits += 1
        pending.offsets[topic_partition] = self._commits, committed

    def has_transaction(self, producer_id: int, producer_epoch: int) -> bool:
        """Return whether the producer has committed offsets in its present transaction."""
        pending = self._pending.get(producer_id)
        return pending is not None and pending.producer_epoch == producer_epoch

    def is_unstable(self, topic_partition: TopicPartition) -> bool:
        """Return whether an open transaction may still change the committed offset (KIP-447)."""
        return any(topic_partition in pending.offsets for pending in self._pending.values())

    def pending(self) -> dict[TopicPartition, StoredOffset]:
        """Return the commits of open transactions, the newest one of each partition."""
        entries = sorted(
            (order, topic_partition, committed)
            for pending in self._pending.values()
            for topic_partition, (order, committed) in pending.offsets.items()
        )
        return {topic_partition: committed for _, topic_partition, committed in entries}

    def end_transaction(self, producer_id: int, *, is_commit: bool) -> None:
        """Drop the producer's pending commits, or commit those that no later commit has replaced.

        Source: OffsetMetadataManager.replayEndTransactionMarker.
        """
        pending = self._pending.pop(producer_id, None)
        if pending is None or not is_commit:
            return
        for topic_partition, (order, committed) in pending.offsets.items():
            if order > self._orders.get(topic_partition, 0):
                self._orders[topic_partition] = order
                self._offsets[topic_partition] = committed

    def forget_topic(self, topic: str) -> None:
        """Drop the offsets of a topic that was deleted."""
        self._offsets = _without(topic, self._offsets)
        self._orders = _without(topic, self._orders)
        for pending in self._pending.values():
            pending.offsets = _without(topic, pending.offsets)


def _without(topic: str, by_partition: dict[TopicPartition, T]) -> dict[TopicPartition, T]:
    return {key: kept for key, kept in by_partition.items() if key.topic != topic}


__all__ = ["GroupOffsets", "StoredOffset"]
