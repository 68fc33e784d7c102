"""The sticky assignment of a group whose members subscribe to different topics. Does not wait.

Partitions with an owner stay there. The others go to the members with the fewest. Then partitions
move from full members to emptier ones, until no move makes the group more balanced.
"""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain

from aiokafka_lite.consumer.assignors.assignor import Members, text_order
from aiokafka_lite.consumer.assignors.partition_movements import PartitionMovements
from aiokafka_lite.consumer.assignors.rack_info import RackInfo
from aiokafka_lite.model import TopicPartition

Subscribers = frozenset[str]


class GeneralAssignment:
    """One assignment in the making: claims kept, the rest dealt, then balanced.

    `topics` has the partitions of each topic. `owned` has those of each member. `previous` names
    the owner of a partition in an older generation, which gets it back before any other member.
    Source: AbstractStickyAssignor.GeneralAssignmentBuilder.
    """

    def __init__(
        self,
        topics: Mapping[str, list[TopicPartition]],
        members: Members,
        owned: Mapping[str, Collection[TopicPartition]],
        previous: Mapping[TopicPartition, str],
        racks: RackInfo,
    ) -> None:
        self.assigned: dict[str, dict[TopicPartition, None]] = {key: {} for key in owned}
        self._topics = topics
        self._previous = previous
        self._racks = racks
        self._subscribers = _subscribers(topics, members)
        self._owner: dict[TopicPartition, str] = {}
        self._owners: dict[Subscribers, Counter[str]] = {}
        """How many partitions each member has of the topics with these subscribers."""
        self._movements = PartitionMovements()
        self._known_balanced: bool | None = None
        # Without a bound, moves that even out nothing might go around in a circle.
        self._detours_left = sum(map(len, topics.values()))
        self._by_load = _MembersByLoad(owned)
        revoked = self._keep_owned(owned)
        self._deal_and_balance(revoked)

    def _keep_owned(self, owned: Mapping[str, Collection[TopicPartition]]) -> bool:
        """Leave members what they have and may keep; return whether one loses something."""
        revoked = False
        for member_id, partitions in owned.items():
            for partition in partitions:
                subscribed = member_id in self._subscribers[partition.topic]
                if subscribed and not self._racks.is_far(member_id, partition):
                    self._give(partition, member_id)
                else:
                    revoked = True
        return revoked

    def _deal_and_balance(self, revoked: bool) -> None:
        # Topics with few subscribers first: their partitions have the least choice.
        names = sorted(self._topics, key=lambda name: (len(self._subscribers[name]), name))
        partitions = list(chain.from_iterable(self._topics[name] for name in names))
        unassigned = [partition for partition in partitions if partition not in self._owner]
        if self._racks.matters:
            self._deal(unassigned, near=True)
        self._deal(unassigned, near=False)

        if not revoked:
            # Perhaps it is enough to move what is new.
            self._move(self._movable(unassigned))
        self._move(self._movable(partitions))

    def _movable(self, partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
        return [p for p in partitions if len(self._subscribers[p.topic]) > 1]

    # Dealing what nobody has…

    def _deal(self, partitions: Iterable[TopicPartition], *, near: bool) -> None:
        """Give each to the subscriber with least; with `near` only to those it is not far from."""
        for partition in partitions:
            if partition in self._owner:
                continue
            subscribers = self._subscribers[partition.topic]
            for member_id in self._by_load:
                if member_id in subscribers and not (
                    near and self._racks.is_far(member_id, partition)
                ):
                    self._give(partition, member_id)
                    break

    def _give(self, partition: TopicPartition, member_id: str) -> None:
        subscribers = self._subscribers[partition.topic]
        self.assigned[member_id][partition] = None
        self._owner[partition] = member_id
        self._owners.setdefault(subscribers, Counter())[member_id] += 1
        self._by_load.change(member_id, 1)
        self._known_balanced = None

    def _take(self, partition: TopicPartition) -> str:
        member_id = self._owner.pop(partition)
        del self.assigned[member_id][partition]
        self._owners[self._subscribers[partition.topic]][member_id] -= 1
        self._by_load.change(member_id, -1)
        return member_id

    # …and balancing.

    def _move(self, partitions: list[TopicPartition]) -> None:
        """Move partitions to emptier members for as long as that helps.

        Each move takes from a member with at least two more, a bounded number of detours apart,
        so it ends, and what comes out is more even than what went in.
        """
        moved = True
        while moved:
            moved = False
            for partition in partitions:
                if self._is_balanced():
                    return
                new = self._better_owner(partition)
                if new is not None:
                    self._move_to(partition, new)
                    moved = True

    def _better_owner(self, partition: TopicPartition) -> str | None:
        subscribers = self._subscribers[partition.topic]
        enough = self._load(self._owner[partition]) - 2
        previous = self._previous.get(partition)
        if previous in subscribers and self._load(previous) <= enough:
            return previous
        emptiest = next(member_id for member_id in self._by_load if member_id in subscribers)
        return emptiest if self._load(emptiest) <= enough else None

    def _move_to(self, partition: TopicPartition, new: str) -> None:
        other = self._movements.to_move(partition, self._owner[partition], new)
        if self._load(self._owner[other]) - 2 >= self._load(new):
            partition = other
        elif self._detours_left:
            # Its owner is another than the partition's, with less: stickier, but no more even.
            self._detours_left -= 1
            partition = other
        old = self._take(partition)
        self._movements.record(partition, old, new)
        self._give(partition, new)

    def _is_balanced(self) -> bool:
        """Whether no partition has a subscriber with at least two fewer than its owner."""
        if self._known_balanced is None:
            self._known_balanced = not any(
                self._is_uneven(subscribers, owners)
                for subscribers, owners in self._owners.items()
                if len(subscribers) > 1
            )
        return self._known_balanced

    def _is_uneven(self, subscribers: Subscribers, owners: Counter[str]) -> bool:
        fullest = next((m for m in reversed(self._by_load) if owners[m]), None)
        emptiest = next(m for m in self._by_load if m in subscribers)
        return fullest is not None and self._load(fullest) - 2 >= self._load(emptiest)

    def _load(self, member_id: str) -> int:
        return len(self.assigned[member_id])


class _MembersByLoad:
    """The members, the one with fewest partitions first; equal ones by name."""

    def __init__(self, members: Iterable[str]) -> None:
        names = sorted(members, key=text_order)
        self._entries = [(0, rank, name) for rank, name in enumerate(names)]
        self._entry_of = {entry[2]: entry for entry in self._entries}

    def __iter__(self) -> Iterator[str]:
        return (entry[2] for entry in self._entries)

    def __reversed__(self) -> Iterator[str]:
        return (entry[2] for entry in reversed(self._entries))

    def change(self, member_id: str, by: int) -> None:
        """Note that the member has so many partitions more."""
        count, rank, name = old = self._entry_of[member_id]
        del self._entries[bisect_left(self._entries, old)]
        self._entry_of[member_id] = new = (count + by, rank, name)
        insort(self._entries, new)


def _subscribers(
    topics: Mapping[str, list[TopicPartition]], members: Members
) -> dict[str, Subscribers]:
    found: dict[str, set[str]] = {topic: set() for topic in topics}
    for member_id, member in members.items():
        for topic in found.keys() & set(member.subscription):
            found[topic].add(member_id)
    return {topic: frozenset(subscribers) for topic, subscribers in found.items()}


__all__ = ["GeneralAssignment"]
