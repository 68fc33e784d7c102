"""The requests of members to the coordinator of a consumer group: heartbeats, and their offsets.

One object per group. It decides at once. Source: GroupMetadataManager (consumerGroupHeartbeat,
consumerGroupLeave, consumerGroupFenceMember), ConsumerGroup.validateOffsetCommit; KIP-848.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from uuid import UUID

from aiokafka_lite.clock import Clock
from aiokafka_lite.errors import (
    FencedMemberEpochError,
    GroupMaxSizeReachedError,
    IllegalGenerationError,
    NonEmptyGroup,
    StaleMemberEpochError,
    UnreleasedInstanceIdError,
    UnsupportedVersionError,
)
from aiokafka_lite.protocol.messages.offset_commit import OffsetCommitRequest
from aiokafka_lite.testing.broker.state.broker_options import BrokerOptions
from aiokafka_lite.testing.broker.state.cluster_state import ClusterState
from aiokafka_lite.testing.broker.state.groups.classic_group import GroupState
from aiokafka_lite.testing.broker.state.groups.consumer_group_member import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    ConsumerGroupMember,
    Epochs,
    MemberHeartbeat,
    MemberProgress,
    TopicIdPartition,
)
from aiokafka_lite.testing.broker.state.groups.current_assignment import Target, reconcile
from aiokafka_lite.testing.broker.state.groups.group_timers import GroupTimers
from aiokafka_lite.testing.broker.state.groups.modern_group import ModernGroup
from aiokafka_lite.testing.broker.state.groups.topic_patterns import check_pattern, matching
from aiokafka_lite.testing.broker.state.settings.group_settings import group_values

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HeartbeatResult:
    """What a heartbeat is answered."""

    member_id: str
    member_epoch: int
    heartbeat_interval_ms: int = 0
    assignment: Epochs | None = None
    """What the member may have; None for no change."""


class ConsumerMembership:
    """One consumer group, as its coordinator serves it."""

    def __init__(
        self,
        group_id: str,
        timers: GroupTimers,
        options: BrokerOptions,
        cluster: ClusterState,
        clock: Clock,
        on_classic_only: Callable[[bool], object],
        group: ModernGroup | None = None,
    ) -> None:
        """`on_classic_only(must_rebalance)` is called when the last member of the newer protocol
        is gone and others are left, unless the settings forbid a classic group. `group`: one that
        was a classic one.
        """
        self.group = group or ModernGroup(group_id, options.group_consumer_assignors)
        self._on_classic_only = on_classic_only
        self._timers = timers
        self._options = options
        self._cluster = cluster
        self._clock = clock

    # ConsumerGroupHeartbeat…

    def heartbeat(self, told: MemberHeartbeat) -> HeartbeatResult:
        """Let a member join, stay or leave.

        Raises: UnknownMemberIdError, FencedMemberEpochError, FencedInstanceIdError,
        UnreleasedInstanceIdError, GroupMaxSizeReachedError or InvalidRegularExpressionError; then
        nothing has changed.
        """
        if told.member_epoch in (LEAVE_EPOCH, STATIC_LEAVE_EPOCH):
            return self._leave(told)
        self.check_size(told.member_id, told.instance_id)
        before = self._subscribed(told)
        former = self._replaced(told)
        after = before.told(told)
        self._check_pattern(before, after)
        self._replace(former, before)
        return self._heard(told, before, after)

    def check_size(self, member_id: str, instance_id: str | None) -> None:
        """Raise GroupMaxSizeReachedError unless there is room for the member."""
        members, limit = self.group.members, self._options.group_consumer_max_size
        if instance_id is not None and self.group.static_member(instance_id):
            return
        if len(members) >= limit and member_id not in members:
            raise GroupMaxSizeReachedError(
                f"The consumer group has reached its maximum capacity of {limit} members."
            )

    def _subscribed(self, told: MemberHeartbeat) -> ConsumerGroupMember:
        """Return the member as it is, or a new one if it joins."""
        group, joins = self.group, told.member_epoch == JOIN_EPOCH
        if told.instance_id is None:
            member = group.members.get(told.member_id)
            if member is None:
                member = ConsumerGroupMember(told.member_id) if joins else None
            member = member or group.member(told.member_id)
            _check_epoch(member, told)
            return member
        if not joins:
            member = group.known_static_member(told.instance_id, told.member_id)
            _check_epoch(member, told)
            return member
        former = group.static_member(told.instance_id)
        if former is None:
            return group.members.get(told.member_id) or ConsumerGroupMember(told.member_id)
        if former.classic is None and former.epoch != STATIC_LEAVE_EPOCH:
            raise UnreleasedInstanceIdError(
                f"Static member {told.member_id} with instance id {told.instance_id} cannot join "
                f"the group because the instance id is owned by {former.member_id} member."
            )
        return former.replaced_by(told.member_id)

    def _replaced(self, told: MemberHeartbeat) -> ConsumerGroupMember | None:
        """Return the static member that comes back by this heartbeat, if one does."""
        if told.instance_id is None or told.member_epoch != JOIN_EPOCH:
            return None
        return self.group.static_member(told.instance_id)

    def _check_pattern(self, before: ConsumerGroupMember, after: ConsumerGroupMember) -> None:
        is_new = after.pattern and after.pattern != before.pattern
        known = {member.pattern for member in self.group.members.values()}
        if is_new and after.pattern not in known:
            check_pattern(after.pattern or "")

    def _heard(
        self, told: MemberHeartbeat, before: ConsumerGroupMember, after: ConsumerGroupMember
    ) -> HeartbeatResult:
        reconciled = self._advance(before, after, told.owned)
        is_changed = reconciled.assigned.keys() != before.assigned.keys()
        tells_all = told.member_epoch == JOIN_EPOCH or told.is_full or is_changed
        result = HeartbeatResult(
            reconciled.member_id,
            reconciled.epoch,
            self._setting("consumer.heartbeat.interval.ms"),
            reconciled.assigned if tells_all else None,
        )
        self._match_patterns(told)
        logger.debug("%r has heard of %s", self.group, told.member_id)
        return result

    def _advance(
        self,
        before: ConsumerGroupMember,
        after: ConsumerGroupMember,
        owned: frozenset[TopicIdPartition] | None,
    ) -> ConsumerGroupMember:
        """Assign if the group has to, and return the member after its next step."""
        group, topics = self.group, self._cluster.topics
        assignor = group.assignor
        group.put(after)
        has_other_topics = (before.topics, before.pattern) != (after.topics, after.pattern)
        must_assign = before.topics != after.topics or group.assignor != assignor
        if before.pattern != after.pattern:
            must_assign |= (after.pattern or "") in group.matched
        if group.look_at_topics(topics) or must_assign:
            group.group_epoch += 1
        if group.group_epoch > group.target_epoch and self._may_assign():
            group.assign(topics, self._clock.monotonic())
        target = Target(
            group.target_epoch,
            group.target.get(after.member_id, frozenset()),
            group.topic_ids_of(after, topics),
            owned,
            group.is_taken,
        )
        reconciled = after
        if has_other_topics or not after.is_reconciled_to(group.target_epoch):
            reconciled = reconcile(after, target, has_other_topics=has_other_topics)
            if reconciled != after:
                self._watch_revocation(reconciled)
        group.put(reconciled)
        self.watch_session(reconciled)
        return reconciled

    def _may_assign(self) -> bool:
        """Return whether the last target assignment is old enough (KIP-1263)."""
        interval_s = self._setting("consumer.assignment.interval.ms") / 1000
        return self._clock.monotonic() >= self.group.assigned_at + interval_s

    def _match_patterns(self, told: MemberHeartbeat) -> None:
        """Look for topics of the patterns. As in Kafka, the next heartbeat sees what was found."""
        group = self.group
        visible = [name for name in self._cluster.topics if told.may_see(name)]
        patterns = {member.pattern for member in group.members.values() if member.pattern}
        found = {pattern: matching(pattern, visible) for pattern in patterns}
        if found != group.matched:
            group.matched = found
            group.look_at_topics(self._cluster.topics)
            group.group_epoch += 1

    def _setting(self, name: str) -> int:
        of_group = group_values(self._cluster.group_settings.get(self.group.group_id, {}))
        of_brokers = {
            "consumer.heartbeat.interval.ms": self._options.group_consumer_heartbeat_interval_ms,
            "consumer.session.timeout.ms": self._options.group_consumer_session_timeout_ms,
            "consumer.assignment.interval.ms": self._options.group_consumer_assignment_interval_ms,
        }
        found: int = of_group.get(name, of_brokers[name])
        return found

    # Members by the classic protocol…

    def joined_by_classic(
        self,
        former: ConsumerGroupMember | None,
        before: ConsumerGroupMember,
        after: ConsumerGroupMember,
        owned: frozenset[TopicIdPartition],
    ) -> ConsumerGroupMember:
        """Let a member by the classic protocol take its next step, and return it.

        `former`: the static member whose place it takes, if there is one. If that was the last one
        by the newer protocol, the group becomes a classic one.
        """
        is_last = former is not None and former.classic is None and self._may_be_classic(former)
        self._replace(former, before)
        if not is_last:
            member = self._advance(before, after, owned)
            self._timers.cancel(_join(member.member_id))
            self._watch_step(_sync(member.member_id), member, "it did not ask for its assignment")
            return member
        has_other_topics = before.topics != after.topics or bool(before.pattern)
        member = after if has_other_topics else self._advance(before, after, owned)
        self.group.put(member)
        self._on_classic_only(has_other_topics)
        return member

    def synced(self, member: ConsumerGroupMember) -> None:
        """Note that a member has asked for its assignment."""
        self._timers.cancel(_sync(member.member_id))
        self.watch_session(member)

    def watch_rejoin(self, member: ConsumerGroupMember) -> None:
        """Remove a member that was told to join again, unless it does so in time."""
        if _join(member.member_id) not in self._timers.names:
            self._watch_step(_join(member.member_id), member, "it did not join again")

    def _watch_step(self, name: str, member: ConsumerGroupMember, why: str) -> None:
        self._timers.schedule(
            name, member.rebalance_timeout_ms, lambda: self._remove(member.member_id, why)
        )

    def _may_be_classic(self, leaving: ConsumerGroupMember | None = None) -> bool:
        """Return whether the group becomes a classic one without `leaving`."""
        members = self.group.members.values()
        return (
            all(each.classic is not None for each in members if each is not leaving)
            and self._options.group_consumer_migration_policy in ("bidirectional", "downgrade")
            and len(members) <= self._options.group_max_size
        )

    def _replace(self, former: ConsumerGroupMember | None, member: ConsumerGroupMember) -> None:
        """Give a static member its new id."""
        if former is not None:
            self.group.replace(former.member_id, member)
            self._forget_timers(former.member_id)

    # Leaving…

    def _leave(self, told: MemberHeartbeat) -> HeartbeatResult:
        group = self.group
        if told.instance_id is None:
            member = group.member(told.member_id)
        else:
            member = group.known_static_member(told.instance_id, told.member_id)
        if told.member_epoch == STATIC_LEAVE_EPOCH:
            group.put(member.away())
        else:
            self._remove(member.member_id, "left")
        return HeartbeatResult(told.member_id, told.member_epoch)

    def expel(self, member_id: str, instance_id: str | None) -> None:
        """Remove a member, by its instance id alone if it has one, as administrators do. Call
        `expelled` after the last one.

        Raises: UnknownMemberIdError or FencedInstanceIdError.
        """
        group = self.group
        if instance_id is not None:
            known = group.static_member(instance_id)
            present = known.member_id if known and not member_id else member_id
            member_id = group.known_static_member(instance_id, present).member_id
        group.remove(group.member(member_id).member_id)
        self._forget_timers(member_id)

    def expelled(self, why: str) -> None:
        """Begin another epoch without the members that have been removed. If the others use the
        classic protocol, the group becomes a classic one.
        """
        if self.group.members and self._may_be_classic():
            logger.debug("%r becomes a classic group: %s", self.group, why)
            self._on_classic_only(True)
            return
        self.group.lost()
        self.group.look_at_topics(self._cluster.topics)
        logger.debug("%r has lost members: %s", self.group, why)

    def _remove(self, member_id: str, why: str) -> None:
        self.group.remove(member_id)
        self._forget_timers(member_id)
        self.expelled(f"{member_id}: {why}")

    # Timers…

    def watch_session(self, member: ConsumerGroupMember) -> None:
        """Remove the member unless it sends something in time."""
        member_id = member.member_id
        if member.classic is None:
            timeout_ms = self._setting("consumer.session.timeout.ms")
        else:
            timeout_ms = member.classic.session_timeout_ms
        self._timers.schedule(
            f"session of {member_id}",
            timeout_ms,
            lambda: self._remove(member_id, "its session has expired"),
        )

    def _watch_revocation(self, member: ConsumerGroupMember) -> None:
        name = f"rebalance of {member.member_id}"
        is_revoking = member.state is MemberProgress.UNREVOKED_PARTITIONS
        if not is_revoking or member.classic is not None:
            self._timers.cancel(name)
            return

        def expire() -> None:
            if self.group.member(member.member_id).epoch == member.epoch:
                self._remove(member.member_id, "it did not give up its partitions in time")

        self._timers.schedule(name, member.rebalance_timeout_ms, expire)

    def _forget_timers(self, member_id: str) -> None:
        self._timers.cancel(f"session of {member_id}")
        self._timers.cancel(f"rebalance of {member_id}")
        self._timers.cancel(_join(member_id))
        self._timers.cancel(_sync(member_id))

    # Offsets…

    def check_commit(
        self,
        member_id: str,
        member_epoch: int,
        partitions: Iterable[tuple[UUID, int]],
        version: int | None,
    ) -> None:
        """Raise unless offsets of the partitions may be committed.

        A client that is not a member may commit (epoch -1) while the group is empty. A member may
        be one epoch late with what it has had since then (KIP-1251). `version` is that of
        OffsetCommit; None for a commit in a transaction, in which a producer may name no member.

        Raises: UnknownMemberIdError, StaleMemberEpochError, UnsupportedVersionError;
        IllegalGenerationError to a member by the classic protocol.
        """
        if member_epoch < 0 and not self.group.members:
            return
        if version is None and member_epoch == -1 and not member_id:
            return
        member = self.group.member(member_id)
        is_classic = member.classic is not None
        if (
            not is_classic
            and version is not None
            and version < OffsetCommitRequest.consumer_protocol_since
        ):
            raise UnsupportedVersionError(
                "OffsetCommit version 9 or above must be used by members using the consumer group "
                "protocol"
            )
        if member_epoch == member.epoch:
            return
        refusal = IllegalGenerationError if is_classic else StaleMemberEpochError
        if member_epoch > member.epoch:
            raise refusal(
                f"Received member epoch {member_epoch} is newer than current member epoch "
                f"{member.epoch}."
            )
        for partition in partitions:
            since = member.epoch_of(TopicIdPartition(*partition))
            if since is None or member_epoch < since:
                raise refusal(f"member epoch {member_epoch} is before the member got {partition}")

    def check_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Raise unless a client may ask for the offsets.

        Raises: UnknownMemberIdError, StaleMemberEpochError.
        """
        if member_id is None and member_epoch < 0:
            return
        member = self.group.member(member_id or "")
        if member_epoch != member.epoch:
            raise StaleMemberEpochError(
                f"The received member epoch {member_epoch} does not match the expected member "
                f"epoch {member.epoch}."
            )

    # Admin…

    def check_delete(self) -> None:
        """Raise unless the group may be deleted. Raises: NonEmptyGroup."""
        if self.group.state is not GroupState.EMPTY:
            raise NonEmptyGroup(f"{self.group!r} has members; only an empty group can be deleted")

    # Another node takes over…

    def unload(self) -> None:
        """Give up coordination: stop every timer."""
        self._timers.clear()

    def load(self) -> None:
        """Become the coordinator. All that was told is in the log."""
        for member in self.group.members.values():
            self.watch_session(member)
            self._watch_revocation(member)


def _join(member_id: str) -> str:
    return f"join of {member_id}"


def _sync(member_id: str) -> str:
    return f"sync of {member_id}"


def _check_epoch(member: ConsumerGroupMember, told: MemberHeartbeat) -> None:
    """Raise FencedMemberEpochError unless the member knows its epoch. It may be one epoch late if
    it has nothing that it may not have, for a response may be lost.
    """
    epoch = told.member_epoch
    if epoch in (JOIN_EPOCH, member.epoch):
        return
    if epoch < member.epoch:
        knows = told.owned is not None and told.owned <= member.assigned.keys()
        if epoch == member.previous_epoch and knows:
            return
    than = "greater" if epoch > member.epoch else "smaller"
    raise FencedMemberEpochError(
        f"The consumer group member has a {than} member epoch ({epoch}) than the one known by the "
        f"group coordinator ({member.epoch}). The member must abandon all its partitions and "
        "rejoin."
    )


__all__ = ["ConsumerMembership", "HeartbeatResult"]
