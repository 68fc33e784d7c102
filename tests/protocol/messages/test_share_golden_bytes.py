"""Bytes of Apache's own writer, for the APIs of share groups.

Each literal was printed by the generated classes of kafka-clients 4.4.0, in jshell with
`MessageUtil.toByteBufferAccessor`, from the values the test names.
"""

from typing import Any
from uuid import UUID

import pytest

from aiokafka_lite.protocol.messages import share_acknowledge, share_fetch
from aiokafka_lite.protocol.messages._leader import NodeEndpoint
from aiokafka_lite.protocol.messages._share import AcknowledgementBatch, LeaderIdAndEpoch
from aiokafka_lite.protocol.messages.share_acknowledge import (
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    ShareAcknowledgeTopicResponse,
)
from aiokafka_lite.protocol.messages.share_fetch import (
    AcquiredRecords,
    FetchPartition,
    FetchTopic,
    ForgottenTopic,
    ShareFetchableTopicResponse,
    ShareFetchRequest,
    ShareFetchResponse,
)
from aiokafka_lite.protocol.messages.share_group_heartbeat import (
    Assignment,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    TopicPartitions,
)

TOPIC_ID = UUID("01234567-89ab-cdef-0123-456789abcdef")
MEMBER: dict[str, Any] = {"group_id": "g", "member_id": "m"}
TOPIC_HEX = "020123456789abcdef0123456789abcdef0200000003"
"""One topic with one partition, up to its index."""


def fetch(**values: Any) -> ShareFetchRequest:
    batch = AcknowledgementBatch(first_offset=5, last_offset=7, acknowledge_types=[1, 2, 0])
    partition = FetchPartition(partition_index=3, acknowledgement_batches=[batch])
    return ShareFetchRequest(
        **MEMBER,
        share_session_epoch=2,
        max_wait_ms=500,
        min_bytes=1,
        max_bytes=52428800,
        max_records=500,
        batch_size=100,
        topics=[FetchTopic(topic_id=TOPIC_ID, partitions=[partition])],
        forgotten_topics_data=[ForgottenTopic(topic_id=TOPIC_ID, partitions=[1])],
        **values,
    )


def acknowledge(**values: Any) -> ShareAcknowledgeRequest:
    batch = AcknowledgementBatch(first_offset=5, last_offset=7, acknowledge_types=[4])
    partition = AcknowledgePartition(partition_index=3, acknowledgement_batches=[batch])
    topic = AcknowledgeTopic(topic_id=TOPIC_ID, partitions=[partition])
    return ShareAcknowledgeRequest(**MEMBER, share_session_epoch=2, topics=[topic], **values)


def acknowledged(**values: Any) -> ShareAcknowledgeResponse:
    partition = share_acknowledge.PartitionData(
        partition_index=3, error_code=121, error_message="late"
    )
    topic = ShareAcknowledgeTopicResponse(topic_id=TOPIC_ID, partitions=[partition])
    return ShareAcknowledgeResponse(responses=[topic], **values)


FETCHED = ShareFetchResponse(
    acquisition_lock_timeout_ms=30_000,
    responses=[
        ShareFetchableTopicResponse(
            topic_id=TOPIC_ID,
            partitions=[
                share_fetch.PartitionData(
                    partition_index=3,
                    acknowledge_error_code=121,
                    acknowledge_error_message="late",
                    current_leader=LeaderIdAndEpoch(leader_id=2, leader_epoch=8),
                    records=b"\x01\x02\x03",
                    acquired_records=[
                        AcquiredRecords(first_offset=8, last_offset=9, delivery_count=2)
                    ],
                )
            ],
        )
    ],
    node_endpoints=[NodeEndpoint(node_id=2, host="b2", port=9092, rack="r")],
)
HEARTBEAT_ANSWER = ShareGroupHeartbeatResponse(
    member_id="m",
    member_epoch=3,
    heartbeat_interval_ms=5_000,
    assignment=Assignment(topic_partitions=[TopicPartitions(topic_id=TOPIC_ID, partitions=[0, 2])]),
)

GOLDEN = {
    "heartbeat that joins": (
        ShareGroupHeartbeatRequest(
            **MEMBER, member_epoch=0, rack_id="r", subscribed_topic_names=["orders"]
        ),
        1,
        "0267026d00000000027202076f726465727300",
    ),
    "heartbeat without news": (
        ShareGroupHeartbeatRequest(**MEMBER, member_epoch=3),
        1,
        "0267026d00000003000000",
    ),
    "heartbeat answer with an assignment": (
        HEARTBEAT_ANSWER,
        1,
        (
            "00000000000000026d000000030000138801"
            "020123456789abcdef0123456789abcdef030000000000000002000000"
        ),
    ),
    "fetch that acknowledges": (
        fetch(),
        1,
        (
            "0267026d00000002000001f40000000103200000000001f400000064"
            + TOPIC_HEX
            + "020000000000000005000000000000000704010200000000"
            "020123456789abcdef0123456789abcdef02000000010000"
        ),
    ),
    "fetch by number that renews": (
        fetch(share_acquire_mode=1, is_renew_ack=True),
        2,
        (
            "0267026d00000002000001f40000000103200000000001f4000000640101"
            + TOPIC_HEX
            + "020000000000000005000000000000000704010200000000"
            "020123456789abcdef0123456789abcdef02000000010000"
        ),
    ),
    "fetch answer": (
        FETCHED,
        2,
        (
            "0000000000000000007530"
            + TOPIC_HEX
            + "0000000079056c6174650000000200000008000401020302"
            "00000000000000080000000000000009000200000002000000020362320000238402720000"
        ),
    ),
    "acknowledge": (
        acknowledge(),
        1,
        "0267026d00000002" + TOPIC_HEX + "0200000000000000050000000000000007020400000000",
    ),
    "acknowledge that renews": (
        acknowledge(is_renew_ack=True),
        2,
        "0267026d0000000201" + TOPIC_HEX + "0200000000000000050000000000000007020400000000",
    ),
    "acknowledge answer": (
        acknowledged(),
        1,
        "00000000000000" + TOPIC_HEX + "0079056c61746500000000000000000000000100",
    ),
    "acknowledge answer with the time of the locks": (
        acknowledged(acquisition_lock_timeout_ms=30_000),
        2,
        "0000000000000000007530" + TOPIC_HEX + "0079056c61746500000000000000000000000100",
    ),
}


@pytest.mark.parametrize(("message", "version", "raw"), GOLDEN.values(), ids=GOLDEN.keys())
def test_bytes_are_those_of_the_java_client(message: Any, version: int, raw: str) -> None:
    assert b"".join(message.encode(version)).hex() == raw
    assert type(message).decode(bytes.fromhex(raw), version) == message


def test_fetched_records_are_a_view_of_the_frame() -> None:
    frame = b"".join(FETCHED.encode(2))
    [topic] = ShareFetchResponse.decode(frame, 2).responses
    [partition] = topic.partitions
    assert isinstance(partition.records, memoryview)
    assert partition.records.obj is frame
