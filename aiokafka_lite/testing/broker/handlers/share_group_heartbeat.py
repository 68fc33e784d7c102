"""ShareGroupHeartbeat: a member of a share group joins, stays or leaves (KIP-932).

Source: KafkaApis.handleShareGroupHeartbeat,
GroupCoordinatorService.throwIfShareGroupHeartbeatRequestIsInvalid.
"""

from uuid import UUID

from aiokafka_lite.errors import (
    BrokerResponseError,
    GroupIdNotFound,
    InvalidRequestError,
    TopicAuthorizationFailedError,
)
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.share_group_heartbeat import (
    Assignment,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    TopicPartitions,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.handlers._share_requests import check_share_groups
from aiokafka_lite.testing.broker.security.acl import Operation, ResourceType
from aiokafka_lite.testing.broker.state.groups.consumer_group_member import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    Epochs,
    MemberHeartbeat,
)
from aiokafka_lite.testing.broker.state.groups.consumer_membership import HeartbeatResult
from aiokafka_lite.testing.broker.state.groups.group_coordinators import SHARE


def handle(
    context: RequestContext, request: ShareGroupHeartbeatRequest
) -> ShareGroupHeartbeatResponse:
    try:
        result = _heartbeat(context, request)
    except BrokerResponseError as error:
        return ShareGroupHeartbeatResponse(error_code=error.errno, error_message=reason_of(error))
    return ShareGroupHeartbeatResponse(
        member_id=result.member_id,
        member_epoch=result.member_epoch,
        heartbeat_interval_ms=result.heartbeat_interval_ms,
        assignment=None if result.assignment is None else _assignment(result.assignment),
    )


def _heartbeat(context: RequestContext, request: ShareGroupHeartbeatRequest) -> HeartbeatResult:
    check_share_groups(context)
    context.session.check_group(Operation.READ, request.group_id)
    for topic in request.subscribed_topic_names or ():
        if not context.session.may(Operation.DESCRIBE, ResourceType.TOPIC, topic):
            raise TopicAuthorizationFailedError(f"the client may not describe {topic!r}")
    _check_request(request)
    other, groups = context.find_group(request.group_id), context.groups
    share = groups.find_share(request.group_id)
    if share is None and other is not None:
        raise groups.not_found(request.group_id, SHARE)
    if share is None and request.member_epoch == LEAVE_EPOCH:
        raise groups.not_found(request.group_id, SHARE)
    if share is None and request.member_epoch > JOIN_EPOCH:
        raise GroupIdNotFound(f"Share group {request.group_id} not found.")
    return groups.find_or_create_share(request.group_id).members.heartbeat(
        MemberHeartbeat(
            request.member_id,
            request.member_epoch,
            rack_id=request.rack_id,
            topics=request.subscribed_topic_names,
            client_id=context.client_id,
            client_host=context.session.host,
        )
    )


def _check_request(request: ShareGroupHeartbeatRequest) -> None:
    """Raise InvalidRequestError for what no member sends."""
    for name, value in (
        ("MemberId", request.member_id),
        ("GroupId", request.group_id),
        ("RackId", request.rack_id),
    ):
        if value is not None and not value.strip():
            raise InvalidRequestError(f"{name} can't be empty.")
    if request.member_epoch < LEAVE_EPOCH:
        raise InvalidRequestError("MemberEpoch is invalid.")
    if request.member_epoch == JOIN_EPOCH and not request.subscribed_topic_names:
        raise InvalidRequestError("SubscribedTopicNames must be set in first request.")


def _assignment(partitions: Epochs) -> Assignment:
    by_topic: dict[UUID, list[int]] = {}
    for topic_id, index in sorted(partitions):
        by_topic.setdefault(topic_id, []).append(index)
    return Assignment(
        topic_partitions=[
            TopicPartitions(topic_id=topic_id, partitions=indexes)
            for topic_id, indexes in by_topic.items()
        ]
    )


HANDLER = Handler(ShareGroupHeartbeatRequest, handle, VersionRange(1, 1))


__all__ = ["handle"]
