"""OffsetDelete: committed offsets of partitions to whose topics no member subscribes.

Source: KafkaApis.handleOffsetDeleteRequest, OffsetMetadataManager.deleteOffsets; KIP-496.
"""

from aiokafka_lite.errors import (
    BrokerResponseError,
    GroupIdNotFound,
    GroupSubscribedToTopicError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.state.cluster_state import partition_of
from aiokafka_lite.testing.broker.state.groups.group_coordinators import CoordinatedGroup


def handle(context: RequestContext, request: OffsetDeleteRequest) -> OffsetDeleteResponse:
    try:
        group = _open(context, request.group_id)
    except BrokerResponseError as error:
        return OffsetDeleteResponse(error_code=error.errno)
    return OffsetDeleteResponse(topics=[_delete(context, group, topic) for topic in request.topics])


def _open(context: RequestContext, group_id: str) -> CoordinatedGroup:
    group = context.find_group(group_id, Operation.DELETE)
    if group is None:
        raise GroupIdNotFound(f"group {group_id!r} does not exist")
    group.check_delete_offsets()
    return group


def _delete(
    context: RequestContext, group: CoordinatedGroup, topic: OffsetDeleteRequestTopic
) -> OffsetDeleteResponseTopic:
    indexes = [asked.partition_index for asked in topic.partitions]
    return OffsetDeleteResponseTopic(
        name=topic.name,
        partitions=[
            OffsetDeleteResponsePartition(
                partition_index=index,
                error_code=_delete_one(context, group, TopicPartition(topic.name, index)),
            )
            for index in indexes
        ],
    )


def _delete_one(
    context: RequestContext, group: CoordinatedGroup, topic_partition: TopicPartition
) -> int:
    """Delete one offset; return 0 or the error code."""
    topic = topic_partition.topic
    try:
        context.session.check_topic(Operation.READ, topic)
        partition_of(context.cluster.topic_by_name(topic), topic_partition.partition)
        if group.subscribes_to(topic):
            raise GroupSubscribedToTopicError(f"members subscribe to {topic!r}")
    except BrokerResponseError as error:
        return error.errno
    group.offsets.delete(topic_partition)
    return 0


HANDLER = Handler(OffsetDeleteRequest, handle, VersionRange(0, 0))


__all__ = ["handle"]
