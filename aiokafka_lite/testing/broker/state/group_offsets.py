"""The offsets a group has committed, by partition. Does not wait. Source: OffsetMetadataManager."""

from collections.abc import Iterator
from dataclasses import dataclass

from aiokafka_lite.errors import OffsetMetadataTooLargeError
from aiokafka_lite.model import TopicPartition


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    """The next offset to read, as a group left it."""

    offset: int
    leader_epoch: int = -1
    """Of the last record processed; -1 when the client did not say."""
    metadata: str = ""
    timestamp_ms: int = -1
    """When it was committed, ms since the epoch."""


class GroupOffsets:
    """What one group has committed, oldest partition first."""

    def __init__(self, metadata_max_bytes: int) -> None:
        self._metadata_max_bytes = metadata_max_bytes
        self._offsets: dict[TopicPartition, CommittedOffset] = {}

    def __iter__(self) -> Iterator[tuple[TopicPartition, CommittedOffset]]:
        return iter(self._offsets.items())

    def get(self, topic_partition: TopicPartition) -> CommittedOffset | None:
        """Return what was committed last, None if nothing was."""
        return self._offsets.get(topic_partition)

    def commit(self, topic_partition: TopicPartition, committed: CommittedOffset) -> None:
        """Keep an offset in place of the one before. Raises OffsetMetadataTooLargeError."""
        size = len(committed.metadata)
        if size > self._metadata_max_bytes:
            raise OffsetMetadataTooLargeError(
                f"the metadata of {topic_partition} has {size} characters; "
                f"at most {self._metadata_max_bytes} are kept"
            )
        self._offsets[topic_partition] = committed

    def forget_topic(self, topic: str) -> None:
        """Drop the offsets of a topic that was deleted."""
        self._offsets = {key: kept for key, kept in self._offsets.items() if key.topic != topic}
