"""Bytes of Apache's own writer, for offsets in a transaction.

Each literal was printed by the generated classes of kafka-clients 4.4.0, in Java with
`MessageUtil.toByteBufferAccessor`, from the values the test names.
"""

from uuid import UUID

import pytest

from aiokafka_lite.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from aiokafka_lite.schema.field_types import ZERO_UUID

TOPIC_ID = UUID("01234567-89ab-cdef-0123-456789abcdef")
OF_NOBODY = TxnOffsetCommitRequest(
    transactional_id="tx",
    group_id="g",
    producer_id=7,
    producer_epoch=2,
    topics=[
        TxnOffsetCommitRequestTopic(
            name="orders",
            topic_id=TOPIC_ID,
            partitions=[
                TxnOffsetCommitRequestPartition(
                    partition_index=3,
                    committed_offset=42,
                    committed_leader_epoch=5,
                    committed_metadata="note",
                )
            ],
        )
    ],
)
OF_A_MEMBER = TxnOffsetCommitRequest(
    transactional_id="tx",
    group_id="g",
    producer_id=7,
    producer_epoch=2,
    generation_id_or_member_epoch=4,
    member_id="m",
    group_instance_id="i",
    topics=OF_NOBODY.topics,
)
ANSWER = TxnOffsetCommitResponse(
    topics=[
        TxnOffsetCommitResponseTopic(
            name="orders",
            topic_id=TOPIC_ID,
            partitions=[TxnOffsetCommitResponsePartition(partition_index=3, error_code=100)],
        )
    ]
)
HEAD_OF_NOBODY = "00027478000167000000000000000700020000000100066f7264657273"
HEAD_OF_A_MEMBER = "03747802670000000000000007000200000004026d026902"
BY_NAME = "076f7264657273"
BY_ID = "0123456789abcdef0123456789abcdef"
OFFSET = "0200000003000000000000002a00000005056e6f7465000000"


@pytest.mark.parametrize(
    ("message", "version", "raw"),
    [
        (
            OF_NOBODY,
            0,
            HEAD_OF_NOBODY + "0000000100000003000000000000002a00046e6f7465",
        ),
        (
            OF_NOBODY,
            2,
            HEAD_OF_NOBODY + "0000000100000003000000000000002a0000000500046e6f7465",
        ),
        (OF_A_MEMBER, 3, HEAD_OF_A_MEMBER + BY_NAME + OFFSET),
        (OF_A_MEMBER, 5, HEAD_OF_A_MEMBER + BY_NAME + OFFSET),
        (OF_A_MEMBER, 6, HEAD_OF_A_MEMBER + BY_ID + OFFSET),
        (ANSWER, 0, "000000000000000100066f726465727300000001000000030064"),
        (ANSWER, 5, "0000000002076f726465727302000000030064000000"),
        (ANSWER, 6, "00000000020123456789abcdef0123456789abcdef02000000030064000000"),
    ],
)
def test_bytes_are_those_of_the_java_client(
    message: TxnOffsetCommitRequest | TxnOffsetCommitResponse, version: int, raw: str
) -> None:
    assert b"".join(message.encode(version)).hex() == raw
    decoded = type(message).decode(bytes.fromhex(raw), version)
    assert b"".join(decoded.encode(version)).hex() == raw
    (topic,) = decoded.topics
    assert (topic.name, topic.topic_id) == (
        ("orders", ZERO_UUID) if version < 6 else ("", TOPIC_ID)
    )
