"""Owns what a group keeps of a position, and the question for it. Nothing waits here."""

from collections.abc import Collection, Mapping
from typing import NamedTuple, Protocol
from uuid import UUID

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.schema.field_types import ZERO_UUID


class CommittedOffset(NamedTuple):
    """A committed position."""

    offset: int
    """The next offset to read."""
    leader_epoch: int = -1
    """The leader epoch of the record before `offset`; -1 when not known."""
    metadata: str = ""
    topic_id: UUID = ZERO_UUID
    """Of the topic that was read; ZERO_UUID: whichever has the name now."""


class CommittedOffsets(Protocol):
    """Where committed offsets are asked for: a group's coordinator."""

    async def fetch_committed(
        self, partitions: Collection[TopicPartition]
    ) -> Mapping[TopicPartition, CommittedOffset | None]:
        """Return the group's offset of each partition; None, or nothing, where there is none.

        Raises: KafkaError; a retriable one is no news to the user.
        """


__all__ = ["CommittedOffset", "CommittedOffsets"]
