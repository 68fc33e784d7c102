"""ShareGroupDescribe: share groups, which have offsets but never members on this broker."""

from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.share_group_describe import (
    DescribedGroup,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.state.groups.classic_group import GroupState

_ASSIGNOR = "simple"
"""The assignor of each share group in Kafka."""


def handle(
    context: RequestContext, request: ShareGroupDescribeRequest
) -> ShareGroupDescribeResponse:
    return ShareGroupDescribeResponse(
        groups=[_describe(context, group_id) for group_id in request.group_ids]
    )


def _describe(context: RequestContext, group_id: str) -> DescribedGroup:
    try:
        context.find_group(group_id, Operation.DESCRIBE, may_have_no_name=True)
    except BrokerResponseError as error:
        return DescribedGroup(group_id=group_id, error_code=error.errno)
    if context.groups.find_share(group_id) is not None:
        return DescribedGroup(
            group_id=group_id,
            group_state=GroupState.EMPTY.value,
            group_epoch=1,
            assignment_epoch=1,
            assignor_name=_ASSIGNOR,
        )
    absent = context.groups.not_found(group_id, "share")
    return DescribedGroup(
        group_id=group_id, error_code=absent.errno, error_message=reason_of(absent)
    )


HANDLER = Handler(ShareGroupDescribeRequest, handle, VersionRange(1, 1))


__all__ = ["handle"]
