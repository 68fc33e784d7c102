"""OffsetForLeaderEpoch: where a leader epoch ended, for truncation checks (KIP-320)."""

from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation


def handle(
    context: RequestContext, request: OffsetForLeaderEpochRequest
) -> OffsetForLeaderEpochResponse:
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=[_answer(context, topic.topic, asked) for asked in topic.partitions],
            )
            for topic in request.topics
        ]
    )


def _answer(context: RequestContext, topic: str, asked: OffsetForLeaderPartition) -> EpochEndOffset:
    topic_partition = TopicPartition(topic, asked.partition)
    try:
        if not context.session.may_in_cluster(Operation.CLUSTER_ACTION):  # which followers may
            context.session.check_topic(Operation.DESCRIBE, topic)
        context.injected.raise_for(topic_partition)
        partition = context.cluster.partition(topic_partition)
        partition.check_leader(context.node_id, asked.current_leader_epoch)
    except BrokerResponseError as error:
        return EpochEndOffset(partition=asked.partition, error_code=error.errno)
    epoch, end_offset = partition.log.end_of_epoch(asked.leader_epoch)
    return EpochEndOffset(partition=asked.partition, leader_epoch=epoch, end_offset=end_offset)


HANDLER = Handler(OffsetForLeaderEpochRequest, handle, VersionRange(2, 4))


__all__ = ["handle"]
