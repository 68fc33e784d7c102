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
from aiokafka_lite.protocol.messages.metadata import MetadataResponse, MetadataResponseTopic
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
        monkeypatch.setattr(metadata, "MetadataResponse", self._response)

    def _response(self, *, topics: list[MetadataResponseTopic], **fields: Any) -> MetadataResponse:
        if self.leaves_out and self.kind == "unnamed":
            topics = [topic for topic in topics if topic.name != "t"]
        return MetadataResponse(topics=topics, **fields)

    def _described(self, *arguments: Any) -> MetadataResponseTopic:
        told = self._describe(*arguments)
        if not self.leaves_out or told.name != "t" or self.kind == "unnamed":
            return told
        if self.kind == "partition":
            told.partitions = told.partitions[:1]
            return told
        error = {"unknown": UnknownTopicOrPartitionError, "leaderless": LeaderNotAvailableError}
        return MetadataResponseTopic(name="t", error_code=error[self.kind].errno)


@pytest.fixture(params=["partition", "unknown", "leaderless", "unnamed"])
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


class Reader:
    """A consumer that remembers what it has read."""

    def __init__(self, kafka: VirtualKafka, kind: str, **options: Any) -> None:
        own, choose = CONSUMERS[kind]
        self.kafka = kafka
        self.consumer = AIOKafkaConsumer[Any, Any](
            **{
                "metadata_max_age_ms": 500,
                "enable_auto_commit": False,
                **own,
                **options,
                **kafka.client_options,
            }
        )
        choose(self.consumer)
        self.read: list[bytes] = []

    async def go_on(self, time_s: float) -> list[bytes]:
        """Return the values that arrive within `time_s`, in order of their texts."""
        clock, found = self.kafka.clock, list[bytes]()
        until_s = clock.monotonic() + time_s
        while (left_s := until_s - clock.monotonic()) > 0:
            for records in (await self.consumer.getmany(timeout_ms=left_s * 1000)).values():
                found.extend(record.value or b"" for record in records)
        self.read += found
        return sorted(found)


def write(kafka: VirtualKafka, text: bytes, count: int = 4) -> list[bytes]:
    values = [b"%s%d" % (text, number) for number in range(count)]
    for number, value in enumerate(values):
        kafka.broker.produce("t", value, partition=number % 2)
    return values


@each_age
@pytest.mark.parametrize("reset", ["earliest", "latest"])
@pytest.mark.parametrize("kind", CONSUMERS)
def test_a_long_absence_costs_no_place(
    answers: Answers, kind: str, reset: str, limits: dict[str, int]
) -> None:
    """The partition went, and the group rebalanced. Nothing is read twice or skipped."""

    async def main(kafka: VirtualKafka) -> None:
        limited = limits if kind != "consumer" else {}
        reader = Reader(kafka, kind, auto_offset_reset=reset, max_api_versions=limited)
        async with reader.consumer:
            await reader.go_on(2)
            first = write(kafka, b"first")
            assert await reader.go_on(2) == first
            answers.leaves_out = True
            meanwhile = await reader.go_on(1)
            written = write(kafka, b"meanwhile")
            meanwhile += await reader.go_on(12)
            answers.leaves_out = False
            last = write(kafka, b"then")
            assert sorted(meanwhile + await reader.go_on(8)) == sorted(written + last)

    run(main)


def test_members_of_a_group_go_on_after_a_long_absence(answers: Answers) -> None:
    """Each hears of the new assignment before or after its own metadata lacks the topic."""

    async def main(kafka: VirtualKafka) -> None:
        first, second = (
            Reader(
                kafka,
                "classic",
                auto_offset_reset="latest",
                max_api_versions={"Metadata": 9},
                metadata_max_age_ms=age_ms,
            )
            for age_ms in (400, 1700)
        )

        async def both(time_s: float) -> list[bytes]:
            found = await asyncio.gather(first.go_on(time_s), second.go_on(time_s))
            return sorted([*found[0], *found[1]])

        async with first.consumer, second.consumer:
            await both(10)
            assert await both(2) == []
            values = write(kafka, b"a")
            assert await both(2) == values
            answers.leaves_out = True
            found = await both(16)
            values = write(kafka, b"b")
            answers.leaves_out = False
            assert sorted(found + await both(16)) == values

    run(main)


@pytest.mark.parametrize("records", [2, 4], ids=["shorter", "of equal length"])
@each_age
def test_a_topic_made_anew_after_an_absence_is_read_by_the_reset(
    records: int, limits: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ids tell it; without them the earlier leader epoch, or the end of the log, does."""
    answers = Answers("unknown", monkeypatch)

    async def main(kafka: VirtualKafka) -> None:
        reader = Reader(kafka, "classic", auto_offset_reset="earliest", max_api_versions=limits)
        async with reader.consumer:
            first = write(kafka, b"former")
            assert await reader.go_on(3) == first
            for tp in (P0, P1) if limits else ():
                kafka.broker.move_leader(tp, kafka.broker.leader(tp))
            await reader.go_on(3)
            answers.leaves_out = True
            await reader.go_on(12)
            kafka.broker.delete_topic("t")
            kafka.broker.create_topic("t", partitions=2)
            answers.leaves_out = False
            values = write(kafka, b"new", records)
            assert await reader.go_on(10) == values

    run(main)


def test_a_member_that_commits_begins_where_its_reading_began(answers: Answers) -> None:
    """What was returned but not committed may not have been handled (B7)."""

    async def main(kafka: VirtualKafka) -> None:
        reader = Reader(
            kafka, "classic", auto_offset_reset="latest", max_api_versions={"Metadata": 9}
        )
        async with reader.consumer:
            await reader.go_on(2)
            await reader.consumer.commit({P0: 0})
            first = write(kafka, b"first")
            assert await reader.go_on(2) == first
            answers.leaves_out = True
            await reader.go_on(12)
            answers.leaves_out = False
            again = await reader.go_on(8)
            # A partition that comes back at once goes on: nobody has read it in between.
            assert again == (first if answers.kind != "partition" else first[1::2])

    run(main)


def test_a_partition_that_comes_back_is_paused_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a group no listener tells that it went."""
    answers = Answers("partition", monkeypatch)

    async def main(kafka: VirtualKafka) -> None:
        reader = Reader(kafka, "subscribed", max_api_versions={"Metadata": 9})
        async with reader.consumer:
            await reader.go_on(1)
            reader.consumer.pause(P1)
            answers.leaves_out = True
            await reader.go_on(12)
            assert reader.consumer.assignment() == {P0}
            answers.leaves_out = False
            write(kafka, b"v")
            assert await reader.go_on(4) == [b"v0", b"v2"]
            assert reader.consumer.paused() == {P1}

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
