"""The session that reads, processes and writes exactly once."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, ExactlyOnceSession
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.support.leftovers import nothing_left_behind
from tests.support.topics import create_topic

COUNT = 60
PATIENCE_S = 60


def session(address: str, topic: str, instance: int) -> ExactlyOnceSession[bytes, bytes]:
    consumer = AIOKafkaConsumer(
        topic,
        bootstrap_servers=address,
        group_id=f"group of {topic}",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        isolation_level="read_committed",
        heartbeat_interval_ms=200,
        fetch_max_wait_ms=100,
    )
    producer = AIOKafkaProducer(
        bootstrap_servers=address, transactional_id=f"{topic}-{instance}", linger_ms=0
    )
    return ExactlyOnceSession(consumer, producer)


async def prepare(address: str, topic: str) -> None:
    await create_topic(address, topic, partitions=4)
    await create_topic(address, f"{topic}-out", partitions=2)
    async with AIOKafkaProducer(bootstrap_servers=address) as producer:
        for number in range(COUNT):
            await producer.send(topic, b"%d" % number, partition=number % 4)


async def output(address: str, topic: str, count: int = COUNT) -> list[int]:
    """What is in the copy once `count` records are, and every transaction has ended."""
    found: list[int] = []
    async with AIOKafkaConsumer(
        f"{topic}-out",
        bootstrap_servers=address,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
        fetch_max_wait_ms=100,
    ) as consumer:
        while len(found) < count or not await is_at_the_end(consumer):
            for batch in (await consumer.getmany(timeout_ms=200)).values():
                found += [int(record.value or b"") for record in batch]
    return sorted(found)


async def is_at_the_end(consumer: AIOKafkaConsumer[bytes, bytes]) -> bool:
    """Whether nothing is left to read, and nothing that may still be committed or aborted."""
    partitions = consumer.assignment()
    ends = [consumer.highwater(tp) for tp in partitions]
    return bool(partitions) and ends == [await consumer.position(tp) for tp in partitions]


async def committed(address: str, topic: str) -> int:
    async with AIOKafkaConsumer(
        bootstrap_servers=address, group_id=f"group of {topic}", enable_auto_commit=False
    ) as reader:
        parts = [await reader.committed(TopicPartition(topic, number)) for number in range(4)]
    return sum(part or 0 for part in parts)


async def work(address: str, topic: str, instance: int, failures: Sequence[int] = ()) -> None:
    """Copy batches until the group has committed everything; fail where told, and go on."""
    failing = set(failures)
    async with session(address, topic, instance) as copier:
        while await committed(address, topic) < COUNT:
            try:
                async with copier.batch(timeout_ms=200, max_records=5) as records:
                    for batch in records.values():
                        for record in batch:
                            await copier.producer.send(f"{topic}-out", record.value)
                            if (number := int(record.value or b"")) in failing:
                                failing.discard(number)
                                raise ZeroDivisionError  # noqa: TRY301 - a user's own error
            except ZeroDivisionError:
                continue


async def test_each_record_counts_once_although_batches_fail(
    any_kafka: str, topic_name: str
) -> None:
    await prepare(any_kafka, topic_name)
    async with nothing_left_behind(), asyncio.timeout(PATIENCE_S):
        await work(any_kafka, topic_name, 1, failures=(7, 30, 31, 59))
        assert await output(any_kafka, topic_name) == list(range(COUNT))


async def test_each_record_counts_once_although_members_come_and_go(
    any_kafka: str, topic_name: str
) -> None:
    await prepare(any_kafka, topic_name)
    async with nothing_left_behind(), asyncio.timeout(PATIENCE_S):
        async with asyncio.TaskGroup() as tasks:
            for instance in range(3):
                tasks.create_task(work(any_kafka, topic_name, instance, failures=(11, 42)))
        assert await output(any_kafka, topic_name) == list(range(COUNT))


async def test_a_rebalance_in_mid_batch_aborts_it_without_an_error() -> None:
    """A rebalance in the middle of a batch aborts it without an error for the user (KIP-447)."""
    async with nothing_left_behind(), EmbeddedBroker() as broker:
        await prepare(broker.bootstrap_servers, "t")
        async with session(broker.bootstrap_servers, "t", 1) as copier:
            async with copier.batch(timeout_ms=30_000) as records:
                assert records
                await copier.producer.send("t-out", b"0")
                generation = copier.consumer.group_metadata().generation_id
                copier.consumer.enforce_rebalance()
                await broker.wait_until(
                    lambda: (
                        copier.consumer.group_metadata().generation_id > generation
                        and bool(copier.consumer.assignment())
                    )
                )
            assert await output(broker.bootstrap_servers, "t", count=0) == []
            async with copier.batch(timeout_ms=30_000) as again:
                first = {tp: batch[0].offset for tp, batch in again.items()}
                assert set(first.values()) == {0}


async def test_a_batch_without_records_is_no_transaction() -> None:
    async with nothing_left_behind(), EmbeddedBroker() as broker:
        broker.create_topic("t", 4)
        async with (
            session(broker.bootstrap_servers, "t", 1) as copier,
            copier.batch(timeout_ms=1) as records,
        ):
            assert records == {}
        names = {type(received.request).__name__ for received in broker.requests}
        assert "EndTxnRequest" not in names


@pytest.mark.parametrize(
    ("reading", "writing", "fault"),
    [
        ({"group_id": None}, {}, "the consumer has no group_id"),
        ({"enable_auto_commit": True}, {}, "the consumer commits by itself"),
        ({"isolation_level": "read_uncommitted"}, {}, "the consumer reads uncommitted"),
        ({}, {"transactional_id": None}, "the producer has no transactional_id"),
    ],
)
def test_clients_that_cannot_do_it_are_refused(
    reading: dict[str, Any], writing: dict[str, Any], fault: str
) -> None:
    reads = {"group_id": "g", "enable_auto_commit": False, "isolation_level": "read_committed"}
    options: dict[str, Any] = reads | reading
    consumer = AIOKafkaConsumer("t", **options)
    options = {"transactional_id": "t", **writing}
    producer = AIOKafkaProducer(**options)
    with pytest.raises(KafkaConfigurationError, match=fault):
        ExactlyOnceSession(consumer, producer)
