"""Turns keys and values of a share group's records into objects; its errors name the remedy there.

Does not wait.
"""

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.record.cursor.record_deserializer import RecordDeserializer


class ShareDeserializer(RecordDeserializer):
    """The two deserializers of one partition's records."""

    __slots__ = ()

    def remedy(self, offset: int) -> str:
        """Return how to go past a record: others may still read it."""
        return (
            f"acknowledge_offset({quoted(self.topic)}, {self.partition}, {offset}, "
            f"AcknowledgeType.REJECT) goes past it"
        )


__all__ = ["ShareDeserializer"]
