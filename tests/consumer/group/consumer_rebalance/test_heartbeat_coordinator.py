"""What a member says to its coordinator, and what brokers without the protocol are told of."""

from uuid import UUID

import pytest

from aiokafka_lite import AIOKafkaConsumer
from aiokafka_lite.consumer.group.consumer_rebalance.heartbeat_coordinator import (
    assigned_by,
)
from aiokafka_lite.errors import UnsupportedVersionError
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from aiokafka_lite.testing.broker import EmbeddedBroker

T1, T2 = UUID(int=1), UUID(int=2)


def answer(assignment: Assignment | None) -> ConsumerGroupHeartbeatResponse:
    return ConsumerGroupHeartbeatResponse(
        error_code=0, member_epoch=1, heartbeat_interval_ms=5000, assignment=assignment
    )


def test_an_assignment_is_read_by_topic_ids() -> None:
    topics = [
        TopicPartitions(topic_id=T1, partitions=[0, 2]),
        TopicPartitions(topic_id=T2, partitions=[1]),
    ]
    given = assigned_by(answer(Assignment(topic_partitions=topics)))
    assert given == {(T1, 0), (T1, 2), (T2, 1)}


def test_no_assignment_is_another_thing_than_an_empty_one() -> None:
    assert assigned_by(answer(None)) is None
    assert assigned_by(answer(Assignment(topic_partitions=[]))) == frozenset()


async def test_a_broker_without_the_protocol_is_told_with_what_helps() -> None:
    async with EmbeddedBroker(max_versions={ApiKey.CONSUMER_GROUP_HEARTBEAT: None}) as broker:
        broker.create_topic("t", 1)
        consumer = AIOKafkaConsumer(
            "t",
            bootstrap_servers=broker.bootstrap_servers,
            group_id="g",
            group_protocol="consumer",
        )
        with pytest.raises(UnsupportedVersionError, match="use group_protocol='classic'"):
            await consumer.start()
