"""What clients put up with: topics that come later, and partitions that stay paused for long."""

import asyncio
from collections.abc import Callable

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka
from tests.scenarios.consuming import fill

PAUSED, READ = TopicPartition("t", 0), TopicPartition("t", 1)
RECORDS, VALUE = 400, bytes(1_000)
BUFFER_BYTES = 10_000


def test_a_subscribed_topic_may_be_created_much_later() -> None:
    async def main(kafka: VirtualKafka) -> bytes | None:
        async with AIOKafkaConsumer(
            "late", "never", group_id="g", auto_offset_reset="earliest", **kafka.client_options
        ) as consumer:
            assert await consumer.getmany(timeout_ms=600_000) == {}
            kafka.broker.create_topic("late")
            fill(kafka.broker, TopicPartition("late", 0), 1)
            return (await consumer.getone()).value

    assert run_virtual_kafka(main, auto_create_topics=False) == b"v0"


def test_a_record_waits_for_its_topic_within_max_block_ms() -> None:
    async def main(kafka: VirtualKafka) -> int:
        async with AIOKafkaProducer(max_block_ms=600_000, **kafka.client_options) as producer:
            sending = asyncio.ensure_future(producer.send_and_wait("late", b"v"))
            await asyncio.sleep(500)
            assert not sending.done()
            kafka.broker.create_topic("late")
            return (await sending).offset

    assert run_virtual_kafka(main, auto_create_topics=False) == 0


def test_a_paused_partition_takes_no_more_memory_than_the_buffer_and_loses_nothing() -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t", partitions=2)
        async with AIOKafkaProducer(linger_ms=0, **kafka.client_options) as producer:
            for _ in range(RECORDS // 4):  # batches of four records
                for partition in (0, 1):
                    await producer.send_many("t", [VALUE] * 4, partition=partition)
                    await producer.flush()
        async with AIOKafkaConsumer(
            auto_offset_reset="earliest",
            fetch_max_bytes=10_000,
            max_partition_fetch_bytes=10_000,
            fetch_buffer_bytes=BUFFER_BYTES,
            max_poll_records=1,
            **kafka.client_options,
        ) as consumer:
            consumer.assign([PAUSED, READ])
            seen: dict[TopicPartition, list[int]] = {PAUSED: [], READ: []}
            most = 0

            async def read(wanted: Callable[[], bool]) -> None:
                nonlocal most
                while not wanted():
                    for tp, records in (await consumer.getmany(timeout_ms=5_000)).items():
                        seen[tp] += [each.offset for each in records]
                    most = max(most, consumer.statistics().unread_bytes)

            await read(lambda: bool(seen[PAUSED]))
            consumer.pause(PAUSED)
            before = len(seen[PAUSED])
            await read(lambda: len(seen[READ]) == RECORDS)
            assert len(seen[PAUSED]) == before
            assert most <= BUFFER_BYTES + 10_000, "one more response"
            consumer.resume(PAUSED)
            await read(lambda: len(seen[PAUSED]) == RECORDS)
        assert seen == {PAUSED: list(range(RECORDS)), READ: list(range(RECORDS))}

    run_virtual_kafka(main)
