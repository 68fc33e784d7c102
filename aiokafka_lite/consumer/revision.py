"""Owns the count of changes that may set a partition free to fetch, or stop it, and what changed.

Subscription and buffer share it, so that whoever has seen a number need not look again, and who
plans fetches looks only at the partitions that are named. It does not wait.
"""

from aiokafka_lite.model import TopicPartition


class Revision:
    """Compare `number`; note a change of a partition with `note`, any other with `number += 1`."""

    __slots__ = ("_changed", "number")

    def __init__(self) -> None:
        self.number = 0
        self._changed: dict[TopicPartition, None] = {}

    def note(self, tp: TopicPartition) -> None:
        """Something of the partition has changed: its state, its position, what is buffered."""
        self.number += 1
        self._changed[tp] = None

    def take_changed(self) -> dict[TopicPartition, None]:
        """Return the partitions that were noted since the last call, each once."""
        changed, self._changed = self._changed, {}
        return changed


__all__ = ["Revision"]
