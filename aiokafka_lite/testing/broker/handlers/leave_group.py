"""LeaveGroup: one member, from version 3 on several, each with its own result (KIP-345)."""

from aiokafka_lite.errors import BrokerResponseError, UnknownMemberIdError
from aiokafka_lite.protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.state.groups.group_coordinators import CoordinatedGroup


def handle(context: RequestContext, request: LeaveGroupRequest) -> LeaveGroupResponse:
    is_batched = context.version >= LeaveGroupRequest.members_since
    leaving = request.members if is_batched else [MemberIdentity(member_id=request.member_id)]
    try:
        group = context.find_group(request.group_id)
    except BrokerResponseError as error:
        return LeaveGroupResponse(error_code=error.errno)
    results = [_leave(group, member) for member in leaving]
    gone = [
        f"{member.member_id} ({member.reason})"
        for member, result in zip(leaving, results, strict=True)
        if not result.error_code
    ]
    if group is not None and gone:
        left = group.membership.left if group.consumers is None else group.consumers.expelled
        left(f"these have left: {', '.join(gone)}")
    if is_batched:
        return LeaveGroupResponse(members=results)
    return LeaveGroupResponse(error_code=results[0].error_code)


def _leave(group: CoordinatedGroup | None, member: MemberIdentity) -> MemberResponse:
    response = MemberResponse(
        member_id=member.member_id, group_instance_id=member.group_instance_id
    )
    try:
        if group is None:
            raise UnknownMemberIdError("the group does not exist")
        if group.consumers is None:
            group.membership.leave(member.member_id, member.group_instance_id)
        else:
            group.consumers.expel(member.member_id, member.group_instance_id)
    except BrokerResponseError as error:
        response.error_code = error.errno
    return response


HANDLER = Handler(LeaveGroupRequest, handle, VersionRange(0, 5))


__all__ = ["handle"]
