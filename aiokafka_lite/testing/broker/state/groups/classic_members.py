"""The requests of members by the classic protocol to a consumer group: join, sync, heartbeat.

The coordinator assigns, so no member leads, and no request waits for other members. A member joins
again when its heartbeat says so: to give up partitions, and to get those that others have given up.
Does not wait. Source: GroupMetadataManager (classicGroupJoinToConsumerGroup,
classicGroupSyncToConsumerGroup, classicGroupHeartbeatToConsumerGroup); KIP-848.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from aiokafka_lite.errors import (
    BrokerResponseError,
    IllegalGenerationError,
    InconsistentGroupProtocolError,
    MemberIdRequired,
    RebalanceInProgressError,
    UnknownMemberIdError,
)
from aiokafka_lite.protocol.consumer_protocol import (
    ConsumerProtocol,
    ConsumerProtocolMemberMetadata,
)
from aiokafka_lite.testing.broker.state.cluster_state import ClusterState
from aiokafka_lite.testing.broker.state.groups.consumer_group_member import (
    NO_PATTERN,
    ClassicTerms,
    ConsumerGroupMember,
    MemberProgress,
)
from aiokafka_lite.testing.broker.state.groups.consumer_membership import ConsumerMembership
from aiokafka_lite.testing.broker.state.groups.group_conversion import (
    encoded_assignment,
    ids_of,
)
from aiokafka_lite.testing.broker.state.groups.group_member import (
    NO_MEMBER,
    AnswerJoin,
    AnswerSync,
    JoinRequest,
    JoinResult,
    SyncResult,
)


class ClassicMembers:
    """The members of one consumer group that use the classic protocol."""

    def __init__(
        self, consumers: ConsumerMembership, cluster: ClusterState, new_id: Callable[[], str]
    ) -> None:
        self._consumers = consumers
        self._cluster = cluster
        self._new_id = new_id

    # JoinGroup…

    def join(self, request: JoinRequest, answer: AnswerJoin) -> None:
        """Let a member join or rejoin. `answer` gets the result at once, with the group's epoch as
        its generation.
        """
        try:
            answer(self._join(request))
        except BrokerResponseError as error:
            answer(JoinResult(member_id=request.member_id, error_code=error.errno))

    def _join(self, request: JoinRequest) -> JoinResult:
        consumers, instance_id = self._consumers, request.group_instance_id
        is_new = request.member_id == NO_MEMBER
        member_id = self._new_id() if is_new else request.member_id
        consumers.check_size(member_id, instance_id)
        self._check_protocols(request)
        if is_new and instance_id is None and request.needs_known_member_id:
            return JoinResult(member_id=member_id, error_code=MemberIdRequired.errno)
        before = self._subscribed(member_id, instance_id, is_new=is_new)
        subscription = ConsumerProtocolMemberMetadata.decode(next(iter(request.protocols.values())))
        after = _told(before, request, subscription)
        owned = frozenset(ids_of(subscription.owned(), self._cluster.topics))
        former = consumers.group.static_member(instance_id) if instance_id and is_new else None
        member = consumers.joined_by_classic(former, before, after, owned)
        return JoinResult(
            member.member_id,
            generation_id=member.epoch,
            protocol_type=ConsumerProtocol.PROTOCOL_TYPE,
            protocol_name=next(iter(request.protocols)),
        )

    def _check_protocols(self, request: JoinRequest) -> None:
        classic = [each.classic for each in self._consumers.group.members.values() if each.classic]
        fits = any(all(name in terms.protocols for terms in classic) for name in request.protocols)
        if request.protocol_type != ConsumerProtocol.PROTOCOL_TYPE or not fits:
            raise InconsistentGroupProtocolError(
                f"Member {request.member_id}'s protocols are not supported."
            )

    def _subscribed(
        self, member_id: str, instance_id: str | None, *, is_new: bool
    ) -> ConsumerGroupMember:
        """Return the member as it is, or a new one if it joins."""
        group = self._consumers.group
        if instance_id is None:
            return group.members.get(member_id) or ConsumerGroupMember(member_id)
        if not is_new:
            return group.known_static_member(instance_id, member_id)
        former = group.static_member(instance_id)
        if former is None:
            return ConsumerGroupMember(member_id)
        return former.replaced_by(member_id, group.target_epoch)

    # SyncGroup…

    def sync(
        self,
        member_id: str,
        group_instance_id: str | None,
        generation_id: int,
        assignments: Mapping[str, bytes],  # noqa: ARG002 - no member leads
        answer: AnswerSync,
        *,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
    ) -> None:
        """Give `answer` what the member may have now."""
        try:
            member, terms = self._known(member_id, group_instance_id, generation_id)
            for asked, present in (
                (protocol_type, ConsumerProtocol.PROTOCOL_TYPE),
                (protocol_name, next(iter(terms.protocols))),
            ):
                if asked is not None and asked != present:
                    raise InconsistentGroupProtocolError(f"{asked!r} is not {present!r}")
            if self._is_behind(member):
                self._consumers.watch_rejoin(member)
                raise RebalanceInProgressError(f"{member_id} should rejoin to catch up")
        except BrokerResponseError as error:
            answer(SyncResult(error_code=error.errno))
            return
        self._consumers.synced(member)
        assignment = encoded_assignment(member.assigned, terms, self._cluster.topic_name)
        answer(SyncResult(0, protocol_type, protocol_name, assignment))

    def _is_behind(self, member: ConsumerGroupMember) -> bool:
        """Return whether a rebalance has begun. A member that gives up partitions does so first."""
        is_revoking = member.state is MemberProgress.UNREVOKED_PARTITIONS
        return self._consumers.group.group_epoch > member.epoch and not is_revoking

    # Heartbeat…

    def heartbeat(self, member_id: str, group_instance_id: str | None, generation_id: int) -> None:
        """Keep the member's session alive.

        Raises: UnknownMemberIdError, also for one by the newer protocol; FencedInstanceIdError;
        IllegalGenerationError; RebalanceInProgressError if the member has something to give up or
        to get, after which the session is kept as well.
        """
        member, _ = self._known(member_id, group_instance_id, generation_id)
        group = self._consumers.group
        self._consumers.watch_session(member)
        gets_more = member.state is MemberProgress.UNRELEASED_PARTITIONS and not any(
            group.is_taken(partition)
            for partition in group.target.get(member_id, frozenset()) - member.assigned.keys()
        )
        is_revoking = member.state is MemberProgress.UNREVOKED_PARTITIONS
        if self._is_behind(member) or is_revoking or gets_more:
            self._consumers.watch_rejoin(member)
            raise RebalanceInProgressError(f"{member_id} should rejoin")

    def _known(
        self, member_id: str, instance_id: str | None, generation_id: int
    ) -> tuple[ConsumerGroupMember, ClassicTerms]:
        """Return the member. Raises: UnknownMemberIdError, FencedInstanceIdError,
        IllegalGenerationError.
        """
        group = self._consumers.group
        if instance_id is None:
            member = group.member(member_id)
        else:
            member = group.known_static_member(instance_id, member_id)
        if member.classic is None:
            raise UnknownMemberIdError(f"Member {member_id} does not use the classic protocol.")
        if member.epoch != generation_id:
            raise IllegalGenerationError(
                f"generation {generation_id} is not the epoch {member.epoch} of {member_id}"
            )
        return member, member.classic


def _told(
    member: ConsumerGroupMember,
    request: JoinRequest,
    subscription: ConsumerProtocolMemberMetadata,
) -> ConsumerGroupMember:
    """Return the member with what its JoinGroup says."""
    return replace(
        member,
        instance_id=request.group_instance_id or member.instance_id,
        rack_id=subscription.rack_id or member.rack_id,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        client_id=request.client_id,
        client_host=request.client_host,
        topics=frozenset(subscription.subscription),
        pattern=NO_PATTERN,
        classic=ClassicTerms(request.session_timeout_ms, dict(request.protocols)),
    )


__all__ = ["ClassicMembers"]
