"""Owns the routes of `send`: for each topic its partitions and their queues. Does not wait.

A route is made from a metadata snapshot and kept until the topic's partitions change, so a record
costs one look-up.
"""

import copy
import random
from collections.abc import Callable, Sequence
from functools import partial

from aiokafka_lite.checks.quoted import number, quoted
from aiokafka_lite.checks.value_checks import whole
from aiokafka_lite.cluster.metadata.metadata_snapshot import (
    NO_LEADER,
    LeaderAndEpoch,
    MetadataSnapshot,
)
from aiokafka_lite.errors import IllegalArgumentError, KafkaError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.accumulator.fast_append import HeldRoutes, RouteQueues
from aiokafka_lite.producer.accumulator.partition_queue import PartitionQueue
from aiokafka_lite.producer.accumulator.record_accumulator import RecordAccumulator
from aiokafka_lite.producer.partition.partition_loads import NodePatience, PartitionLoads
from aiokafka_lite.producer.partition.partitioner import StickyPartition
from aiokafka_lite.producer.producer_config import Partitioner, TopicPartitioner


class TopicRoute(RouteQueues[PartitionQueue]):
    """The partitions and queues of one topic, from one snapshot."""

    __slots__ = ("available", "count", "partitions", "topic")

    sticky: StickyPartition

    def __init__(
        self,
        topic: str,
        partitions: Sequence[int],
        available: Sequence[int],
        make_queue: Callable[[int], PartitionQueue],
        sticky: StickyPartition,
        choices: Sequence[int],
    ) -> None:
        super().__init__(len(partitions), make_queue, choices, sticky)
        self.topic = topic
        self.partitions = partitions
        """All partitions from 0 on, without gaps."""
        self.available = available
        """The partitions with a leader."""
        self.count = len(partitions)

    def sticky_queue(self, value_bytes: int) -> PartitionQueue:
        """Return the queue for a record without key whose value has that size."""
        return self.queue(self.sticky.choose(self.choices, value_bytes))

    def queue_chosen_by(
        self, partitioner: Partitioner | TopicPartitioner, key: bytes | None
    ) -> PartitionQueue:
        """Return the queue that a partitioner of the user chooses by the key's bytes.

        Raises: IllegalArgumentError for a choice that is no partition of the topic; what the
        partitioner raises.
        """
        everything, available = list(self.partitions), list(self.available)
        if isinstance(partitioner, TopicPartitioner):
            partition = partitioner.partition(self.topic, key, everything, available)
        else:
            partition = partitioner(key, everything, available)
        partition = whole(partition)
        if partition not in self.partitions:
            raise IllegalArgumentError(
                f"partitioner {quoted(partitioner)} chose {number(partition)} for topic "
                f"{quoted(self.topic)}, which has the partitions 0 to {self.count - 1}"
            )
        return self.queue(partition)


class TopicRoutes(HeldRoutes[TopicRoute]):
    """The routes to the topics a producer has sent to."""

    def __init__(
        self,
        accumulator: RecordAccumulator,
        *,
        share_bytes: int,
        rng: random.Random,
        is_adaptive: bool = False,
        patience: NodePatience | None = None,
        rack: str | None = None,
    ) -> None:
        """`is_adaptive`: partitions with short queues get more of the records without key, and
        partitions of nodes that `patience` finds too slow get none (KIP-794). `rack`: those records
        go to partitions led there, while there are any (KIP-1123).
        """
        super().__init__()
        self._accumulator = accumulator
        self._share_bytes = share_bytes
        self._is_adaptive = is_adaptive
        self.patience = patience if patience is not None else NodePatience(0)
        """How long the nodes keep batches waiting; the sender measures it."""
        self._rng = rng
        self._rack = rack
        self._sticky: dict[str, StickyPartition] = {}
        self._snapshot: MetadataSnapshot | None = None
        self._is_open = True
        self.failure: KafkaError | None = None
        """What the next record is refused with."""

    def update(self, snapshot: MetadataSnapshot) -> None:
        """Follow new metadata: update the routes made so far and the leaders of the queues."""
        self._snapshot = snapshot
        self._accumulator.set_leaders(snapshot.leader)
        for topic in list(self._sticky):
            before = self.routes.get(topic)
            if (
                before is None
                or before.partitions is not snapshot.partition_ids(topic)
                or self._has_moved(before, snapshot)
            ):
                self._make(topic, snapshot)

    def find(self, topic: str) -> TopicRoute | None:
        """Return the route to `topic`; None: its partitions are not known."""
        route = self.routes.get(topic)
        if route is None and self._snapshot is not None:
            route = self._make(topic, self._snapshot)
        return route

    def fail_next(self, error: KafkaError) -> None:
        """Refuse the next record with `error`. Until then `fast_append` places no record, so the
        next record of any topic gets to `append_path`, which calls `refuse`.
        """
        self.failure = error
        self._forget_all()

    def refuse(self) -> None:
        """Raise `failure`, once. The record after this one is taken again."""
        error, self.failure = self.failure, None
        if error is None:
            return
        for topic in self.routes:
            self._know(topic)
        raise copy.copy(error) from error

    def close(self) -> None:
        """Forget all routes, for good."""
        self._is_open = False
        self._forget_all()
        self.routes.clear()

    def _make(self, topic: str, snapshot: MetadataSnapshot) -> TopicRoute | None:
        partitions = _without_gaps(snapshot.partition_ids(topic))
        if not partitions or not self._is_open:
            self._forget(topic)
            self.routes.pop(topic, None)
            return None
        sticky = self._sticky.get(topic)
        if sticky is None:
            sticky = self._sticky[topic] = StickyPartition(self._share_bytes, self._rng)
        available = snapshot.available_partitions(topic)
        choices = self._choices(topic, snapshot) or partitions
        make_queue, leader_of = partial(self._queue, topic), partial(self._leader, topic)
        route = TopicRoute(topic, partitions, available, make_queue, sticky, choices)
        self.routes[topic] = route
        if self._is_adaptive:
            sticky.loads = PartitionLoads(route.queues, self.patience, leader_of, available)
        if self.failure is None:
            self._know(topic)
        return route

    def _has_moved(self, route: TopicRoute, snapshot: MetadataSnapshot) -> bool:
        """Return whether a node has another rack, so that other partitions are near."""
        if self._rack is None:
            return False
        return route.choices != (self._choices(route.topic, snapshot) or route.partitions)

    def _choices(self, topic: str, snapshot: MetadataSnapshot) -> tuple[int, ...]:
        """Return the partitions for records without key: those with a leader, in the rack if there
        are any.
        """
        available = snapshot.available_partitions(topic)
        if self._rack is None:
            return available
        in_rack = {node.node_id for node in snapshot.nodes.values() if node.rack == self._rack}
        leader = snapshot.topics[topic].leaders if available else {}
        return tuple(each for each in available if leader[each].node_id in in_rack) or available

    def _queue(self, topic: str, partition: int) -> PartitionQueue:
        return self._accumulator.queue_of(
            TopicPartition(topic, partition), self._leader(topic, partition)
        )

    def _leader(self, topic: str, partition: int) -> LeaderAndEpoch:
        known = self._snapshot
        return NO_LEADER if known is None else known.leader(TopicPartition(topic, partition))


def _without_gaps(partition_ids: tuple[int, ...]) -> tuple[int, ...]:
    """Return all partitions up to the largest. One that the metadata leaves out exists and has no
    leader. Keys are hashed over all partitions, and queues are found by their number.
    """
    if not partition_ids or partition_ids[-1] + 1 == len(partition_ids):
        return partition_ids
    return tuple(range(partition_ids[-1] + 1))


__all__ = ["TopicRoute", "TopicRoutes"]
