"""A client and the embedded broker: what a user's cluster does to it over a day."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.errors import KafkaConnectionError, UnknownTopicOrPartitionError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.messages.describe_cluster import DescribeClusterRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.testing.broker.embedded_broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock

T0 = TopicPartition("t", 0)


@asynccontextmanager
async def client_of(
    broker: EmbeddedBroker, **options: Any
) -> AsyncIterator[tuple[KafkaClient, FakeClock]]:
    clock = FakeClock(autojump_threshold_s=0.02)
    config = ClientConfig(bootstrap_servers=broker.bootstrap_servers, **options)
    client = KafkaClient(config, clock=clock, rng=random.Random(5), name="test")
    await client.start()
    try:
        yield client, clock
    finally:
        await client.close()
        assert clock.pending_timers == 0


async def test_a_topic_is_created_by_asking_for_it(clean: None) -> None:
    async with EmbeddedBroker(num_partitions=3) as broker, client_of(broker) as (client, _):
        snapshot = await client.metadata.wait_for_topic("orders", 10)
        assert snapshot.partition_ids("orders") == (0, 1, 2)
        assert snapshot.topic_name(snapshot.topic_id("orders")) == "orders"


async def test_a_topic_that_may_not_be_created_is_unknown(clean: None) -> None:
    async with (
        EmbeddedBroker(auto_create_topics=False) as broker,
        client_of(broker) as (client, _),
    ):
        with pytest.raises(UnknownTopicOrPartitionError, match="orders"):
            await client.metadata.wait_for_topic("orders", 3)


async def test_a_leader_that_moved_is_found_with_its_new_epoch(clean: None) -> None:
    async with EmbeddedBroker(nodes=3) as broker:
        broker.create_topic("t")
        async with client_of(broker) as (client, _):
            before = (await client.metadata.wait_for_topic("t", 5)).leader(T0)
            broker.move_leader(T0, 3)
            after = (await client.metadata.refresh()).leader(T0)
            assert after.node_id == 3
            assert after.epoch > before.epoch


async def test_a_topic_made_anew_is_another_topic(clean: None) -> None:
    """Leader epochs begin again with a new topic id (2f-10)."""
    async with EmbeddedBroker(nodes=3) as broker:
        broker.create_topic("t")
        async with client_of(broker) as (client, _):
            await client.metadata.wait_for_topic("t", 5)
            broker.move_leader(T0, 2)
            broker.move_leader(T0, 3)
            before = await client.metadata.refresh()
            broker.delete_topic("t")
            broker.create_topic("t")
            after = await client.metadata.refresh()
            assert after.topic_id("t") != before.topic_id("t")
            assert after.leader(T0).epoch < before.leader(T0).epoch


async def test_a_node_that_dies_and_comes_back(clean: None) -> None:
    async with EmbeddedBroker(nodes=3) as broker:
        broker.create_topic("t", partitions=3)
        async with client_of(broker) as (client, _):
            await client.metadata.wait_for_topic("t", 5)
            await client.network.request(2, MetadataRequest(topics=[]))
            broker.stop_node(2)
            while 2 in client.metadata.snapshot.nodes:
                await client.metadata.refresh()
            assert len(client.metadata.snapshot.available_partitions("t")) == 3
            broker.start_node(2)
            while 2 not in client.metadata.snapshot.nodes:
                await client.metadata.refresh()
            await client.network.request(2, MetadataRequest(topics=[]))


async def test_a_connection_cut_in_the_middle_of_an_answer(clean: None) -> None:
    async with EmbeddedBroker() as broker, client_of(broker) as (client, _):
        broker.faults.cut(DescribeClusterRequest, after_bytes=7)
        with pytest.raises(KafkaConnectionError):
            await client.network.request(1, DescribeClusterRequest())
        response = await client.network.request(1, DescribeClusterRequest())
        assert response.cluster_id == client.metadata.snapshot.cluster_id


async def test_metadata_survives_a_broker_that_cuts_it_short(clean: None) -> None:
    async with EmbeddedBroker() as broker, client_of(broker) as (client, _):
        broker.faults.cut(MetadataRequest, after_bytes=3, times=3)
        await client.metadata.refresh()
        client.check()


async def test_a_quota_keeps_one_lane_quiet(clean: None) -> None:
    """A throttle quiets only the connection that earned it (KIP-219)."""
    async with EmbeddedBroker() as broker, client_of(broker) as (client, clock):
        broker.faults.throttle(DescribeClusterRequest, 900)
        began = clock.monotonic()
        await client.network.request(1, DescribeClusterRequest())
        assert client.network.ready_delay(1) == pytest.approx(0.9)
        assert client.network.ready_delay(1, Lane.COORDINATOR) == 0.0
        await client.network.request(1, DescribeClusterRequest())
        assert clock.monotonic() - began >= 0.9


async def test_a_stalled_lane_does_not_stall_another(clean: None) -> None:
    """A commit never queues behind a long-poll fetch (F1)."""
    async with EmbeddedBroker() as broker, client_of(broker) as (client, _):
        broker.faults.stall(DescribeClusterRequest, times=1)
        held = asyncio.create_task(
            client.network.request(1, DescribeClusterRequest(), lane=Lane.FETCH, timeout_s=3600)
        )
        await broker.wait_until(lambda: bool(broker.requests_of(DescribeClusterRequest)))
        await client.network.request(1, DescribeClusterRequest(), lane=Lane.COORDINATOR)
        assert not held.done()
        broker.faults.release()
        await held


async def test_an_old_broker_is_asked_in_versions_it_knows(clean: None) -> None:
    async with (
        EmbeddedBroker(max_versions={ApiKey.METADATA: 7}) as broker,
        client_of(broker) as (client, _),
    ):
        await client.metadata.wait_for_topic("t", 5)
        assert client.network.max_version(1, MetadataRequest) == 7
        assert {
            received.api_version
            for received in broker.requests
            if received.api_key == ApiKey.METADATA
        } == {7}


async def test_the_client_id_reaches_the_broker(clean: None) -> None:
    async with EmbeddedBroker() as broker, client_of(broker, client_id="billing"):
        assert {received.client_id for received in broker.requests} == {"billing"}


async def test_a_whole_cluster_that_restarts_is_found_again(clean: None) -> None:
    async with EmbeddedBroker(nodes=3) as broker, client_of(broker) as (client, clock):
        for node_id in (1, 2, 3):
            broker.stop_node(node_id)
        waiting = asyncio.create_task(client.metadata.refresh(timeout_s=600))
        await clock.sleep(10)  # jumps on whenever the real sockets have refused
        assert not waiting.done()
        for node_id in (1, 2, 3):
            broker.start_node(node_id)
        await waiting
        assert set(client.metadata.snapshot.nodes) == {1, 2, 3}
        client.check()
