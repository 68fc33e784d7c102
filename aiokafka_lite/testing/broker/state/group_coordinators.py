"""The groups of a cluster and which node coordinates each; a coordinator that dies has an heir.

A group stays with its node until that stops or the group is moved. What it keeps over a move is
what __consumer_offsets would: offsets and the last stable generation. Does not wait.
"""

import random
from collections.abc import Callable
from zlib import crc32

from aiokafka_lite.clock import Clock
from aiokafka_lite.errors import (
    BrokerNotAvailableError,
    GroupCoordinatorNotAvailableError,
    NotCoordinatorForGroupError,
)
from aiokafka_lite.testing.broker.state.cluster_state import ClusterState
from aiokafka_lite.testing.broker.state.group_membership import GroupMembership
from aiokafka_lite.testing.broker.state.group_offsets import GroupOffsets
from aiokafka_lite.testing.broker.state.group_rebalance import GroupOptions
from aiokafka_lite.testing.broker.state.group_timers import GroupTimers
from aiokafka_lite.testing.broker.state.group_view import GroupView, view_of


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
        options: GroupOptions,
        clock: Clock,
        rng: random.Random,
        on_change: Callable[[], object] = lambda: None,
    ) -> None:
        """`on_change` is called when a group has changed and no answer shows it."""
        self._cluster = cluster
        self.options = options
        self._clock = clock
        self._rng = rng
        self.changed = on_change
        """To be called by who has changed a group and does not answer yet."""
        self._groups: dict[str, CoordinatedGroup] = {}
        self._nodes: dict[str, int | None] = {}
        """Group id -> its node, None for none, of groups that exist or were moved."""
        self._timers: dict[str, GroupTimers] = {}
        cluster.watch(on_nodes=self._place_all, on_topic_deleted=self._forget_topic)

    def close(self) -> None:
        """Stop every timer."""
        for timers in self._timers.values():
            timers.clear()

    # Who coordinates…

    def node_of(self, key: str, *, is_group: bool = True) -> int | None:
        """Return the node that coordinates a group, or a key of another kind.

        None when every node is down, or the group was moved to nobody.
        """
        return self._nodes[key] if is_group and key in self._nodes else self._choose(key)

    def check(self, group_id: str, node_id: int) -> None:
        """Raise unless `node_id` coordinates the group.

        Raises NotCoordinatorForGroupError, or GroupCoordinatorNotAvailableError if nobody does.
        """
        coordinator = self.node_of(group_id)
        if coordinator is None:
            raise GroupCoordinatorNotAvailableError(f"nobody coordinates {group_id!r}")
        if coordinator != node_id:
            raise NotCoordinatorForGroupError(
                f"node {node_id} does not coordinate {group_id!r}; {coordinator} does"
            )

    def move(self, group_id: str, node_id: int | None) -> None:
        """Let another node coordinate the group, or nobody until it is moved again.

        Raises BrokerNotAvailableError for a node that is down or does not exist.
        """
        if node_id is not None and not self._cluster.node(node_id).is_alive:
            raise BrokerNotAvailableError(f"node {node_id} is down; start it before it coordinates")
        self._place(group_id, node_id)

    def _choose(self, key: str) -> int | None:
        """Return the living node from a fixed one on, counted round; always the same for a key."""
        node_ids = sorted(self._cluster.nodes)
        start = crc32(key.encode()) % len(node_ids)
        for node_id in node_ids[start:] + node_ids[:start]:
            if self._cluster.nodes[node_id].is_alive:
                return node_id
        return None

    def _place_all(self) -> None:
        """A node was started or stopped."""
        for group_id, node_id in self._nodes.items():
            if node_id is None or not self._cluster.nodes[node_id].is_alive:
                self._place(group_id, self._choose(group_id))

    def _place(self, group_id: str, node_id: int | None) -> None:
        before = self.node_of(group_id)
        self._nodes[group_id] = node_id
        group = self._groups.get(group_id)
        if group is None or node_id == before:
            return
        if before is not None:
            group.membership.unload()
        if node_id is not None:
            group.membership.load()

    # The groups…

    def find(self, group_id: str) -> CoordinatedGroup | None:
        """Return a group, None if there is no such."""
        return self._groups.get(group_id)

    def find_or_create(self, group_id: str) -> CoordinatedGroup:
        """Return a group, a new and empty one if need be."""
        group = self._groups.get(group_id)
        if group is None:
            timers = self._timers[group_id] = GroupTimers(self._clock, self.changed)
            group = self._groups[group_id] = CoordinatedGroup(
                GroupMembership(group_id, timers, self.options, self._rng),
                GroupOffsets(self.options.offset_metadata_max_bytes),
            )
            self._nodes[group_id] = self.node_of(group_id)
        return group

    def view(self, group_id: str) -> GroupView:
        """Return a group at this moment; one that does not exist is DEAD."""
        group = self._groups.get(group_id)
        if group is None:
            return GroupView(group_id, coordinator=self.node_of(group_id))
        return view_of(group.membership.group, group.offsets, self.node_of(group_id))

    def _forget_topic(self, topic: str) -> None:
        for group in self._groups.values():
            group.offsets.forget_topic(topic)
