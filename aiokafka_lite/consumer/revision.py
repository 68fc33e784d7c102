"""Owns the count of changes after which a partition may become free to fetch or stop being free.

The subscription and the buffer share it. While the number is the same, nothing must be looked at
again. The planner of fetches looks only at the partitions that were noted. Does not wait.
"""

from aiokafka_lite.model import TopicPartition


class Revision:
    """Counts changes in `number`: of a partition by `note`, any other by `number += 1`."""

    __slots__ = ("_changed", "number")

    def __init__(self) -> None:
        self.number = 0
        self._changed: dict[TopicPartition, None] = {}

    def note(self, tp: TopicPartition) -> None:
        """Note that a partition has changed: its state, its position, or its buffered fetches."""
        self.number += 1
        self._changed[tp] = None

    def take_changed(self) -> dict[TopicPartition, None]:
        """Return the partitions that were noted since the last call, each once."""
        changed, self._changed = self._changed, {}
        return changed


__all__ = ["Revision"]
