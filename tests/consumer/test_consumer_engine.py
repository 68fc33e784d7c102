"""The parts of a started consumer: how they follow metadata and assignment, and their end."""

from typing import Any

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.consumer.consumer_engine import ConsumerEngine
from aiokafka_lite.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from aiokafka_lite.testing.fake_clock import settle
from tests.consumer.batches import tps
from tests.scenarios.consuming import consumer_of, embedded, fill

P0, P1 = tps(0, 1)


def engine_of(consumer: AIOKafkaConsumer[Any, Any]) -> ConsumerEngine:
    engine = consumer._engine
    assert engine is not None
    return engine


async def test_new_metadata_assigns_partitions_that_a_subscribed_topic_has_gained() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        assert consumer.assignment() == {P0}
        client = engine_of(consumer).client
        grown = CreatePartitionsRequest(
            topics=[CreatePartitionsTopic(name="t", count=2, assignments=None)], timeout_ms=1000
        )
        await client.network.request(1, grown)
        await client.metadata.refresh(5.0)
        assert consumer.assignment() == {P0, P1}


async def test_another_assignment_drops_what_is_buffered_of_other_partitions() -> None:
    async with embedded({"t": 2}) as broker, consumer_of(broker) as consumer:
        consumer.assign([P0])
        fill(broker, P0, 2)
        assert await consumer.getmany(timeout_ms=30_000, max_records=1)
        assert engine_of(consumer).buffer.is_buffered(P0)
        consumer.assign([P1])
        assert not engine_of(consumer).buffer.is_buffered(P0)


async def test_the_topics_a_node_lists_are_all_or_those_that_are_named() -> None:
    async with embedded({"t": 1, "u": 1}) as broker, consumer_of(broker, "t") as consumer:
        engine = engine_of(consumer)
        assert {topic.name for topic in await engine.list_topics(None)} >= {"t", "u"}
        assert [topic.name for topic in await engine.list_topics(["u"])] == ["u"]


async def test_an_engine_without_a_group_is_in_no_listener() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        engine = engine_of(consumer)
        assert engine.group is None
        assert not engine.is_in_listener


async def test_an_engine_that_was_stopped_has_nothing_buffered_and_ends_its_tasks() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 2)
        assert await consumer.getmany(timeout_ms=30_000, max_records=1)
        engine = engine_of(consumer)
        await consumer.stop()
        await settle()
        assert len(engine.buffer) == 0
        assert engine.client.owner.children == ()
