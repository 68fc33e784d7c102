"""DescribeGroups: state and members of classic groups. A group that does not exist is Dead.

Members have the data of their protocol only while the group is stable.

Source: GroupMetadataManager.describeGroups; KIP-430, KIP-1043.
"""

from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation, ResourceType
from aiokafka_lite.testing.broker.state.groups.classic_group import ClassicGroup, GroupState


def handle(context: RequestContext, request: DescribeGroupsRequest) -> DescribeGroupsResponse:
    groups = [_describe(context, group_id) for group_id in request.groups]
    if request.include_authorized_operations:
        for group in groups:
            if not group.error_code:
                group.authorized_operations = context.session.operations(
                    ResourceType.GROUP, group.group_id
                )
    return DescribeGroupsResponse(groups=groups)


def _describe(context: RequestContext, group_id: str) -> DescribedGroup:
    try:
        found = context.find_group(group_id, Operation.DESCRIBE, may_have_no_name=True)
    except BrokerResponseError as error:
        return DescribedGroup(group_id=group_id, error_code=error.errno)
    if found is not None and found.consumers is None:
        return _described(found.membership.group)
    answer = DescribedGroup(group_id=group_id, group_state=GroupState.DEAD.value)
    if context.version >= DescribeGroupsRequest.not_found_since:
        absent = context.groups.not_found(group_id, "classic")
        answer.error_code, answer.error_message = absent.errno, reason_of(absent)
    return answer


def _described(group: ClassicGroup) -> DescribedGroup:
    is_stable = group.state is GroupState.STABLE
    protocol = (group.protocol_name or "") if is_stable else ""
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state.value,
        protocol_type=group.protocol_type or "",
        protocol_data=protocol,
        members=[
            DescribedGroupMember(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                client_id=member.client_id,
                client_host=f"/{member.client_host}",
                member_metadata=member.protocols.get(protocol, b"") if is_stable else b"",
                member_assignment=member.assignment,
            )
            for member in group.members.values()
        ],
    )


HANDLER = Handler(DescribeGroupsRequest, handle, VersionRange(0, 6))


__all__ = ["handle"]
