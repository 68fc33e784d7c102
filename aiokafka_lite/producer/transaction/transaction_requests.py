"""Makes the requests of a transaction that name partitions, and reads their responses. Does
not wait.
"""

from collections.abc import Iterable, Mapping
from uuid import UUID

from aiokafka_lite.errors import OperationNotAttempted
from aiokafka_lite.model import (
    ConsumerGroupMetadata,
    OffsetAndMetadata,
    TopicPartition,
    by_topic,
    names_of,
)
from aiokafka_lite.producer.accumulator.sequence_numbers import ProducerIdAndEpoch
from aiokafka_lite.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from aiokafka_lite.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from aiokafka_lite.schema.field_types import ZERO_UUID


def add_partitions_request(
    transactional_id: str, producer: ProducerIdAndEpoch, partitions: Iterable[TopicPartition]
) -> AddPartitionsToTxnRequest:
    """Return the request in the form of the versions up to 3, which clients use."""
    return AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=transactional_id,
        v3_and_below_producer_id=producer.producer_id,
        v3_and_below_producer_epoch=producer.epoch,
        v3_and_below_topics=[
            AddPartitionsToTxnTopic(name=name, partitions=indexes)
            for name, indexes in by_topic(partitions).items()
        ],
    )


def add_partitions_error(response: AddPartitionsToTxnResponse) -> int:
    """Return the error to act on, 0 for none. All partitions are added or none:
    OPERATION_NOT_ATTEMPTED means that the error is another partition's.
    """
    codes = [
        result.partition_error_code
        for topic in response.results_by_topic_v3_and_below
        for result in topic.results_by_partition
    ]
    return _worst(codes)


def txn_offset_commit_request(
    transactional_id: str,
    producer: ProducerIdAndEpoch,
    offsets: Mapping[TopicPartition, OffsetAndMetadata],
    group: ConsumerGroupMetadata,
    topic_ids: Mapping[str, UUID],
) -> TxnOffsetCommitRequest:
    """Return the request, in the name of the member that `group` describes (KIP-447).

    `topic_ids` has those of all topics for a version that names them so, or none (KIP-1319).
    """
    topics: dict[str, list[TxnOffsetCommitRequestPartition]] = {}
    for (name, partition), committed in offsets.items():
        topics.setdefault(name, []).append(
            TxnOffsetCommitRequestPartition(
                partition_index=partition,
                committed_offset=committed.offset,
                committed_leader_epoch=committed.leader_epoch,
                committed_metadata=committed.metadata,
            )
        )
    return TxnOffsetCommitRequest(
        transactional_id=transactional_id,
        group_id=group.group_id,
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        generation_id_or_member_epoch=group.generation_id,
        member_id=group.member_id,
        group_instance_id=group.group_instance_id,
        topics=[
            TxnOffsetCommitRequestTopic(
                name=name, topic_id=topic_ids.get(name, ZERO_UUID), partitions=partitions
            )
            for name, partitions in topics.items()
        ],
    )


def txn_offset_commit_error(response: TxnOffsetCommitResponse) -> int:
    """Return the first error of any partition, 0 for none."""
    return _worst(
        [partition.error_code for topic in response.topics for partition in topic.partitions]
    )


def refused_partitions(response: AddPartitionsToTxnResponse, code: int) -> str:
    """Return the names of the partitions with that error."""
    return names_of(
        TopicPartition(topic.name, result.partition_index)
        for topic in response.results_by_topic_v3_and_below
        for result in topic.results_by_partition
        if result.partition_error_code == code
    )


def refused_offsets(
    response: TxnOffsetCommitResponse, code: int, topic_ids: Mapping[str, UUID]
) -> str:
    """Return the names of the partitions with that error; `topic_ids` are those of the request."""
    names = {topic_id: name for name, topic_id in topic_ids.items()}
    return names_of(
        TopicPartition(topic.name or names.get(topic.topic_id) or str(topic.topic_id), index)
        for topic in response.topics
        for index in (each.partition_index for each in topic.partitions if each.error_code == code)
    )


def _worst(codes: list[int]) -> int:
    errors = [code for code in codes if code]
    told = [code for code in errors if code != OperationNotAttempted.errno]
    return next(iter(told or errors), 0)


__all__ = [
    "add_partitions_error",
    "add_partitions_request",
    "refused_offsets",
    "refused_partitions",
    "txn_offset_commit_error",
    "txn_offset_commit_request",
]
