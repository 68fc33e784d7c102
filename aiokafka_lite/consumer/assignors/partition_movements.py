"""Records the moves between members while an assignment is balanced, so that no two partitions of
a topic change places. Plain; built for one assignment.
"""

from aiokafka_lite.consumer.assignors.java_order import PartitionHashSet
from aiokafka_lite.model import TopicPartition

Move = tuple[str, str]
"""From member, to member."""


class PartitionMovements:
    """The moves so far, each partition's from where it was first to where it is now.

    Source: AbstractStickyAssignor.PartitionMovements.
    """

    def __init__(self) -> None:
        self._moves: dict[TopicPartition, Move] = {}
        self._moved: dict[tuple[str, Move], PartitionHashSet] = {}

    def record(self, partition: TopicPartition, old: str, new: str) -> None:
        """Note that the partition moves; a move back to where it was first is no move."""
        first = old
        if partition in self._moves:
            first = self._forget(partition)
        if first != new:
            self._moves[partition] = first, new
            self._moved.setdefault((partition.topic, (first, new)), PartitionHashSet()).add(
                partition
            )

    def to_move(self, partition: TopicPartition, old: str, new: str) -> TopicPartition:
        """Return what to move from `old` to `new` instead: a partition that moved the other way.

        The partition itself if none of its topic did.
        """
        first = self._moves[partition][0] if partition in self._moves else old
        came_back = self._moved.get((partition.topic, (new, first)))
        return came_back.first() if came_back else partition

    def _forget(self, partition: TopicPartition) -> str:
        move = self._moves.pop(partition)
        moved = self._moved[partition.topic, move]
        moved.remove(partition)
        if not moved:
            del self._moved[partition.topic, move]
        return move[0]


__all__ = ["PartitionMovements"]
