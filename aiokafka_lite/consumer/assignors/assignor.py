"""What an assignor is, and what all of them share; `assignment_strategy` says which there are.

An assignor runs in the group's leader. It reads the members' subscriptions and the cluster. What
it remembers belongs to one consumer: two consumers of a process share no assignor. Does not wait.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from enum import Enum
from typing import Protocol

from aiokafka_lite.consumer.assignors.on_class_too import on_class_too
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.consumer_protocol import (
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberMetadata,
)

Members = Mapping[str, ConsumerProtocolMemberMetadata]
Assignments = Mapping[str, ConsumerProtocolMemberAssignment]


class RebalanceProtocol(Enum):
    """How members give up partitions. Source: KIP-429."""

    EAGER = 0
    """Each member revokes all it has before it joins."""
    COOPERATIVE = 1
    """A member keeps what it has, and revokes only what the new assignment takes away."""


class AssignmentCluster(Protocol):
    """What an assignor may know of the cluster."""

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        """Return the topic's partitions, None if the topic is not known."""

    def racks(self, partition: TopicPartition) -> frozenset[str]:
        """Return the known racks of the partition's replicas.

        Asked only in a group of which a member names its rack.
        """


class AbstractPartitionAssignor(ABC):
    """An assignor. A subclass says `name` and `assign`; the rest has working defaults."""

    supported_protocols: tuple[RebalanceProtocol, ...] = (RebalanceProtocol.EAGER,)
    """The rebalance protocols whose rules its assignments keep."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name members agree on. The group uses one that all of its members list."""

    @abstractmethod
    def assign(self, cluster: AssignmentCluster, members: Members) -> Assignments:
        """Return the assignment of each member; `members` is by member id, never empty.

        Called in the event loop, so an assignor of a large group should be quick. Only those of
        this package run in a thread there. It may change `members`.
        """

    @on_class_too
    def metadata(self, topics: Collection[str]) -> ConsumerProtocolMemberMetadata:
        """Return what this member tells the leader when it joins: its topics and user data."""
        return ConsumerProtocolMemberMetadata(0, list(topics), b"")

    @on_class_too  # noqa: B027 - most assignors have nothing to remember
    def on_assignment(self, assignment: ConsumerProtocolMemberAssignment) -> None:
        """Hear what this member got, before the consumer acts on it."""

    def on_generation(self, generation_id: int) -> None:  # noqa: B027 - as on_assignment
        """Hear the generation that the newest assignment belongs to."""


def by_subscription(members: Members) -> dict[tuple[str, ...], list[str]]:
    """Return the members by their lists of topics, in order."""
    found: dict[tuple[str, ...], list[str]] = {}
    seen: dict[int, tuple[list[str], list[str]]] = {}
    for member_id, member in members.items():
        topics = member.subscription
        known = seen.get(id(topics))
        if known is None:  # members of a large group share lists; a list kept here keeps its id
            known = seen[id(topics)] = topics, found.setdefault(tuple(topics), [])
        known[1].append(member_id)
    return found


def subscribers_of_topics(members: Members) -> dict[str, list[str]]:
    """Return the subscribers of each topic, in the order of `members`.

    Topics with the same subscribers share the list, so it costs no more than there are different
    subscriptions.
    """
    by_topics = by_subscription(members)
    kinds_of: dict[str, list[int]] = {}
    for kind, topics in enumerate(by_topics):
        for topic in dict.fromkeys(topics):
            kinds_of.setdefault(topic, []).append(kind)
    place = {member_id: at for at, member_id in enumerate(members)}
    of_kind = list(by_topics.values())
    of_kinds: dict[tuple[int, ...], list[str]] = {}
    found: dict[str, list[str]] = {}
    for topic, listed in kinds_of.items():
        kinds = tuple(listed)
        subscribers = of_kinds.get(kinds)
        if subscribers is None:
            subscribers = [member_id for kind in kinds for member_id in of_kind[kind]]
            if len(kinds) > 1:
                subscribers.sort(key=place.__getitem__)
            of_kinds[kinds] = subscribers
        found[topic] = subscribers
    return found


def topic_numbers(cluster: AssignmentCluster, topics: Iterable[str]) -> dict[str, list[int]]:
    """Return the partitions of each topic, in order.

    Topics by name. A topic without partitions, or unknown to the cluster, is left out.
    """
    found = {topic: cluster.partitions_for_topic(topic) for topic in sorted(topics)}
    return {topic: sorted(numbers) for topic, numbers in found.items() if numbers}


def topic_partitions(
    cluster: AssignmentCluster, members: Members
) -> dict[str, list[TopicPartition]]:
    """As `topic_numbers`, of each topic that a member subscribes to."""
    subscribed = {topic for topics in by_subscription(members) for topic in topics}
    return {
        topic: [TopicPartition(topic, number) for number in numbers]
        for topic, numbers in topic_numbers(cluster, subscribed).items()
    }


def to_assignments(
    partitions: Mapping[str, Iterable[TopicPartition]],
) -> dict[str, ConsumerProtocolMemberAssignment]:
    """Return each member's partitions as they travel: by topic, in order."""
    found: dict[str, ConsumerProtocolMemberAssignment] = {}
    for member_id, owned in partitions.items():
        topics: list[tuple[str, list[int]]] = []
        last, numbers = None, list[int]()
        for topic, number in sorted(owned):
            if topic == last:
                numbers.append(number)
            else:
                numbers, last = [number], topic
                topics.append((topic, numbers))
        found[member_id] = ConsumerProtocolMemberAssignment(0, topics, b"")
    return found


def in_member_order(members: Members) -> dict[str, ConsumerProtocolMemberMetadata]:
    """Return the same members, ordered by `member_order`."""
    order = sorted(members, key=lambda member_id: member_order(member_id, members[member_id]))
    return {member_id: members[member_id] for member_id in order}


def member_order(member_id: str, member: ConsumerProtocolMemberMetadata) -> tuple[bool, str]:
    """A sort key: static members by their instance id, then dynamic ones by their member id.

    A static member that restarts gets a new member id and keeps its place.
    Source: KIP-345, AbstractPartitionAssignor.MemberInfo.
    """
    if member.group_instance_id is not None:
        return False, text_order(member.group_instance_id)
    return True, text_order(member_id)


def text_order(text: str) -> str:
    """A sort key: the order of Java's strings, which is that of UTF-16 and not of code points."""
    if text.isascii():  # such as most names; the codec would be one more module to load
        return text
    units = text.encode("utf-16-be", "surrogatepass")
    return "".join(chr(high << 8 | low) for high, low in zip(units[::2], units[1::2], strict=True))


def member_racks(members: Members) -> dict[str, str]:
    """Return the rack of each member that names one."""
    return {member_id: member.rack_id for member_id, member in members.items() if member.rack_id}


def racks_matter(
    consumer_racks: Collection[str], partition_racks: Collection[frozenset[str]]
) -> bool:
    """Whether a choice of partitions can bring any of these consumers nearer to its data.

    Not if no partition has a replica in a consumer's rack, nor if every partition has replicas in
    the same racks. Source: KIP-881, AbstractPartitionAssignor.useRackAwareAssignment.
    """
    different = set(partition_racks)
    return len(different) > 1 and not frozenset().union(*different).isdisjoint(consumer_racks)


__all__ = [
    "AbstractPartitionAssignor",
    "AssignmentCluster",
    "Assignments",
    "Members",
    "RebalanceProtocol",
    "by_subscription",
    "in_member_order",
    "member_order",
    "member_racks",
    "racks_matter",
    "subscribers_of_topics",
    "text_order",
    "to_assignments",
    "topic_numbers",
    "topic_partitions",
]
