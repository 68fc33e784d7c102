"""Moves a classic group from one generation to the next: join phase, sync phase, expiry.

Decides and sets timers. Does not wait. Source: GroupMetadataManager (prepareRebalance,
completeClassicGroupJoin, expirePendingSync, expireClassicGroupMemberHeartbeat).
"""

import logging
from collections.abc import Mapping

from aiokafka_lite.errors import (
    NotCoordinatorForGroupError,
    RebalanceInProgressError,
    UnknownMemberIdError,
)
from aiokafka_lite.testing.broker.state.broker_options import BrokerOptions
from aiokafka_lite.testing.broker.state.groups.classic_group import ClassicGroup, GroupState
from aiokafka_lite.testing.broker.state.groups.group_member import (
    NO_MEMBER,
    GroupMember,
    JoinResult,
    SyncResult,
)
from aiokafka_lite.testing.broker.state.groups.group_timers import GroupTimers

logger = logging.getLogger(__name__)

NEW_MEMBER_JOIN_TIMEOUT_MS = 300_000
"""How long a member waits in its first join phase before it is removed."""
_JOIN_PHASE = "join phase"
_SYNC_PHASE = "sync phase"


class GroupRebalance:
    """Moves one group through its states."""

    def __init__(self, group: ClassicGroup, timers: GroupTimers, options: BrokerOptions) -> None:
        self.group = group
        self._timers = timers
        self._options = options
        self._log = group.persisted()

    # The join phase…

    def rebalance(self, reason: str) -> None:
        """Begin a rebalance. During one, end the join phase if all members have joined."""
        if self.group.state is GroupState.PREPARING_REBALANCE:
            self.maybe_complete_join()
        else:
            self.prepare(reason)

    def prepare(self, reason: str) -> None:
        """Let all members join again. The first rebalance waits for further members (KIP-134)."""
        group = self.group
        if group.state is GroupState.COMPLETING_REBALANCE:
            self._reset_assignments()
        group.pending_sync.clear()
        self._timers.cancel(_SYNC_PHASE)
        is_initial = group.state is GroupState.EMPTY
        group.transition_to(GroupState.PREPARING_REBALANCE)
        logger.debug("%r prepares a rebalance: %s", group, reason)
        if is_initial:
            delay_ms = self._options.group_initial_rebalance_delay_ms
            self._delay(delay_ms, max(group.rebalance_timeout_ms - delay_ms, 0))
        elif group.has_all_joined:
            self._complete_join()
        else:
            self._timers.schedule(_JOIN_PHASE, group.rebalance_timeout_ms, self._complete_join)

    def maybe_complete_join(self) -> None:
        """End the join phase if all members have joined. The first one ends by its own delay."""
        group = self.group
        if (
            group.state is GroupState.PREPARING_REBALANCE
            and group.previous_state is not GroupState.EMPTY
            and group.has_all_joined
        ):
            self._complete_join()

    def _delay(self, delay_ms: int, remaining_ms: int) -> None:
        """Wait for members that come soon after the first.

        Each group of newcomers extends the wait.
        """
        if delay_ms <= 0:
            self._complete_join()
            return

        def extend_or_complete() -> None:
            group = self.group
            if group.has_new_member and remaining_ms:
                group.has_new_member = False
                longer_ms = min(self._options.group_initial_rebalance_delay_ms, remaining_ms)
                self._delay(longer_ms, max(remaining_ms - delay_ms, 0))
            else:
                self._complete_join()

        self._timers.schedule(_JOIN_PHASE, delay_ms, extend_or_complete)

    def _complete_join(self) -> None:
        """Continue with the joined members.

        Static members keep their place while their session lasts.
        """
        group = self.group
        self._timers.cancel(_JOIN_PHASE)
        for member in [*group.members.values()]:
            if not member.is_awaiting_join and not member.is_static:
                self.forget(member)
        if group.members and not group.elect_joined_leader():
            self._timers.schedule(_JOIN_PHASE, group.rebalance_timeout_ms, self._complete_join)
            return
        group.start_generation()
        logger.debug("%r begins a generation", group)
        if group.state is GroupState.EMPTY:
            self.persist()
            return
        for member in group.members.values():
            member.answer_join(self.joined(member))
            member.is_new = False
            self.keep_session(member)
            group.pending_sync.add(member.member_id)
        self._timers.schedule(_SYNC_PHASE, group.rebalance_timeout_ms, self._expire_sync_phase)

    def joined(
        self, member: GroupMember, *, leader: str | None = None, skip_assignment: bool = False
    ) -> JoinResult:
        """Return a member's response for the present generation; the leader's lists all members.

        `leader` names another leader than the present one.
        """
        group = self.group
        told_leader = group.leader_or_empty() if leader is None else leader
        leads = member.member_id == told_leader
        return JoinResult(
            member_id=member.member_id,
            generation_id=group.generation_id,
            protocol_type=group.protocol_type,
            protocol_name=group.protocol_name,
            leader=told_leader,
            skip_assignment=skip_assignment,
            members=group.joined_members() if leads else (),
        )

    # The sync phase…

    def synced(self, member_id: str) -> None:
        """Note that a member has asked for its assignment."""
        self.group.pending_sync.discard(member_id)
        if not self.group.pending_sync:
            self._timers.cancel(_SYNC_PHASE)

    def assign(self, assignments: Mapping[str, bytes]) -> None:
        """Give each member its part of the leader's assignment, or nothing if the leader left
        it out.
        """
        group = self.group
        for member in group.members.values():
            member.assignment = assignments.get(member.member_id, b"")
        group.transition_to(GroupState.STABLE)
        self.persist()
        logger.debug("%r is stable", group)
        for member in group.members.values():
            if member.answer_sync(self.assigned(member)):
                self.keep_session(member)

    def assigned(self, member: GroupMember) -> SyncResult:
        """Return the response for a member of a stable group."""
        return SyncResult(
            protocol_type=self.group.protocol_type,
            protocol_name=self.group.protocol_name,
            assignment=member.assignment,
        )

    def _reset_assignments(self) -> None:
        for member in self.group.members.values():
            member.assignment = b""
            if member.answer_sync(SyncResult(error_code=RebalanceInProgressError.errno)):
                self.keep_session(member)

    def _expire_sync_phase(self) -> None:
        group = self.group
        late = [*group.pending_sync]
        for member_id in late:
            group.remove(member_id)
            self._timers.cancel(_session(member_id))
        self.prepare(f"members {late} did not ask for their assignment in time")

    # Sessions…

    def keep_session(self, member: GroupMember, timeout_ms: int | None = None) -> None:
        """Restart the member's session, with its own timeout unless another is given."""
        timeout_ms = member.session_timeout_ms if timeout_ms is None else timeout_ms
        self.watch_session(member.member_id, timeout_ms)

    def watch_session(self, member_id: str, timeout_ms: int) -> None:
        """Remove a member, or an assigned id, unless it sends something in time."""
        self._timers.schedule(
            _session(member_id), timeout_ms, lambda: self._expire_session(member_id)
        )

    def forget_session(self, member_id: str) -> None:
        """Stop watching a session."""
        self._timers.cancel(_session(member_id))

    def _expire_session(self, member_id: str) -> None:
        group = self.group
        member = group.members.get(member_id)
        if member_id in group.pending_members:
            group.remove(member_id)
            self._complete_join_after_loss()
        elif member is not None and not member.has_satisfied_heartbeat:
            logger.debug("%r expels %s, whose session has expired", group, member_id)
            self.forget(member)
            if group.state in (GroupState.STABLE, GroupState.COMPLETING_REBALANCE):
                self.prepare(f"the session of member {member_id} has expired")
            else:
                self._complete_join_after_loss()

    def _complete_join_after_loss(self) -> None:
        # An expiry ends even the first join phase; a leaving member does not.
        if self.group.state is GroupState.PREPARING_REBALANCE and self.group.has_all_joined:
            self._complete_join()

    def forget(self, member: GroupMember) -> None:
        """Remove a member. If it waits for the join phase, its response says that it is unknown."""
        self.forget_session(member.member_id)
        member.answer_join(JoinResult(member_id=NO_MEMBER, error_code=UnknownMemberIdError.errno))
        self.group.remove(member.member_id)

    # The group becomes one of the newer protocol…

    def dissolve(self) -> None:
        """Let waiting members join anew, and stop every timer."""
        self._timers.clear()
        error_code = RebalanceInProgressError.errno
        for member in self.group.members.values():
            member.answer_join(JoinResult(member_id=member.member_id, error_code=error_code))
            member.answer_sync(SyncResult(error_code=error_code))

    def resume(self, *, must_rebalance: bool) -> None:
        """Serve a group that was one of the newer protocol."""
        for member in self.group.members.values():
            self.keep_session(member)
        self.persist()
        if must_rebalance:
            self.prepare("the last member by the newer protocol has left")

    # Another node takes over…

    def persist(self) -> None:
        """Store the present group: the state that another node will find in the log."""
        self._log = self.group.persisted()

    def unload(self) -> None:
        """Answer waiting requests with a change of coordinator, and stop every timer."""
        self._timers.clear()
        error_code = NotCoordinatorForGroupError.errno
        for member in self.group.members.values():
            member.answer_join(JoinResult(member_id=member.member_id, error_code=error_code))
            member.answer_sync(SyncResult(error_code=error_code))

    def load(self) -> None:
        """Begin where the log ends: at the last generation that got its assignment."""
        self.group = self._log.persisted()
        for member in self.group.members.values():
            self.keep_session(member)


def _session(member_id: str) -> str:
    return f"session of {member_id}"


__all__ = ["NEW_MEMBER_JOIN_TIMEOUT_MS", "GroupRebalance"]
