"""DeleteRecords: moves the start of partitions' logs. The replicas of this broker follow at once.

Source: KafkaApis.handleDeleteRecordsRequest, ReplicaManager.deleteRecordsOnLocalLog.
"""

from aiokafka_lite.errors import (
    BrokerResponseError,
    OffsetOutOfRangeError,
    PolicyViolationError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation

HIGH_WATERMARK = -1
_NO_LOW_WATERMARK = -1


def handle(context: RequestContext, request: DeleteRecordsRequest) -> DeleteRecordsResponse:
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(
                name=topic.name,
                partitions=[
                    _answer(context, TopicPartition(topic.name, each.partition_index), each.offset)
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def _answer(
    context: RequestContext, topic_partition: TopicPartition, offset: int
) -> DeleteRecordsPartitionResult:
    try:
        context.session.check_topic(Operation.DELETE, topic_partition.topic)
        context.injected.raise_for(topic_partition)
        low_watermark, error_code = _delete(context, topic_partition, offset), 0
    except BrokerResponseError as error:
        low_watermark, error_code = _NO_LOW_WATERMARK, error.errno
    return DeleteRecordsPartitionResult(
        partition_index=topic_partition.partition,
        low_watermark=low_watermark,
        error_code=error_code,
    )


def _delete(context: RequestContext, topic_partition: TopicPartition, offset: int) -> int:
    """Delete the records before `offset`, and return the new start of the log."""
    partition = context.cluster.partition(topic_partition)
    partition.check_leader(context.node_id, -1)
    policies = partition.config.settings.get("cleanup.policy", "delete")
    if "delete" not in policies.split(","):
        raise PolicyViolationError(
            f"records of {topic_partition} cannot be deleted: its cleanup.policy is {policies!r}"
        )
    log = partition.log
    before_offset = log.high_watermark if offset == HIGH_WATERMARK else offset
    if before_offset < 0:
        raise OffsetOutOfRangeError(f"offset {before_offset} is no offset of {topic_partition}")
    log.delete_records(before_offset)
    partition.changed()
    return log.log_start_offset


HANDLER = Handler(DeleteRecordsRequest, handle, VersionRange(0, 2))


__all__ = ["handle"]
