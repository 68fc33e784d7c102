"""The same claims on the embedded broker and on real Kafka: what goes out comes back."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.errors import UnknownTopicOrPartitionError
from tests.support.topics import KEEP_OLD_RECORDS, create_topic, delete_topic

CODECS = (None, "gzip", "snappy", "lz4", "zstd")
RECORDS = 500


async def read_all(
    consumer: AIOKafkaConsumer[bytes, bytes], count: int
) -> dict[TopicPartition, list[tuple[int, bytes | None, bytes | None]]]:
    seen: dict[TopicPartition, list[tuple[int, bytes | None, bytes | None]]] = {}
    async with asyncio.timeout(30):
        while sum(map(len, seen.values())) < count:
            for partition, records in (await consumer.getmany(timeout_ms=500)).items():
                place = seen.setdefault(partition, [])
                place.extend((record.offset, record.key, record.value) for record in records)
    return seen


@pytest.mark.parametrize("codec", CODECS)
async def test_every_record_comes_back_in_order_per_key(
    any_kafka: str, topic_name: str, codec: Any
) -> None:
    await create_topic(any_kafka, topic_name, partitions=3)
    async with AIOKafkaProducer(bootstrap_servers=any_kafka, compression_type=codec) as producer:
        acks = [
            await producer.send(topic_name, b"%d" % n, b"key %d" % (n % 7)) for n in range(RECORDS)
        ]
        written = [await ack for ack in acks]
    async with AIOKafkaConsumer(
        topic_name, bootstrap_servers=any_kafka, auto_offset_reset="earliest"
    ) as consumer:
        seen = await read_all(consumer, RECORDS)
    by_key: dict[bytes | None, list[int]] = {}
    for partition, records in seen.items():
        assert [offset for offset, _, _ in records] == list(range(len(records)))
        for offset, key, value in records:
            number = int(value or b"")
            by_key.setdefault(key, []).append(number)
            assert (written[number].partition, written[number].offset) == (
                partition.partition,
                offset,
            )
    assert by_key == {b"key %d" % k: list(range(k, RECORDS, 7)) for k in range(7)}


async def test_headers_timestamps_and_nulls_survive(any_kafka: str, topic_name: str) -> None:
    await create_topic(any_kafka, topic_name, configs=KEEP_OLD_RECORDS)
    headers = [("trace", b"\x00\xff"), ("empty", b""), ("none", None), ("trace", b"again")]
    async with AIOKafkaProducer(bootstrap_servers=any_kafka) as producer:
        await producer.send_and_wait(
            topic_name, None, b"gone", timestamp_ms=1_700_000_000_000, headers=headers
        )
        await producer.send_and_wait(topic_name, b"", None)
    async with AIOKafkaConsumer(
        topic_name, bootstrap_servers=any_kafka, auto_offset_reset="earliest"
    ) as consumer:
        tombstone, empty = await consumer.getone(), await consumer.getone()
    assert (tombstone.key, tombstone.value) == (b"gone", None)
    assert tombstone.headers == tuple(headers)
    assert (tombstone.timestamp, tombstone.timestamp_type) == (1_700_000_000_000, 0)
    assert (tombstone.serialized_key_size, tombstone.serialized_value_size) == (4, -1)
    assert (empty.key, empty.value, empty.headers) == (None, b"", ())


async def test_log_append_time_is_the_brokers(any_kafka: str, topic_name: str) -> None:
    await create_topic(any_kafka, topic_name, configs={"message.timestamp.type": "LogAppendTime"})
    async with AIOKafkaProducer(bootstrap_servers=any_kafka) as producer:
        metadata = await producer.send_and_wait(topic_name, b"x", timestamp_ms=1)
    async with AIOKafkaConsumer(
        topic_name, bootstrap_servers=any_kafka, auto_offset_reset="earliest"
    ) as consumer:
        record = await consumer.getone()
    assert metadata.timestamp_type == record.timestamp_type == 1
    assert metadata.timestamp == record.timestamp > 1_000_000_000_000


async def test_positions_and_seeks(any_kafka: str, topic_name: str) -> None:
    await create_topic(any_kafka, topic_name)
    partition = TopicPartition(topic_name, 0)
    async with AIOKafkaProducer(bootstrap_servers=any_kafka, max_batch_size=100) as producer:
        for number in range(20):
            await producer.send(topic_name, b"%d" % number)
    async with AIOKafkaConsumer(bootstrap_servers=any_kafka) as consumer:
        consumer.assign([partition])
        assert await consumer.position(partition) == 20
        assert await consumer.beginning_offsets([partition]) == {partition: 0}
        assert await consumer.end_offsets([partition]) == {partition: 20}
        consumer.seek(partition, 17)
        seen = await read_all(consumer, 3)
        assert [offset for offset, _, _ in seen[partition]] == [17, 18, 19]
        await consumer.seek_to_beginning(partition)
        assert (await consumer.getone()).value == b"0"
        assert await consumer.position(partition) == 1
        await consumer.seek_to_end()
        assert await consumer.getmany(timeout_ms=50) == {}
        assert consumer.highwater(partition) == 20


async def test_a_long_poll_is_answered_by_the_next_record(any_kafka: str, topic_name: str) -> None:
    await create_topic(any_kafka, topic_name)
    async with (
        AIOKafkaProducer(bootstrap_servers=any_kafka) as producer,
        AIOKafkaConsumer(
            topic_name, bootstrap_servers=any_kafka, fetch_max_wait_ms=20_000
        ) as consumer,
    ):
        await consumer.seek_to_end()  # before there is anything, however long that takes
        assert await consumer.getmany(timeout_ms=100) == {}
        await producer.send_and_wait(topic_name, b"at last")
        polled = await consumer.getmany(timeout_ms=15_000)
    assert [record.value for records in polled.values() for record in records] == [b"at last"]


async def test_a_record_larger_than_the_fetch_limits_still_comes(
    any_kafka: str, topic_name: str
) -> None:
    """Both limits are soft for the first batch of an answer (A4)."""
    await create_topic(any_kafka, topic_name)
    values = [b"a" * 300_000, b"b" * 300_000, b"c"]
    async with AIOKafkaProducer(bootstrap_servers=any_kafka) as producer:
        for value in values:
            await producer.send_and_wait(topic_name, value)
    async with AIOKafkaConsumer(
        topic_name,
        bootstrap_servers=any_kafka,
        auto_offset_reset="earliest",
        fetch_max_bytes=1000,
        max_partition_fetch_bytes=1000,
    ) as consumer:
        seen = await read_all(consumer, 3)
    assert [value for records in seen.values() for _, _, value in records] == values


async def test_the_consumer_survives_a_topic_that_is_deleted_under_it(
    any_kafka: str, topic_name: str
) -> None:
    """Nothing hangs: every poll ends within its timeout, with nothing or with an error that names
    the topic.
    """
    await create_topic(any_kafka, topic_name)
    async with AIOKafkaConsumer(
        topic_name, bootstrap_servers=any_kafka, auto_offset_reset="earliest"
    ) as consumer:
        await consumer.getmany(timeout_ms=100)
        await delete_topic(any_kafka, topic_name)
        async with asyncio.timeout(30):
            for _ in range(10):
                with suppress(UnknownTopicOrPartitionError):
                    assert await consumer.getmany(timeout_ms=100) == {}
