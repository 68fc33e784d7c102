"""The groups of a cluster and their coordinators; another node replaces a coordinator that dies.

A group stays on its node until that stops or the group is moved. A move keeps what
__consumer_offsets would: offsets, the last stable generation, and all that is known of a consumer
group. Does not wait.
"""

import random
from base64 import urlsafe_b64encode
from collections.abc import Callable
from uuid import UUID

from aiokafka_lite.clock import Clock
from aiokafka_lite.errors import GroupIdNotFound
from aiokafka_lite.testing.broker.state.broker_options import BrokerOptions
from aiokafka_lite.testing.broker.state.cluster_features import GROUP_VERSION
from aiokafka_lite.testing.broker.state.cluster_state import ClusterState
from aiokafka_lite.testing.broker.state.groups.classic_group import ClassicGroup, GroupState
from aiokafka_lite.testing.broker.state.groups.classic_members import ClassicMembers
from aiokafka_lite.testing.broker.state.groups.consumer_membership import ConsumerMembership
from aiokafka_lite.testing.broker.state.groups.coordinator_nodes import CoordinatorNodes
from aiokafka_lite.testing.broker.state.groups.group_conversion import (
    classic_group_of,
    consumer_group_of,
)
from aiokafka_lite.testing.broker.state.groups.group_membership import GroupMembership
from aiokafka_lite.testing.broker.state.groups.group_offsets import GroupOffsets
from aiokafka_lite.testing.broker.state.groups.group_timers import GroupTimers
from aiokafka_lite.testing.broker.state.groups.group_view import (
    GroupView,
    view_of,
    view_of_consumers,
    view_of_shares,
)
from aiokafka_lite.testing.broker.state.groups.modern_group import ModernGroup
from aiokafka_lite.testing.broker.state.groups.share_group import ShareGroup

CLASSIC, CONSUMER, SHARE = "classic", "consumer", "share"
"""The types of groups here, in Kafka's words."""
OFFSET_METADATA_MAX_BYTES = 4096
"""Apache Kafka's default of offset.metadata.max.bytes."""


class CoordinatedGroup:
    """A group that exists: its members, of one protocol, and its offsets."""

    def __init__(self, group_id: str, membership: GroupMembership, offsets: GroupOffsets) -> None:
        self.group_id = group_id
        self.membership = membership
        """The members of the classic protocol; none in a consumer group."""
        self.consumers: ConsumerMembership | None = None
        """The members of a consumer group; None for a classic group (KIP-848)."""
        self.classic: GroupMembership | ClassicMembers = membership
        """What serves the requests of the classic protocol, which both kinds of groups take."""
        self.offsets = offsets

    @property
    def kind(self) -> str:
        """Kafka's word for the protocol of the group."""
        return CLASSIC if self.consumers is None else CONSUMER

    @property
    def state(self) -> GroupState:
        """The state in which the group is."""
        of_protocol = self.membership if self.consumers is None else self.consumers
        return of_protocol.group.state

    @property
    def protocol_type(self) -> str:
        """What the members are, such as consumers; may be empty."""
        return self.membership.group.protocol_type or "" if self.consumers is None else CONSUMER

    def subscribes_to(self, topic: str) -> bool:
        """Return whether a consumer of the group may read the topic."""
        of_protocol = self.membership if self.consumers is None else self.consumers
        return of_protocol.group.subscribes_to(topic)

    def check_delete(self) -> None:
        """Raise unless the group may be deleted. Raises: NonEmptyGroup."""
        of_protocol = self.membership if self.consumers is None else self.consumers
        of_protocol.check_delete()

    def check_delete_offsets(self) -> None:
        """Raise unless offsets may be deleted. Raises: NonEmptyGroup."""
        if self.consumers is None:
            self.membership.check_delete_offsets()

    def be_classic(self, membership: GroupMembership) -> None:
        """Be a classic group with these members."""
        self.membership = self.classic = membership
        self.consumers = None

    def move(self, *, is_gone: bool, is_found: bool) -> None:
        """Let another node coordinate the group. `is_gone`: some node did; `is_found`: one does."""
        of_protocol = self.membership if self.consumers is None else self.consumers
        if is_gone:
            of_protocol.unload()
        if is_found:
            of_protocol.load()


class GroupCoordinators:
    """All groups of one cluster."""

    def __init__(
        self,
        cluster: ClusterState,
        options: BrokerOptions,
        clock: Clock,
        rng: random.Random,
        on_change: Callable[[], object] = lambda: None,
    ) -> None:
        """`on_change` is called when a group has changed and no response shows it."""
        self.options = options
        self._cluster = cluster
        self._clock = clock
        self._rng = rng
        self.changed = on_change
        """Call this after a change of a group for which no response is sent yet."""
        self._groups: dict[str, CoordinatedGroup] = {}
        self._shares: dict[str, ShareGroup] = {}
        self.nodes = CoordinatorNodes(cluster, on_move=self._move)
        self._timers: dict[str, GroupTimers] = {}
        cluster.watch(on_topic_deleted=self._forget_topic)

    def close(self) -> None:
        """Stop every timer."""
        for timers in self._timers.values():
            timers.clear()
        for share in self._shares.values():
            share.close()

    def _move(self, group_id: str, before: int | None, node_id: int | None) -> None:
        share = self._shares.get(group_id)
        if share is not None:
            share.move(is_gone=before is not None, is_found=node_id is not None)
        group = self._groups.get(group_id)
        if group is None:
            return
        group.move(is_gone=before is not None, is_found=node_id is not None)

    @property
    def serves_consumers(self) -> bool:
        """Whether coordinators serve the members of KIP-848."""
        is_on = self._cluster.features.level(GROUP_VERSION) > 0
        return is_on and "consumer" in self.options.group_coordinator_rebalance_protocols

    # The groups…

    def find(self, group_id: str) -> CoordinatedGroup | None:
        """Return a group; None if it does not exist."""
        return self._groups.get(group_id)

    def find_or_create(self, group_id: str) -> CoordinatedGroup:
        """Return a group; create an empty one if necessary.

        Raises: GroupIdNotFound for a share group.
        """
        if group_id in self._shares:
            raise self.not_found(group_id, CLASSIC)
        group = self._groups.get(group_id)
        if group is None:
            timers = self._timers[group_id] = GroupTimers(self._clock, self.changed)
            group = self._groups[group_id] = CoordinatedGroup(
                group_id,
                self._classic(ClassicGroup(group_id), timers),
                GroupOffsets(OFFSET_METADATA_MAX_BYTES),
            )
            self.nodes.settle(group_id)
        return group

    def find_consumers(self, group_id: str, *, joins: bool) -> ConsumerMembership:
        """Return the members of a consumer group.

        If a member joins, the group is created, or a classic group becomes one.

        Raises: GroupIdNotFound without such a group, or for a group that cannot become one.
        """
        group = self._groups.get(group_id)
        if group is not None and group.consumers is not None:
            return group.consumers
        if not joins or group_id in self._shares:
            raise self.not_found(group_id, CONSUMER)
        group = group or self.find_or_create(group_id)
        converted = None
        if group.state is not GroupState.EMPTY:
            converted = self._converted(group.membership.group)
            group.membership.dissolve()
        timers = self._timers[group_id]
        timers.clear()
        group.membership = self._classic(ClassicGroup(group_id), timers)
        group.consumers = ConsumerMembership(
            group_id,
            timers,
            self.options,
            self._cluster,
            self._clock,
            lambda must_rebalance: self._downgrade(group_id, must_rebalance=must_rebalance),
            converted,
        )
        group.classic = ClassicMembers(group.consumers, self._cluster, self.new_member_id)
        group.consumers.load()
        return group.consumers

    def _converted(self, classic: ClassicGroup) -> ModernGroup:
        """Return a group with members as a consumer group.

        Raises: GroupIdNotFound if the settings or the members do not allow it.
        """
        options, refused = self.options, f"Cannot upgrade classic group {classic.group_id} to"
        if options.group_consumer_migration_policy not in ("bidirectional", "upgrade"):
            raise GroupIdNotFound(f"{refused} consumer group because online upgrade is disabled.")
        if len(classic.members) > options.group_consumer_max_size:
            raise GroupIdNotFound(
                f"{refused} consumer group because the group size exceeds the consumer group "
                "maximum size."
            )
        return consumer_group_of(classic, options.group_consumer_assignors, self._cluster.topics)

    def _downgrade(self, group_id: str, *, must_rebalance: bool) -> None:
        """Let a group whose members all use the classic protocol be a classic one."""
        group, timers = self._groups[group_id], self._timers[group_id]
        assert group.consumers is not None
        timers.clear()
        classic = classic_group_of(group.consumers.group, self._cluster.topic_name)
        group.be_classic(self._classic(classic, timers))
        group.membership.resume(must_rebalance=must_rebalance)

    def make_classic(self, group_id: str) -> None:
        """Let an empty consumer group be a classic one; harmless for any other group."""
        group = self._groups[group_id]
        if group.consumers is not None and group.state is GroupState.EMPTY:
            group.be_classic(group.membership)

    def new_member_id(self) -> str:
        """Return an unused id for a member that has none, as Kafka writes its ids."""
        made = UUID(int=self._rng.getrandbits(128), version=4)
        return urlsafe_b64encode(made.bytes).decode().rstrip("=")

    def _classic(self, group: ClassicGroup, timers: GroupTimers) -> GroupMembership:
        return GroupMembership(group, timers, self.options, self._rng)

    def find_share(self, group_id: str) -> ShareGroup | None:
        """Return a share group; None if it does not exist."""
        return self._shares.get(group_id)

    def find_or_create_share(self, group_id: str) -> ShareGroup:
        """Return a share group; create one without offsets if necessary.

        Raises: GroupIdNotFound for a group of another kind.
        """
        if group_id in self._groups:
            raise self.not_found(group_id, SHARE)
        if group_id not in self._shares:
            self._shares[group_id] = ShareGroup(
                group_id,
                GroupTimers(self._clock, self.changed),
                GroupTimers(self._clock, self.changed),
                self.options,
                self._cluster,
                self._clock,
            )
            self.nodes.settle(group_id)
        return self._shares[group_id]

    def not_found(self, group_id: str, kind: str) -> GroupIdNotFound:
        """Return the error of a group that does not exist, or that is of another kind."""
        is_there = group_id in self._groups or group_id in self._shares
        what = f"is not a {kind} group" if is_there else "not found"
        return GroupIdNotFound(f"Group {group_id} {what}.")

    def shares_on_node(self, node_id: int) -> list[ShareGroup]:
        """Return the share groups that a node coordinates."""
        return [
            group
            for group_id, group in self._shares.items()
            if self.nodes.node_of(group_id) == node_id
        ]

    def on_node(self, node_id: int) -> list[CoordinatedGroup]:
        """Return the groups that a node coordinates."""
        return [
            group
            for group_id, group in self._groups.items()
            if self.nodes.node_of(group_id) == node_id
        ]

    def delete(self, group_id: str) -> None:
        """Delete a group with its offsets.

        Raises: NonEmptyGroup while it has members; GroupIdNotFound without such a group.
        """
        share = self._shares.get(group_id)
        if share is not None:
            share.members.check_empty()
            self._shares.pop(group_id).close()
            return
        if group_id not in self._groups:
            raise self.not_found(group_id, CLASSIC)
        self._groups[group_id].check_delete()
        del self._groups[group_id]
        self._timers.pop(group_id).clear()

    def view(self, group_id: str) -> GroupView:
        """Return a group's present state; an unknown group is DEAD."""
        group = self._groups.get(group_id)
        coordinator = self.nodes.node_of(group_id)
        if group_id in self._shares:
            return view_of_shares(self._shares[group_id], self._cluster, coordinator)
        if group is None:
            return GroupView(group_id, coordinator=coordinator)
        if group.consumers is not None:
            return view_of_consumers(
                group.consumers.group, self._cluster, group.offsets, coordinator
            )
        return view_of(group.membership.group, group.offsets, coordinator)

    def _forget_topic(self, topic: str) -> None:
        for group in self._groups.values():
            group.offsets.forget_topic(topic)
        for share in self._shares.values():
            share.forget_topic(topic)


__all__ = ["CLASSIC", "CONSUMER", "SHARE", "CoordinatedGroup", "GroupCoordinators"]
