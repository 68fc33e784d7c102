"""What an exactly-once session shows when the epoch of its member is late (KIP-848).

Each record counts once. The user hears of a refused batch only by its records, which come again.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from aiokafka_lite import (
    AIOKafkaConsumer,
    AIOKafkaProducer,
    ConsumerRecord,
    ExactlyOnceSession,
    TopicPartition,
)
from aiokafka_lite.errors import (
    BrokerResponseError,
    FencedMemberEpochError,
    IllegalGenerationError,
    StaleMemberEpochError,
    UnknownMemberIdError,
)
from aiokafka_lite.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
)
from aiokafka_lite.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest
from aiokafka_lite.testing.virtual_kafka import VirtualKafka

PATIENCE_S = 60.0
PLACES = [b"%d-%d" % (partition, offset) for partition in range(2) for offset in range(5)]
"""The value of each record of the topic `in`: its partition and its offset."""

Session = ExactlyOnceSession[Any, Any]
Batch = dict[TopicPartition, list[ConsumerRecord[Any, Any]]]


def session(kafka: VirtualKafka, name: str) -> Session:
    consumer = member(kafka, isolation_level="read_committed")
    consumer.subscribe(["in"])
    producer = AIOKafkaProducer(transactional_id=name, **kafka.client_options)
    return ExactlyOnceSession(consumer, producer)


def member(kafka: VirtualKafka, **options: Any) -> AIOKafkaConsumer[Any, Any]:
    return AIOKafkaConsumer(
        group_id="g",
        group_protocol="consumer",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        **kafka.client_options,
        **options,
    )


async def fill(kafka: VirtualKafka) -> None:
    kafka.broker.create_topic("in", 2)
    kafka.broker.create_topic("other", 1)
    kafka.broker.create_topic("out", 1)
    async with AIOKafkaProducer(**kafka.client_options) as producer:
        for place in PLACES:
            await producer.send("in", place, partition=int(place[:1]))


async def write(worker: Session, records: Batch) -> list[Any]:
    """Send a copy of each record; return the copies."""
    copies: list[Any] = [record.value for some in records.values() for record in some]
    for copy in copies:
        await worker.producer.send("out", copy)
    return sorted(copies)


async def first_batch(worker: Session) -> list[Any]:
    """Copy the first batch that has all records."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            async with worker.batch(timeout_ms=1000) as records:
                if records:
                    return await write(worker, records)


async def copied(kafka: VirtualKafka) -> list[Any]:
    """Return what a reader of committed records finds, when no transaction is open."""
    partition = TopicPartition("out", 0)
    log = kafka.broker.log(partition)
    found: list[Any] = []
    reader: AIOKafkaConsumer[Any, Any] = AIOKafkaConsumer(
        isolation_level="read_committed", auto_offset_reset="earliest", **kafka.client_options
    )
    reader.assign([partition])
    async with reader, asyncio.timeout(PATIENCE_S):
        while await reader.position(partition) < log.high_watermark:
            for records in (await reader.getmany(timeout_ms=100)).values():
                found += [record.value for record in records]
    return sorted(found)


def epoch(worker: Session) -> int:
    return worker.consumer.group_metadata().generation_id


def commits(kafka: VirtualKafka) -> list[TxnOffsetCommitRequest]:
    return kafka.broker.requests_of(TxnOffsetCommitRequest)


@pytest.mark.parametrize(
    "refusal",
    [IllegalGenerationError, StaleMemberEpochError, FencedMemberEpochError, UnknownMemberIdError],
)
def test_a_refused_batch_comes_again_once_without_an_error(
    refusal: type[BrokerResponseError], virtual_kafka: Callable[..., Any]
) -> None:
    async def main(kafka: VirtualKafka) -> None:
        await fill(kafka)
        async with session(kafka, "a") as worker:
            kafka.broker.faults.fail(TxnOffsetCommitRequest, refusal)
            refused = await first_batch(worker)
            assert await copied(kafka) == []
            again = await first_batch(worker)
            assert refused == again == PLACES
            assert await copied(kafka) == PLACES
            assert len(commits(kafka)) == 2

    virtual_kafka(main)


@pytest.mark.parametrize("refusal", [IllegalGenerationError, StaleMemberEpochError])
def test_the_newest_epoch_is_asked_for_at_once(
    refusal: type[BrokerResponseError], virtual_kafka: Callable[..., Any]
) -> None:
    """Else each batch would be in vain until the next heartbeat, seconds later."""

    async def main(kafka: VirtualKafka) -> None:
        await fill(kafka)
        async with session(kafka, "a") as worker:
            async with worker.batch(timeout_ms=10_000) as records:
                await write(worker, records)
                await asyncio.sleep(1)  # what the member had to say is said
                kafka.broker.faults.fail(TxnOffsetCommitRequest, refusal)
                before = len(kafka.broker.requests_of(ConsumerGroupHeartbeatRequest))
                moment_s = kafka.clock.monotonic()
            await kafka.broker.wait_until(
                lambda: len(kafka.broker.requests_of(ConsumerGroupHeartbeatRequest)) > before
            )
            assert kafka.clock.monotonic() - moment_s < 0.1

    virtual_kafka(main)


def test_a_batch_counts_though_the_group_moves_on_while_its_partitions_stay(
    virtual_kafka: Callable[..., Any],
) -> None:
    """A member that reads another topic joins: nothing moves, but every epoch does."""

    async def main(kafka: VirtualKafka) -> None:
        await fill(kafka)
        async with session(kafka, "a") as worker, member(kafka) as other:
            async with worker.batch(timeout_ms=10_000) as records:
                assert await write(worker, records) == PLACES
                before = epoch(worker)
                other.subscribe(["other"])
                await kafka.broker.wait_until(lambda: epoch(worker) > before)
            assert await copied(kafka) == PLACES
            [commit] = commits(kafka)
            assert commit.generation_id_or_member_epoch == epoch(worker)

    virtual_kafka(main)


def test_a_batch_of_a_partition_that_moves_belongs_to_its_next_owner(
    virtual_kafka: Callable[..., Any],
) -> None:
    async def main(kafka: VirtualKafka) -> None:
        await fill(kafka)
        async with session(kafka, "a") as first, session(kafka, "b") as second:
            second.consumer.unsubscribe()
            async with first.batch(timeout_ms=10_000) as records:
                assert await write(first, records) == PLACES
                second.consumer.subscribe(["in"])
                await kafka.broker.wait_until(lambda: len(second.consumer.assignment()) == 1)
            assert await copied(kafka) == []
            found = await asyncio.gather(first_batch(first), first_batch(second))
            assert sorted([*found[0], *found[1]]) == PLACES
            assert await copied(kafka) == PLACES

    virtual_kafka(main)


def test_a_partition_that_went_and_came_back_in_mid_batch_is_read_again(
    virtual_kafka: Callable[..., Any],
) -> None:
    """The other member may have written its records meanwhile, and here it has."""

    async def main(kafka: VirtualKafka) -> None:
        await fill(kafka)
        async with session(kafka, "a") as first:
            async with first.batch(timeout_ms=10_000) as records:
                assert await write(first, records) == PLACES
                async with session(kafka, "b") as second:
                    theirs = await first_batch(second)
                await kafka.broker.wait_until(lambda: len(first.consumer.assignment()) == 2)
            assert await copied(kafka) == theirs
            assert sorted([*theirs, *await first_batch(first)]) == PLACES
            assert await copied(kafka) == PLACES

    virtual_kafka(main)
