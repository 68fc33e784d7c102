"""A compacted topic of the embedded broker has the shapes that Kafka's cleaner leaves."""

import struct
from typing import Any
from zlib import crc32

import pytest

from aiokafka_lite import (
    AIOKafkaAdminClient,
    AIOKafkaConsumer,
    AIOKafkaProducer,
    TopicPartition,
)
from aiokafka_lite.errors import IllegalStateError
from aiokafka_lite.record.batch_header import BatchHeader, parse_header
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.broker.state.log.log_cleaner import HORIZON
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka
from tests.testing.broker.bench import batch

DAY_S = 86_400
COMPACT = {"cleanup.policy": "compact"}


def headers(broker: EmbeddedBroker) -> list[BatchHeader]:
    return [parse_header(batch.data) for batch in broker.log(("t", 0)).batches()]


def keys(broker: EmbeddedBroker) -> list[tuple[int, bytes | None, bytes | None]]:
    return [(record.offset, record.key, record.value) for record in broker.records("t")]


async def send(kafka: VirtualKafka, *pairs: tuple[bytes, bytes | None], **options: Any) -> None:
    async with AIOKafkaProducer(**kafka.client_options, linger_ms=5, **options) as producer:
        sent = [await producer.send("t", value, key=key) for key, value in pairs]
        for each in sent:
            await each


@pytest.mark.parametrize("codec", [None, "gzip", "zstd"])
def test_of_each_key_the_newest_record_stays_at_its_offset(codec: str | None) -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t", configs=COMPACT)
        options = {"enable_idempotence": False, "compression_type": codec}
        await send(kafka, (b"a", b"1"), (b"b", b"1"), (b"c", b"1"), **options)
        await send(kafka, (b"a", b"2"), **options)
        await send(kafka, (b"a", b"3"), (b"b", b"2"), **options)
        kafka.broker.compact("t")
        assert keys(kafka.broker) == [(2, b"c", b"1"), (4, b"a", b"3"), (5, b"b", b"2")]
        first, last = headers(kafka.broker)
        assert (first.base_offset, first.last_offset_delta, first.records_count) == (0, 2, 1)
        assert (last.base_offset, last.records_count) == (4, 2)
        consumer = AIOKafkaConsumer(
            "t", **kafka.client_options, auto_offset_reset="earliest", check_crcs=True
        )
        async with consumer:
            read = [(await consumer.getone()).offset for _ in range(3)]
            assert read == [2, 4, 5]
            assert await consumer.position(TopicPartition("t", 0)) == 6
        await send(kafka, (b"d", b"1"), **options)
        assert keys(kafka.broker)[-1] == (6, b"d", b"1")

    run_virtual_kafka(main)


def test_a_tombstone_gets_a_horizon_and_goes_after_it() -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t", configs={**COMPACT, "delete.retention.ms": 60_000})
        await send(kafka, (b"a", b"1"), (b"b", b"1"), enable_idempotence=False)
        await send(kafka, (b"a", None), (b"c", b"1"), enable_idempotence=False)
        kafka.broker.compact("t")
        assert keys(kafka.broker) == [(1, b"b", b"1"), (2, b"a", None), (3, b"c", b"1")]
        times = [record.timestamp for record in kafka.broker.records("t")]
        assert [bool(each.attributes & HORIZON) for each in headers(kafka.broker)] == [False, True]
        await kafka.clock.sleep(59)
        kafka.broker.compact("t")
        assert len(keys(kafka.broker)) == 3
        await kafka.clock.sleep(2)
        kafka.broker.compact("t")
        assert keys(kafka.broker) == [(1, b"b", b"1"), (3, b"c", b"1")]
        kept = [record.timestamp for record in kafka.broker.records("t")]
        assert kept == [times[0], times[2]]

    run_virtual_kafka(main)


@pytest.mark.parametrize("codec", [None, "gzip", "snappy", "lz4", "zstd"])
def test_the_last_batch_of_a_producer_leaves_its_header(codec: str | None) -> None:
    """It stays as it is when the log is compacted again."""

    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t", configs=COMPACT)
        await send(kafka, (b"a", b"1"), compression_type=codec)
        await send(kafka, (b"a", b"2"), compression_type=codec)
        for _ in range(2):
            kafka.broker.compact("t")
            assert [each.records_count for each in headers(kafka.broker)] == [0, 1]
            assert keys(kafka.broker) == [(1, b"a", b"2")]

    run_virtual_kafka(main)


def test_what_stays_keeps_the_time_of_its_write() -> None:
    """With LogAppendTime the batch has it, and its records have the times of their producer."""

    async def main(kafka: VirtualKafka) -> None:
        settings = {**COMPACT, "message.timestamp.type": "LogAppendTime"}
        kafka.broker.create_topic("t", configs=settings)
        kafka.network.latency_s = 1.0
        options = {"enable_idempotence": False}
        await send(kafka, (b"a", b"1"), (b"b", b"1"), (b"c", None), **options)
        await send(kafka, (b"a", b"2"), **options)
        before = {each.offset: each.timestamp for each in kafka.broker.records("t")}
        kafka.broker.compact("t")
        after = {each.offset: each.timestamp for each in kafka.broker.records("t")}
        assert after == {offset: before[offset] for offset in (1, 2, 3)}
        first, _ = headers(kafka.broker)
        assert (first.records_count, first.max_timestamp) == (2, before[1])

    run_virtual_kafka(main)


def test_a_log_with_batches_of_an_older_format_is_compacted_up_to_them() -> None:
    # Magic 1, attributes 0, timestamp 1, key "a", value "b"; before it offset 2, size, CRC.
    body = bytes.fromhex("01 00 0000000000000001 00000001 61 00000001 62")
    message = struct.pack(">qiI", 2, len(body) + 4, crc32(body)) + body

    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t", configs=COMPACT)
        for value in (b"1", b"2"):
            await send(kafka, (b"a", value), enable_idempotence=False)
        kafka.broker.append(("t", 0), message)
        kafka.broker.compact("t")
        assert keys(kafka.broker) == [(1, b"a", b"2"), (2, b"a", b"b")]

    run_virtual_kafka(main)


def test_aborted_records_go_and_their_marker_goes_later() -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t", configs={**COMPACT, "delete.retention.ms": 60_000})
        producer = AIOKafkaProducer(**kafka.client_options, transactional_id="x")
        async with producer:
            for value, ends in (
                (b"1", producer.commit_transaction),
                (b"2", producer.abort_transaction),
            ):
                await producer.begin_transaction()
                await producer.send_and_wait("t", value, key=b"a")
                await ends()
        kafka.broker.compact("t")
        assert keys(kafka.broker) == [(0, b"a", b"1")]
        markers = [each for each in headers(kafka.broker) if each.is_control]
        assert [bool(each.attributes & HORIZON) for each in markers] == [False, True]
        await kafka.clock.sleep(61)
        kafka.broker.compact("t")
        assert sum(each.is_control for each in headers(kafka.broker)) == 1

    run_virtual_kafka(main)


def test_young_records_and_open_transactions_stay() -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t", configs={**COMPACT, "min.compaction.lag.ms": 60_000})
        await send(kafka, (b"a", b"1"), enable_idempotence=False)
        await send(kafka, (b"a", b"2"), enable_idempotence=False)
        kafka.broker.compact("t")
        assert len(keys(kafka.broker)) == 2
        await kafka.clock.sleep(61)
        kafka.broker.compact("t")
        assert len(keys(kafka.broker)) == 1

    run_virtual_kafka(main)


@pytest.mark.parametrize("timestamp_ms", [None, -1], ids=["with a timestamp", "without"])
def test_a_young_record_takes_the_place_of_none_before_it_may_be_compacted(
    timestamp_ms: int | None,
) -> None:
    """A record without a timestamp is as old as its write."""

    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t", configs={**COMPACT, "min.compaction.lag.ms": 60_000})
        for value in (b"1", b"2", b"3"):
            kafka.broker.produce("t", value, key=b"a", timestamp_ms=timestamp_ms)
            await kafka.clock.sleep(50)
        kafka.broker.compact("t")
        assert keys(kafka.broker) == [(1, b"a", b"2"), (2, b"a", b"3")]
        await kafka.clock.sleep(61)
        kafka.broker.compact("t")
        assert keys(kafka.broker) == [(2, b"a", b"3")]

    run_virtual_kafka(main)


def test_a_topic_that_is_not_compacted_is_refused() -> None:
    broker = EmbeddedBroker()
    broker.create_topic("t")
    with pytest.raises(IllegalStateError, match=r"no cleanup\.policy=compact"):
        broker.compact("t")


def test_retention_follows_the_brokers_clock() -> None:
    """`retention.ms` drops whole segments, when a request comes after the check is due."""

    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t", configs={"retention.ms": 60_000, "segment.ms": 1_000})
        kafka.broker.create_topic("kept", configs={"retention.ms": -1})
        async with AIOKafkaProducer(**kafka.client_options) as producer:
            for _ in range(2):
                await producer.send_and_wait("t", b"old")
                await producer.send_and_wait("kept", b"old")
                await kafka.clock.sleep(5)
            await kafka.clock.sleep(400)
            await producer.send_and_wait("t", b"new")
        assert [record.value for record in kafka.broker.records("t")] == [b"new"]
        assert kafka.broker.log(("t", 0)).log_start_offset == 2
        assert len(kafka.broker.records("kept")) == 2

    run_virtual_kafka(main)


@pytest.mark.parametrize("way", ["produce", "append", "send"])
def test_records_without_timestamps_are_as_old_as_their_write(way: str) -> None:
    """As a segment without timestamps on a real broker, which looks at the time of its file."""

    async def main(kafka: VirtualKafka) -> None:
        settings = {"retention.ms": 600_000, "segment.ms": 1_000}
        kafka.broker.create_topic("t", configs=settings)

        async def write(value: bytes) -> None:
            if way == "produce":
                kafka.broker.produce("t", value, timestamp_ms=-1)
            elif way == "append":
                kafka.broker.append(("t", 0), batch(value, timestamps=[-1]))
            else:
                async with AIOKafkaProducer(**kafka.client_options) as producer:
                    await producer.send_and_wait("t", value, timestamp_ms=-1)

        async def look() -> list[bytes | None]:
            async with AIOKafkaAdminClient(**kafka.client_options):
                return [record.value for record in kafka.broker.records("t")]

        await write(b"1")
        await kafka.clock.sleep(310)
        assert await look() == [b"1"]
        await write(b"2")
        await kafka.clock.sleep(310)
        assert await look() == [b"2"]
        await kafka.clock.sleep(310)
        assert await look() == []

    run_virtual_kafka(main)
