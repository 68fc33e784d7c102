"""ConsumerGroupHeartbeat: a member of a consumer group joins, stays or leaves (KIP-848).

Source: KafkaApis.handleConsumerGroupHeartbeat,
GroupCoordinatorService.throwIfConsumerGroupHeartbeatRequestIsInvalid.
"""

from uuid import UUID

from aiokafka_lite.errors import (
    BrokerResponseError,
    GroupIdNotFound,
    InvalidRequestError,
    TopicAuthorizationFailedError,
    UnsupportedAssignorError,
    UnsupportedVersionError,
)
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation, ResourceType
from aiokafka_lite.testing.broker.state.groups.consumer_group_member import (
    JOIN_EPOCH,
    STATIC_LEAVE_EPOCH,
    Epochs,
    MemberHeartbeat,
    TopicIdPartition,
)


def handle(
    context: RequestContext, request: ConsumerGroupHeartbeatRequest
) -> ConsumerGroupHeartbeatResponse:
    try:
        if not context.groups.serves_consumers:
            raise UnsupportedVersionError("this cluster has no consumer groups (KIP-848)")
        context.session.check_group(Operation.READ, request.group_id)
        _check_topics(context, request)
        _check_request(context, request)
        found = context.find_group(request.group_id)
        if found is None and request.member_epoch > JOIN_EPOCH:
            raise GroupIdNotFound(f"Consumer group {request.group_id} not found.")
        joins = request.member_epoch == JOIN_EPOCH
        members = context.groups.find_consumers(request.group_id, joins=joins)
        result = members.heartbeat(_told(context, request))
    except BrokerResponseError as error:
        return ConsumerGroupHeartbeatResponse(
            error_code=error.errno, error_message=reason_of(error)
        )
    return ConsumerGroupHeartbeatResponse(
        member_id=result.member_id,
        member_epoch=result.member_epoch,
        heartbeat_interval_ms=result.heartbeat_interval_ms,
        assignment=None if result.assignment is None else _assignment(result.assignment),
    )


def _check_topics(context: RequestContext, request: ConsumerGroupHeartbeatRequest) -> None:
    for topic in request.subscribed_topic_names or ():
        if not context.session.may(Operation.DESCRIBE, ResourceType.TOPIC, topic):
            raise TopicAuthorizationFailedError(f"the client may not describe {topic!r}")


def _check_request(context: RequestContext, request: ConsumerGroupHeartbeatRequest) -> None:
    """Raise InvalidRequestError or UnsupportedAssignorError for what no member sends."""
    makes_id = context.version < ConsumerGroupHeartbeatRequest.own_member_id_since
    joins = request.member_epoch == JOIN_EPOCH
    for name, value, may_be_empty in (
        ("MemberId", request.member_id, makes_id and joins),
        ("GroupId", request.group_id, False),
        ("InstanceId", request.instance_id, False),
        ("RackId", request.rack_id, False),
    ):
        if value is not None and not value.strip() and not may_be_empty:
            raise InvalidRequestError(f"{name} can't be empty.")
    if joins:
        _check_join(request)
    elif request.member_epoch == STATIC_LEAVE_EPOCH and request.instance_id is None:
        raise InvalidRequestError("InstanceId can't be null.")
    elif request.member_epoch < STATIC_LEAVE_EPOCH:
        raise InvalidRequestError("MemberEpoch is invalid.")
    known = context.groups.options.group_consumer_assignors
    if request.server_assignor is not None and request.server_assignor not in known:
        raise UnsupportedAssignorError(
            f"ServerAssignor {request.server_assignor} is not supported. Supported assignors: "
            f"{', '.join(known)}."
        )


def _check_join(request: ConsumerGroupHeartbeatRequest) -> None:
    if request.rebalance_timeout_ms == -1:
        raise InvalidRequestError("RebalanceTimeoutMs must be provided in first request.")
    if request.topic_partitions is None or request.topic_partitions:
        raise InvalidRequestError("TopicPartitions must be empty when (re-)joining.")
    if request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
        raise InvalidRequestError(
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when "
            "(re-)joining."
        )


def _told(context: RequestContext, request: ConsumerGroupHeartbeatRequest) -> MemberHeartbeat:
    owned = request.topic_partitions
    return MemberHeartbeat(
        request.member_id or context.groups.new_member_id(),
        request.member_epoch,
        request.instance_id,
        request.rack_id,
        request.rebalance_timeout_ms,
        request.subscribed_topic_names,
        request.subscribed_topic_regex,
        request.server_assignor,
        None
        if owned is None
        else frozenset(
            TopicIdPartition(topic.topic_id, index) for topic in owned for index in topic.partitions
        ),
        context.client_id,
        context.session.host,
        lambda topic: context.session.may(Operation.DESCRIBE, ResourceType.TOPIC, topic),
    )


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


HANDLER = Handler(ConsumerGroupHeartbeatRequest, handle, VersionRange(0, 1))


__all__ = ["handle"]
