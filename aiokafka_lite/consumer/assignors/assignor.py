"""What an assignor is, and what all of them share; `assignment_strategy` says which there are.

An assignor runs in the group's leader. It reads the members' subscriptions and the cluster. What
it remembers belongs to one consumer: two consumers of a process share no assignor. Does not wait.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from enum import Enum
from typing import Protocol

from aiokafka_lite.consumer.assignors.on_class_too import on_class_too
from aiokafka_lite.model import TopicPartition, by_topic
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
        """Return the assignment of each member; `members` is by member id, never empty."""

    @on_class_too
    def metadata(self, topics: Collection[str]) -> ConsumerProtocolMemberMetadata:
        """Return what this member tells the leader when it joins: its topics and user data."""
        return ConsumerProtocolMemberMetadata(0, list(topics), b"")

    @on_class_too  # noqa: B027 - most assignors have nothing to remember
    def on_assignment(self, assignment: ConsumerProtocolMemberAssignment) -> None:
        """Hear what this member got, before the consumer acts on it."""

    def on_generation(self, generation_id: int) -> None:  # noqa: B027 - as on_assignment
        """Hear the generation that the newest assignment belongs to."""


def topic_partitions(
    cluster: AssignmentCluster, members: Members
) -> dict[str, list[TopicPartition]]:
    """Return the partitions of each topic that a member subscribes to, in order.

    Topics by name. A topic without partitions, or unknown to the cluster, is left out.
    """
    subscribed = {topic for member in members.values() for topic in member.subscription}
    partitions = {topic: cluster.partitions_for_topic(topic) for topic in sorted(subscribed)}
    return {
        topic: [TopicPartition(topic, number) for number in sorted(numbers)]
        for topic, numbers in partitions.items()
        if numbers
    }


def to_assignments(
    partitions: Mapping[str, Iterable[TopicPartition]],
) -> dict[str, ConsumerProtocolMemberAssignment]:
    """Return each member's partitions as they travel: by topic, in order."""
    return {
        member_id: ConsumerProtocolMemberAssignment(0, list(by_topic(sorted(owned)).items()), b"")
        for member_id, owned in partitions.items()
    }


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
    consumer_racks: Collection[str], partition_racks: Mapping[TopicPartition, frozenset[str]]
) -> bool:
    """Whether a choice of partitions can bring any of these consumers nearer to its data.

    Not if no partition has a replica in a consumer's rack, nor if every partition has replicas in
    the same racks. Source: KIP-881, AbstractPartitionAssignor.useRackAwareAssignment.
    """
    everywhere = frozenset[str]().union(*partition_racks.values())
    if everywhere.isdisjoint(consumer_racks):
        return False
    return any(racks != everywhere for racks in partition_racks.values())


__all__ = [
    "AbstractPartitionAssignor",
    "AssignmentCluster",
    "Assignments",
    "Members",
    "RebalanceProtocol",
    "member_order",
    "member_racks",
    "racks_matter",
    "text_order",
    "to_assignments",
    "topic_partitions",
]
