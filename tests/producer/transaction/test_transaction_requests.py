from uuid import UUID

import pytest

from aiokafka_lite.model import ConsumerGroupMetadata, OffsetAndMetadata, TopicPartition
from aiokafka_lite.producer.accumulator.sequence_numbers import ProducerIdAndEpoch
from aiokafka_lite.producer.transaction.transaction_requests import (
    add_partitions_error,
    add_partitions_request,
    txn_offset_commit_error,
    txn_offset_commit_request,
)
from aiokafka_lite.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
)
from aiokafka_lite.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from aiokafka_lite.schema.field_types import ZERO_UUID

ID = UUID(int=5)
PRODUCER = ProducerIdAndEpoch(7, 3)
PARTITIONS = [TopicPartition("a", 1), TopicPartition("b", 0), TopicPartition("a", 0)]


def test_partitions_are_added_topic_by_topic() -> None:
    """AddPartitionsToTxn lists the partitions by topic (2d'-2)."""
    request = add_partitions_request("t", PRODUCER, PARTITIONS)
    assert request.v3_and_below_transactional_id == "t"
    assert (request.v3_and_below_producer_id, request.v3_and_below_producer_epoch) == PRODUCER
    assert request.v3_and_below_topics == [
        AddPartitionsToTxnTopic(name="a", partitions=[1, 0]),
        AddPartitionsToTxnTopic(name="b", partitions=[0]),
    ]
    assert request.encode(3)


@pytest.mark.parametrize(
    ("codes", "error"),
    [
        ([0, 0], 0),
        ([], 0),
        ([55, 29], 29),
        ([29, 55], 29),
        ([0, 55], 55),
        ([55, 55], 55),
        ([3, 29], 3),
    ],
)
def test_the_error_that_is_to_blame_is_told(codes: list[int], error: int) -> None:
    """OPERATION_NOT_ATTEMPTED gives way to the error that caused it (2d'-4)."""
    results = [
        AddPartitionsToTxnTopicResult(
            name=f"topic{index}",
            results_by_partition=[
                AddPartitionsToTxnPartitionResult(partition_index=0, partition_error_code=code)
            ],
        )
        for index, code in enumerate(codes)
    ]
    response = AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results)
    assert add_partitions_error(response) == error


def test_offsets_are_in_the_name_of_a_member() -> None:
    """TxnOffsetCommit names the group, generation, member and instance (2d'-6, KIP-447)."""
    offsets = {tp: OffsetAndMetadata(n, f"m{n}", n + 10) for n, tp in enumerate(PARTITIONS)}
    request = txn_offset_commit_request(
        "t", PRODUCER, offsets, ConsumerGroupMetadata("g", 4, "member", "instance"), {"a": ID}
    )
    assert (request.transactional_id, request.group_id) == ("t", "g")
    assert (request.producer_id, request.producer_epoch) == PRODUCER
    assert (request.generation_id_or_member_epoch, request.member_id) == (4, "member")
    assert request.group_instance_id == "instance"
    told = {
        TopicPartition(topic.name, asked.partition_index): OffsetAndMetadata(
            asked.committed_offset, asked.committed_metadata or "", asked.committed_leader_epoch
        )
        for topic in request.topics
        for asked in topic.partitions
    }
    assert told == offsets
    assert [(topic.name, topic.topic_id) for topic in request.topics] == [
        ("a", ID),
        ("b", ZERO_UUID),
    ]


@pytest.mark.parametrize("version", [3, 4, 5, 6])
def test_offsets_may_be_of_nobody(version: int) -> None:
    request = txn_offset_commit_request("t", PRODUCER, {}, ConsumerGroupMetadata("g"), {})
    assert request.generation_id_or_member_epoch == -1
    assert (request.member_id, request.group_instance_id) == ("", None)
    assert request.encode(version)


@pytest.mark.parametrize(("codes", "error"), [([0, 0], 0), ([0, 25, 22], 25), ([], 0)])
def test_the_first_error_of_offsets_is_told(codes: list[int], error: int) -> None:
    response = TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                name="a",
                partitions=[
                    TxnOffsetCommitResponsePartition(partition_index=n, error_code=code)
                    for n, code in enumerate(codes)
                ],
            )
        ]
    )
    assert txn_offset_commit_error(response) == error
