"""The heartbeats of members to the coordinator of a share group.

One object per group. It decides at once. The first heartbeat that names a topic lets the broker
store where to begin in it, and a later one assigns it. Source: GroupMetadataManager
(shareGroupHeartbeat, shareGroupLeave), ShareGroup; KIP-932.
"""

import logging
from collections.abc import Callable
from dataclasses import replace

from aiokafka_lite.clock import Clock
from aiokafka_lite.errors import (
    FencedMemberEpochError,
    GroupMaxSizeReachedError,
    NonEmptyGroup,
)
from aiokafka_lite.testing.broker.state.broker_options import BrokerOptions
from aiokafka_lite.testing.broker.state.cluster_state import ClusterState, TopicState
from aiokafka_lite.testing.broker.state.groups.classic_group import GroupState
from aiokafka_lite.testing.broker.state.groups.consumer_group_member import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    ConsumerGroupMember,
    MemberHeartbeat,
)
from aiokafka_lite.testing.broker.state.groups.consumer_membership import HeartbeatResult
from aiokafka_lite.testing.broker.state.groups.group_timers import GroupTimers
from aiokafka_lite.testing.broker.state.groups.modern_group import ModernGroup
from aiokafka_lite.testing.broker.state.groups.server_assignors import SIMPLE
from aiokafka_lite.testing.broker.state.settings.group_settings import group_values

logger = logging.getLogger(__name__)


class ShareMembers:
    """The members of one share group, as its coordinator serves them."""

    def __init__(
        self,
        group_id: str,
        timers: GroupTimers,
        options: BrokerOptions,
        cluster: ClusterState,
        clock: Clock,
        *,
        known_partitions: Callable[[TopicState], int],
        on_new_topic: Callable[[TopicState], object],
    ) -> None:
        """`known_partitions` counts the partitions of a topic with a stored state; `on_new_topic`
        stores one for all of them.
        """
        self.group = ModernGroup(group_id, [SIMPLE])
        self.group.target_epoch = self.group.group_epoch
        self._timers = timers
        self._options = options
        self._cluster = cluster
        self._clock = clock
        self._known_partitions = known_partitions
        self._on_new_topic = on_new_topic
        self._has_news = False

    @property
    def state(self) -> GroupState:
        """The state in which the group is: empty or stable."""
        return GroupState.STABLE if self.group.members else GroupState.EMPTY

    def heartbeat(self, told: MemberHeartbeat) -> HeartbeatResult:
        """Let a member join, stay or leave.

        Raises: UnknownMemberIdError, FencedMemberEpochError or GroupMaxSizeReachedError; then
        nothing has changed.
        """
        group = self.group
        if told.member_epoch == LEAVE_EPOCH:
            self._remove(group.member(told.member_id).member_id, "left")
            return HeartbeatResult(told.member_id, LEAVE_EPOCH)
        before = self._present(told)
        member = before.told(told)
        group.put(member)
        is_new = before.topics != member.topics or before.epoch == JOIN_EPOCH
        topics = self._assignable()
        if group.look_at_topics(self._cluster.topics) or is_new or self._has_news:
            group.group_epoch += 1
        self._has_news = False
        if group.group_epoch > group.target_epoch and self._may_assign():
            group.assign(topics, self._clock.monotonic())
        if member.epoch != group.target_epoch:
            assigned = dict.fromkeys(
                sorted(group.target.get(member.member_id, ())), group.target_epoch
            )
            member = replace(member.at(group.target_epoch), assigned=assigned)
            group.put(member)
        self._watch_session(member.member_id)
        self._look_for_new_topics()
        is_changed = member.assigned.keys() != before.assigned.keys()
        tells_all = told.member_epoch == JOIN_EPOCH or told.topics is not None or is_changed
        logger.debug("%r has heard of %s", group, told.member_id)
        return HeartbeatResult(
            member.member_id,
            member.epoch,
            self._setting("heartbeat.interval.ms"),
            member.assigned if tells_all else None,
        )

    def _present(self, told: MemberHeartbeat) -> ConsumerGroupMember:
        members, limit = self.group.members, self._options.group_share_max_size
        joins = told.member_epoch == JOIN_EPOCH
        if joins and told.member_id not in members:
            if len(members) >= limit:
                raise GroupMaxSizeReachedError(
                    f"The share group has reached its maximum capacity of {limit} members."
                )
            return ConsumerGroupMember(told.member_id)
        member = self.group.member(told.member_id)
        _check_epoch(member, told.member_epoch)
        return member

    def _assignable(self) -> dict[str, TopicState]:
        """Return the topics with those partitions for which a state is stored."""
        return {
            name: replace(topic, partitions=topic.partitions[:known])
            for name, topic in self._cluster.topics.items()
            if (known := self._known_partitions(topic))
        }

    def _look_for_new_topics(self) -> None:
        for name, topic in self._cluster.topics.items():
            is_known = self._known_partitions(topic) == len(topic.partitions)
            if not is_known and self.group.subscribes_to(name):
                self._on_new_topic(topic)
                self._has_news = True

    def _may_assign(self) -> bool:
        interval_s = self._setting("assignment.interval.ms") / 1000
        return self._clock.monotonic() >= self.group.assigned_at + interval_s

    def _setting(self, name: str) -> int:
        of_group = group_values(self._cluster.group_settings.get(self.group.group_id, {}))
        of_brokers = {
            "heartbeat.interval.ms": self._options.group_share_heartbeat_interval_ms,
            "session.timeout.ms": self._options.group_share_session_timeout_ms,
            "assignment.interval.ms": self._options.group_share_assignment_interval_ms,
        }
        found: int = of_group.get(f"share.{name}", of_brokers[name])
        return found

    # Members go…

    def expel(self, member_id: str) -> None:
        """Remove a member, as if its session had expired. Raises: UnknownMemberIdError."""
        self._remove(self.group.member(member_id).member_id, "expelled")

    def _remove(self, member_id: str, why: str) -> None:
        self.group.remove(member_id)
        self._timers.cancel(member_id)
        self.group.lost()
        self.group.look_at_topics(self._cluster.topics)
        logger.debug("%r has lost %s: %s", self.group, member_id, why)

    def _watch_session(self, member_id: str) -> None:
        timeout_ms = self._setting("session.timeout.ms")
        self._timers.schedule(
            member_id, timeout_ms, lambda: self._remove(member_id, "its session has expired")
        )

    def check_empty(self) -> None:
        """Raise unless the group has no members. Raises: NonEmptyGroup."""
        if self.group.members:
            raise NonEmptyGroup("The group is not empty.")

    # Another node takes over…

    def unload(self) -> None:
        """Give up coordination: stop every timer."""
        self._timers.clear()

    def load(self) -> None:
        """Become the coordinator. All that was told is in the log."""
        for member_id in self.group.members:
            self._watch_session(member_id)


def _check_epoch(member: ConsumerGroupMember, epoch: int) -> None:
    """Raise FencedMemberEpochError unless the member knows its epoch. It may be one epoch late,
    for a response may be lost.
    """
    if epoch in (JOIN_EPOCH, member.epoch, member.previous_epoch):
        return
    known = f"than the one known by the group coordinator ({member.epoch})"
    if epoch < member.epoch:
        known += f", and it does not match the previous member epoch ({member.previous_epoch})"
    raise FencedMemberEpochError(
        f"The share group member has a {'greater' if epoch > member.epoch else 'smaller'} member "
        f"epoch ({epoch}) {known}. The member must abandon all its partitions and rejoin."
    )


__all__ = ["ShareMembers"]
