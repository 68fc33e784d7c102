"""The polls of share workers: what ends them, and what the next one mends."""

import asyncio

import pytest

from aiokafka_lite.errors import (
    ConsumerStoppedError,
    CorruptRecordException,
    GroupAuthorizationFailedError,
    KafkaError,
)
from tests.share.share_kafka import ShareKafka, run_share
from tests.workers.share.share_pool import SharePool


@pytest.mark.parametrize("error", [CorruptRecordException, GroupAuthorizationFailedError])
def test_a_poll_that_another_one_may_mend_does_not_end_the_run(error: type[KafkaError]) -> None:
    async def main(share: ShareKafka) -> None:
        pool = SharePool(share)
        async with pool.workers as workers:
            engine = workers.consumer._life.running()
            poll, failures = engine.poll_beside, [error("once")]

            async def failing(room: int, timeout_s: float) -> object:
                if failures:
                    raise failures.pop()
                return await poll(room, timeout_s)

            engine.poll_beside = failing  # type: ignore[method-assign,assignment]
            run = asyncio.create_task(workers.run())
            if error.retriable:
                await pool.until(lambda: len(pool.ended) == 1)
                workers.stop()
                await run
            else:
                with pytest.raises(error):
                    await run
                assert pool.began == []

    run_share(main, "a")


def test_a_consumer_that_somebody_stops_ends_the_run() -> None:
    async def main(share: ShareKafka) -> None:
        pool = SharePool(share)
        async with pool.workers as workers:
            run = asyncio.create_task(workers.run())
            await pool.until(lambda: len(pool.ended) == 1)
            await pool.consumer.stop()
            with pytest.raises(ConsumerStoppedError, match="takes no more calls"):
                await asyncio.wait_for(run, 60)

    run_share(main, "a")
