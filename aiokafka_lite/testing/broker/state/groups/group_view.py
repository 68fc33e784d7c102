"""A group at one moment, for the asserts of tests: `EmbeddedBroker.group()`. Plain values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

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
from aiokafka_lite.testing.broker.state.groups.share_group import ShareGroup
from aiokafka_lite.testing.broker.state.groups.share_partition import DeliveryState, SharePartition

SHARE_PROTOCOL_TYPE = "share"


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
class DeliveryView:
    """A record that a share group has in flight (KIP-932)."""

    state: DeliveryState
    delivery_count: int
    """How often it has been delivered."""
    member_id: str | None
    """The member that has acquired it; None if nobody has."""


@dataclass(frozen=True, slots=True)
class SharePartitionView:
    """A partition as a share group reads it (KIP-932)."""

    start_offset: int
    """The first record with which the group is not done; -1 before the first fetch."""
    end_offset: int
    """The last record in flight."""
    records: Mapping[int, DeliveryView]
    """The records in flight, by offset."""

    def in_state(self, state: str) -> list[int]:
        """Return the offsets in a state: available, acquired, acknowledged or archived."""
        return [offset for offset, record in self.records.items() if record.state == state]


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
    shares: Mapping[TopicPartition, SharePartitionView] = field(default_factory=dict)
    """What a share group reads (KIP-932); empty for other groups."""


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


def view_of_shares(share: ShareGroup, cluster: ClusterState, coordinator: int | None) -> GroupView:
    """Return the present state of a share group."""
    group = share.members.group
    return replace(
        view_of_consumers(group, cluster, GroupOffsets(0), coordinator),
        state=share.members.state,
        protocol_type=SHARE_PROTOCOL_TYPE,
        shares={where: _share(each) for where, each in share.partitions.items()},
    )


def _share(partition: SharePartition) -> SharePartitionView:
    return SharePartitionView(
        partition.start_offset,
        partition.end_offset,
        {
            offset: DeliveryView(each.state, each.count, each.member_id)
            for offset, each in partition.deliveries()
        },
    )


def _encoded(partitions: Iterable[TopicIdPartition], cluster: ClusterState) -> bytes:
    by_name: dict[str, list[int]] = {}
    for topic_id, partition in sorted(partitions):
        name = cluster.topic_name(topic_id)
        if name is not None:
            by_name.setdefault(name, []).append(partition)
    return ConsumerProtocolMemberAssignment(0, [*by_name.items()], b"").encode()


__all__ = [
    "DeliveryView",
    "GroupMemberView",
    "GroupView",
    "SharePartitionView",
    "view_of",
    "view_of_consumers",
    "view_of_shares",
]
