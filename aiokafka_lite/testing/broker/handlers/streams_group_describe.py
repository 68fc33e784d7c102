"""StreamsGroupDescribe: this broker has no streams group yet, so each is not found."""

from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.streams_group_describe import (
    DescribedGroup,
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation


def handle(
    context: RequestContext, request: StreamsGroupDescribeRequest
) -> StreamsGroupDescribeResponse:
    return StreamsGroupDescribeResponse(
        groups=[_describe(context, group_id) for group_id in request.group_ids]
    )


def _describe(context: RequestContext, group_id: str) -> DescribedGroup:
    try:
        context.find_group(group_id, Operation.DESCRIBE)
    except BrokerResponseError as error:
        return DescribedGroup(group_id=group_id, error_code=error.errno)
    absent = context.groups.not_found(group_id, "streams")
    return DescribedGroup(
        group_id=group_id, error_code=absent.errno, error_message=reason_of(absent)
    )


HANDLER = Handler(StreamsGroupDescribeRequest, handle, VersionRange(0, 1))


__all__ = ["handle"]
