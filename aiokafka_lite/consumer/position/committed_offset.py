"""Owns what a group stores of a position, and the protocol of asking for it. Does not wait."""

from collections.abc import Collection, Mapping
from typing import Protocol
from uuid import UUID

from aiokafka_lite.light_named_tuple import NamedTuple
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.schema.field_types import ZERO_UUID


class CommittedOffset(NamedTuple):
    """A committed position."""

    offset: int
    """The next offset to read."""
    leader_epoch: int = -1
    """The leader epoch of the record before `offset`; -1 if not known."""
    metadata: str = ""
    topic_id: UUID = ZERO_UUID
    """The id of the topic that was read; ZERO_UUID: of the topic that has the name now."""


class CommittedOffsets(Protocol):
    """Returns committed offsets. A group's coordinator implements it."""

    async def fetch_committed(
        self, partitions: Collection[TopicPartition]
    ) -> Mapping[TopicPartition, CommittedOffset | None]:
        """Return the group's offset of each partition. One without an offset is None or missing.

        Raises: KafkaError; the user is not told of a retriable one.
        """


__all__ = ["CommittedOffset", "CommittedOffsets"]
