"""The groups of a cluster and their coordinators; another node replaces a coordinator that dies.

A group stays on its node until that stops or the group is moved. A move keeps what
__consumer_offsets would: offsets and the last stable generation. Does not wait.
"""

import random
from collections.abc import Callable

from aiokafka_lite.clock import Clock
from aiokafka_lite.errors import GroupIdNotFound
from aiokafka_lite.testing.broker.state.broker_options import BrokerOptions
from aiokafka_lite.testing.broker.state.cluster_state import ClusterState
from aiokafka_lite.testing.broker.state.groups.coordinator_nodes import CoordinatorNodes
from aiokafka_lite.testing.broker.state.groups.group_membership import GroupMembership
from aiokafka_lite.testing.broker.state.groups.group_offsets import GroupOffsets
from aiokafka_lite.testing.broker.state.groups.group_timers import GroupTimers
from aiokafka_lite.testing.broker.state.groups.group_view import GroupView, view_of
from aiokafka_lite.testing.broker.state.groups.share_group import ShareGroup

OFFSET_METADATA_MAX_BYTES = 4096
"""Apache Kafka's default of offset.metadata.max.bytes."""


class CoordinatedGroup:
    """A group that exists: its members and its offsets."""

    def __init__(self, membership: GroupMembership, offsets: GroupOffsets) -> None:
        self.membership = membership
        self.offsets = offsets


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

    def _move(self, group_id: str, before: int | None, node_id: int | None) -> None:
        group = self._groups.get(group_id)
        if group is None:
            return
        if before is not None:
            group.membership.unload()
        if node_id is not None:
            group.membership.load()

    # The groups…

    def find(self, group_id: str) -> CoordinatedGroup | None:
        """Return a group; None if it does not exist."""
        return self._groups.get(group_id)

    def find_or_create(self, group_id: str) -> CoordinatedGroup:
        """Return a group; create an empty one if necessary.

        Raises: GroupIdNotFound for a share group.
        """
        if group_id in self._shares:
            raise self.not_found(group_id, "classic")
        group = self._groups.get(group_id)
        if group is None:
            timers = self._timers[group_id] = GroupTimers(self._clock, self.changed)
            group = self._groups[group_id] = CoordinatedGroup(
                GroupMembership(group_id, timers, self.options, self._rng),
                GroupOffsets(OFFSET_METADATA_MAX_BYTES),
            )
            self.nodes.settle(group_id)
        return group

    def find_share(self, group_id: str) -> ShareGroup | None:
        """Return a share group; None if it does not exist."""
        return self._shares.get(group_id)

    def find_or_create_share(self, group_id: str) -> ShareGroup:
        """Return a share group; create one without offsets if necessary.

        Raises: GroupIdNotFound for a classic group.
        """
        if group_id in self._groups:
            raise self.not_found(group_id, "share")
        self.nodes.settle(group_id)
        return self._shares.setdefault(group_id, ShareGroup(group_id))

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
        if self._shares.pop(group_id, None) is not None:
            return
        if group_id not in self._groups:
            raise self.not_found(group_id, "classic")
        self._groups[group_id].membership.check_delete()
        del self._groups[group_id]
        self._timers.pop(group_id).clear()

    def view(self, group_id: str) -> GroupView:
        """Return a group's present state; an unknown group is DEAD."""
        group = self._groups.get(group_id)
        if group is None:
            return GroupView(group_id, coordinator=self.nodes.node_of(group_id))
        return view_of(group.membership.group, group.offsets, self.nodes.node_of(group_id))

    def _forget_topic(self, topic: str) -> None:
        for group in self._groups.values():
            group.offsets.forget_topic(topic)
        for share in self._shares.values():
            share.forget_topic(topic)


__all__ = ["CoordinatedGroup", "GroupCoordinators"]
