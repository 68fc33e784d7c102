"""The assignor "range": of each topic, every member gets one run of neighbouring partitions.

Topics with the same subscribers and the same number of partitions are cut alike. So one member
reads the records of a key from all of these topics (co-partitioning). Members that name their rack
first get partitions with a replica there, as far as the cut allows (KIP-881). Plain, without state.
"""

from collections.abc import Callable, Iterable, Mapping

from aiokafka_lite.consumer.assignors.assignor import (
    AbstractPartitionAssignor,
    AssignmentCluster,
    Assignments,
    Members,
    member_order,
    member_racks,
    racks_matter,
    to_assignments,
    topic_partitions,
)
from aiokafka_lite.consumer.assignors.on_class_too import on_class_too
from aiokafka_lite.model import TopicPartition


class RangePartitionAssignor(AbstractPartitionAssignor):
    """Each topic by itself in equal runs; the first members get one more where it does not divide.

    Members are ordered by instance id, then by member id. Source: RangeAssignor, KIP-881.
    """

    name = "range"
    version = 0
    """That of the metadata and assignments, which a class derived from it may read."""

    @on_class_too
    def assign(self, cluster: AssignmentCluster, members: Members) -> Assignments:
        """Return the assignment of each member."""
        subscribers = _subscribers(members)
        racks = member_racks(members)
        shares = [
            _TopicShares(partitions, subscribers[topic], racks, cluster)
            for topic, partitions in topic_partitions(cluster, members).items()
        ]
        if any(topic.racks_matter for topic in shares):
            _share_by_rack(shares)
        for topic in shares:
            topic.share(lambda _member_id, _partition: True)
        assigned: dict[str, list[TopicPartition]] = {member_id: [] for member_id in members}
        for topic in shares:
            for member_id, partitions in topic.assigned.items():
                assigned[member_id] += partitions
        return to_assignments(assigned)


class _TopicShares:
    """One topic during its assignment: how many of the remaining partitions a member may get."""

    def __init__(
        self,
        partitions: list[TopicPartition],
        subscribers: Iterable[str],
        racks: Mapping[str, str],
        cluster: AssignmentCluster,
    ) -> None:
        self.partitions = partitions
        self.racks = {member_id: racks.get(member_id) for member_id in subscribers}
        self.assigned: dict[str, list[TopicPartition]] = {key: [] for key in self.racks}
        self._left = dict.fromkeys(partitions)
        self._each, self._one_more = divmod(len(partitions), len(self.racks))
        known = {rack for rack in self.racks.values() if rack is not None}
        self._partition_racks = {p: cluster.racks(p) for p in partitions} if known else {}
        self.racks_matter = racks_matter(known, self._partition_racks)

    def racks_match(self, member_id: str, partition: TopicPartition) -> bool:
        """Whether the member is near the partition; a member without rack is near to all."""
        rack = self.racks[member_id]
        return rack is None or rack in self._partition_racks[partition]

    def room(self, member_id: str) -> int:
        """How many more the member may take now."""
        most = self._each + (self._one_more > 0)
        return max(0, most - len(self.assigned[member_id]))

    def share(self, may_take: Callable[[str, TopicPartition], bool]) -> None:
        """Give each member in turn the first partitions left that it may take, up to its room."""
        for member_id in self.racks:
            room = self.room(member_id)
            taken: list[TopicPartition] = []
            for partition in self._left:
                if len(taken) == room:
                    break
                if may_take(member_id, partition):
                    taken.append(partition)
            self.give(member_id, taken)

    def give(self, member_id: str, partitions: list[TopicPartition]) -> None:
        """Assign these."""
        for partition in partitions:
            del self._left[partition]
        assigned = self.assigned[member_id]
        had_one_more = len(assigned) > self._each
        assigned += partitions
        self._one_more -= len(assigned) > self._each and not had_one_more


def _subscribers(members: Members) -> dict[str, list[str]]:
    subscribers: dict[str, list[str]] = {}
    for member_id in sorted(
        members, key=lambda member_id: member_order(member_id, members[member_id])
    ):
        for topic in dict.fromkeys(members[member_id].subscription):
            subscribers.setdefault(topic, []).append(member_id)
    return subscribers


def _share_by_rack(shares: list[_TopicShares]) -> None:
    alike: dict[tuple[frozenset[tuple[str, str | None]], int], list[_TopicShares]] = {}
    for topic in shares:
        if any(rack is not None for rack in topic.racks.values()):
            key = (frozenset(topic.racks.items()), len(topic.partitions))
            alike.setdefault(key, []).append(topic)
    for topics in alike.values():
        if len(topics) > 1:
            _share_co_partitioned(topics)
        elif topics[0].racks_matter:
            topics[0].share(topics[0].racks_match)


def _share_co_partitioned(topics: list[_TopicShares]) -> None:
    """Give away the n-th partitions of all these topics together, to a member near to all."""
    for group in zip(*(topic.partitions for topic in topics), strict=True):
        member_id = next((m for m in topics[0].racks if _may_take_all(m, topics, group)), None)
        if member_id is not None:
            for topic, partition in zip(topics, group, strict=True):
                topic.give(member_id, [partition])


def _may_take_all(
    member_id: str, topics: list[_TopicShares], group: tuple[TopicPartition, ...]
) -> bool:
    return all(
        topic.room(member_id) and topic.racks_match(member_id, partition)
        for topic, partition in zip(topics, group, strict=True)
    )


__all__ = ["RangePartitionAssignor"]
