"""The public workers: order, bounds, retries, stops and signals, on the embedded broker."""

import asyncio
import os
import signal
from collections import defaultdict
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, KeyedWorkers
from aiokafka_lite.errors import HandlerFailedError, IllegalStateError, KafkaConfigurationError
from aiokafka_lite.testing.fake_clock import settle
from tests.workers.running import T0, Pool, Record, committed, embedded_topic, number_of


@pytest.mark.parametrize("order", ["key", "partition", "unordered"])
async def test_every_record_is_handled_in_its_order(order: str) -> None:
    async with embedded_topic(records=200, partitions=4) as broker:
        pool = Pool(broker, order=order)
        newest = defaultdict[Any, int](lambda: -1)
        at_once = most = 0

        async def handle(record: Record) -> None:
            nonlocal at_once, most
            at_once += 1
            most = max(most, at_once)
            await asyncio.sleep(0.0001 * (number_of(record) % 7))
            chain = {"key": record.key, "partition": record.partition}.get(order)
            if chain is not None:
                assert newest[chain] < number_of(record)
                newest[chain] = number_of(record)
            at_once -= 1

        pool.does(handle)
        async with pool.running():
            await broker.wait_until(lambda: len(pool.ended) == 200)
        assert len(set(pool.began)) == len(pool.began) == 200
        assert most <= {"key": 10, "partition": 4}.get(order, 50)
        assert most > 1
        assert committed(broker) == {n: broker.log((T0.topic, n)).high_watermark for n in range(4)}


async def test_no_more_handlers_run_than_asked_for() -> None:
    async with embedded_topic(records=50, keys=50) as broker:
        pool = Pool(broker, concurrency=3)
        running = most = 0

        async def handle(_: Record) -> None:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0)
            running -= 1

        pool.does(handle)
        async with pool.running():
            await broker.wait_until(lambda: len(pool.ended) == 50)
        assert most == 3


async def test_a_stop_lets_running_handlers_end_and_drops_the_rest() -> None:
    async with embedded_topic(records=20, keys=20) as broker:
        pool, gate = Pool(broker, concurrency=2), asyncio.Event()

        async def handle(_: Record) -> None:
            await gate.wait()

        pool.does(handle)
        async with pool.running() as run:
            await broker.wait_until(lambda: len(pool.began) == 2)
            pool.workers.stop()
            await asyncio.sleep(0)
            assert not run.done()
            gate.set()
            await run
        assert pool.ended == pool.began == [(0, 0), (0, 1)]
        assert committed(broker) == {0: 2}


async def test_a_cancelled_run_cancels_handlers_and_commits_what_is_finished() -> None:
    async with embedded_topic(records=20, keys=20) as broker:
        pool, gate = Pool(broker, concurrency=2, commit_interval_ms=100_000), asyncio.Event()

        async def handle(record: Record) -> None:
            if record.offset >= 3:
                await gate.wait()

        pool.does(handle)
        async with pool.workers:
            run = asyncio.create_task(pool.workers.run())
            await broker.wait_until(lambda: len(pool.began) == 5)
            run.cancel()
            with pytest.raises(asyncio.CancelledError):
                await run
        assert len(pool.ended) == 3
        assert committed(broker) == {0: 3}


async def test_a_stop_that_is_cancelled_still_commits_what_is_finished() -> None:
    async with embedded_topic(records=20, keys=20) as broker:
        pool = Pool(broker, concurrency=2, commit_interval_ms=100_000)

        async def handle(record: Record) -> None:
            if record.offset >= 3:
                await asyncio.Event().wait()

        pool.does(handle)
        async with pool.workers:
            run = asyncio.create_task(pool.workers.run())
            await broker.wait_until(lambda: len(pool.began) == 5)
            pool.workers.stop()
            await settle()
            run.cancel()
            with pytest.raises(asyncio.CancelledError):
                await run
        assert committed(broker) == {0: 3}


async def test_a_signal_stops_the_workers_and_is_left_alone_afterwards() -> None:
    async with embedded_topic(records=3) as broker:
        pool = Pool(broker)
        before = signal.getsignal(signal.SIGTERM)
        async with pool.running() as run:
            pool.workers.stop_on_signals()
            await broker.wait_until(lambda: len(pool.ended) == 3)
            os.kill(os.getpid(), signal.SIGTERM)
            await run
        assert signal.getsignal(signal.SIGTERM) is before
        assert committed(broker) == {0: 3}


async def test_a_record_that_fails_for_good_stops_the_workers() -> None:
    async with embedded_topic(records=5) as broker:
        pool = Pool(broker, retries=2, retry_backoff_ms=1)

        async def handle(record: Record) -> None:
            if record.offset == 2:
                raise ValueError("no")

        pool.does(handle)
        async with pool.workers:
            with pytest.raises(HandlerFailedError, match=r"t-0 offset 2 .*after 3 attempts") as it:
                await pool.workers.run()
        assert isinstance(it.value.__cause__, ValueError)
        assert (it.value.topic_partition, it.value.offset) == (T0, 2)
        assert pool.began.count((0, 2)) == 3
        assert committed(broker) == {0: 2}


async def test_the_end_of_the_block_ends_a_run_beside_it() -> None:
    async with embedded_topic(records=3) as broker:
        pool = Pool(broker)
        async with pool.workers:
            run = asyncio.create_task(pool.workers.run())
            await broker.wait_until(lambda: len(pool.ended) == 3)
        await run
        assert committed(broker) == {0: 3}


async def test_a_run_needs_the_block_and_happens_once() -> None:
    async with embedded_topic() as broker:
        pool = Pool(broker)
        with pytest.raises(IllegalStateError, match="use `async with`"):
            await pool.workers.run()
        async with pool.workers:
            pool.workers.stop()
            await pool.workers.run()
            with pytest.raises(IllegalStateError, match="make new ones"):
                await pool.workers.run()


async def test_a_handler_that_is_no_coroutine_is_refused() -> None:
    async with embedded_topic(records=1) as broker:
        pool = Pool(broker)
        workers = KeyedWorkers(pool.consumer, lambda _: None)  # type: ignore[arg-type,return-value]
        async with workers:
            with pytest.raises(KafkaConfigurationError, match="make it an `async def`"):
                await workers.run()
        assert not committed(broker)


async def test_assigned_partitions_work_without_a_subscription() -> None:
    async with embedded_topic(records=5) as broker:
        pool = Pool(broker)
        consumer = AIOKafkaConsumer[Any, Any](
            bootstrap_servers=broker.bootstrap_servers,
            group_id="g",
            enable_auto_commit=False,
            auto_offset_reset="earliest",
        )
        consumer.assign([T0])
        ended = []

        async def handle(record: Record) -> None:
            ended.append(record.offset)
            if len(ended) == 5:
                workers.stop()

        async with KeyedWorkers(consumer, handle) as workers:
            await workers.run()
        assert ended == [0, 1, 2, 3, 4]
        assert committed(broker) == {0: 5}
        assert not pool.began


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"group_id": None}, "the consumer has no group_id"),
        ({"enable_auto_commit": True}, "set enable_auto_commit=False"),
    ],
)
async def test_a_consumer_that_cannot_work_is_refused(options: dict[str, Any], fault: str) -> None:
    options = {"group_id": "g", "enable_auto_commit": False, **options}
    consumer = AIOKafkaConsumer[Any, Any]("t", **options)

    async def handle(_: Record) -> None:
        pass

    with pytest.raises(KafkaConfigurationError, match=fault):
        KeyedWorkers(consumer, handle)


async def test_a_started_consumer_is_refused() -> None:
    async with embedded_topic() as broker:
        pool = Pool(broker)
        async with pool.workers:
            with pytest.raises(KafkaConfigurationError, match="leave that to the workers"):
                KeyedWorkers(pool.consumer, pool._nothing)


async def test_what_is_no_handler_or_no_consumer_is_refused() -> None:
    consumer = AIOKafkaConsumer[Any, Any]("t", group_id="g", enable_auto_commit=False)
    no_handler: Any = 3
    with pytest.raises(KafkaConfigurationError, match="the handler 3 cannot be called; give an"):
        KeyedWorkers(consumer, no_handler)
    no_consumer: Any = None
    with pytest.raises(KafkaConfigurationError, match="need an AIOKafkaConsumer, not None"):
        KeyedWorkers(no_consumer, no_handler)
