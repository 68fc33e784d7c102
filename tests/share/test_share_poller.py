"""A poll gives each record once, accepts what the last one gave, and a cancelled one loses none."""

import asyncio
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.errors import (
    CorruptRecordException,
    IllegalStateError,
    RecordDeserializationError,
)
from aiokafka_lite.model import AcknowledgeType
from aiokafka_lite.record.batch_builder import RecordBatchBuilder
from aiokafka_lite.serialization import NotPreparedError
from tests.share.share_kafka import GROUP, TOPIC, TP, ShareKafka, read, run_share, seen

LIMITED = {"share_acquire_mode": "record_limit", "max_poll_records": 2}


def test_the_next_poll_accepts_what_the_last_one_returned() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer() as consumer:
            assert seen(await read(consumer)) == [("a", 1), ("b", 1)]
            assert await read(consumer) == []
        async with share.consumer() as consumer:
            assert await read(consumer) == []

    run_share(main, "a", "b", together=True)


def test_in_explicit_mode_a_poll_refuses_until_all_is_acknowledged() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.explicit() as consumer:
            first, second = await read(consumer)
            consumer.acknowledge(first)
            with pytest.raises(IllegalStateError, match="1 returned records are not acknowledged"):
                await read(consumer)
            consumer.acknowledge(second, AcknowledgeType.RELEASE)
            assert seen(await read(consumer)) == [("b", 2)]

    run_share(main, "a", "b", together=True)


def test_with_a_record_limit_no_poll_returns_more() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer(**LIMITED) as consumer:
            found = [seen(await read(consumer)) for _ in range(3)]
            assert found == [[("0", 1), ("1", 1)], [("2", 1), ("3", 1)], [("4", 1)]]

    run_share(main, *"01234", together=True)


def test_optimized_for_batches_the_last_batch_comes_whole() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer(max_poll_records=2) as consumer:
            assert len(await read(consumer)) == 5

    run_share(main, *"01234", together=True)


def test_a_poll_may_ask_for_less_and_the_rest_comes_next() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer() as consumer:
            found = [seen(await read(consumer, max_records=2)) for _ in range(3)]
            assert found == [[("0", 1), ("1", 1)], [("2", 1), ("3", 1)], [("4", 1)]]

    run_share(main, *"01234", together=True)


def test_a_cancelled_poll_loses_nothing() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer() as consumer:
            waiting = asyncio.create_task(consumer.getmany(60_000))
            await asyncio.wait([waiting], timeout=1.0)
            waiting.cancel()
            await asyncio.wait([waiting])
            assert waiting.cancelled()
            await share.write("a")
            assert seen(await read(consumer)) == [("a", 1)]

    run_share(main)


def test_one_poll_at_a_time() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer() as consumer:
            waiting = asyncio.create_task(consumer.getmany(60_000))
            await asyncio.sleep(0)
            with pytest.raises(IllegalStateError, match="one poll at a time"):
                await consumer.getone()
            await share.write("a")
            assert await waiting

    run_share(main)


def number(data: bytes) -> int:
    return int(data)


def test_the_records_before_a_bad_one_come_first_and_reading_goes_on() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.explicit(value_deserializer=number) as consumer:
            (one,) = await read(consumer)
            consumer.acknowledge(one)
            with pytest.raises(RecordDeserializationError) as failed:
                await read(consumer)
            assert (failed.value.topic_partition, failed.value.offset) == (TP, 1)
            with pytest.raises(IllegalStateError, match="1 returned records"):
                await read(consumer)
            consumer.acknowledge_offset(TOPIC, 0, 1, AcknowledgeType.REJECT)
            (three,) = await read(consumer)
            assert three.value == 3
            consumer.acknowledge(three)
            assert await consumer.commit() == {TP: None}
            assert await read(consumer) == []

    run_share(main, "1", "two", "3", together=True)


def test_in_implicit_mode_a_bad_record_is_released_until_it_is_archived() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer(value_deserializer=number) as consumer:
            failures = 0
            found: list[int | None] = []
            while len(found) < 2:
                try:
                    found += [record.value for record in await read(consumer)]
                except RecordDeserializationError:
                    failures += 1
            assert found == [1, 3]
            for _ in range(2 - failures):
                with pytest.raises(RecordDeserializationError):
                    await read(consumer)
            assert await read(consumer) == []

    run_share(main, "1", "two", "3", together=True, configs={"delivery_count_limit": "2"})


@pytest.mark.parametrize("kind", ["async", "prepared"])
def test_deserializers_may_wait_even_if_no_poll_does(kind: str) -> None:
    ready: list[bool] = []

    async def prepare() -> None:
        await asyncio.sleep(3)
        ready.append(True)

    def prepared(data: bytes) -> int:
        if not ready:
            raise NotPreparedError("not yet", prepare)
        return int(data)

    async def slow(data: bytes) -> int:
        await asyncio.sleep(1)
        return int(data)

    deserializer: Any = slow if kind == "async" else prepared

    async def main(share: ShareKafka) -> None:
        async with share.consumer(value_deserializer=deserializer) as consumer:
            found: list[int | None] = []
            while len(found) < 3:
                found += [record.value for record in await read(consumer, 0)]
                await asyncio.sleep(0.1)
            assert found == [1, 2, 3]
            assert await consumer.commit() == {TP: None}

    run_share(main, "1", "2", "3", together=True)


def test_a_deserializer_that_cannot_be_prepared_is_asked_again() -> None:
    failures = [OSError("no registry"), None]
    ready: list[bool] = []

    async def prepare() -> None:
        if (failure := failures.pop(0)) is not None:
            raise failure
        ready.append(True)

    def prepared(data: bytes) -> int:
        if not ready:
            raise NotPreparedError("not yet", prepare)
        return int(data)

    async def main(share: ShareKafka) -> None:
        async with share.consumer(value_deserializer=prepared) as consumer:
            with pytest.raises(OSError, match="no registry"):
                await read(consumer)
            assert [record.value for record in await read(consumer)] == [1]

    run_share(main, "1")


def test_what_waited_longer_than_its_lock_is_not_returned() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer() as consumer:
            assert seen(await read(consumer, max_records=1)) == [("a", 1)]
            await asyncio.sleep(31)
            assert [count for _, count in seen(await read(consumer))] == [2, 2]

    run_share(main, "a", "b", together=True)


def test_damaged_records_are_told_and_given_back() -> None:
    async def main(share: ShareKafka) -> None:
        builder = RecordBatchBuilder(bytearray(1000))
        builder.append(0, None, b"damaged")
        builder.seal()
        batch = bytearray(builder.wire())
        batch[-3] ^= 1
        share.broker.append(TP, batch)
        async with share.explicit() as consumer:
            (record,) = await read(consumer)
            consumer.acknowledge(record)
            for _ in range(2):
                with pytest.raises(CorruptRecordException, match="t-0 at offset 1"):
                    await read(consumer)

    run_share(main, "a")


def test_records_taken_one_by_one() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer() as consumer:
            found = []
            async for record in consumer:
                found.append(record.value)
                if len(found) == 3:
                    break
            assert found == [b"a", b"b", b"c"]
            await consumer.commit()
        async with share.consumer() as consumer:
            assert await read(consumer) == []

    run_share(main, "a", "b", "c", together=True)


def test_offsets_without_records_are_given_back_while_a_poll_waits() -> None:
    async def main(share: ShareKafka) -> None:
        options = share.kafka.client_options
        async with (
            AIOKafkaProducer(**options, transactional_id="tx") as producer,
            share.consumer() as consumer,
        ):
            async with producer.transaction():
                await producer.send_and_wait(TOPIC, b"a", partition=0)
                assert seen(await read(consumer)) == [("a", 1)]
                waiting = asyncio.create_task(consumer.getone())
                await asyncio.sleep(1)
            await asyncio.sleep(1)
            (partition,) = share.broker.group(GROUP).shares.values()
            assert (partition.start_offset, partition.end_offset) == (2, 1), "the marker is done"
            await share.write("b")
            assert seen([await waiting]) == [("b", 1)]

    run_share(main)
