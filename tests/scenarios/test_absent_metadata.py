"""What one metadata answer leaves out is not gone (2f-15): its place, keys and queue stay."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from aiokafka_lite import (
    AIOKafkaConsumer,
    AIOKafkaProducer,
    AIOKafkaShareConsumer,
    CooperativeStickyAssignor,
    KeyedWorkers,
    TopicPartition,
)
from aiokafka_lite.errors import LeaderNotAvailableError, UnknownTopicOrPartitionError
from aiokafka_lite.model import ConsumerRecord
from aiokafka_lite.protocol.messages.metadata import MetadataResponseTopic
from aiokafka_lite.testing.broker.handlers import metadata
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)


class Answers:
    """Changes what brokers say of topic t while `leaves_out`."""

    def __init__(self, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.leaves_out = False
        self.kind = kind
        self._describe = metadata._describe
        monkeypatch.setattr(metadata, "_describe", self._described)

    def _described(self, *arguments: Any) -> MetadataResponseTopic:
        told = self._describe(*arguments)
        if not self.leaves_out or told.name != "t":
            return told
        if self.kind == "partition":
            told.partitions = told.partitions[:1]
            return told
        error = {"unknown": UnknownTopicOrPartitionError, "leaderless": LeaderNotAvailableError}
        return MetadataResponseTopic(name="t", error_code=error[self.kind].errno)


@pytest.fixture(params=["partition", "unknown", "leaderless"])
def answers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Answers:
    return Answers(request.param, monkeypatch)


def run(main: Callable[[VirtualKafka], Awaitable[None]]) -> None:
    async def begin(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t", partitions=2)
        await main(kafka)

    run_virtual_kafka(begin, num_partitions=2)


CONSUMERS: dict[str, tuple[dict[str, Any], Callable[[AIOKafkaConsumer[Any, Any]], None]]] = {
    "assigned": ({}, lambda consumer: consumer.assign([P0, P1])),
    "subscribed": ({}, lambda consumer: consumer.subscribe(["t"])),
    "by pattern": ({}, lambda consumer: consumer.subscribe(pattern="t")),
    "classic": ({"group_id": "g"}, lambda consumer: consumer.subscribe(["t"])),
    "classic, by pattern": ({"group_id": "g"}, lambda consumer: consumer.subscribe(pattern="t")),
    "cooperative": (
        {"group_id": "g", "partition_assignment_strategy": [CooperativeStickyAssignor]},
        lambda consumer: consumer.subscribe(["t"]),
    ),
    "consumer": (
        {"group_id": "g", "group_protocol": "consumer"},
        lambda consumer: consumer.subscribe(["t"]),
    ),
}


each_age = pytest.mark.parametrize("limits", [{}, {"Metadata": 9}], ids=["ids", "without ids"])
"""Before 2.8, topics have no ids."""


@each_age
@pytest.mark.parametrize("kind", CONSUMERS)
def test_a_consumer_keeps_its_place(answers: Answers, kind: str, limits: dict[str, int]) -> None:
    """Latest: what is written meanwhile would be skipped without a word (2f-15)."""
    options, choose = CONSUMERS[kind]

    async def main(kafka: VirtualKafka) -> None:
        consumer = AIOKafkaConsumer[Any, Any](
            metadata_max_age_ms=100,
            enable_auto_commit=False,
            max_api_versions=limits if kind != "consumer" else {},
            **options,
            **kafka.client_options,
        )
        choose(consumer)
        async with consumer:
            assert not await consumer.getmany(timeout_ms=1000)
            rebalances = consumer.statistics().rebalances
            answers.leaves_out = True
            assert not await consumer.getmany(timeout_ms=1000)
            kafka.broker.produce("t", "written meanwhile", partition=1)
            read = await consumer.getmany(timeout_ms=1000)
            answers.leaves_out = False
            for _ in range(0 if read else 5):
                read = read or await consumer.getmany(timeout_ms=1000)
            assert {tp: [each.offset for each in found] for tp, found in read.items()} == {P1: [0]}
            assert not await consumer.getmany(timeout_ms=3000)
            assert consumer.statistics().rebalances == rebalances
            assert consumer.assignment() == {P0, P1}

    run(main)


def test_a_producer_keeps_keys_in_their_partitions(answers: Answers) -> None:
    async def main(kafka: VirtualKafka) -> None:
        options: dict[str, Any] = {"metadata_max_age_ms": 100, "max_block_ms": 500}
        async with AIOKafkaProducer(linger_ms=300, **options, **kafka.client_options) as producer:
            keys = [b"%d" % number for number in range(20)]
            sent: list[list[int]] = []
            for leaves_out in (False, True, False):
                acks = [await producer.send("t", b"v", key) for key in keys]
                answers.leaves_out = leaves_out
                sent.append([(await ack).partition for ack in acks])
                await kafka.clock.sleep(1)
            assert sent[0] == sent[1] == sent[2]

    run(main)


def test_share_consumers_and_workers_go_on(answers: Answers) -> None:
    async def main(kafka: VirtualKafka) -> None:
        handled: list[bytes] = []

        async def handle(record: ConsumerRecord[bytes, bytes]) -> None:
            assert record.value is not None
            handled.append(record.value)

        options: dict[str, Any] = {"metadata_max_age_ms": 100, **kafka.client_options}
        consumer = AIOKafkaConsumer[Any, Any](
            "t", group_id="g", enable_auto_commit=False, **options
        )
        async with (
            AIOKafkaShareConsumer("t", group_id="s", **options) as share,
            KeyedWorkers(consumer, handle, clock=kafka.clock) as workers,
        ):
            running = asyncio.create_task(workers.run())
            assert not await share.getmany(timeout_ms=1000)
            for number in range(4):
                answers.leaves_out = number in (1, 2)
                await kafka.clock.sleep(1)
                kafka.broker.produce("t", b"%d" % number, partition=1)
                (records,) = (await share.getmany(timeout_ms=1000)).values()
                assert [record.value for record in records] == [b"%d" % number]
            await kafka.clock.sleep(1)
            workers.stop()
            await running
        assert handled == [b"0", b"1", b"2", b"3"]

    run(main)


@each_age
def test_what_is_absent_from_every_answer_is_gone_after_a_while(
    answers: Answers, limits: dict[str, int]
) -> None:
    """The topic itself. A partition never goes, as long as its topic has the same id."""

    async def main(kafka: VirtualKafka) -> None:
        consumer = AIOKafkaConsumer[Any, Any](
            metadata_max_age_ms=100, max_api_versions=limits, **kafka.client_options
        )
        consumer.subscribe(["t"])
        async with consumer:
            assert consumer.partitions_for_topic("t") == {0, 1}
            answers.leaves_out = True
            await consumer.getmany(timeout_ms=10_000)
            assert consumer.kafka_client is not None
            known = consumer.kafka_client.metadata.snapshot.partition_ids("t")
            if answers.kind != "partition":
                assert known == ()
                assert consumer.assignment() == {P0, P1}, "it may be created again"
            elif limits:
                assert known == (0,)
                assert consumer.assignment() == {P0}
            else:
                assert known == (0, 1)
                assert consumer.assignment() == {P0, P1}

    run(main)
