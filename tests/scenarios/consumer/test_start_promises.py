"""What `start()`, `subscribe()` and `assign()` promise: "latest" means from now on.

A record that is sent after `start()` has returned is read, however late the first poll comes. No
record of before is. The time is virtual, so that each wait has its length.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from aiokafka_lite.consumer.assignors.range import RangePartitionAssignor
from aiokafka_lite.consumer.group.rebalance_listener import ConsumerRebalanceListener
from aiokafka_lite.errors import (
    ConsumerStoppedError,
    NotLeaderForPartitionError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.protocol.messages.list_offsets import ListOffsetsRequest
from aiokafka_lite.protocol.messages.offset_fetch import OffsetFetchRequest
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka

T0 = TopicPartition("t", 0)
Consumer = AIOKafkaConsumer[Any, Any]

GROUPS: dict[str, dict[str, Any]] = {
    "no group": {},
    "eager": {"group_id": "g", "partition_assignment_strategy": [RangePartitionAssignor]},
    "cooperative": {"group_id": "g", "partition_assignment_strategy": [CooperativeStickyAssignor]},
    "consumer": {"group_id": "g", "group_protocol": "consumer"},
}
members = pytest.mark.parametrize("group", GROUPS)


class Slow(ConsumerRebalanceListener):
    async def on_partitions_revoked(self, revoked: object) -> None: ...

    async def on_partitions_assigned(self, assigned: object) -> None:
        await asyncio.sleep(1)


def by_topics(consumer: Consumer) -> None:
    consumer.subscribe(["t"])


def by_pattern(consumer: Consumer) -> None:
    consumer.subscribe(pattern="t")


def with_listener(consumer: Consumer) -> None:
    consumer.subscribe(["t"], listener=Slow())


def by_hand(consumer: Consumer) -> None:
    consumer.assign([T0])


def one_more_by_hand(consumer: Consumer) -> None:
    consumer.incremental_assign([T0])


WAYS = [by_topics, by_pattern, with_listener, by_hand, one_more_by_hand]


async def send(kafka: VirtualKafka, *values: bytes) -> None:
    async with AIOKafkaProducer(**kafka.client_options) as producer:
        for value in values:
            await producer.send_and_wait("t", value, partition=0)


async def values_of(consumer: Consumer, count: int) -> list[bytes]:
    async with asyncio.timeout(60):
        records = [await consumer.getone() for _ in range(count)]
    return [record.value or b"" for record in records]


@members
@pytest.mark.parametrize("choose", WAYS)
@pytest.mark.parametrize("after_s", [0, 30])
def test_what_is_sent_after_a_start_is_read(
    group: str, choose: Callable[[Consumer], None], after_s: float
) -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t", 1)
        await send(kafka, b"before")
        kafka.network.latency_s = 0.05
        consumer = AIOKafkaConsumer(**GROUPS[group], **kafka.client_options)
        choose(consumer)
        await consumer.start()
        kafka.broker.produce("t", b"at once")
        await asyncio.sleep(after_s)
        await send(kafka, b"later")
        assert await values_of(consumer, 2) == [b"at once", b"later"]
        await consumer.stop()

    run_virtual_kafka(main)


@members
@pytest.mark.parametrize("choose", WAYS)
def test_a_subscription_while_the_consumer_runs_asks_without_a_poll(
    group: str, choose: Callable[[Consumer], None]
) -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t", 1)
        await send(kafka, b"before")
        consumer = AIOKafkaConsumer(**GROUPS[group], **kafka.client_options)
        await consumer.start()
        choose(consumer)
        await asyncio.sleep(10)  # the group takes the member in, and the listener returns
        await send(kafka, b"after")
        assert await values_of(consumer, 1) == [b"after"]
        await consumer.stop()

    run_virtual_kafka(main)


@pytest.mark.parametrize("group", [name for name in GROUPS if name != "no group"])
def test_what_is_sent_after_a_rebalance_is_read_without_a_poll_before(group: str) -> None:
    """Of the partition that came to this member by it."""

    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t", 2)
        options = {**GROUPS[group], **kafka.client_options}
        async with AIOKafkaConsumer("t", **options) as stays:
            async with AIOKafkaConsumer("t", **options):
                await asyncio.sleep(20)
                assert len(stays.assignment()) == 1
            await asyncio.sleep(20)
            assert len(stays.assignment()) == 2
            async with AIOKafkaProducer(**kafka.client_options) as producer:
                for partition in (0, 1):
                    await producer.send_and_wait("t", b"after", partition=partition)
            assert await values_of(stays, 2) == [b"after"] * 2

    run_virtual_kafka(main)


def test_a_seek_after_assign_asks_for_nothing() -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t", 1)
        await send(kafka, b"0", b"1")
        async with AIOKafkaConsumer(**kafka.client_options) as consumer:
            consumer.assign([T0])
            consumer.seek(T0, 1)
            assert await values_of(consumer, 1) == [b"1"]
            assert kafka.broker.requests_of(ListOffsetsRequest) == []

    run_virtual_kafka(main)


def test_a_listener_may_commit_where_reading_begins() -> None:
    """Committed offsets are asked for when it has returned, as in Java."""
    members: list[Consumer] = []

    class Begins(ConsumerRebalanceListener):
        async def on_partitions_revoked(self, revoked: object) -> None: ...

        async def on_partitions_assigned(self, assigned: object) -> None:
            await asyncio.sleep(1)
            await members[0].commit({T0: 1})

    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t", 1)
        await send(kafka, b"0", b"1")
        consumer = AIOKafkaConsumer(group_id="g", **kafka.client_options)
        members.append(consumer)
        consumer.subscribe(["t"], listener=Begins())
        async with consumer:
            assert await values_of(consumer, 1) == [b"1"]

    run_virtual_kafka(main)


# What start() does not wait for…


async def seconds_of(kafka: VirtualKafka, call: Awaitable[object]) -> float:
    began_s = kafka.clock.monotonic()
    await call
    return kafka.clock.monotonic() - began_s


@members
def test_a_start_from_the_beginning_waits_for_no_position(group: str) -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t", 1)
        kafka.broker.faults.delay(ListOffsetsRequest, 2.0)
        kafka.broker.faults.delay(OffsetFetchRequest, 2.0)
        consumer = AIOKafkaConsumer(
            "t", auto_offset_reset="earliest", **GROUPS[group], **kafka.client_options
        )
        assert await seconds_of(kafka, consumer.start()) < 1
        await consumer.stop()

    run_virtual_kafka(main)


@members
@pytest.mark.parametrize("fault", ["no leader", "refused", "silent"])
def test_a_position_that_does_not_come_holds_a_start_up_for_three_seconds(
    group: str, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The log names the partition; its position is found later, without a poll."""

    async def main(kafka: VirtualKafka) -> None:
        broker = kafka.broker
        broker.create_topic("t", 2, replication_factor=1)
        place = next(tp for tp in (T0, TopicPartition("t", 1)) if broker.leader(tp) == 2)
        if fault == "no leader":
            broker.stop_node(2)
        elif fault == "refused":
            broker.faults.fail(
                ListOffsetsRequest, NotLeaderForPartitionError, times=None, node_id=2
            )
        else:
            broker.faults.stall(ListOffsetsRequest, times=None, node_id=2)
        consumer = AIOKafkaConsumer("t", **GROUPS[group], **kafka.client_options)
        with caplog.at_level(logging.WARNING):
            assert 2.9 < await seconds_of(kafka, consumer.start()) < 5
        name = f"t-{place.partition}"
        assert f"start() goes on before the end of {name} is known" in caplog.text
        if fault == "no leader":
            broker.start_node(2)
        broker.faults.clear()
        await asyncio.sleep(60)
        broker.produce("t", b"after", partition=place.partition)
        assert await values_of(consumer, 1) == [b"after"]
        await consumer.stop()

    run_virtual_kafka(main, nodes=2)


def test_an_answer_that_the_next_poll_raises_holds_up_nothing() -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t", 1)
        kafka.broker.faults.fail(ListOffsetsRequest, TopicAuthorizationFailedError, times=None)
        consumer = AIOKafkaConsumer("t", **kafka.client_options)
        assert await seconds_of(kafka, consumer.start()) < 1
        with pytest.raises(TopicAuthorizationFailedError):
            await consumer.getone()
        await consumer.stop()

    run_virtual_kafka(main)


@members
def test_a_start_that_waits_for_positions_is_stopped(group: str) -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t", 1)
        kafka.broker.faults.stall(ListOffsetsRequest, times=None)
        consumer = AIOKafkaConsumer("t", **GROUPS[group], **kafka.client_options)
        starting = asyncio.create_task(consumer.start())
        await asyncio.sleep(2)
        assert await seconds_of(kafka, consumer.stop()) < 3
        with pytest.raises(ConsumerStoppedError):
            await starting

    run_virtual_kafka(main)


# Topics that are being created…


@pytest.mark.parametrize("comes_after_s", [0.3, 2.5])
@members
def test_a_start_waits_for_a_topic_that_is_being_created(group: str, comes_after_s: float) -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("there", 1)
        asyncio.get_running_loop().call_later(comes_after_s, kafka.broker.create_topic, "t", 1)
        options = {"allow_auto_create_topics": False, **GROUPS[group], **kafka.client_options}
        async with AIOKafkaConsumer("there", "t", **options) as consumer:
            await asyncio.sleep(1 if group == "consumer" else 0)
            assert {topic for topic, _ in consumer.assignment()} == {"there", "t"}
            assert consumer.partitions_for_topic("t") == {0}
            kafka.broker.produce("t", b"after")
            assert await values_of(consumer, 1) == [b"after"]

    run_virtual_kafka(main)


def test_a_topic_that_does_not_come_is_named(caplog: pytest.LogCaptureFixture) -> None:
    """With a group the start goes on; without one it fails, as there is nothing else to read."""

    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t", 1)
        options = {"allow_auto_create_topics": False, **kafka.client_options}
        member = AIOKafkaConsumer("t", "none", group_id="g", **options)
        with caplog.at_level(logging.WARNING):
            assert await seconds_of(kafka, member.start()) < 4
        assert "start() goes on without topic 'none'" in caplog.text
        assert any(each.topic == "none" for each in member.explain())
        assert member.assignment() == {T0}
        await member.stop()
        alone = AIOKafkaConsumer("t", "none", default_api_timeout_ms=2000, **options)
        with pytest.raises(UnknownTopicOrPartitionError, match="'none'"):
            await alone.start()

    run_virtual_kafka(main)
