"""On a real three-node Kafka: followers in the consumer's rack (KIP-392), leaders that move
(KIP-951, KIP-320); and topics deleted and created again, on every broker.
"""

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.errors import (
    OffsetOutOfRangeError,
    TopicAlreadyExistsError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from aiokafka_lite.testing.apache_kafka import ApacheKafka
from tests.faults.producer_faults import RACKS
from tests.support.topics import connected, create_topic, delete_topic

PATIENCE_S = 60


async def write(bootstrap_servers: str, topic: str, *values: bytes) -> None:
    async with AIOKafkaProducer(bootstrap_servers=bootstrap_servers) as producer:
        for value in values:
            await producer.send_and_wait(topic, value, partition=0)


async def read(consumer: AIOKafkaConsumer[Any, Any], count: int) -> list[bytes]:
    values: list[bytes] = []
    async with asyncio.timeout(PATIENCE_S):
        while len(values) < count:
            for records in (await consumer.getmany(timeout_ms=500)).values():
                values += [record.value or b"" for record in records]
    return values


def leader_of(consumer: AIOKafkaConsumer[Any, Any], tp: TopicPartition) -> int:
    assert consumer._engine is not None
    leader = consumer._engine.client.metadata.snapshot.leader(tp).node_id
    assert leader is not None
    return leader


@pytest.mark.needs_kafka("2.4", "fetches from followers")
@pytest.mark.real_kafka
@pytest.mark.timeout(600)
@pytest.mark.asyncio(loop_factories=["asyncio"])
async def test_a_follower_in_the_consumers_rack_is_read_from_and_left_when_it_dies(
    cluster: ApacheKafka, topic_name: str
) -> None:
    tp = TopicPartition(topic_name, 0)
    await create_topic(cluster.bootstrap_servers, topic_name, partitions=1)
    await write(cluster.bootstrap_servers, topic_name, b"a", b"b")
    async with connected(cluster.bootstrap_servers) as client:
        leader = (await client.metadata.wait_for_topic(topic_name, 30)).leader(tp).node_id
    assert leader is not None
    near = leader % 3 + 1
    async with AIOKafkaConsumer(
        topic_name,
        bootstrap_servers=cluster.bootstrap_servers,
        auto_offset_reset="earliest",
        client_rack=RACKS[near - 1],
    ) as consumer:
        assert await read(consumer, 2) == [b"a", b"b"]
        state = consumer._subscription.assigned(tp)
        assert state.preferred_replica == near
        await write(cluster.bootstrap_servers, topic_name, b"c")
        assert await read(consumer, 1) == [b"c"]
        assert consumer.statistics().fetching_nodes == {near}
        node = cluster.nodes[near - 1]
        await asyncio.to_thread(node.kill)
        try:
            await write(cluster.bootstrap_servers, topic_name, b"d")
            assert await read(consumer, 1) == [b"d"]
            assert state.preferred_replica != near
        finally:
            node.spawn()
            await asyncio.to_thread(node.wait_ready, 3)


@pytest.mark.real_kafka
@pytest.mark.timeout(600)
@pytest.mark.asyncio(loop_factories=["asyncio"])
async def test_keyless_records_go_to_leaders_in_the_producers_rack(
    cluster: ApacheKafka, topic_name: str
) -> None:
    """Of a topic of six partitions on three nodes in racks of their own (KIP-1123)."""
    await create_topic(cluster.bootstrap_servers, topic_name, partitions=6)
    async with connected(cluster.bootstrap_servers) as client:
        known = await client.metadata.wait_for_topic(topic_name, 30)
        leaders = {at: known.leader(TopicPartition(topic_name, at)).node_id for at in range(6)}
    near = {at for at, leader in leaders.items() if leader == 2}
    assert 0 < len(near) < 6
    async with AIOKafkaProducer(
        bootstrap_servers=cluster.bootstrap_servers,
        client_rack=RACKS[1],
        partitioner_rack_aware=True,
    ) as producer:
        acks = [await producer.send(topic_name, b"x" * 1000) for _ in range(600)]
        assert {(await ack).partition for ack in acks} == near


@pytest.mark.real_kafka
@pytest.mark.timeout(600)
@pytest.mark.asyncio(loop_factories=["asyncio"])
async def test_a_leader_that_dies_is_followed_by_one_that_validates_the_position(
    cluster: ApacheKafka, topic_name: str
) -> None:
    tp = TopicPartition(topic_name, 0)
    await create_topic(cluster.bootstrap_servers, topic_name, partitions=1)
    await write(cluster.bootstrap_servers, topic_name, b"a", b"b")
    async with AIOKafkaConsumer(
        topic_name, bootstrap_servers=cluster.bootstrap_servers, auto_offset_reset="none"
    ) as consumer:
        consumer.seek(tp, 0)
        assert await read(consumer, 2) == [b"a", b"b"]
        state = consumer._subscription.assigned(tp)
        assert state.offset_epoch >= 0
        before = leader_of(consumer, tp)
        node = cluster.nodes[before - 1]
        await asyncio.to_thread(node.kill)
        try:
            await write(cluster.bootstrap_servers, topic_name, b"c")
            assert await read(consumer, 1) == [b"c"]
            assert leader_of(consumer, tp) != before
            assert state.leader is not None
            assert state.leader.node_id == leader_of(consumer, tp)
        finally:
            node.spawn()
            await asyncio.to_thread(node.wait_ready, 3)


@pytest.mark.needs_kafka("2.4", "reliable leader epochs in metadata")
@pytest.mark.real_kafka
@pytest.mark.asyncio(loop_factories=["asyncio"])
async def test_2c_3_a_real_broker_says_where_an_epoch_ended(
    cluster: ApacheKafka, topic_name: str
) -> None:
    """What truncation detection rests on: the answer for the current, and for an unknown epoch."""
    tp = TopicPartition(topic_name, 0)
    await create_topic(cluster.bootstrap_servers, topic_name, partitions=1)
    await write(cluster.bootstrap_servers, topic_name, b"a", b"b")
    async with connected(cluster.bootstrap_servers) as client:
        leader = (await client.metadata.wait_for_topic(topic_name, 30)).leader(tp)
        assert leader.node_id is not None
        found = []
        for epoch in (leader.epoch, leader.epoch + 7):
            partition = OffsetForLeaderPartition(
                partition=0, current_leader_epoch=leader.epoch, leader_epoch=epoch
            )
            topic = OffsetForLeaderTopic(topic=topic_name, partitions=[partition])
            answer = await client.network.request(
                leader.node_id, OffsetForLeaderEpochRequest(replica_id=-1, topics=[topic])
            )
            end = answer.topics[0].partitions[0]
            found.append((end.error_code, end.leader_epoch, end.end_offset))
    assert found == [(0, leader.epoch, 2), (0, -1, -1)]


async def recreate(bootstrap_servers: str, topic: str) -> None:
    """Delete the topic, and create it again as soon as the broker is done with the old one."""
    await delete_topic(bootstrap_servers, topic)
    async with asyncio.timeout(PATIENCE_S):
        while True:
            with suppress(TopicAlreadyExistsError, UnknownTopicOrPartitionError):
                await create_topic(bootstrap_servers, topic, partitions=1)
                return
            await asyncio.sleep(0.1)


async def test_a_topic_created_anew_is_read_from_its_beginning(
    any_kafka: str, topic_name: str
) -> None:
    await create_topic(any_kafka, topic_name, partitions=1)
    await write(any_kafka, topic_name, b"a", b"b", b"c")
    async with AIOKafkaConsumer(
        topic_name,
        bootstrap_servers=any_kafka,
        auto_offset_reset="earliest",
        metadata_max_age_ms=1000,
        allow_auto_create_topics=False,
    ) as consumer:
        assert await read(consumer, 3) == [b"a", b"b", b"c"]
        await recreate(any_kafka, topic_name)
        await write(any_kafka, topic_name, b"x", b"y")
        assert await read(consumer, 2) == [b"x", b"y"]


async def test_a_group_begins_anew_with_a_topic_created_anew(
    any_kafka: str, topic_name: str
) -> None:
    tp = TopicPartition(topic_name, 0)
    await create_topic(any_kafka, topic_name, partitions=1)
    await write(any_kafka, topic_name, b"a", b"b", b"c")
    options: dict[str, Any] = {
        "bootstrap_servers": any_kafka,
        "group_id": topic_name,
        "auto_offset_reset": "earliest",
        "metadata_max_age_ms": 1000,
        "auto_commit_interval_ms": 100,
        "allow_auto_create_topics": False,
    }
    async with AIOKafkaConsumer(topic_name, **options) as consumer:
        assert await read(consumer, 3) == [b"a", b"b", b"c"]
        await recreate(any_kafka, topic_name)
        await write(any_kafka, topic_name, b"x", b"y")
        assert await read(consumer, 2) == [b"x", b"y"]
    async with AIOKafkaConsumer(topic_name, **options) as consumer:
        assert await consumer.committed(tp) == 2
        await write(any_kafka, topic_name, b"z")
        assert await read(consumer, 1) == [b"z"]


@pytest.mark.needs_kafka("3.1", "ids of topics in fetches")
async def test_without_a_policy_a_topic_created_anew_is_an_error(
    any_kafka: str, topic_name: str
) -> None:
    tp = TopicPartition(topic_name, 0)
    await create_topic(any_kafka, topic_name, partitions=1)
    await write(any_kafka, topic_name, b"a", b"b", b"c")
    consumer: AIOKafkaConsumer[bytes, bytes] = AIOKafkaConsumer(
        bootstrap_servers=any_kafka,
        auto_offset_reset="none",
        metadata_max_age_ms=1000,
        allow_auto_create_topics=False,
    )
    consumer.assign([tp])
    consumer.seek(tp, 0)
    async with consumer:
        assert await read(consumer, 3) == [b"a", b"b", b"c"]
        await recreate(any_kafka, topic_name)
        with pytest.raises(OffsetOutOfRangeError, match="the topic was created again"):
            await read(consumer, 1)
        await write(any_kafka, topic_name, b"x")
        consumer.seek(tp, 0)
        assert await read(consumer, 1) == [b"x"]


async def test_2c_6_by_duration_goes_back_in_time(any_kafka: str, topic_name: str) -> None:
    await create_topic(any_kafka, topic_name, partitions=1)
    now_ms = int(SYSTEM_CLOCK.time() * 1000)
    async with AIOKafkaProducer(bootstrap_servers=any_kafka) as producer:
        for value, age_h in ((b"before", 48), (b"yesterday", 24), (b"today", 1)):
            await producer.send_and_wait(
                topic_name, value, partition=0, timestamp_ms=now_ms - age_h * 3_600_000
            )
    for option, expected in (
        ("by_duration:PT12H", [b"today"]),
        ("by_duration:P1DT12H", [b"yesterday", b"today"]),
        ("by_duration:P30D", [b"before", b"yesterday", b"today"]),
    ):
        async with AIOKafkaConsumer(
            topic_name, bootstrap_servers=any_kafka, auto_offset_reset=option
        ) as consumer:
            assert await read(consumer, len(expected)) == expected
    async with AIOKafkaConsumer(
        topic_name, bootstrap_servers=any_kafka, auto_offset_reset="by_duration:PT30M"
    ) as consumer:
        assert await consumer.position(TopicPartition(topic_name, 0)) == 3, "the end"
