"""Weighs partitions for the sticky partitioner. Does not wait.

Partitions with short queues are chosen more often. Those of a node that is too slow are not chosen.

Source: KIP-794, KIP-1123, BuiltInPartitioner.updatePartitionLoadStats,
RecordAccumulator.NodeLatencyStats.
"""

import random
from collections.abc import Callable, Container, Sequence

from aiokafka_lite.cluster.metadata.metadata_snapshot import LeaderAndEpoch
from aiokafka_lite.producer.accumulator.partition_queue import PartitionQueue


class NodePatience:
    """Measures which nodes keep batches waiting for more than partitioner_availability_timeout_ms.

    With 0 it measures nothing.
    """

    def __init__(self, timeout_ms: int) -> None:
        self.is_on = timeout_ms > 0
        self._timeout_s = timeout_ms / 1000
        self._waiting: dict[int, tuple[float, float]] = {}

    def note(self, node_id: int, now_s: float, *, can_send: bool) -> None:
        """Note that a batch is due for a node, and whether it can be sent now."""
        _, sent_s = self._waiting.get(node_id, (now_s, now_s))
        self._waiting[node_id] = (now_s, now_s if can_send else sent_s)

    def is_over(self, node_id: int | None) -> bool:
        """Return whether a batch was due for that node for too long when last noted."""
        if node_id is None or node_id not in self._waiting:
            return False
        due_s, sent_s = self._waiting[node_id]
        return due_s - sent_s > self._timeout_s


class PartitionLoads:
    """The queues of one topic, by partition, as a partitioner weighs them."""

    def __init__(
        self,
        queues: Sequence[PartitionQueue | None],
        patience: NodePatience,
        leader_of: Callable[[int], LeaderAndEpoch],
        elsewhere: Sequence[int] = (),
    ) -> None:
        """`queues`: None where no record was sent to, which counts as an empty one. `elsewhere`:
        what to choose from while all nodes of the choices are too slow.
        """
        self._queues = queues
        self._elsewhere = elsewhere
        self._patience = patience
        self._leader_of = leader_of

    def choose(self, choices: Sequence[int], rng: random.Random) -> int:
        """Return one of `choices`, or of `elsewhere`. The weight of a partition is the length of
        the longest queue + 1 - the length of its own.

        Partitions of nodes that are too slow are left out, unless all are (2d-5). That holds while
        a batch of this topic waits for the node; otherwise no batch would show that it is back.
        """
        if len(self._queues) < 2:
            return rng.choice(choices)
        if self._patience.is_on:
            waiting = {queue.leader_id for queue in self._queues if queue and queue.batches}
            late = {node_id for node_id in waiting if self._patience.is_over(node_id)}
            if late:
                choices = (
                    self._not_led_by(late, choices)
                    or self._not_led_by(late, self._elsewhere)
                    or choices
                )
        lengths = [
            0 if (queue := self._queues[each]) is None else len(queue.batches) for each in choices
        ]
        longest = max(lengths)
        if longest == min(lengths):
            return rng.choice(choices)
        weights = [longest + 1 - length for length in lengths]
        return rng.choices(choices, weights)[0]

    def _not_led_by(self, nodes: Container[int | None], choices: Sequence[int]) -> list[int]:
        return [each for each in choices if self._leader_of(each).node_id not in nodes]


__all__ = ["NodePatience", "PartitionLoads"]
