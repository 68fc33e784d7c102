"""The assignors of the broker: `uniform`, `range` and `simple`. Plain functions.

They keep what they can. Source: UniformHomogeneousAssignmentBuilder,
UniformHeterogeneousAssignmentBuilder, RangeAssignor, SimpleAssignor; KIP-848, KIP-932. Members come
in the order in which they have joined; Kafka takes them in any order.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final
from uuid import UUID

from aiokafka_lite.testing.broker.state.broker_options import SERVER_ASSIGNOR_NAMES
from aiokafka_lite.testing.broker.state.groups.consumer_group_member import TopicIdPartition

SIMPLE: Final = "simple"
"""The name of the assignor of each share group."""


@dataclass(frozen=True, slots=True)
class AssignedMember:
    """What an assignor knows of a member."""

    topic_ids: frozenset[UUID]
    """The topics that it subscribes to."""
    has: frozenset[TopicIdPartition]
    """Its part of the last assignment."""


Members = Mapping[str, AssignedMember]
Assignment = dict[str, frozenset[TopicIdPartition]]
"""Member id -> its partitions."""


def uniform(members: Members, counts: Mapping[UUID, int]) -> Assignment:
    """Give all members the same number of partitions, give or take one.

    With different topics it is as even as the subscriptions allow. `counts`: partitions by topic.
    """
    if len({member.topic_ids for member in members.values()}) == 1:
        return _evenly(members, counts)
    return _balanced(members, counts)


def _evenly(members: Members, counts: Mapping[UUID, int]) -> Assignment:
    everything = _partitions(next(iter(members.values())).topic_ids, counts)
    least, extra = divmod(len(everything), len(members))
    given: dict[str, set[TopicIdPartition]] = {}
    rooms = {}
    for index, (member_id, member) in enumerate(members.items()):
        quota = least + (index < extra)
        has = sorted(member.has & everything)
        given[member_id] = set(has[:quota])
        rooms[member_id] = quota - len(given[member_id])
    free = iter(sorted(everything.difference(*given.values())))
    for member_id, room in rooms.items():
        given[member_id].update(next(free) for _ in range(room))
    return {member_id: frozenset(parts) for member_id, parts in given.items()}


def _balanced(members: Members, counts: Mapping[UUID, int]) -> Assignment:
    given: dict[str, set[TopicIdPartition]] = {
        member_id: set(member.has & _partitions(member.topic_ids, counts))
        for member_id, member in members.items()
    }
    readers: dict[UUID, list[str]] = {}
    for member_id, member in members.items():
        for topic_id in member.topic_ids:
            readers.setdefault(topic_id, []).append(member_id)
    free = sorted(_partitions(readers, counts).difference(*given.values()))
    for partition in sorted(free, key=lambda each: len(readers[each.topic_id])):
        least = min(readers[partition.topic_id], key=lambda reader: len(given[reader]))
        given[least].add(partition)
    while _move_one(given, readers):
        pass
    return {member_id: frozenset(parts) for member_id, parts in given.items()}


def _move_one(
    given: dict[str, set[TopicIdPartition]], readers: Mapping[UUID, Collection[str]]
) -> bool:
    """Move a partition to a member with at least two fewer; return whether there was one."""
    for parts in given.values():
        for partition in sorted(parts):
            least = min(readers[partition.topic_id], key=lambda reader: len(given[reader]))
            if len(parts) > len(given[least]) + 1:
                parts.remove(partition)
                given[least].add(partition)
                return True
    return False


def range_(members: Members, counts: Mapping[UUID, int]) -> Assignment:
    """Give each member a share of each topic that it subscribes to."""
    given: dict[str, set[TopicIdPartition]] = {member_id: set() for member_id in members}
    topic_ids = {topic_id for member in members.values() for topic_id in member.topic_ids}
    for topic_id in sorted(topic_ids):
        _share(topic_id, counts[topic_id], members, given)
    return {member_id: frozenset(parts) for member_id, parts in given.items()}


def _share(
    topic_id: UUID, count: int, members: Members, given: dict[str, set[TopicIdPartition]]
) -> None:
    readers = [member_id for member_id in members if topic_id in members[member_id].topic_ids]
    least, extra = divmod(count, len(readers))
    kept: set[TopicIdPartition] = set()
    wanting: list[tuple[str, int]] = []
    for member_id in readers:
        has = sorted(each for each in members[member_id].has if each.topic_id == topic_id)
        keeps = has[: least + 1] if len(has) > least and extra else has[:least]
        kept.update(keeps)
        given[member_id].update(keeps)
        if len(keeps) > least:
            extra -= 1
        else:
            wanting.append((member_id, least - len(has)))
    free = [each for each in sorted(_partitions([topic_id], {topic_id: count})) if each not in kept]
    for member_id, lacking in wanting:
        wants = lacking
        if extra:
            wants, extra = wants + 1, extra - 1
        if wants > 0:
            given[member_id].update(free[:wants])
            del free[:wants]


def simple(members: Members, counts: Mapping[UUID, int]) -> Assignment:
    """Give each partition to the same number of members, which share it; for share groups.

    With different topics it is as even as it can be for each topic alone.
    """
    given: dict[str, set[TopicIdPartition]] = {member_id: set() for member_id in members}
    topic_ids = {topic_id for member in members.values() for topic_id in member.topic_ids}
    is_same = len({member.topic_ids for member in members.values()}) == 1
    for topics in [topic_ids] if is_same else [{topic_id} for topic_id in sorted(topic_ids)]:
        readers = {
            member_id: member for member_id, member in members.items() if topics & member.topic_ids
        }
        _spread(sorted(_partitions(topics, counts)), readers, given)
    return {member_id: frozenset(parts) for member_id, parts in given.items()}


def _spread(
    partitions: Sequence[TopicIdPartition],
    readers: Members,
    given: dict[str, set[TopicIdPartition]],
) -> None:
    sharing = ceil(len(readers) / max(len(partitions), 1))
    each = sharing * len(partitions) / max(len(readers), 1)
    rooms = {
        member_id: ceil(each * (index + 1)) - ceil(each * index)
        for index, member_id in enumerate(readers)
    }
    sharers: dict[TopicIdPartition, list[str]] = {partition: [] for partition in partitions}
    for is_kept in (True, False):
        for partition in partitions:
            for member_id, member in readers.items():
                is_free = rooms[member_id] and len(sharers[partition]) < sharing
                if not is_free or member_id in sharers[partition]:
                    continue
                if is_kept and partition not in member.has:
                    continue
                sharers[partition].append(member_id)
                rooms[member_id] -= 1
                given[member_id].add(partition)


def _partitions(
    topic_ids: Collection[UUID], counts: Mapping[UUID, int]
) -> frozenset[TopicIdPartition]:
    return frozenset(
        TopicIdPartition(topic_id, index)
        for topic_id in topic_ids
        for index in range(counts[topic_id])
    )


SERVER_ASSIGNORS: Final[Mapping[str, Callable[[Members, Mapping[UUID, int]], Assignment]]] = dict(
    zip((*SERVER_ASSIGNOR_NAMES, SIMPLE), (uniform, range_, simple), strict=True)
)
"""By name."""

__all__ = [
    "SERVER_ASSIGNORS",
    "SIMPLE",
    "AssignedMember",
    "Assignment",
    "range_",
    "simple",
    "uniform",
]
