"""The polls go on while handlers work, survive what passes, and end with what does not."""

import asyncio
from collections.abc import Hashable
from typing import Any

import pytest

from aiokafka_lite.errors import ConsumerStoppedError, HandlerFailedError, KafkaTimeoutError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.workers.running import Pool, Record, committed, embedded_topic, number_of, write


async def test_a_handler_may_work_longer_than_the_poll_interval() -> None:
    clock = FakeClock(autojump_threshold_s=0.02)
    async with embedded_topic(records=2, keys=1, clock=clock) as broker:
        pool = Pool(
            broker,
            clock=clock,
            consumer={"max_poll_interval_ms": 6000, "session_timeout_ms": 6000},
            max_records=4,
            concurrency=1,
            commit_interval_ms=1000,
        )

        async def handle(_: Record) -> None:
            await clock.sleep(8)

        pool.does(handle)
        async with pool.running():
            await broker.wait_until(lambda: len(pool.ended) == 2)
        assert len(pool.began) == 2, "the member was never lost, so nothing came twice"
        assert committed(broker) == {0: 2}


async def test_a_poll_that_fails_for_now_is_followed_by_another() -> None:
    clock = FakeClock(autojump_threshold_s=0.02)
    async with embedded_topic(records=4, clock=clock) as broker:
        pool = Pool(broker, clock=clock)
        getmany, errors = pool.consumer.getmany, [KafkaTimeoutError("soon")]

        async def fails_once(**options: float) -> object:
            if errors:
                raise errors.pop()
            return await getmany(**options)  # type: ignore[arg-type]

        pool.consumer.getmany = fails_once  # type: ignore[method-assign,assignment]
        async with pool.running():
            await broker.wait_until(lambda: len(pool.ended) == 4)


async def test_a_consumer_that_somebody_stops_ends_the_run() -> None:
    async with embedded_topic(records=1) as broker:
        pool = Pool(broker)
        async with pool.workers:
            run = asyncio.create_task(pool.workers.run())
            await broker.wait_until(lambda: len(pool.ended) == 1)
            await pool.consumer.stop()
            with pytest.raises(ConsumerStoppedError):
                await run


async def test_a_key_that_is_not_hashable_ends_the_run_and_names_the_record() -> None:
    async with embedded_topic(records=1) as broker:
        pool = Pool(broker, order=lambda record: [record.key])
        async with pool.workers:
            with pytest.raises(HandlerFailedError, match=r"-0 offset 0: .*unhashable"):
                await pool.workers.run()
        assert not committed(broker)


@pytest.mark.parametrize("refusal", [TypeError, ValueError])
async def test_what_came_with_a_record_that_cannot_be_queued_is_not_committed(
    refusal: type[Exception],
) -> None:
    async with embedded_topic(records=4, partitions=2, keys=2) as broker:

        def key_of(record: Record) -> Hashable:
            if number_of(record) == 4:
                raise refusal
            return record.key

        pool = Pool(broker, order=key_of, commit_interval_ms=60_000)
        getmany = pool.consumer.getmany

        async def together(**options: Any) -> dict[TopicPartition, list[Record]]:
            """One poll with both partitions, that of the bad record first."""
            found: dict[TopicPartition, list[Record]] = {}
            while len(found) < 2:
                found |= await getmany(**options)
            return dict(sorted(found.items()))

        async with pool.workers:
            run = asyncio.create_task(pool.workers.run())
            await broker.wait_until(lambda: len(pool.ended) == 4)
            pool.consumer.getmany = together  # type: ignore[method-assign,assignment]
            await write(broker, range(4, 6), keys=2)
            with pytest.raises(HandlerFailedError, match=refusal.__name__):
                await run
        assert committed(broker) == {0: 2, 1: 2}
