"""Topics are given more partitions, on the embedded broker and on real Kafka."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from confluent_kafka.admin import AdminClient

from aiokafka_lite import AIOKafkaAdminClient
from aiokafka_lite.admin import NewPartitions, NewTopic
from aiokafka_lite.errors import (
    InvalidPartitionsError,
    InvalidReplicationAssignmentError,
    KafkaTimeoutError,
    NotControllerError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.testing.broker import Acl, EmbeddedBroker
from tests.support.patience import eventually


@pytest.fixture
async def admin(any_kafka: str) -> AsyncIterator[AIOKafkaAdminClient]:
    async with AIOKafkaAdminClient(bootstrap_servers=any_kafka) as admin:
        yield admin


async def partitions_of(admin: AIOKafkaAdminClient, name: str) -> int:
    (topic,) = (await admin.describe_topic_partitions([name])).succeeded.values()
    return len(topic.partitions)


async def test_another_client_sees_the_new_partitions(
    admin: AIOKafkaAdminClient, any_kafka: str, topic_name: str
) -> None:
    await admin.create_topics([NewTopic(topic_name, 1, 1)])
    grown = {topic_name: NewPartitions(3)}
    assert (await admin.create_partitions(grown, validate_only=True)).topic_errors == [
        (topic_name, 0, None)
    ]
    assert await partitions_of(admin, topic_name) == 1
    answer = await admin.create_partitions(grown)
    assert answer.topic_errors == [(topic_name, 0, None)]
    assert answer.to_object()["topic_errors"] == [
        {"topic": topic_name, "error_code": 0, "error_message": None}
    ]
    witness = AdminClient({"bootstrap.servers": any_kafka, "log_level": 0})

    def seen() -> int:
        topics = witness.list_topics(topic_name, timeout=60).topics
        return len(topics[topic_name].partitions)

    async with asyncio.timeout(30):
        while await asyncio.to_thread(seen) != 3:
            await asyncio.sleep(0)


async def test_a_bad_topic_among_good_ones_is_raised_and_the_good_ones_grow(
    admin: AIOKafkaAdminClient, topic_name: str
) -> None:
    other = f"{topic_name}-2"
    await admin.create_topics([NewTopic(topic_name, 2, 1), NewTopic(other, 1, 1)])
    with pytest.raises(InvalidPartitionsError, match=topic_name):
        await admin.create_partitions({topic_name: NewPartitions(1), other: NewPartitions(2)})
    async with asyncio.timeout(30):
        while await partitions_of(admin, other) != 2:
            await asyncio.sleep(0)
    assert await partitions_of(admin, topic_name) == 2
    with pytest.raises(InvalidReplicationAssignmentError, match=topic_name):
        await admin.create_partitions({topic_name: NewPartitions(3, [[1], [1]])})
    with pytest.raises(UnknownTopicOrPartitionError, match="absent"):
        await admin.create_partitions({f"{topic_name}-absent": NewPartitions(2)})


async def test_replicas_by_hand() -> None:
    async with (
        EmbeddedBroker(nodes=2) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.create_topic("t", 1, replication_factor=1)
        await admin.create_partitions({"t": NewPartitions(3, [[2], [1]])})
        assert [broker.leader(("t", number)) for number in range(3)] == [1, 2, 1]


async def test_a_controller_that_moves_is_followed() -> None:
    async with (
        EmbeddedBroker(nodes=2) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.create_topic("t", replication_factor=1)
        broker.faults.fail(ApiKey.CREATE_PARTITIONS, NotControllerError)
        await admin.create_partitions({"t": NewPartitions(2)})
        broker.stop_node(1)
        await eventually(lambda: admin.client.network.has_usable_node)
        await admin.create_partitions({"t": NewPartitions(3)})
        assert await partitions_of(admin, "t") == 3


async def test_a_right_that_is_missing() -> None:
    rules = [Acl.allow("ANONYMOUS", "ALTER", "DESCRIBE", topic="mine")]
    async with (
        EmbeddedBroker(acls=rules) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        for name in ("mine", "theirs"):
            broker.create_topic(name)
        with pytest.raises(TopicAuthorizationFailedError, match="theirs"):
            await admin.create_partitions({"mine": NewPartitions(2), "theirs": NewPartitions(2)})
        assert await partitions_of(admin, "mine") == 2


async def test_no_answer_ends_a_call_at_its_bound() -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.create_topic("t")
        broker.faults.drop(ApiKey.CREATE_PARTITIONS)
        with pytest.raises(KafkaTimeoutError, match=r"create_partitions\(\): no result within"):
            await admin.create_partitions({"t": NewPartitions(2)}, timeout_ms=200)
        broker.faults.throttle(ApiKey.CREATE_PARTITIONS, 7)
        answer = await admin.create_partitions({"t": NewPartitions(3)})
        assert answer.throttle_time_ms == 7
