"""A group at one moment, for the asserts of tests: `EmbeddedBroker.group()`. Plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.consumer_protocol import ConsumerProtocolMemberAssignment
from aiokafka_lite.testing.broker.state.groups.classic_group import ClassicGroup, GroupState
from aiokafka_lite.testing.broker.state.groups.group_offsets import GroupOffsets, StoredOffset


@dataclass(frozen=True, slots=True)
class GroupMemberView:
    """A member with its assignment from the leader."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    metadata: bytes
    """The member's data in its JoinGroup for the group's protocol; empty before there is one."""
    assignment: bytes
    """The leader's encoded assignment; empty until the group is stable."""

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


__all__ = ["GroupMemberView", "GroupView", "view_of"]
