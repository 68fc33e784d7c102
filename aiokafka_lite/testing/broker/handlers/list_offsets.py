"""ListOffsets: the offset at the start, the end, the newest timestamp, or at a point in time.

Source: ReplicaManager.fetchOffset, UnifiedLog.fetchOffsetByTimestamp; KIP-79, KIP-734, KIP-405.
"""

from collections import Counter

from aiokafka_lite.errors import (
    BrokerResponseError,
    InvalidRequestError,
    UnsupportedVersionError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.state.log.partition_log import PartitionLog

LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3
EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING_UPLOAD = -4, -5, -6
READ_COMMITTED = 1
_NOT_FOUND = (-1, -1)
_KNOWN_SINCE = {
    MAX_TIMESTAMP: ListOffsetsRequest.max_timestamp_since,
    EARLIEST_LOCAL: ListOffsetsRequest.local_log_since,
    LATEST_TIERED: ListOffsetsRequest.tiered_since,
    EARLIEST_PENDING_UPLOAD: ListOffsetsRequest.pending_upload_since,
}


def handle(context: RequestContext, request: ListOffsetsRequest) -> ListOffsetsResponse:
    asked = Counter(
        (topic.name, partition.partition_index)
        for topic in request.topics
        for partition in topic.partitions
    )
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                name=topic.name,
                partitions=[
                    _answer(
                        context,
                        TopicPartition(topic.name, partition.partition_index),
                        partition,
                        is_committed=request.isolation_level == READ_COMMITTED,
                        is_repeated=asked[topic.name, partition.partition_index] > 1,
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def _answer(
    context: RequestContext,
    topic_partition: TopicPartition,
    asked: ListOffsetsPartition,
    *,
    is_committed: bool,
    is_repeated: bool,
) -> ListOffsetsPartitionResponse:
    response = ListOffsetsPartitionResponse(partition_index=asked.partition_index)
    try:
        context.session.check_topic(Operation.DESCRIBE, topic_partition.topic)
        if is_repeated:
            raise InvalidRequestError(f"{topic_partition} is in the request more than once")
        context.injected.raise_for(topic_partition)
        partition = context.cluster.partition(topic_partition)
        partition.check_leader(context.node_id, asked.current_leader_epoch)
        _check_special_timestamp(asked.timestamp, context.version)
    except BrokerResponseError as error:
        response.error_code = error.errno
        return response
    log = partition.log
    end = log.last_stable_offset if is_committed else log.high_watermark
    response.offset, response.timestamp = _lookup(log, asked.timestamp, end)
    if response.offset >= 0 and context.version >= ListOffsetsRequest.leader_epoch_since:
        response.leader_epoch = log.epoch_of(response.offset)
    return response


def _check_special_timestamp(timestamp: int, version: int) -> None:
    if version < _KNOWN_SINCE.get(timestamp, 0) or timestamp < EARLIEST_PENDING_UPLOAD:
        raise UnsupportedVersionError(
            f"timestamp {timestamp} means nothing in version {version} of ListOffsets"
        )


def _lookup(log: PartitionLog, timestamp: int, end: int) -> tuple[int, int]:
    """Return (offset, timestamp); (-1, -1) without a record below the offset `end`."""
    if timestamp == LATEST:
        return end, -1
    if timestamp in (EARLIEST, EARLIEST_LOCAL):
        return log.log_start_offset, -1
    if timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
        return _NOT_FOUND  # this broker never moves data to remote storage
    if timestamp == MAX_TIMESTAMP:
        found = log.offset_of_max_timestamp()
    else:
        found = log.offset_for_timestamp(timestamp)
    return found if found is not None and found[0] < end else _NOT_FOUND


HANDLER = Handler(ListOffsetsRequest, handle, VersionRange(1, 11))


__all__ = ["handle"]
