"""An integer counts by its `__index__`, as those of numpy and pandas do, and a bool is none."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from fractions import Fraction
from typing import Any

import pytest

from aiokafka_lite import (
    AIOKafkaAdminClient,
    AIOKafkaConsumer,
    AIOKafkaProducer,
    AIOKafkaShareConsumer,
    KeyedWorkers,
    OffsetAndMetadata,
    RecordMetadata,
    TopicPartition,
)
from aiokafka_lite.admin import NewPartitions, NewTopic, RecordsToDelete
from aiokafka_lite.checks.value_checks import is_int, whole
from aiokafka_lite.testing.broker import EmbeddedBroker


class _Int64(Fraction):
    """As numpy.int64: equal to an int and hashed alike, but no int."""

    def __index__(self) -> int:
        return int(self)


Int64: Any = _Int64
ZERO = Int64(0)
ONE = Int64(1)
FIVE = Int64(5)
T1 = TopicPartition("t", ONE)
Act = Callable[[Any], Awaitable[Any]]


@asynccontextmanager
async def filled() -> AsyncIterator[EmbeddedBroker]:
    async with EmbeddedBroker() as broker:
        broker.create_topic("t", partitions=2)
        for number in range(10):
            broker.produce("t", b"%d" % number, partition=1)
        yield broker


async def sought(consumer: Any) -> Any:
    consumer.seek(T1, FIVE)
    return await consumer.position(T1)


async def sought_with_epoch(consumer: Any) -> Any:
    consumer.seek(T1, OffsetAndMetadata(FIVE, "", Int64(-1)))
    return (await consumer.getone()).offset


async def committed(consumer: Any) -> Any:
    await consumer.commit({T1: FIVE})
    await consumer.commit({T1: (FIVE, "note")})
    return await consumer.committed(TopicPartition("t", 1))


async def stored(consumer: Any) -> Any:
    consumer.pause(T1)
    consumer.resume(T1)
    return consumer.highwater(T1) or 5


async def limited(consumer: Any) -> Any:
    return sum(map(len, (await consumer.getmany(timeout_ms=5000, max_records=FIVE)).values()))


async def by_time(consumer: Any) -> Any:
    await consumer.seek_to_timestamp(ZERO, T1)
    found = await consumer.offsets_for_times({T1: ZERO})
    return found[T1].offset + 5


async def by_spec(consumer: Any) -> Any:
    return (await consumer.list_offsets({T1: ZERO}))[T1].offset + 5


async def ends(consumer: Any) -> Any:
    return (await consumer.end_offsets([T1]))[T1] - 5


@pytest.mark.parametrize(
    "act",
    [sought, sought_with_epoch, committed, stored, limited, by_time, by_spec, ends],
    ids=lambda act: act.__name__,
)
async def test_of_a_consumer(act: Act) -> None:
    async with (
        filled() as broker,
        AIOKafkaConsumer(
            bootstrap_servers=broker.bootstrap_servers,
            group_id="g",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            request_timeout_ms=Int64(10_000),
        ) as consumer,
    ):
        consumer.assign([T1])
        assert await act(consumer) == 5


async def sent(producer: Any) -> Any:
    return await producer.send_and_wait("t", b"v", partition=ONE, timestamp_ms=FIVE)


async def sent_later(producer: Any) -> Any:
    return await producer.send_nowait("t", b"v", partition=ONE, timestamp_ms=FIVE)


async def sent_together(producer: Any) -> Any:
    acks = await producer.send_many("t", [b"v"], partition=ONE, timestamp_ms=FIVE)
    await acks
    return RecordMetadata("t", 1, T1, 10, None, 0, None)


async def sent_as_a_batch(producer: Any) -> Any:
    batch = producer.create_batch()
    batch.append(key=None, value=b"v", timestamp=FIVE)
    return await (await producer.send_batch(batch, "t", partition=ONE))


@pytest.mark.parametrize(
    "act", [sent, sent_later, sent_together, sent_as_a_batch], ids=lambda act: act.__name__
)
async def test_of_a_producer(act: Act) -> None:
    async with (
        filled() as broker,
        AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer,
    ):
        await producer.partitions_for("t")
        found = await act(producer)
        assert (found.partition, found.offset) == (1, 10)
        record = broker.records("t")[-1]
        assert (record.partition, record.timestamp) == (1, 5)


async def test_of_an_administrator() -> None:
    async with (
        filled() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        await admin.create_topics([NewTopic("u", num_partitions=FIVE, replication_factor=ONE)])
        assert len(broker.cluster.topic_by_name("u").partitions) == 5
        await admin.create_partitions({"u": NewPartitions(Int64(6))})
        assert len(broker.cluster.topic_by_name("u").partitions) == 6
        await admin.delete_records({T1: RecordsToDelete(FIVE)})
        assert [record.offset for record in broker.records("t")] == [5, 6, 7, 8, 9]


async def test_of_share_consumers_and_workers() -> None:
    async with filled() as broker:
        servers = broker.bootstrap_servers
        async with AIOKafkaShareConsumer("t", group_id="s", bootstrap_servers=servers) as share:
            assert await share.getmany(0, FIVE) == {}
        consumer = AIOKafkaConsumer(
            "t", group_id="g", enable_auto_commit=False, bootstrap_servers=servers
        )

        async def handle(_: Any) -> None:
            pass

        async with KeyedWorkers(
            consumer, handle, concurrency=FIVE, max_records=Int64(10), retries=ONE
        ) as workers:
            workers.stop()
            await workers.run()


@pytest.mark.parametrize("value", [True, False, 1.0, "1", None, Fraction(1)])
def test_nothing_else_is_an_integer(value: object) -> None:
    assert not is_int(whole(value))
    assert is_int(whole(ONE))
