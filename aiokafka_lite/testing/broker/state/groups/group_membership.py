"""The requests of members to a group's coordinator: join, sync, heartbeat, leave, commit checks.

One object per group. It decides at once. If a request has to wait, its handler passes a function
that takes the response later. Source: GroupMetadataManager (classicGroupJoin, classicGroupSync,
classicGroupHeartbeat, classicGroupLeave), ClassicGroup.validateOffsetCommit; KIP-345, KIP-394,
KIP-559, KIP-814.
"""

import random
from collections.abc import Mapping
from uuid import UUID

from aiokafka_lite.errors import (
    BrokerResponseError,
    FencedInstanceIdError,
    GroupMaxSizeReachedError,
    IllegalGenerationError,
    InconsistentGroupProtocolError,
    MemberIdRequired,
    NonEmptyGroup,
    RebalanceInProgressError,
    UnknownError,
    UnknownMemberIdError,
)
from aiokafka_lite.testing.broker.state.broker_options import BrokerOptions
from aiokafka_lite.testing.broker.state.groups.classic_group import ClassicGroup, GroupState
from aiokafka_lite.testing.broker.state.groups.group_member import (
    NO_MEMBER,
    AnswerJoin,
    AnswerSync,
    GroupMember,
    JoinRequest,
    JoinResult,
    SyncResult,
)
from aiokafka_lite.testing.broker.state.groups.group_rebalance import (
    NEW_MEMBER_JOIN_TIMEOUT_MS,
    GroupRebalance,
)
from aiokafka_lite.testing.broker.state.groups.group_timers import GroupTimers


class GroupMembership:
    """One classic group, as its coordinator serves it."""

    def __init__(
        self, group: ClassicGroup, timers: GroupTimers, options: BrokerOptions, rng: random.Random
    ) -> None:
        self._options = options
        self._rng = rng
        self._rebalance = GroupRebalance(group, timers, options)

    @property
    def group(self) -> ClassicGroup:
        """The present group. Read it only."""
        return self._rebalance.group

    # JoinGroup…

    def join(self, request: JoinRequest, answer: AnswerJoin) -> None:
        """Let a member join or rejoin; `answer` gets the result at the end of the join phase.

        A refusal is answered at once, with the member id that the client shall use next.
        """
        refused_id = request.member_id
        try:
            if not self._has_room_for(request.member_id):
                self.group.remove(request.member_id)
                refused_id = NO_MEMBER
                raise GroupMaxSizeReachedError(
                    f"a group has at most {self._options.group_max_size} members here"
                )
            if not self.group.supports(request.protocol_type, request.protocols):
                raise InconsistentGroupProtocolError(
                    f"{request.protocol_type!r} with {list(request.protocols)} has nothing in "
                    f"common with {self.group!r}"
                )
            if request.member_id == NO_MEMBER:
                self._join_new(request, answer)
            else:
                self._join_known(request, answer)
        except BrokerResponseError as error:
            answer(JoinResult(member_id=refused_id, error_code=error.errno))

    def _has_room_for(self, member_id: str) -> bool:
        group, limit = self.group, self._options.group_max_size
        if group.state is GroupState.EMPTY:
            return True
        member = group.members.get(member_id)
        if group.state is GroupState.PREPARING_REBALANCE:
            # Members that have already come count, so that the last ones to rejoin are refused.
            is_waiting = member is not None and member.is_awaiting_join
            return is_waiting or len(group.awaiting_join) < limit
        return member is not None or len(group.members) < limit

    def _join_new(self, request: JoinRequest, answer: AnswerJoin) -> None:
        group, instance_id = self.group, request.group_instance_id
        new_id = f"{instance_id or request.client_id}-{self._random_uuid()}"
        if instance_id is not None:
            if group.static_member_id(instance_id) is None:
                self._add(request, new_id, answer)
            else:
                self._replace_static(request, instance_id, new_id, answer)
        elif request.needs_known_member_id:
            group.pending_members.add(new_id)
            self._rebalance.watch_session(new_id, request.session_timeout_ms)
            answer(JoinResult(member_id=new_id, error_code=MemberIdRequired.errno))
        else:
            self._add(request, new_id, answer)

    def _join_known(self, request: JoinRequest, answer: AnswerJoin) -> None:
        group, member_id = self.group, request.member_id
        if member_id in group.pending_members:
            if request.group_instance_id is not None:
                raise UnknownError(f"{member_id!r} was given to a member without instance id")
            self._add(request, member_id, answer)
            return
        member = group.check_member(member_id, request.group_instance_id)
        is_unchanged = member.matches(request.protocols)
        is_leader = member_id == group.leader
        # A member that missed the response asks again. A leader of a stable group wants a
        # rebalance.
        if is_unchanged and (
            group.state is GroupState.COMPLETING_REBALANCE
            or (group.state is GroupState.STABLE and not is_leader)
        ):
            answer(self._rebalance.joined(member))
            return
        member.update(request, answer)
        self._rebalance.rebalance(f"{member_id} joins again: {request.reason}")

    def _add(self, request: JoinRequest, member_id: str, answer: AnswerJoin) -> None:
        group = self.group
        member = GroupMember(
            member_id,
            request.group_instance_id,
            request.client_id,
            request.protocol_type,
            request.protocols,
            request.session_timeout_ms,
            request.rebalance_timeout_ms,
            request.client_host,
            is_new=True,
        )
        if group.state is GroupState.PREPARING_REBALANCE:
            group.has_new_member |= group.previous_state is GroupState.EMPTY
        member.await_join(answer)
        group.add(member)
        # The coordinator cannot see a waiting member's client end, so the wait has a limit.
        self._rebalance.keep_session(member, NEW_MEMBER_JOIN_TIMEOUT_MS)
        self._rebalance.rebalance(f"{member_id} is new: {request.reason}")

    def _replace_static(
        self, request: JoinRequest, instance_id: str, new_id: str, answer: AnswerJoin
    ) -> None:
        """Handle a static member that came back without its id.

        While stable, this disturbs no other.
        """
        group = self.group
        former_leader = group.leader_or_empty()
        old, new = group.replace_static(instance_id, new_id)
        fenced = FencedInstanceIdError.errno
        old.answer_join(JoinResult(member_id=old.member_id, error_code=fenced))
        old.answer_sync(SyncResult(error_code=fenced))
        self._rebalance.forget_session(old.member_id)
        new.update(request, answer)
        self._rebalance.keep_session(new)
        if group.state is GroupState.PREPARING_REBALANCE:
            self._rebalance.maybe_complete_join()
        elif (
            group.state is GroupState.COMPLETING_REBALANCE
            or group.select_protocol() != group.protocol_name
        ):
            # The leader may be using the old id, or the protocol has changed.
            self._rebalance.prepare(f"static member {instance_id} came back: {request.reason}")
        else:
            self._rebalance.persist()
            new.answer_join(self._rejoined(new, former_leader, request))

    def _rejoined(
        self, member: GroupMember, former_leader: str, request: JoinRequest
    ) -> JoinResult:
        if request.may_skip_assignment:
            is_leader = member.member_id == self.group.leader
            return self._rebalance.joined(member, skip_assignment=is_leader)
        # An older client that learns that it leads would assign anew. So the response names its
        # former id as the leader.
        return self._rebalance.joined(member, leader=former_leader)

    def _random_uuid(self) -> UUID:
        return UUID(int=self._rng.getrandbits(128), version=4)

    # SyncGroup…

    def sync(
        self,
        member_id: str,
        group_instance_id: str | None,
        generation_id: int,
        assignments: Mapping[str, bytes],
        answer: AnswerSync,
        *,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
    ) -> None:
        """Take the leader's assignment; `answer` gets the member's own part once it exists."""
        group = self.group
        try:
            member = group.check_member(member_id, group_instance_id)
            self._check_generation(generation_id)
            for asked, present in (
                (protocol_type, group.protocol_type),
                (protocol_name, group.protocol_name),
            ):
                if asked is not None and asked != present:
                    raise InconsistentGroupProtocolError(
                        f"{asked!r} is not the group's {present!r}"
                    )
            if group.state is GroupState.PREPARING_REBALANCE:
                raise RebalanceInProgressError(f"{group!r} waits for its members to join")
        except BrokerResponseError as error:
            answer(SyncResult(error_code=error.errno))
            return
        self._rebalance.synced(member_id)
        if group.state is GroupState.STABLE:
            answer(self._rebalance.assigned(member))
            return
        member.await_sync(answer)
        if member_id == group.leader:
            self._rebalance.assign(assignments)

    # Heartbeat, OffsetCommit…

    def heartbeat(self, member_id: str, group_instance_id: str | None, generation_id: int) -> None:
        """Keep the member's session alive.

        Raises: UnknownMemberIdError; FencedInstanceIdError; IllegalGenerationError;
        RebalanceInProgressError, after which the session is kept as well.
        """
        member = self.group.check_member(member_id, group_instance_id)
        self._check_generation(generation_id)
        self._rebalance.keep_session(member)
        if self.group.state is GroupState.PREPARING_REBALANCE:
            raise RebalanceInProgressError(f"{self.group!r} waits for its members to join")

    def check_commit(
        self, member_id: str, group_instance_id: str | None, generation_id: int
    ) -> None:
        """Raise unless offsets may be committed; the check keeps the member's session alive.

        A client that is not a member may commit (generation -1) while the group is empty.

        Raises: UnknownMemberIdError; FencedInstanceIdError; IllegalGenerationError;
        RebalanceInProgressError after the group has joined and before it is stable.
        """
        group = self.group
        if generation_id < 0 and group.state is GroupState.EMPTY:
            return
        if generation_id < 0 and member_id == NO_MEMBER and group_instance_id is None:
            raise UnknownMemberIdError(f"{group!r} has members; only they may commit")
        member = group.check_member(member_id, group_instance_id)
        self._check_generation(generation_id)
        if group.state is GroupState.COMPLETING_REBALANCE:
            raise RebalanceInProgressError(f"{group!r} waits for the leader's assignment")
        self._rebalance.keep_session(member)

    def check_commit_in_transaction(
        self, member_id: str, group_instance_id: str | None, generation_id: int
    ) -> None:
        """Raise unless a transaction may commit offsets.

        Producers that name no member always may. Others may while the member is of this generation,
        even before it is stable (KIP-447).

        Raises: UnknownMemberIdError, FencedInstanceIdError and IllegalGenerationError.
        """
        if generation_id < 0 and (
            self.group.state is GroupState.EMPTY
            or (member_id == NO_MEMBER and group_instance_id is None)
        ):
            return
        self.group.check_member(member_id, group_instance_id)
        self._check_generation(generation_id)

    def _check_generation(self, generation_id: int) -> None:
        if generation_id != self.group.generation_id:
            raise IllegalGenerationError(
                f"generation {generation_id} is not the present one of {self.group!r}"
            )

    # LeaveGroup…

    def leave(self, member_id: str, group_instance_id: str | None) -> None:
        """Remove a member, by its instance id alone if it has one. Call `left` after the last one.

        Raises: UnknownMemberIdError or FencedInstanceIdError.
        """
        group = self.group
        if member_id == NO_MEMBER:
            static_id = group.static_member_id(group_instance_id or "")
            if static_id is None:
                raise UnknownMemberIdError(f"no static member {group_instance_id!r}")
            self._rebalance.forget(group.members[static_id])
        elif member_id in group.pending_members:
            group.remove(member_id)
            self._rebalance.forget_session(member_id)
        else:
            self._rebalance.forget(group.check_member(member_id, group_instance_id))

    def left(self, reason: str) -> None:
        """Rebalance after members have left."""
        if self.group.state is not GroupState.EMPTY:
            self._rebalance.rebalance(reason)

    # Admin…

    def check_delete(self) -> None:
        """Raise unless the group may be deleted. Raises: NonEmptyGroup."""
        if self.group.state is not GroupState.EMPTY:
            raise NonEmptyGroup(f"{self.group!r} has members; only an empty group can be deleted")

    def check_delete_offsets(self) -> None:
        """Raise unless offsets may be deleted: those of an empty group, or of consumers, which
        subscribe to topics. Raises: NonEmptyGroup.
        """
        if not self.group.is_of_consumers:
            self.check_delete()

    # The group becomes one of the newer protocol, or was one…

    def dissolve(self) -> None:
        """As `GroupRebalance.dissolve`."""
        self._rebalance.dissolve()

    def resume(self, *, must_rebalance: bool) -> None:
        """As `GroupRebalance.resume`."""
        self._rebalance.resume(must_rebalance=must_rebalance)

    # Another node takes over…

    def unload(self) -> None:
        """Give up coordination: answer waiting requests, and stop every timer."""
        self._rebalance.unload()

    def load(self) -> None:
        """Become the coordinator, with the group's state in the log."""
        self._rebalance.load()


__all__ = ["GroupMembership"]
