"""DescribeTopicPartitions: topics in the order of their names, in pages (KIP-966).

Source: DescribeTopicPartitionsRequestHandler, KRaftMetadataCache.describeTopicResponse.
"""

from collections.abc import Sequence
from typing import Any

from aiokafka_lite.checks.topic_name import check_topic_name
from aiokafka_lite.errors import (
    BrokerResponseError,
    InvalidRequestError,
    LeaderNotAvailableError,
    TopicAuthorizationFailedError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation, ResourceType
from aiokafka_lite.testing.broker.state.cluster_state import (
    NO_LEADER,
    BrokerPartition,
    TopicState,
)

MOST_PARTITIONS = 2_000
"""Kafka's default of max.request.partition.size.limit."""


def handle(
    context: RequestContext, request: DescribeTopicPartitionsRequest
) -> DescribeTopicPartitionsResponse:
    cursor = request.cursor
    names = sorted({topic.name for topic in request.topics} or context.cluster.topics)
    if cursor is not None:
        if cursor.partition_index < 0 or (request.topics and cursor.topic_name not in names):
            return DescribeTopicPartitionsResponse(
                topics=[_failed(topic.name, InvalidRequestError.errno) for topic in request.topics]
            )
        names = [name for name in names if name >= cursor.topic_name]
    allowed = [name for name in names if _may_describe(context, name)]
    limit = max(1, min(MOST_PARTITIONS, request.response_partition_limit))
    response = _page(context, allowed, cursor, limit, is_for_all=not request.topics)
    if request.topics:
        response.topics += [
            _failed(name, TopicAuthorizationFailedError.errno)
            for name in names
            if name not in allowed
        ]
    return response


def _failed(name: str, error_code: int, **fields: Any) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(error_code=error_code, name=name, **fields)


def _may_describe(context: RequestContext, name: str) -> bool:
    return context.session.may(Operation.DESCRIBE, ResourceType.TOPIC, name)


def _page(
    context: RequestContext,
    names: Sequence[str],
    cursor: Cursor | None,
    limit: int,
    *,
    is_for_all: bool,
) -> DescribeTopicPartitionsResponse:
    """Return the partitions from the cursor on, at most `limit` of them."""
    response = DescribeTopicPartitionsResponse()
    for name in names:
        if not limit:
            response.next_cursor = Cursor(topic_name=name, partition_index=0)
            break
        first = cursor.partition_index if cursor is not None and cursor.topic_name == name else 0
        try:
            context.injected.raise_for()
            check_topic_name(name)
            topic = context.cluster.topic_by_name(name)
        except BrokerResponseError as error:
            if not is_for_all:
                operations = context.session.operations(ResourceType.TOPIC, name)
                response.topics.append(
                    _failed(name, error.errno, topic_authorized_operations=operations)
                )
            continue
        partitions = topic.partitions[first : first + limit]
        limit -= len(partitions)
        response.topics.append(_topic(context, topic, partitions))
        if first + len(partitions) < len(topic.partitions):
            response.next_cursor = Cursor(topic_name=name, partition_index=first + len(partitions))
            break
    return response


def _topic(
    context: RequestContext, topic: TopicState, partitions: Sequence[BrokerPartition]
) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        partitions=[_partition(context, partition) for partition in partitions],
        topic_authorized_operations=context.session.operations(ResourceType.TOPIC, topic.name),
    )


def _partition(
    context: RequestContext, partition: BrokerPartition
) -> DescribeTopicPartitionsResponsePartition:
    in_sync = context.cluster.in_sync_replicas(partition)
    error_code = 0 if partition.leader != NO_LEADER else LeaderNotAvailableError.errno
    try:
        context.injected.raise_for(TopicPartition(*partition.topic_partition))
    except BrokerResponseError as error:
        error_code = error.errno
    return DescribeTopicPartitionsResponsePartition(
        error_code=error_code,
        partition_index=partition.topic_partition.partition,
        leader_id=partition.leader,
        leader_epoch=partition.leader_epoch,
        replica_nodes=list(partition.replicas),
        isr_nodes=in_sync,
        eligible_leader_replicas=[],
        last_known_elr=[],
        offline_replicas=[node_id for node_id in partition.replicas if node_id not in in_sync],
    )


HANDLER = Handler(DescribeTopicPartitionsRequest, handle, VersionRange(0, 0))


__all__ = ["MOST_PARTITIONS", "handle"]
