"""Records are deleted at the leaders, on the embedded broker and on real Kafka."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from confluent_kafka import Consumer
from confluent_kafka import TopicPartition as WitnessPartition

from aiokafka_lite import AIOKafkaAdminClient, AIOKafkaProducer, TopicPartition
from aiokafka_lite.admin import NewTopic, RecordsToDelete
from aiokafka_lite.errors import (
    KafkaTimeoutError,
    NotLeaderForPartitionError,
    OffsetOutOfRangeError,
    PolicyViolationError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.protocol.messages.delete_records import DeleteRecordsRequest
from aiokafka_lite.testing.broker import Acl, EmbeddedBroker
from tests.testing.broker.bench import batch


@pytest.fixture
async def admin(any_kafka: str) -> AsyncIterator[AIOKafkaAdminClient]:
    async with AIOKafkaAdminClient(bootstrap_servers=any_kafka) as admin:
        yield admin


async def filled(admin: AIOKafkaAdminClient, any_kafka: str, topic: str) -> list[TopicPartition]:
    """Two partitions with five records each."""
    (await admin.create_topics([NewTopic(topic, 2, 1)])).topics.raise_first()
    async with AIOKafkaProducer(bootstrap_servers=any_kafka) as producer:
        for partition in (0, 1):
            for _ in range(5):
                await producer.send_and_wait(topic, b"v", partition=partition)
    return [TopicPartition(topic, 0), TopicPartition(topic, 1)]


async def test_another_client_sees_the_new_beginning(
    admin: AIOKafkaAdminClient, any_kafka: str, topic_name: str
) -> None:
    one, two = await filled(admin, any_kafka, topic_name)
    done = await admin.delete_records({one: RecordsToDelete(3), two: RecordsToDelete(-1)})
    assert done == {one: 3, two: 5}
    witness = Consumer({"bootstrap.servers": any_kafka, "group.id": topic_name, "log_level": 0})
    try:
        seen = [
            await asyncio.to_thread(witness.get_watermark_offsets, WitnessPartition(*tp), 60)
            for tp in (one, two)
        ]
    finally:
        witness.close()
    assert seen == [(3, 5), (5, 5)]
    assert await admin.delete_records({one: RecordsToDelete(1)}) == {one: 3}


async def test_a_bad_partition_among_good_ones_is_raised_and_the_good_ones_are_done(
    admin: AIOKafkaAdminClient, any_kafka: str, topic_name: str
) -> None:
    one, two = await filled(admin, any_kafka, topic_name)
    with pytest.raises(OffsetOutOfRangeError, match=f"{topic_name}-0"):
        await admin.delete_records({one: RecordsToDelete(6), two: RecordsToDelete(2)})
    assert await admin.delete_records({two: RecordsToDelete(0)}) == {two: 2}
    with pytest.raises(UnknownTopicOrPartitionError, match=f"{topic_name}-9"):
        await admin.delete_records({TopicPartition(topic_name, 9): RecordsToDelete(0)})


async def test_records_of_a_compacted_topic_stay(
    admin: AIOKafkaAdminClient, topic_name: str
) -> None:
    configs = {"cleanup.policy": "compact"}
    await admin.create_topics([NewTopic(topic_name, 1, 1, topic_configs=configs)])
    with pytest.raises(PolicyViolationError, match=topic_name):
        await admin.delete_records({TopicPartition(topic_name, 0): RecordsToDelete(0)})


async def test_a_leader_that_moves_is_followed_and_a_lost_response_is_asked_for_again() -> None:
    async with (
        EmbeddedBroker(nodes=2) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.create_topic("t", 2)
        question = {TopicPartition("t", number): RecordsToDelete(1) for number in (0, 1)}
        for tp in question:
            broker.append(tp, batch(b"a", b"b"))
        broker.faults.fail(DeleteRecordsRequest, NotLeaderForPartitionError)
        broker.faults.cut(DeleteRecordsRequest, node_id=2)
        assert await admin.delete_records(question) == dict.fromkeys(question, 1)
        broker.stop_node(1)
        assert await admin.delete_records(question) == dict.fromkeys(question, 1)


async def test_a_right_that_is_missing() -> None:
    rules = [
        Acl.allow("ANONYMOUS", "DESCRIBE", topic="*"),
        Acl.allow("ANONYMOUS", "DELETE", topic="mine"),
    ]
    async with (
        EmbeddedBroker(acls=rules) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        mine, theirs = TopicPartition("mine", 0), TopicPartition("theirs", 0)
        for tp in (mine, theirs):
            broker.create_topic(tp.topic)
            broker.append(tp, batch(b"a", b"b"))
        with pytest.raises(TopicAuthorizationFailedError, match="theirs-0"):
            await admin.delete_records({theirs: RecordsToDelete(1), mine: RecordsToDelete(1)})
        assert (broker.log(mine).log_start_offset, broker.log(theirs).log_start_offset) == (1, 0)


async def test_no_answer_ends_a_call_at_its_bound() -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.create_topic("t")
        broker.faults.drop(DeleteRecordsRequest)
        with pytest.raises(KafkaTimeoutError, match=r"delete_records\(\): no result within 0\.2"):
            await admin.delete_records({TopicPartition("t", 0): RecordsToDelete(0)}, timeout_ms=200)
        assert await admin.delete_records({}) == {}
