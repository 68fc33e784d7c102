"""A group at one moment, for the asserts of tests: `EmbeddedBroker.group()`. Plain values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.consumer_protocol import (
    ConsumerProtocol,
    ConsumerProtocolMemberAssignment,
)
from aiokafka_lite.testing.broker.state.cluster_state import ClusterState
from aiokafka_lite.testing.broker.state.groups.classic_group import ClassicGroup, GroupState
from aiokafka_lite.testing.broker.state.groups.consumer_group_member import TopicIdPartition
from aiokafka_lite.testing.broker.state.groups.group_offsets import GroupOffsets, StoredOffset
from aiokafka_lite.testing.broker.state.groups.modern_group import ModernGroup


@dataclass(frozen=True, slots=True)
class GroupMemberView:
    """A member with its assignment from the leader."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    metadata: bytes
    """The member's data in its JoinGroup for the group's protocol; empty before there is one."""
    assignment: bytes
    """The leader's encoded assignment; empty until the group is stable. In a consumer group, what
    the member may have now."""
    epoch: int = -1
    """The member's epoch; -1 in a classic group (KIP-848)."""

    def partitions(self) -> list[TopicPartition]:
        """Return a consumer's assigned partitions, in the leader's order.

        Raises: ProtocolDecodeError if the assignment has another format.
        """
        if not self.assignment:
            return []
        return ConsumerProtocolMemberAssignment.decode(self.assignment).partitions()


@dataclass(frozen=True, slots=True)
class GroupView:
    """A group; an unknown group is DEAD and empty."""

    group_id: str
    state: GroupState = GroupState.DEAD
    generation_id: int = -1
    """The generation of a classic group, or the epoch of a consumer group (KIP-848)."""
    protocol_type: str | None = None
    protocol: str | None = None
    """The assignment strategy in use."""
    leader: str | None = None
    coordinator: int | None = None
    """The coordinating node; None without one."""
    members: Mapping[str, GroupMemberView] = field(default_factory=dict)
    """By member id, in order of arrival."""
    offsets: Mapping[TopicPartition, StoredOffset] = field(default_factory=dict)
    pending_offsets: Mapping[TopicPartition, StoredOffset] = field(default_factory=dict)
    """Offsets of open transactions; the newest one of each partition."""


def view_of(group: ClassicGroup, offsets: GroupOffsets, coordinator: int | None) -> GroupView:
    """Return the group's present state."""
    return GroupView(
        group.group_id,
        group.state,
        group.generation_id,
        group.protocol_type,
        group.protocol_name,
        group.leader,
        coordinator,
        {
            member.member_id: GroupMemberView(
                member.member_id,
                member.group_instance_id,
                member.client_id,
                member.protocols.get(group.protocol_name or "", b""),
                member.assignment,
            )
            for member in group.members.values()
        },
        dict(offsets),
        offsets.pending(),
    )


def view_of_consumers(
    group: ModernGroup, cluster: ClusterState, offsets: GroupOffsets, coordinator: int | None
) -> GroupView:
    """Return the present state of a group of KIP-848. It has no leader."""
    return GroupView(
        group.group_id,
        group.state,
        group.group_epoch,
        ConsumerProtocol.PROTOCOL_TYPE,
        group.assignor,
        None,
        coordinator,
        {
            member.member_id: GroupMemberView(
                member.member_id,
                member.instance_id,
                member.client_id,
                b"",
                _encoded(member.assigned, cluster),
                member.epoch,
            )
            for member in group.members.values()
        },
        dict(offsets),
        offsets.pending(),
    )


def _encoded(partitions: Iterable[TopicIdPartition], cluster: ClusterState) -> bytes:
    by_name: dict[str, list[int]] = {}
    for topic_id, partition in sorted(partitions):
        name = cluster.topic_name(topic_id)
        if name is not None:
            by_name.setdefault(name, []).append(partition)
    return ConsumerProtocolMemberAssignment(0, [*by_name.items()], b"").encode()


__all__ = ["GroupMemberView", "GroupView", "view_of", "view_of_consumers"]
