"""The figures of share workers while they work, and after it."""

import asyncio

from aiokafka_lite.share.held_records import Record
from aiokafka_lite.workers.share.share_workers_statistics import ShareWorkersStatistics
from tests.share.share_kafka import ShareKafka, run_share
from tests.workers.share.share_pool import SharePool


def test_figures() -> None:
    async def main(share: ShareKafka) -> None:
        gate = asyncio.Event()

        async def handle(record: Record) -> None:
            if record.offset == 0 and record.delivery_count == 1:
                raise OSError
            await gate.wait()

        pool = SharePool(share, handle, concurrency=2, retry_backoff_ms=60_000)
        async with pool.running():
            await pool.until(lambda: len(pool.began) == 3)
            assert pool.figures == ShareWorkersStatistics(
                unfinished_records=4,
                running_handlers=2,
                waiting_releases=1,
                accepted_records=0,
                released_records=0,
                rejected_records=0,
                refused_acknowledgements=0,
                failed_attempts=1,
                renewed_locks=0,
                lost_locks=0,
            )
            gate.set()
            await pool.until(lambda: pool.figures.accepted_records == 3)
        assert pool.figures.released_records == 1

    run_share(main, "a", "b", "c", "d", together=True)
