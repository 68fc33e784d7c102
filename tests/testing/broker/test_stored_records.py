"""Records that a test writes and reads on the broker, beside those of real clients."""

import asyncio
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.errors import InvalidTopicError, UnknownTopicOrPartitionError
from aiokafka_lite.model import TimestampType
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock

TIMEOUT_S = 30


async def test_a_consumer_gets_what_a_test_produced() -> None:
    async with EmbeddedBroker() as broker:
        written = broker.produce("orders", "café", key=b"k", headers=[("h", b"1"), ("n", None)])
        async with AIOKafkaConsumer(
            "orders", bootstrap_servers=broker.bootstrap_servers, auto_offset_reset="earliest"
        ) as consumer:
            record = await asyncio.wait_for(consumer.getone(), TIMEOUT_S)
            waiting = asyncio.ensure_future(consumer.getone())
            await broker.wait_until(lambda: not waiting.done())
            broker.produce("orders", None, key="later", timestamp_ms=7)
            later = await asyncio.wait_for(waiting, TIMEOUT_S)
    assert (record.key, record.value) == (b"k", "café".encode())
    assert list(record.headers) == [("h", b"1"), ("n", None)]
    assert (
        (record.offset, record.timestamp) == (written.offset, written.timestamp) == (0, written[4])
    )
    assert (later.key, later.value, later.timestamp) == (b"later", None, 7)


async def test_a_test_reads_what_a_producer_sent_compressed() -> None:
    async with (
        EmbeddedBroker(num_partitions=3) as broker,
        AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, compression_type="gzip"
        ) as producer,
    ):
        keys = [b"%d" % number for number in range(12)]
        for key in keys:
            await producer.send_and_wait("orders", b"a" * 100, key=key)
        sent = {record.key: record.partition for record in broker.records("orders")}
        assert set(sent) == set(keys)
        assert {record.value for record in broker.records("orders")} == {b"a" * 100}
        assert [record.partition for record in broker.records("orders")] == sorted(sent.values())
        in_two = [key for key, partition in sent.items() if partition == 2]
        assert [record.key for record in broker.records("orders", partition=2)] == in_two
        for key in keys:  # where the producer's partitioner has put them
            assert broker.produce("orders", b"", key=key).partition == sent[key]


async def test_only_what_is_committed_is_read_on_request() -> None:
    async with EmbeddedBroker() as broker:
        servers = broker.bootstrap_servers
        async with AIOKafkaProducer(bootstrap_servers=servers, transactional_id="t") as producer:
            broker.produce("orders", b"plain")
            async with producer.transaction():
                await producer.send_and_wait("orders", b"committed")
            await producer.begin_transaction()
            await producer.send_and_wait("orders", b"aborted")
            await producer.abort_transaction()
            broker.produce("orders", b"before the open one")
            await producer.begin_transaction()
            await producer.send_and_wait("orders", b"open")
            broker.produce("orders", b"behind the open one")
            every = [record.value for record in broker.records("orders")]
            committed = [record.value for record in broker.records("orders", committed=True)]
            await producer.commit_transaction()
            last = [record.value for record in broker.records("orders", committed=True)][-2:]
    before = [b"plain", b"committed"]
    assert every == [
        *before,
        b"aborted",
        b"before the open one",
        b"open",
        b"behind the open one",
    ]
    assert committed == [*before, b"before the open one"]
    assert last == [b"open", b"behind the open one"]


async def test_a_wait_for_a_record_ends_when_it_is_written() -> None:
    async with EmbeddedBroker() as broker:
        broker.create_topic("orders")
        written = asyncio.ensure_future(broker.wait_until(lambda: bool(broker.records("orders"))))
        await asyncio.sleep(0)
        assert not written.done()
        broker.produce("orders", "1")
        await asyncio.wait_for(written, TIMEOUT_S)


def test_without_a_key_partitions_fill_evenly() -> None:
    broker = EmbeddedBroker()
    broker.create_topic("t", partitions=3)
    broker.produce("t", b"0", partition=1)
    assert [broker.produce("t", b"").partition for _ in range(5)] == [0, 2, 0, 1, 2]


def test_the_brokers_clock_gives_the_timestamp() -> None:
    broker = EmbeddedBroker(clock=FakeClock(start=5.0))
    broker.create_topic("appended", configs={"message.timestamp.type": "LogAppendTime"})
    now_ms = 1_767_225_605_000
    by_default, given = (
        broker.produce("created", b""),
        broker.produce("created", b"", timestamp_ms=9),
    )
    assert [by_default.timestamp, given.timestamp] == [now_ms, 9]
    appended = broker.produce("appended", b"", timestamp_ms=9)
    assert (appended.timestamp, appended.timestamp_type) == (now_ms, TimestampType.LOG_APPEND_TIME)
    assert [record.timestamp for record in broker.records("appended")] == [now_ms]


def test_a_broker_in_a_thread_is_used_alike(kafka_broker: EmbeddedBroker) -> None:
    kafka_broker.produce("t", "1")
    assert [record.value for record in kafka_broker.records("t")] == [b"1"]


def test_what_cannot_be_is_refused() -> None:
    broker = EmbeddedBroker(auto_create_topics=False)
    for call in (lambda: broker.produce("t", b""), lambda: broker.records("t")):
        with pytest.raises(UnknownTopicOrPartitionError, match="'t' does not exist"):
            call()
    broker.create_topic("t", partitions=2)
    with pytest.raises(UnknownTopicOrPartitionError, match="no partition 2; it has 2"):
        broker.produce("t", b"", partition=2)
    with pytest.raises(UnknownTopicOrPartitionError, match="no partition -1"):
        broker.records("t", partition=-1)
    number: Any = 5
    with pytest.raises(TypeError, match="value=5 is of type int; give bytes, a str or None"):
        broker.produce("t", number)
    with pytest.raises(TypeError, match="key=5 is of type int"):
        broker.produce("t", b"", key=number)
    assert broker.records("t") == []
    with pytest.raises(InvalidTopicError):
        EmbeddedBroker().produce("not a name", b"")
