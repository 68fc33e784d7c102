"""Subscribing without a group and assigning: B1, topics that grow, partitions that do not exist."""

import asyncio
import logging
from typing import Any

import pytest

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.consumer.group.rebalance_listener import ConsumerRebalanceListener
from aiokafka_lite.errors import (
    ConsumerStoppedError,
    IllegalStateError,
    LeaderNotAvailableError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock, settle
from tests.consumer.batches import tps
from tests.scenarios.consuming import consumer_of, embedded, fill, offsets, read

P0, P1, P2 = tps(0, 1, 2)
U0 = TopicPartition("u", 0)


async def test_b1_subscribing_takes_all_partitions_of_the_topics() -> None:
    async with (
        embedded({"t": 3, "u": 1, "v": 1}) as broker,
        consumer_of(broker, "t", "u") as consumer,
    ):
        assert consumer.subscription() == {"t", "u"}
        assert consumer.assignment() == {P0, P1, P2, U0}
        for tp in (P2, U0):
            fill(broker, tp, 2)
        assert await read(consumer, 4) == {P2: [0, 1], U0: [0, 1]}


@pytest.mark.parametrize("how", [{"topics": ["t"]}, {"pattern": "t"}])
async def test_a_listener_without_a_group_is_taken_and_never_called(how: dict[str, Any]) -> None:
    """Libraries pass their listener on, with and without a group."""
    calls: list[str] = []

    class Diary(ConsumerRebalanceListener):
        async def on_partitions_revoked(self, revoked: object) -> None:
            calls.append("revoked")

        async def on_partitions_assigned(self, assigned: object) -> None:
            calls.append("assigned")

    async with embedded({"t": 1, "u": 1}) as broker:
        consumer = consumer_of(broker)
        consumer.subscribe(**how, listener=Diary())
        async with consumer:
            fill(broker, P0, 1)
            assert (await consumer.getone()).offset == 0
            consumer.subscribe(**how, listener=Diary())  # while it runs
            fill(broker, P0, 1)
            assert (await consumer.getone()).offset == 1
            consumer.unsubscribe()
    assert calls == []


async def test_b1_a_new_subscription_replaces_the_old_one() -> None:
    async with embedded({"t": 1, "u": 1}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 5)
        assert (await consumer.getone()).offset == 0
        consumer.subscribe(["u"])
        assert P0 not in consumer.assignment()
        assert consumer.statistics().buffered == ()
        fill(broker, U0, 1)
        assert await read(consumer, 1) == {U0: [0]}
        assert consumer.assignment() == {U0}


async def test_subscribing_to_a_topic_that_comes_later_waits_for_it() -> None:
    async with (
        embedded(auto_create_topics=False) as broker,
        consumer_of(broker, retry_backoff_ms=5, retry_backoff_max_ms=20) as consumer,
    ):
        consumer.subscribe(["t"])
        poll = asyncio.create_task(consumer.getone())
        await settle()
        broker.create_topic("t", 1)
        fill(broker, P0, 1)
        assert (await asyncio.wait_for(poll, 30)).offset == 0


async def test_b1_a_topic_that_grows_is_noticed_by_the_metadata() -> None:
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(broker, "t", metadata_max_age_ms=30) as consumer,
    ):
        fill(broker, P0, 1)
        await read(consumer, 1)
        grown = CreatePartitionsRequest(
            topics=[CreatePartitionsTopic(name="t", count=3, assignments=None)], timeout_ms=1000
        )
        assert consumer._engine is not None
        await consumer._engine.client.network.request(1, grown)
        fill(broker, P2, 2)
        assert await read(consumer, 2) == {P2: [0, 1]}
        assert consumer.assignment() == {P0, P1, P2}
        assert consumer.statistics().queue[0] == P0
        assert await consumer.position(P0) == 1


async def test_assign_keeps_the_positions_of_what_stays() -> None:
    async with embedded({"t": 2}) as broker, consumer_of(broker) as consumer:
        fill(broker, P0, 4)
        fill(broker, P1, 4)
        consumer.assign([P0])
        assert (await consumer.getone()).offset == 0
        consumer.assign([P0, P1])
        polled = await read(consumer, 7)
        assert polled == {P0: [1, 2, 3], P1: [0, 1, 2, 3]}
        consumer.assign([])
        assert consumer.assignment() == frozenset()
        assert await consumer.getmany(timeout_ms=5) == {}


async def test_partitions_are_added_and_taken_away_while_the_others_go_on() -> None:
    async with embedded({"t": 3}) as broker, consumer_of(broker) as consumer:
        for tp in (P0, P1, P2):
            fill(broker, tp, 4)
        consumer.incremental_assign([P0])
        assert (await consumer.getone()).offset == 0
        fetches = len(broker.requests_of(FetchRequest))
        consumer.incremental_assign(iter([P1, P0]))
        assert consumer.assignment() == {P0, P1}
        assert (await consumer.getone(P0)).offset == 1
        consumer.incremental_unassign([P1])
        assert (await consumer.getone()).offset == 2
        assert len(broker.requests_of(FetchRequest)) <= fetches + 2, "what is buffered stays"
        with pytest.raises(IllegalStateError, match=r"partition=2.* is not assigned"):
            consumer.incremental_unassign([P0, P2])
        assert consumer.assignment() == {P0}
        with pytest.raises(TypeError):
            consumer.incremental_assign([("t", 1)])  # type: ignore[list-item]
        consumer.incremental_unassign([P0])
        assert consumer.assignment() == frozenset()
        consumer.subscribe(["t"])
        await read(consumer, 12)
        for change in (consumer.incremental_assign, consumer.incremental_unassign):
            with pytest.raises(IllegalStateError, match="mutually exclusive"):
                change([P0])
        assert consumer.assignment() == {P0, P1, P2}


async def test_unsubscribing_ends_everything_until_the_next_subscription() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 3)
        await consumer.getone()
        consumer.unsubscribe()
        assert (consumer.subscription(), consumer.assignment()) == (frozenset(), frozenset())
        assert await consumer.getmany(timeout_ms=5) == {}
        consumer.assign([P0])
        assert offsets(await consumer.getmany(timeout_ms=30_000)) == {0: [0, 1, 2]}


async def test_d7_a_poll_without_an_assignment_keeps_its_time() -> None:
    async with embedded() as broker, consumer_of(broker) as consumer:
        async with asyncio.timeout(30):
            assert await consumer.getmany(timeout_ms=50) == {}


async def test_a_pending_poll_sees_an_assignment_made_meanwhile() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker) as consumer:
        fill(broker, P0, 1)
        poll = asyncio.create_task(consumer.getmany(timeout_ms=30_000))
        await settle()
        consumer.assign([P0])
        assert offsets(await poll) == {0: [0]}


async def test_a_record_is_not_waited_for_where_none_can_come() -> None:
    """Without any subscription or assignment `getone` and iteration raise, as Java's poll."""
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 2)
        assert (await consumer.getone()).offset == 0
        consumer.unsubscribe()
        with pytest.raises(IllegalStateError, match=r"subscribe\(\).*assign\(\)"):
            await consumer.getone()
        with pytest.raises(IllegalStateError, match="nothing is subscribed or assigned"):
            await anext(consumer)
        consumer.assign([P0])
        assert (await asyncio.wait_for(consumer.getone(), 30)).offset == 0


async def test_timed_polls_where_no_record_can_come_are_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Another task may subscribe later, which aiokafka's polls wait for: so they do not raise."""

    def told() -> int:
        return caplog.text.count("because nothing is subscribed or assigned: subscribe() to topics")

    async with embedded({"t": 1}) as broker, consumer_of(broker) as consumer:
        assert await consumer.getmany(timeout_ms=1) == {}
        assert told() == 1
        assert await consumer.getmany() == {}
        assert (await consumer.getmany_arrow(timeout_ms=1)).num_rows == 0
        assert told() == 1
        consumer.subscribe(["t"])
        await consumer.getmany(timeout_ms=1)
        assert told() == 1
        consumer.unsubscribe()
        assert (await consumer.getmany_arrow(timeout_ms=1)).num_rows == 0
        assert told() == 2


async def test_a_waiting_getone_ends_with_the_consumer_also_while_nothing_is_assigned() -> None:
    async with embedded(auto_create_topics=False) as broker:
        consumer = consumer_of(broker)
        await consumer.start()
        consumer.subscribe(["later"])
        waiting = asyncio.create_task(consumer.getone())
        await settle()
        assert consumer.assignment() == set()
        await consumer.stop()
        with pytest.raises(ConsumerStoppedError):
            await asyncio.wait_for(waiting, 30)


@pytest.mark.parametrize("topic", ["nope", "t"])
async def test_reading_what_does_not_exist_is_logged_once_and_raised_in_the_end(
    topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with embedded({"t": 1}, auto_create_topics=False) as broker:
        clock = FakeClock(autojump_threshold_s=0.1)
        missing = TopicPartition(topic, 7)
        async with consumer_of(broker, clock=clock, default_api_timeout_ms=3000) as consumer:
            consumer.assign([missing])
            with (
                caplog.at_level(logging.WARNING),
                pytest.raises(UnknownTopicOrPartitionError, match=f"{topic}-7 does not exist"),
            ):
                await consumer.getone()
        warnings = [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]
        assert len([text for text in warnings if "cannot be read" in text]) == 1


async def test_a_topic_that_is_refused_for_good_is_raised_at_once() -> None:
    async with embedded({"secret": 1}) as broker:
        broker.faults.fail(MetadataRequest, TopicAuthorizationFailedError, times=None)
        consumer = consumer_of(broker, "secret")
        with pytest.raises(TopicAuthorizationFailedError, match="secret"):
            await consumer.start()
        async with consumer_of(broker) as assigned:
            assigned.assign([TopicPartition("secret", 0)])
            with pytest.raises(TopicAuthorizationFailedError, match="secret"):
                await assigned.getone()


async def test_what_is_no_longer_assigned_is_not_complained_about() -> None:
    async with embedded({"t": 1, "secret": 1}) as broker, consumer_of(broker) as consumer:
        broker.faults.fail(MetadataRequest, TopicAuthorizationFailedError, times=None)
        refused = TopicPartition("secret", 0)
        consumer.assign([refused])
        consumer.seek(refused, 0)
        with pytest.raises(TopicAuthorizationFailedError):
            await consumer.getone()
        broker.faults.clear()
        consumer.assign([P0])
        assert await consumer.position(P0) == 0


async def test_a_subscription_made_later_hears_of_a_topic_that_is_refused_for_good() -> None:
    async with embedded({"t": 1, "secret": 1}) as broker, consumer_of(broker, "t") as consumer:
        broker.faults.fail(MetadataRequest, TopicAuthorizationFailedError, times=None)
        consumer.subscribe(["secret"])
        with pytest.raises(TopicAuthorizationFailedError, match="secret"):
            await consumer.getone()


async def test_topics_are_created_by_asking_only_if_the_consumer_allows_it() -> None:
    async with embedded() as broker:
        clock = FakeClock(autojump_threshold_s=0.1)
        options = {"clock": clock, "default_api_timeout_ms": 2000}
        shy = consumer_of(broker, "new", allow_auto_create_topics=False, **options)
        with pytest.raises(UnknownTopicOrPartitionError):
            await shy.start()
        async with consumer_of(broker, "new") as consumer:
            assert consumer.assignment() == {TopicPartition("new", 0)}


# Patterns…


def matching(pattern: str, broker: EmbeddedBroker, **options: Any) -> AIOKafkaConsumer[Any, Any]:
    consumer = consumer_of(broker, **options)
    consumer.subscribe(pattern=pattern)
    return consumer


@pytest.mark.parametrize("reset", ["earliest", "latest"])
@pytest.mark.parametrize("blip", ["an error", "absence"])
async def test_b1_a_pattern_does_not_let_go_of_a_topic_for_one_metadata_answer(
    blip: str, reset: str
) -> None:
    """What was read does not come again, and what comes meanwhile is not passed over."""
    async with (
        embedded({"t": 1}) as broker,
        matching("^t$", broker, auto_offset_reset=reset, retry_backoff_ms=5) as consumer,
    ):
        await consumer.position(P0)
        fill(broker, P0, 3)
        assert await read(consumer, 3) == {P0: [0, 1, 2]}
        assert consumer.kafka_client is not None
        cluster, topic = broker.cluster, broker.cluster.topics["t"]
        if blip == "an error":
            broker.faults.fail(MetadataRequest, LeaderNotAvailableError)
        else:
            del cluster.topics["t"], cluster._names[topic.topic_id]
        await consumer.kafka_client.metadata.refresh()
        cluster.topics["t"] = topic
        cluster._names[topic.topic_id] = "t"
        fill(broker, P0, 2)
        assert consumer.assignment() == {P0}
        assert await read(consumer, 2) == {P0: [3, 4]}


async def test_b1_a_pattern_lets_go_of_a_topic_that_stays_away() -> None:
    clock = FakeClock(autojump_threshold_s=0.05)
    async with (
        embedded({"t": 1, "u": 1}) as broker,
        matching("^[tu]$", broker, clock=clock) as consumer,
    ):
        await consumer.position(P0)
        broker.delete_topic("t")
        assert consumer.kafka_client is not None
        await consumer.kafka_client.metadata.refresh()
        assert consumer.assignment() == {P0, U0}
        began_s = clock.monotonic()
        while consumer.assignment() != {U0}:
            await consumer.getmany(timeout_ms=1000)
        assert clock.monotonic() - began_s < 20


async def test_with_a_pattern_topics_of_others_do_not_keep_metadata_coming() -> None:
    """One partition without a leader anywhere in the cluster is no reason to ask for all of it."""
    clock = FakeClock(autojump_threshold_s=0.05)
    async with embedded({"t": 1}, nodes=2) as broker:
        broker.create_topic("strange", 2, replication_factor=1)
        async with matching("^t$", broker, clock=clock) as consumer:
            await consumer.position(P0)
            broker.stop_node(2)
            assert consumer.kafka_client is not None
            await consumer.kafka_client.metadata.refresh()
            broker.forget_requests()
            await consumer.getmany(timeout_ms=60_000)
            assert len(broker.requests_of(MetadataRequest)) <= 2
