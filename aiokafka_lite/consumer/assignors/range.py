"""The assignor "range": of each topic, every member gets one run of neighbouring partitions.

Topics with the same subscribers and the same number of partitions are cut alike. So one member
reads the records of a key from all of these topics (co-partitioning). Members that name their rack
first get partitions with a replica there, as far as the cut allows (KIP-881). Plain, without state.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from itertools import islice

from aiokafka_lite.consumer.assignors.assignor import (
    AbstractPartitionAssignor,
    AssignmentCluster,
    Assignments,
    Members,
    in_member_order,
    member_racks,
    racks_matter,
    subscribers_of_topics,
    topic_numbers,
)
from aiokafka_lite.consumer.assignors.on_class_too import on_class_too
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.consumer_protocol import ConsumerProtocolMemberAssignment

Given = Iterable[tuple[str, list[int]]]
"""Members, each with its partitions of one topic."""


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
        subscribers = subscribers_of_topics(in_member_order(members))
        numbers = topic_numbers(cluster, subscribers)
        near = {}
        racks = member_racks(members)
        if racks:
            near = _shares_by_rack(numbers, subscribers, racks, cluster)
        assigned: dict[str, list[tuple[str, list[int]]]] = {member_id: [] for member_id in members}
        for topic, of_topic in numbers.items():
            share = near.get(topic)
            given = _runs(of_topic, subscribers[topic]) if share is None else share.given()
            for member_id, owned in given:
                assigned[member_id].append((topic, owned))
        return {
            member_id: ConsumerProtocolMemberAssignment(0, owned, b"")
            for member_id, owned in assigned.items()
        }


def _runs(numbers: list[int], subscribers: list[str]) -> Given:
    each, one_more = divmod(len(numbers), len(subscribers))
    end = 0
    for at, member_id in enumerate(subscribers if each else subscribers[:one_more]):
        start, end = end, end + each + (at < one_more)
        yield member_id, numbers[start:end]


class _TopicShares:
    """One topic during an assignment by racks: what is left, and how many a member may get."""

    def __init__(
        self,
        topic: str,
        numbers: list[int],
        subscribers: list[str],
        racks: dict[str, str],
        cluster: AssignmentCluster,
    ) -> None:
        self.numbers = numbers
        self.subscribers = subscribers
        self.racks = racks
        self.partition_racks = [cluster.racks(TopicPartition(topic, n)) for n in numbers]
        self._assigned: defaultdict[str, list[int]] = defaultdict(list)
        self._is_taken = [False] * len(numbers)
        self._left = len(numbers)
        self._each, self._one_more = divmod(len(numbers), len(subscribers))

    def room(self, member_id: str) -> int:
        """How many more the member may take now. It never grows."""
        owned = self._assigned.get(member_id, ())
        return max(0, self._each + (self._one_more > 0) - len(owned))

    def give(self, member_id: str, places: list[int]) -> None:
        """Assign the partitions at these places of `numbers`."""
        assigned = self._assigned[member_id]
        had_one_more = len(assigned) > self._each
        for place in places:
            self._is_taken[place] = True
            assigned.append(self.numbers[place])
        self._left -= len(places)
        self._one_more -= len(assigned) > self._each and not had_one_more

    def share_near(self) -> None:
        """Give each member in turn the first partitions left near it, up to its room."""
        places: defaultdict[str | None, list[int]] = defaultdict(list)
        for place, racks in enumerate(self.partition_racks):
            for rack in (None, *racks):  # a member without rack is near to all
                places[rack].append(place)
        left = {rack: self._untaken(near) for rack, near in places.items()}
        for member_id in self.subscribers:
            near = left.get(self.racks.get(member_id))
            if near is not None and self._left:
                self.give(member_id, list(islice(near, self.room(member_id))))

    def given(self) -> Given:
        """Give the rest to the members in turn; return what each has."""
        rest = self._untaken(range(len(self.numbers)))
        for member_id in self.subscribers:
            if not self._left:
                break
            self.give(member_id, list(islice(rest, self.room(member_id))))
        return [(member_id, sorted(owned)) for member_id, owned in self._assigned.items() if owned]

    def _untaken(self, places: Iterable[int]) -> Iterator[int]:
        return (place for place in places if not self._is_taken[place])


def _shares_by_rack(
    numbers: dict[str, list[int]],
    subscribers: dict[str, list[str]],
    racks: dict[str, str],
    cluster: AssignmentCluster,
) -> dict[str, _TopicShares]:
    """Return the shares of topics with racks, after members got what is near; {} if none matter."""
    shares: dict[str, _TopicShares] = {}
    mattering: set[_TopicShares] = set()
    alike: defaultdict[tuple[int, int], list[_TopicShares]] = defaultdict(list)
    known: dict[int, set[str]] = {}
    for topic, of_topic in numbers.items():
        takers = subscribers[topic]  # topics with the same ones share the list
        if id(takers) not in known:
            known[id(takers)] = {racks[member_id] for member_id in takers if member_id in racks}
        if known[id(takers)]:
            share = shares[topic] = _TopicShares(topic, of_topic, takers, racks, cluster)
            alike[id(takers), len(of_topic)].append(share)
            if racks_matter(known[id(takers)], share.partition_racks):
                mattering.add(share)
    if not mattering:
        return {}
    for topics in alike.values():
        if len(topics) > 1:
            _share_co_partitioned(topics)
        elif topics[0] in mattering:
            topics[0].share_near()
    return shares


def _share_co_partitioned(topics: list[_TopicShares]) -> None:
    """Give away the n-th partitions of all these topics together, to the first member near to all.

    The topics have equal rooms all the time.
    """
    first = topics[0]
    waiting: defaultdict[str | None, deque[tuple[int, str]]] = defaultdict(deque)
    for at, member_id in enumerate(first.subscribers):
        waiting[first.racks.get(member_id)].append((at, member_id))
    for place in range(len(first.numbers)):
        near = frozenset.intersection(*(topic.partition_racks[place] for topic in topics))
        takers = []
        for rack in (None, *near):  # a member without rack is near to all
            members = waiting[rack]
            while members and not first.room(members[0][1]):
                members.popleft()
            takers += list(islice(members, 1))
        if takers:
            _, member_id = min(takers)
            for topic in topics:
                topic.give(member_id, [place])


__all__ = ["RangePartitionAssignor"]
