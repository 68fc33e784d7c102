"""Transactions on the embedded broker and on real Kafka, V2 and V1; confluent-kafka reads them."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import confluent_kafka
import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.errors import (
    CommitFailedError,
    InvalidProducerEpoch,
    MessageSizeTooLargeError,
    ProducerFenced,
)
from aiokafka_lite.model import ConsumerGroupMetadata

TIMEOUT_S = 60

pytestmark = [pytest.mark.real_kafka, pytest.mark.asyncio(loop_factories=["asyncio"])]


def transactional(address: str, transactional_id: str, **options: Any) -> AIOKafkaProducer:
    """A producer with a transactional id, not started."""
    return AIOKafkaProducer(
        bootstrap_servers=address, transactional_id=transactional_id, linger_ms=0, **options
    )


def read_by_others(address: str, topic: str) -> list[str]:
    """What confluent-kafka reads with read_committed, up to the end."""
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": address,
            "group.id": f"{topic}-reader",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "log_level": 0,
        }
    )
    consumer.assign([confluent_kafka.TopicPartition(topic, 0, confluent_kafka.OFFSET_BEGINNING)])
    values: list[str] = []
    until_s = time.monotonic() + TIMEOUT_S
    try:
        while time.monotonic() < until_s:
            message = consumer.poll(1.0)
            if message is None:
                continue
            error = message.error()
            if error is None:
                values.append((message.value() or b"").decode())
            elif error.code() == confluent_kafka.KafkaError._PARTITION_EOF:
                return values
    finally:
        consumer.close()
    raise TimeoutError(f"no end of {topic} within {TIMEOUT_S} s; read {values}")


async def visible(address: str, topic: str) -> list[str]:
    """The same, without holding the loop up."""
    return await asyncio.to_thread(read_by_others, address, topic)


@pytest.fixture
def address(any_kafka: str, new_topic: Callable[[str], str]) -> str:
    """A broker that has the topic."""
    new_topic(any_kafka)
    return any_kafka


async def commit(producer: AIOKafkaProducer, topic: str, *values: str) -> None:
    """Write these in a transaction of their own."""
    async with producer.transaction():
        for value in values:
            await producer.send(topic, value.encode())


async def test_only_what_is_committed_is_read(address: str, topic_name: str) -> None:
    async with transactional(address, topic_name) as producer:
        await commit(producer, topic_name, "1", "2", "3")
        await producer.begin_transaction()
        await producer.send_and_wait(topic_name, b"aborted")
        await producer.abort_transaction()
        await producer.begin_transaction()
        await producer.commit_transaction()
        await commit(producer, topic_name, "4")
        await producer.begin_transaction()
        await producer.send_and_wait(topic_name, b"open")
        assert await visible(address, topic_name) == ["1", "2", "3", "4"]
    assert await visible(address, topic_name) == ["1", "2", "3", "4"]


async def test_many_short_transactions(address: str, topic_name: str) -> None:
    async with transactional(address, topic_name) as producer:
        for number in range(30):
            await producer.begin_transaction()
            await producer.send(topic_name, b"%d" % number)
            if number % 3:
                await producer.commit_transaction()
            else:
                await producer.abort_transaction()
    assert await visible(address, topic_name) == [str(n) for n in range(30) if n % 3]


async def test_a_failed_batch_lets_abort_and_go_on(address: str, topic_name: str) -> None:
    """The producer goes on after an abort, even if the very first batch failed (2d'-4, KIP-360)."""
    async with transactional(address, topic_name, max_request_size=8_000_000) as producer:
        for number in range(2):
            await producer.begin_transaction()
            ack = await producer.send(topic_name, b"x" * 4_000_000)
            with pytest.raises(MessageSizeTooLargeError):
                await ack
            with pytest.raises(MessageSizeTooLargeError):
                await producer.commit_transaction()
            await producer.abort_transaction()
            await commit(producer, topic_name, f"{number}")
    assert await visible(address, topic_name) == ["0", "1"]


async def test_a_second_producer_fences_the_first(address: str, topic_name: str) -> None:
    async with transactional(address, topic_name) as first:
        await first.begin_transaction()
        await first.send_and_wait(topic_name, b"zombie")
        async with transactional(address, topic_name) as second:
            await commit(second, topic_name, "1")
            with pytest.raises(ProducerFenced):
                await first.commit_transaction()
            with pytest.raises(ProducerFenced):
                await first.send(topic_name, b"zombie")
            await commit(second, topic_name, "2")
    assert await visible(address, topic_name) == ["1", "2"]


async def test_a_fenced_producer_cannot_write(address: str, topic_name: str) -> None:
    async with transactional(address, topic_name) as first:
        await commit(first, topic_name, "0")
        async with transactional(address, topic_name):
            await first.begin_transaction()
            with pytest.raises((InvalidProducerEpoch, ProducerFenced)):
                await first.send_and_wait(topic_name, b"zombie")
            with pytest.raises(ProducerFenced):
                await first.abort_transaction()
    assert await visible(address, topic_name) == ["0"]


async def test_a_transaction_that_takes_too_long(address: str, topic_name: str) -> None:
    async with transactional(address, topic_name) as producer:
        await commit(producer, topic_name, "1")
    # A coordinator looks for such ones every ten seconds: only a successor's start is soon enough.
    async with transactional(address, topic_name, transaction_timeout_ms=9000) as producer:
        await producer.begin_transaction()
        await producer.send_and_wait(topic_name, b"left open")
        async with transactional(address, topic_name) as successor:
            await commit(successor, topic_name, "2")
    assert await visible(address, topic_name) == ["1", "2"]


@pytest.mark.needs_kafka("2.5", "offsets that wait for the end of a transaction")
async def test_offsets_count_with_the_transaction(address: str, topic_name: str) -> None:
    tp, group_id = TopicPartition(topic_name, 0), f"{topic_name}-group"
    async with (
        transactional(address, topic_name) as producer,
        AIOKafkaConsumer(
            bootstrap_servers=address,
            group_id=group_id,
            enable_auto_commit=False,
            isolation_level="read_committed",
        ) as consumer,
    ):
        consumer.assign([tp])
        for offset, is_kept in ((5, True), (6, False), (7, True)):
            await producer.begin_transaction()
            await producer.send_offsets_to_transaction({tp: offset}, group_id)
            await (producer.commit_transaction() if is_kept else producer.abort_transaction())
            assert await consumer.committed(tp) == (offset if is_kept else 5)


async def test_a_zombie_member_is_refused(address: str, topic_name: str) -> None:
    """The coordinator refuses offsets of a member whose generation is over (KIP-447)."""
    tp, group_id = TopicPartition(topic_name, 0), f"{topic_name}-group"
    async with transactional(address, topic_name) as producer:
        await commit(producer, topic_name, "in")
        async with AIOKafkaConsumer(
            topic_name,
            bootstrap_servers=address,
            group_id=group_id,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            isolation_level="read_committed",
        ) as consumer:
            record = await asyncio.wait_for(consumer.getone(), TIMEOUT_S)
            member = consumer.group_metadata()
            await producer.begin_transaction()
            await producer.send_offsets_to_transaction({tp: record.offset + 1}, member)
            await producer.commit_transaction()
            assert await consumer.committed(tp) == 1
            for zombie in (
                member._replace(generation_id=member.generation_id + 1),
                member._replace(member_id="nobody"),
            ):
                await producer.begin_transaction()
                await producer.send(topic_name, b"lost")
                with pytest.raises(CommitFailedError):
                    await producer.send_offsets_to_transaction({tp: 2}, zombie)
                await producer.abort_transaction()
            assert await consumer.committed(tp) == 1
        await producer.begin_transaction()
        await producer.send_offsets_to_transaction({tp: 3}, ConsumerGroupMetadata(group_id))
        await producer.commit_transaction()
    assert await visible(address, topic_name) == ["in"]
