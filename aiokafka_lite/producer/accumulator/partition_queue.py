"""Owns the queues of batches: one for each partition, grouped by the leaders of the partitions.
Does not wait.
"""

from bisect import bisect_left
from collections import deque
from operator import attrgetter

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.accumulator import fast_append
from aiokafka_lite.producer.accumulator.node_pace import NodePace
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch


class PartitionQueue(fast_append.OpenBatchSlot):
    """The batches of one partition that wait to be sent, oldest first."""

    __slots__ = (
        "batches",
        "filled_bytes",
        "is_muted",
        "leader_epoch",
        "leader_id",
        "pace",
        "turn",
    )

    open_batch: ProducerBatch | None

    def __init__(self, topic_partition: TopicPartition) -> None:
        super().__init__(topic_partition)
        self.batches: deque[ProducerBatch] = deque()
        self.leader_id: int | None = None
        self.leader_epoch = -1
        self.pace: NodePace | None = None
        """That of its leader."""
        self.filled_bytes = 0
        """The size of its last sealed batch before compression."""
        self.turn = 0
        """The number of the partition among those of its leader; drains go by it."""
        self.is_muted = False
        """One of its batches is in flight and the next has to wait for its outcome (2d-12)."""

    def close_open_batch(self) -> None:
        """Let the last batch take no more records."""
        if self.open_batch is not None:
            self.open_batch.close()
            self.open_batch = None


class NodeQueues:
    """The queues of the partitions that one node leads."""

    __slots__ = ("filled", "next_turn", "pace", "turns")

    def __init__(self, pace: NodePace) -> None:
        self.pace = pace
        self.turns = 0
        """How many queues there are."""
        self.filled: dict[PartitionQueue, None] = {}
        """The queues with batches. A drain sorts these and looks at no others. So five thousand
        partitions of which two are active cost as much as two.
        """
        self.next_turn = 0
        """The turn at which the next drain begins."""

    def in_turn(self) -> list[PartitionQueue]:
        """Return the queues with batches by their turn, beginning with the next one."""
        if len(self.filled) == 1:
            return list(self.filled)
        queues = sorted(self.filled, key=_turn_of)
        if not self.next_turn:  # the last drain took from all
            return queues
        first = bisect_left(queues, self.next_turn, key=_turn_of)
        return queues[first:] + queues[:first]


_turn_of = attrgetter("turn")

__all__ = ["NodeQueues", "PartitionQueue"]
