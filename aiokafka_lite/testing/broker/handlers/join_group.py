"""JoinGroup: answered when the group has joined, which may take as long as a rebalance."""

from aiokafka_lite.errors import (
    BrokerResponseError,
    GroupAuthorizationFailedError,
    InconsistentGroupProtocolError,
    UnknownMemberIdError,
)
from aiokafka_lite.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupResponse,
    JoinGroupResponseMember,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Answer, Handler, RequestContext
from aiokafka_lite.testing.broker.pending_answer import PendingAnswer
from aiokafka_lite.testing.broker.state.groups.group_coordinators import CoordinatedGroup
from aiokafka_lite.testing.broker.state.groups.group_member import (
    NO_MEMBER,
    JoinRequest,
    JoinResult,
)


def handle(context: RequestContext, request: JoinGroupRequest) -> Answer:
    version = context.version
    try:
        group = _find_or_create(context, request)
    except GroupAuthorizationFailedError as error:
        return _response(JoinResult(NO_MEMBER, error.errno), version)
    except BrokerResponseError as error:
        return _response(JoinResult(request.member_id, error.errno), version)
    pending = PendingAnswer[JoinGroupResponse]()
    group.classic.join(
        JoinRequest(
            request.member_id,
            request.group_instance_id,
            request.protocol_type,
            {protocol.name: protocol.metadata for protocol in request.protocols},
            request.session_timeout_ms,
            # Version 0 has only the session timeout.
            request.rebalance_timeout_ms
            if version >= JoinGroupRequest.rebalance_timeout_since
            else request.session_timeout_ms,
            context.client_id,
            context.session.host,
            needs_known_member_id=version >= JoinGroupRequest.member_id_required_since,
            may_skip_assignment=version >= JoinGroupRequest.skip_assignment_since,
            reason=request.reason,
        ),
        lambda result: pending.give(_response(result, version)),
    )
    if pending.value is None:
        context.groups.changed()
        return pending.wait
    return pending.value


def _find_or_create(context: RequestContext, request: JoinGroupRequest) -> CoordinatedGroup:
    group = context.find_group(request.group_id)
    context.groups.options.check_session_timeout(request.session_timeout_ms)
    if context.groups.find_share(request.group_id) is not None:
        raise InconsistentGroupProtocolError(f"{request.group_id!r} is a share group")
    if group is None:
        if request.member_id != NO_MEMBER:
            raise UnknownMemberIdError(f"group {request.group_id!r} does not exist")
        group = context.groups.find_or_create(request.group_id)
    context.groups.make_classic(request.group_id)
    return group


def _response(result: JoinResult, version: int) -> JoinGroupResponse:
    may_be_null = version >= JoinGroupRequest.null_protocol_since
    return JoinGroupResponse(
        error_code=result.error_code,
        generation_id=result.generation_id,
        protocol_type=result.protocol_type,
        protocol_name=result.protocol_name or (None if may_be_null else ""),
        leader=result.leader,
        skip_assignment=result.skip_assignment,
        member_id=result.member_id,
        members=[
            JoinGroupResponseMember(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                metadata=member.metadata,
            )
            for member in result.members
        ],
    )


HANDLER = Handler(JoinGroupRequest, handle, VersionRange(0, 9))


__all__ = ["handle"]
