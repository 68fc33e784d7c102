"""The consumer's partitions are paused and resumed, so that memory has a bound."""

import asyncio

from tests.workers.running import T0, Pool, Record, committed, embedded_topic, write


async def test_one_slow_partition_does_not_stop_the_others() -> None:
    async with embedded_topic(records=400, partitions=2, keys=2) as broker:
        pool, gate = Pool(broker, max_records=60), asyncio.Event()
        most = 0

        async def handle(record: Record) -> None:
            nonlocal most
            most = max(most, pool.workers.statistics().unfinished_records)
            if record.partition == 0:
                await gate.wait()

        pool.does(handle)
        async with pool.running():
            await broker.wait_until(lambda: len(pool.ended) == 200)
            assert {tp.partition for tp in pool.consumer.paused()} == {0}
            assert pool.began.count((0, 0)) == 1
            gate.set()
            await broker.wait_until(lambda: len(pool.ended) == 400)
            assert not pool.consumer.paused()
        assert most <= 60
        assert committed(broker) == {0: 200, 1: 200}


async def test_records_are_taken_again_after_all_were_paused() -> None:
    async with embedded_topic(records=30, partitions=3, keys=3) as broker:
        pool, gate = Pool(broker, max_bytes=40), asyncio.Event()

        async def handle(_: Record) -> None:
            await gate.wait()

        pool.does(handle)
        async with pool.running():
            await broker.wait_until(lambda: len(pool.consumer.paused()) == 3)
            assert pool.workers.statistics().paused_partitions == 3
            gate.set()
            await write(broker, range(30, 60), keys=3)
            await broker.wait_until(lambda: len(pool.ended) == 60)
            assert not pool.consumer.paused()


async def test_a_partition_that_the_user_resumed_is_paused_again() -> None:
    async with embedded_topic(records=50, keys=50) as broker:
        pool, gate = Pool(broker, concurrency=1, max_records=8), asyncio.Event()

        async def handle(_: Record) -> None:
            await gate.wait()

        pool.does(handle)
        async with pool.running():
            await broker.wait_until(lambda: pool.consumer.paused() == {T0})
            before = pool.workers.statistics().unfinished_records
            pool.consumer.resume(T0)
            await broker.wait_until(lambda: pool.workers.statistics().unfinished_records > before)
            assert pool.consumer.paused() == {T0}
            gate.set()
            await broker.wait_until(lambda: len(pool.ended) == 50)
