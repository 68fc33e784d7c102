"""ConsumerGroupDescribe: state, epochs and members of consumer groups (KIP-848).

Source: KafkaApis.handleConsumerGroupDescribe, ConsumerGroup.asDescribedGroup.
"""

from aiokafka_lite.errors import BrokerResponseError, UnsupportedVersionError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
    Member,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.handlers._group_assignment import assignment_of
from aiokafka_lite.testing.broker.security.acl import Operation, ResourceType
from aiokafka_lite.testing.broker.state.cluster_state import ClusterState
from aiokafka_lite.testing.broker.state.groups.consumer_group_member import ConsumerGroupMember
from aiokafka_lite.testing.broker.state.groups.modern_group import ModernGroup

_CLASSIC, _OF_THE_NEWER_PROTOCOL = 0, 1
"""Kafka's numbers for the types of members (KIP-1099)."""


def handle(
    context: RequestContext, request: ConsumerGroupDescribeRequest
) -> ConsumerGroupDescribeResponse:
    groups = [_describe(context, group_id) for group_id in request.group_ids]
    if request.include_authorized_operations:
        for group in groups:
            if not group.error_code:
                group.authorized_operations = context.session.operations(
                    ResourceType.GROUP, group.group_id
                )
    return ConsumerGroupDescribeResponse(groups=groups)


def _describe(context: RequestContext, group_id: str) -> DescribedGroup:
    try:
        if not context.groups.serves_consumers:
            raise UnsupportedVersionError("this cluster has no consumer groups (KIP-848)")
        context.find_group(group_id, Operation.DESCRIBE)
    except BrokerResponseError as error:
        return DescribedGroup(group_id=group_id, error_code=error.errno)
    try:
        found = context.groups.find_consumers(group_id, joins=False).group
    except BrokerResponseError as error:
        return DescribedGroup(
            group_id=group_id, error_code=error.errno, error_message=reason_of(error)
        )
    return _described(found, context.cluster)


def _described(group: ModernGroup, cluster: ClusterState) -> DescribedGroup:
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state.value,
        group_epoch=group.group_epoch,
        assignment_epoch=group.target_epoch,
        assignor_name=group.assignor,
        members=[_member(group, member, cluster) for member in group.members.values()],
    )


def _member(group: ModernGroup, member: ConsumerGroupMember, cluster: ClusterState) -> Member:
    return Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.epoch,
        client_id=member.client_id,
        client_host=f"/{member.client_host}",
        subscribed_topic_names=sorted(member.topics),
        subscribed_topic_regex=member.pattern or "",
        assignment=assignment_of(member.assigned, cluster),
        target_assignment=assignment_of(group.target.get(member.member_id, ()), cluster),
        member_type=_CLASSIC if member.classic else _OF_THE_NEWER_PROTOCOL,
    )


HANDLER = Handler(ConsumerGroupDescribeRequest, handle, VersionRange(0, 1))


__all__ = ["handle"]
