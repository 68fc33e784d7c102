"""A share group as an administrator sees it: where it begins to read. It never has members here.

Does not wait. Source: ShareGroup, KIP-932.
"""

from dataclasses import dataclass, field

from aiokafka_lite.model import TopicPartition


@dataclass(slots=True)
class ShareGroup:
    """A share group and the start offsets that an administrator has set."""

    group_id: str
    offsets: dict[TopicPartition, int] = field(default_factory=dict)

    def forget_topic(self, topic: str) -> None:
        """Drop the offsets of a topic; harmless without any."""
        self.offsets = {key: kept for key, kept in self.offsets.items() if key.topic != topic}


__all__ = ["ShareGroup"]
