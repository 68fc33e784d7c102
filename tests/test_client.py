"""`AIOKafkaClient` answers aiokafka's questions about a cluster, alone and for a producer."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from aiokafka_lite import AIOKafkaClient, AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.client import ConnectionGroup, CoordinationType
from aiokafka_lite.errors import (
    IllegalStateError,
    KafkaConfigurationError,
    KafkaConnectionError,
    KafkaTimeoutError,
)
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.support.patience import eventually


@asynccontextmanager
async def clients(broker: EmbeddedBroker) -> AsyncIterator[list[AIOKafkaClient]]:
    """A client of its own, and those of a producer and a consumer, which offer the same."""
    servers = broker.bootstrap_servers
    alone = AIOKafkaClient(bootstrap_servers=servers, client_id="alone")
    await alone.bootstrap()
    async with (
        AIOKafkaProducer(bootstrap_servers=servers) as producer,
        AIOKafkaConsumer(bootstrap_servers=servers) as consumer,
    ):
        try:
            yield [alone, producer.client, consumer.client]
        finally:
            await alone.close()


async def test_each_client_knows_the_cluster() -> None:
    async with EmbeddedBroker(nodes=3) as broker:
        broker.create_topic("orders", partitions=4)
        async with clients(broker) as found:
            for client in found:
                assert isinstance(client, AIOKafkaClient)
                assert await client.force_metadata_update() is True
                everything = await client.fetch_all_metadata()
                assert everything.topics() == {"orders"}
                assert everything.partitions_for_topic("orders") == {0, 1, 2, 3}
                assert {each.nodeId for each in client.cluster.brokers()} == {1, 2, 3}
                assert client.get_random_node() in {1, 2, 3}
                assert await client.add_topic("orders") is True
                assert client.cluster.topics() == {"orders"}
                leader = client.cluster.leader_for_partition(TopicPartition("orders", 0))
                assert leader == broker.leader(TopicPartition("orders", 0))
                assert await client._wait_on_metadata("orders") == {0, 1, 2, 3}


async def test_each_node_answers_that_it_is_ready() -> None:
    """What health checks ask: a connection to each broker, and to the coordinator of a group."""
    async with EmbeddedBroker(nodes=2) as broker, clients(broker) as found:
        for client in found:
            for node in client.cluster.brokers():
                assert await client.ready(node.nodeId)
            node_id = await client.coordinator_lookup(CoordinationType.GROUP, "billing")
            assert await client.ready(node_id, group=ConnectionGroup.COORDINATION)
            response = await client.send(node_id, MetadataRequest(topics=[]))
            assert len(response.brokers) == 2
            assert await client.ready(99) is False


async def test_a_client_of_its_own_keeps_the_topics_it_is_told() -> None:
    async with EmbeddedBroker() as broker:
        for topic in ("orders", "stock"):
            broker.create_topic(topic)
        client = AIOKafkaClient(bootstrap_servers=broker.bootstrap_servers)
        await client.bootstrap()
        assert client.cluster.topics() == {"orders", "stock"}
        assert await client.set_topics(["stock"]) is True
        assert await client.force_metadata_update() is True
        assert client.cluster.topics() == {"stock"}
        assert await client.set_topics([]) is True
        assert client.cluster.topics() == {"orders", "stock"}
        with pytest.raises(TypeError, match="is a str; pass a collection of names"):
            client.set_topics("orders")
        await client.close()
        await client.close()


async def test_a_consumers_client_takes_no_topic_from_its_owner() -> None:
    async with EmbeddedBroker() as broker:
        for topic in ("orders", "stock"):
            broker.create_topic(topic)
        consumer = AIOKafkaConsumer("orders", bootstrap_servers=broker.bootstrap_servers)
        async with consumer:
            assert await consumer.client.set_topics(["stock"]) is True
            assert await consumer.client.force_metadata_update() is True
            assert consumer.client.cluster.topics() == {"orders", "stock"}
            with pytest.raises(IllegalStateError, match=r"is that of a running AIOKafkaConsumer"):
                await consumer.client.close()


async def test_an_update_without_a_broker_is_false() -> None:
    broker = EmbeddedBroker()
    await broker.start()
    client = AIOKafkaClient(bootstrap_servers=broker.bootstrap_servers, request_timeout_ms=300)
    await client.bootstrap()
    await broker.stop()
    assert await client.force_metadata_update() is False
    with pytest.raises(KafkaTimeoutError, match=r"no metadata of the cluster within 0\.3 s"):
        await client.fetch_all_metadata()
    assert await client.ready(1) is False
    await client.close()


async def test_what_an_unconnected_client_says() -> None:
    client = AIOKafkaClient(bootstrap_servers="127.0.0.1:1", client_id="mine")
    assert client.hosts[0][:2] == ("127.0.0.1", 1)
    assert (client._client_id, client._bootstrap_servers) == ("mine", "127.0.0.1:1")
    assert client.cluster.topics() == set()
    with pytest.raises(IllegalStateError, match=r"not connected: await bootstrap\(\)"):
        client.force_metadata_update()
    with pytest.raises(KafkaConnectionError, match=r"127\.0\.0\.1:1"):
        await client.bootstrap()
    await client.close()
    with pytest.raises(IllegalStateError, match="is closed"):
        await client.ready(1)
    consumer = AIOKafkaConsumer("orders", client_id="mine")
    assert consumer._client.cluster.brokers()
    assert consumer._client._client_id == "mine"
    assert consumer._group_id is None
    with pytest.raises(IllegalStateError, match=r"not connected: await AIOKafkaConsumer\.start"):
        await consumer.client.bootstrap()


async def test_a_client_that_was_not_closed_warns_and_ends() -> None:
    async with EmbeddedBroker() as broker:
        client: AIOKafkaClient | None = AIOKafkaClient(bootstrap_servers=broker.bootstrap_servers)
        assert client is not None
        await client.bootstrap()
        kafka = client._find()
        assert kafka is not None
        said = r"Unclosed AIOKafkaClient .*await its close\(\)"
        with pytest.warns(ResourceWarning, match=said):  # noqa: PT031 - both drop the client
            del client
            gc.collect()
        await eventually(lambda: not kafka.owner.children)


async def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(KafkaConfigurationError, match="request_timeout_ms=0"):
        AIOKafkaClient(request_timeout_ms=0)
    with pytest.warns(DeprecationWarning, match="api_version has no effect"):
        AIOKafkaClient(api_version="auto")
    async with EmbeddedBroker() as broker, clients(broker) as found:
        with pytest.raises(TypeError, match=r"aiokafka_lite\.protocol\.messages"):
            await found[0].send(1, object())  # type: ignore[arg-type]


async def test_another_loop_is_refused() -> None:
    async with EmbeddedBroker() as broker, clients(broker) as found:
        client = found[0]

        def elsewhere() -> None:
            with pytest.raises(IllegalStateError, match="event loop"):
                asyncio.run(client.fetch_all_metadata())

        await asyncio.to_thread(elsewhere)
