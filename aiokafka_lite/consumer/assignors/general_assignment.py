"""The sticky assignment of a group whose members subscribe to different topics. Does not wait.

Partitions with an owner stay there. The others go to the members with the fewest. Then partitions
move from full members to emptier ones, until no move makes the group more balanced.
"""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import chain

from aiokafka_lite.consumer.assignors.assignor import (
    Members,
    by_subscription,
    subscribers_of_topics,
    text_order,
)
from aiokafka_lite.consumer.assignors.partition_movements import PartitionMovements
from aiokafka_lite.consumer.assignors.rack_info import RackInfo
from aiokafka_lite.model import TopicPartition


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
        self._owner: dict[TopicPartition, str] = {}
        self._movements = PartitionMovements()
        # Without a bound, moves that even out nothing might go around in a circle.
        self._detours_left = sum(map(len, topics.values()))
        subscribers = subscribers_of_topics(members)
        groups = {id(each): _Subscribers(each) for each in subscribers.values()}
        self._groups = tuple(groups.values())
        self._subscribers = {topic: groups[id(subscribers[topic])] for topic in topics}
        self._perhaps_uneven = 0
        """The place of subscribers among whom partitions may move; those before it were even."""
        self._known_balanced: bool | None = None
        revoked = self._keep_owned(owned)
        self._by_load = _MembersByLoad(self.assigned, _kinds(members, racks), self._groups)
        self._deal_and_balance(revoked)

    def _keep_owned(self, owned: Mapping[str, Collection[TopicPartition]]) -> bool:
        """Leave members what they have and may keep; return whether one loses something."""
        revoked = False
        for member_id, partitions in owned.items():
            assigned = self.assigned[member_id]
            for partition in partitions:
                subscribers = self._subscribers[partition.topic]
                if member_id in subscribers.members and not self._racks.is_far(
                    member_id, partition
                ):
                    assigned[partition] = None
                    self._owner[partition] = member_id
                    subscribers.owned[member_id] += 1
                else:
                    revoked = True
        return revoked

    def _deal_and_balance(self, revoked: bool) -> None:
        # Topics with few subscribers first: their partitions have the least choice.
        names = sorted(self._topics, key=lambda name: (len(self._subscribers[name].members), name))
        partitions = list(chain.from_iterable(self._topics[name] for name in names))
        unassigned = [partition for partition in partitions if partition not in self._owner]
        if self._racks.matters:
            for partition in unassigned:
                near = self._by_load.least_near(
                    self._subscribers[partition.topic], partition, self._racks
                )
                if near is not None:
                    self._give(partition, near)
        for partition in unassigned:
            if partition not in self._owner:
                self._give(partition, self._by_load.least(self._subscribers[partition.topic]))

        if not revoked:
            # Perhaps it is enough to move what is new.
            self._move(self._movable(unassigned))
        self._move(self._movable(partitions))

    def _movable(self, partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
        return [p for p in partitions if len(self._subscribers[p.topic].members) > 1]

    def _give(self, partition: TopicPartition, member_id: str) -> None:
        self.assigned[member_id][partition] = None
        self._owner[partition] = member_id
        self._subscribers[partition.topic].owned[member_id] += 1
        self._by_load.change(member_id, 1)
        self._known_balanced = None

    def _take(self, partition: TopicPartition) -> str:
        member_id = self._owner.pop(partition)
        del self.assigned[member_id][partition]
        self._subscribers[partition.topic].owned[member_id] -= 1
        self._by_load.change(member_id, -1)
        return member_id

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
        if previous in subscribers.members and self._load(previous) <= enough:
            return previous
        emptiest = self._by_load.least(subscribers)
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
            self._known_balanced = True
            for step in range(len(self._groups)):
                at = (self._perhaps_uneven + step) % len(self._groups)
                if self._is_uneven(self._groups[at]):
                    self._perhaps_uneven = at  # it mostly is after the next move, too
                    self._known_balanced = False
                    break
        return self._known_balanced

    def _is_uneven(self, subscribers: "_Subscribers") -> bool:
        if len(subscribers.members) < 2:
            return False
        too_much = self._load(self._by_load.least(subscribers)) + 2
        return self._by_load.has_owner(subscribers, too_much)

    def _load(self, member_id: str) -> int:
        return len(self.assigned[member_id])


class _Subscribers:
    """The subscribers of some topics, which have no others."""

    def __init__(self, members: list[str]) -> None:
        self.members = frozenset(members)
        self.owned: Counter[str] = Counter()
        """How many partitions of these topics each has."""
        self.lists: list[list[int]] = []
        """The lists of `_MembersByLoad` in which they are."""
        self.are_alone = True
        """Whether these lists have no other members."""
        self.least: tuple[int, str] = -1, ""
        """Who has the fewest partitions, with the number of the change since when."""


class _MembersByLoad:
    """The members by how many partitions they have; equal ones by name.

    One number says both. Each kind of members has a list of its own, in order: those with the same
    topics, and in the same rack if that matters. One more has all members, for topics with
    subscribers of many kinds: there the first ones in it are most likely subscribers.
    """

    _FEW_KINDS = 8

    def __init__(
        self,
        assigned: Mapping[str, Collection[TopicPartition]],
        kinds: Iterable[list[str]],
        groups: Iterable[_Subscribers],
    ) -> None:
        self._names = sorted(assigned, key=text_order)
        self._count = count = len(self._names)
        self._entries = {
            name: len(assigned[name]) * count + rank for rank, name in enumerate(self._names)
        }
        self._changes = 0
        everyone: list[int] = sorted(self._entries.values())
        of_kinds = [sorted(self._entries[name] for name in kind) for kind in kinds]
        of_kind = {name: kind for kind, names in enumerate(kinds) for name in names}
        uses_everyone = False
        for group in groups:
            listed = dict.fromkeys(of_kind[name] for name in group.members)
            if len(listed) <= self._FEW_KINDS or len(listed) * 4 < len(of_kinds):
                group.lists = [of_kinds[kind] for kind in listed]
            else:
                group.lists, group.are_alone, uses_everyone = [everyone], False, True
        self._lists = {
            name: (of_kinds[kind], everyone) if uses_everyone else (of_kinds[kind],)
            for name, kind in of_kind.items()
        }

    def change(self, member_id: str, by: int) -> None:
        """Note that the member has so many partitions more."""
        self._changes += 1
        old = self._entries[member_id]
        new = self._entries[member_id] = old + by * self._count
        for entries in self._lists[member_id]:
            del entries[bisect_left(entries, old)]
            insort(entries, new)

    def least(self, group: _Subscribers) -> str:
        """Return the subscriber with the fewest partitions."""
        changes, member_id = group.least
        if changes != self._changes:
            if group.are_alone:
                member_id = self._names[min(group.lists)[0] % self._count]
            else:
                names = (self._names[entry % self._count] for entry in group.lists[0])
                member_id = next(name for name in names if name in group.members)
            group.least = self._changes, member_id
        return member_id

    def least_near(
        self, group: _Subscribers, partition: TopicPartition, racks: RackInfo
    ) -> str | None:
        """Return the one with the fewest among those that are not far from the partition."""
        found: list[int] = []
        for entries in group.lists:
            for entry in entries:
                name = self._names[entry % self._count]
                if name in group.members and not racks.is_far(name, partition):
                    found.append(entry)
                    break
                if group.are_alone:
                    break  # all members of a kind are in the same rack
        return self._names[min(found) % self._count] if found else None

    def has_owner(self, group: _Subscribers, load: int) -> bool:
        """Return whether a subscriber with at least `load` partitions has one of these topics."""
        least = load * self._count
        for entries in group.lists:
            for entry in reversed(entries):
                if entry < least:
                    break
                if group.owned[self._names[entry % self._count]]:
                    return True
        return False


def _kinds(members: Members, racks: RackInfo) -> list[list[str]]:
    kinds: dict[tuple[int, str | None], list[str]] = {}
    for at, alike in enumerate(by_subscription(members).values()):
        for member_id in alike:
            kinds.setdefault((at, racks.rack(member_id)), []).append(member_id)
    return list(kinds.values())


__all__ = ["GeneralAssignment"]
