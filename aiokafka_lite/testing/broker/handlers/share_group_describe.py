"""ShareGroupDescribe: state, epochs and members of share groups (KIP-932).

Source: KafkaApis.handleShareGroupDescribe, ShareGroup.asDescribedGroup.
"""

from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.share_group_describe import (
    DescribedGroup,
    Member,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.handlers._group_assignment import assignment_of
from aiokafka_lite.testing.broker.handlers._share_requests import check_share_groups
from aiokafka_lite.testing.broker.security.acl import Operation, ResourceType
from aiokafka_lite.testing.broker.state.groups.group_coordinators import SHARE


def handle(
    context: RequestContext, request: ShareGroupDescribeRequest
) -> ShareGroupDescribeResponse:
    groups = [_describe(context, group_id) for group_id in request.group_ids]
    if request.include_authorized_operations:
        for group in groups:
            if not group.error_code:
                group.authorized_operations = context.session.operations(
                    ResourceType.GROUP, group.group_id
                )
    return ShareGroupDescribeResponse(groups=groups)


def _describe(context: RequestContext, group_id: str) -> DescribedGroup:
    try:
        check_share_groups(context)
        context.find_group(group_id, Operation.DESCRIBE)
    except BrokerResponseError as error:
        return DescribedGroup(group_id=group_id, error_code=error.errno)
    share = context.groups.find_share(group_id)
    if share is None:
        absent = context.groups.not_found(group_id, SHARE)
        return DescribedGroup(
            group_id=group_id, error_code=absent.errno, error_message=reason_of(absent)
        )
    group = share.members.group
    return DescribedGroup(
        group_id=group_id,
        group_state=share.members.state.value,
        group_epoch=group.group_epoch,
        assignment_epoch=group.target_epoch,
        assignor_name=group.assignor,
        members=[
            Member(
                member_id=member.member_id,
                rack_id=member.rack_id,
                member_epoch=member.epoch,
                client_id=member.client_id,
                client_host=f"/{member.client_host}",
                subscribed_topic_names=sorted(member.topics),
                assignment=assignment_of(member.assigned, context.cluster),
            )
            for member in group.members.values()
        ],
    )


HANDLER = Handler(ShareGroupDescribeRequest, handle, VersionRange(1, 1))


__all__ = ["handle"]
