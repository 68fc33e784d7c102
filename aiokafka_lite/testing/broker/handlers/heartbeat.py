"""Heartbeat: keeps a member's session alive, and tells the member about a rebalance."""

from aiokafka_lite.errors import BrokerResponseError, UnknownMemberIdError
from aiokafka_lite.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext


def handle(context: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
    try:
        group = context.find_group(request.group_id)
        if group is None:
            raise UnknownMemberIdError(f"group {request.group_id!r} does not exist")
        group.classic.heartbeat(request.member_id, request.group_instance_id, request.generation_id)
    except BrokerResponseError as error:
        return HeartbeatResponse(error_code=error.errno)
    return HeartbeatResponse()


HANDLER = Handler(HeartbeatRequest, handle, VersionRange(0, 4))


__all__ = ["handle"]
