"""The figures of the workers, while they work and afterwards."""

import asyncio

from aiokafka_lite.workers.workers_statistics import WorkersStatistics
from tests.workers.running import Pool, embedded_topic


async def test_figures_of_busy_and_of_stopped_workers() -> None:
    async with embedded_topic(records=10) as broker:
        gate = asyncio.Event()
        pool = Pool(broker, concurrency=3, max_records=4)

        async def handle(_: object) -> None:
            await gate.wait()

        pool.does(handle)
        async with pool.running():
            # The handlers begin at the next turn of the loop after their records arrive.
            await broker.wait_until(lambda: pool.workers.statistics().running_handlers == 3)
            assert pool.workers.statistics() == WorkersStatistics(
                unfinished_records=4,
                unfinished_bytes=4 * len(b"k0" + b"v0"),
                running_handlers=3,
                waiting_retries=0,
                paused_partitions=1,
                finished_records=0,
                failed_attempts=0,
                dead_letters=0,
            )
            gate.set()
            await broker.wait_until(lambda: pool.workers.statistics().finished_records == 10)
        figures = pool.workers.statistics()
        assert figures.unfinished_records == figures.running_handlers == 0
