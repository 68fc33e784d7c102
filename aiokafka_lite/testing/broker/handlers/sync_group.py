"""SyncGroup: the leader sends the assignment, and each member gets its own part."""

from aiokafka_lite.errors import (
    BrokerResponseError,
    InconsistentGroupProtocolError,
    UnknownMemberIdError,
)
from aiokafka_lite.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Answer, Handler, RequestContext
from aiokafka_lite.testing.broker.pending_answer import PendingAnswer
from aiokafka_lite.testing.broker.state.groups.group_coordinators import CoordinatedGroup
from aiokafka_lite.testing.broker.state.groups.group_member import SyncResult


def handle(context: RequestContext, request: SyncGroupRequest) -> Answer:
    try:
        group = _find(context, request)
    except BrokerResponseError as error:
        return SyncGroupResponse(error_code=error.errno)
    pending = PendingAnswer[SyncGroupResponse]()
    group.classic.sync(
        request.member_id,
        request.group_instance_id,
        request.generation_id,
        {given.member_id: given.assignment for given in request.assignments},
        lambda result: pending.give(_response(result)),
        protocol_type=request.protocol_type,
        protocol_name=request.protocol_name,
    )
    if pending.value is None:
        context.groups.changed()
        return pending.wait
    return pending.value


def _find(context: RequestContext, request: SyncGroupRequest) -> CoordinatedGroup:
    is_missing = request.protocol_type is None or request.protocol_name is None
    if context.version >= SyncGroupRequest.protocol_since and is_missing:
        raise InconsistentGroupProtocolError(
            "from version 5 on the protocol's type and name belong to a SyncGroup (KIP-559)"
        )
    group = context.find_group(request.group_id)
    if group is None:
        raise UnknownMemberIdError(f"group {request.group_id!r} does not exist")
    return group


def _response(result: SyncResult) -> SyncGroupResponse:
    return SyncGroupResponse(
        error_code=result.error_code,
        protocol_type=result.protocol_type,
        protocol_name=result.protocol_name,
        assignment=result.assignment,
    )


HANDLER = Handler(SyncGroupRequest, handle, VersionRange(0, 5))


__all__ = ["handle"]
