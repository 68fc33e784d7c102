"""The public share workers: outcomes, bounds, stops and refusals, on the embedded broker."""

import asyncio
from typing import Any

import pytest

from aiokafka_lite import AcknowledgeType, AIOKafkaShareConsumer, ShareWorkers
from aiokafka_lite.errors import IllegalStateError, KafkaConfigurationError
from aiokafka_lite.share.held_records import Record
from tests.share.share_kafka import ShareKafka, run_share
from tests.workers.share.share_pool import SharePool, left_over

TWENTY = [str(number) for number in range(20)]


def test_each_record_is_handled_once_and_accepted() -> None:
    async def main(share: ShareKafka) -> None:
        at_once = most = 0

        async def handle(_: Record) -> None:
            nonlocal at_once, most
            at_once += 1
            most = max(most, at_once)
            await asyncio.sleep(1)
            at_once -= 1

        pool = SharePool(share, handle, concurrency=3, max_records=6)
        async with pool.running():
            await pool.until(lambda: pool.figures.accepted_records == 20)
        assert sorted(pool.began) == [(offset, 1) for offset in range(20)]
        assert most == 3
        assert await left_over(share) == []

    run_share(main, *TWENTY, together=True)


def test_a_handler_may_return_what_becomes_of_its_record() -> None:
    async def main(share: ShareKafka) -> None:
        async def handle(record: Record) -> object:
            if record.delivery_count > 1:
                return "accepted, as anything else"
            return (None, AcknowledgeType.REJECT, AcknowledgeType.RELEASE)[record.offset]

        pool = SharePool(share, handle)
        async with pool.running():
            await pool.until(lambda: len(pool.ended) == 4)
        assert pool.ended == [(0, 1), (1, 1), (2, 1), (2, 2)]
        figures = pool.figures
        assert (figures.accepted_records, figures.rejected_records) == (2, 1)
        assert figures.released_records == 1
        assert await left_over(share) == []

    run_share(main, "a", "b", "c", together=True)


def test_a_stop_lets_running_handlers_end_and_releases_the_rest() -> None:
    async def main(share: ShareKafka) -> None:
        gate = asyncio.Event()

        async def handle(_: Record) -> None:
            await gate.wait()

        pool = SharePool(share, handle, concurrency=2, max_records=6)
        async with pool.running() as run:
            await pool.until(lambda: len(pool.began) == 2)
            pool.workers.stop()
            await asyncio.sleep(5)
            assert not run.done()
            gate.set()
            await run
            assert pool.figures.accepted_records == 2
        assert len(pool.ended) == len(pool.began) == 2
        left = await left_over(share)
        assert len(left) == 18
        assert {count for _, count in left} == {1, 2}, "those that were locked come again"

    run_share(main, *TWENTY, together=True)


@pytest.mark.parametrize("is_stopped", [True, False], ids=["stopped late", "cancelled"])
def test_handlers_that_do_not_end_in_time_are_cancelled_and_released(
    is_stopped: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def main(share: ShareKafka) -> None:
        async def handle(record: Record) -> None:
            if record.offset == 1:
                await asyncio.Event().wait()

        pool = SharePool(share, handle, concurrency=2, commit_interval_ms=60_000)
        async with pool.workers as workers:
            run = asyncio.create_task(workers.run())
            await pool.until(lambda: len(pool.ended) == 2)
            before_s = share.clock.monotonic()
            if is_stopped:
                workers.stop()
                await run
                assert share.clock.monotonic() - before_s == pytest.approx(10, abs=0.5)
            else:
                run.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await run
                assert share.clock.monotonic() - before_s < 0.5
        assert await left_over(share) == [("b", 2)]

    run_share(main, "a", "b", "c", together=True)
    assert "1 handlers are cancelled, the workers stop; the first is that of t-0 offset 1" in (
        caplog.text
    )


def test_records_that_are_locked_have_a_bound() -> None:
    async def main(share: ShareKafka) -> None:
        async def handle(_: Record) -> None:
            await asyncio.sleep(5)

        pool = SharePool(share, handle, concurrency=2, max_records=4)
        most = 0
        async with pool.running():
            while pool.figures.accepted_records < 20:
                await asyncio.sleep(0.5)
                most = max(most, pool.figures.unfinished_records)
        assert most == 4
        assert pool.figures.lost_locks == 0

    run_share(main, *TWENTY, together=True)


def test_a_member_with_busy_handlers_stays_in_its_group() -> None:
    async def main(share: ShareKafka) -> None:
        async def handle(_: Record) -> None:
            await asyncio.sleep(60)

        options = {"max_poll_interval_ms": 5000}
        pool = SharePool(
            share,
            handle,
            concurrency=2,
            max_records=2,
            consumer=options,
        )
        async with pool.running():
            await pool.until(lambda: len(pool.ended) == 2)
            assert pool.began[:2] == [(0, 1), (1, 1)]
            assert pool.figures.lost_locks == 0
            await pool.until(lambda: len(pool.ended) == 3)

    run_share(main, "a", "b", "c", together=True)


def test_a_run_needs_the_block_and_happens_once() -> None:
    async def main(share: ShareKafka) -> None:
        pool = SharePool(share)
        with pytest.raises(IllegalStateError, match="use `async with`"):
            await pool.workers.run()
        async with pool.workers as workers:
            workers.stop()
            await workers.run()
            with pytest.raises(IllegalStateError, match="make new ones"):
                await workers.run()

    run_share(main)


def test_the_end_of_the_block_ends_a_run_beside_it() -> None:
    async def main(share: ShareKafka) -> None:
        pool = SharePool(share)
        async with pool.workers as workers:
            run = asyncio.create_task(workers.run())
            await pool.until(lambda: len(pool.ended) == 1)
        await run
        assert await left_over(share) == []

    run_share(main, "a")


def test_a_consumer_that_accepts_by_itself_is_refused() -> None:
    async def handle(_: Record) -> None:
        pass

    consumer = AIOKafkaShareConsumer[Any, Any]("t", group_id="g")
    with pytest.raises(KafkaConfigurationError, match="set share_acknowledgement_mode='explicit'"):
        ShareWorkers(consumer, handle)


def test_a_started_consumer_is_refused() -> None:
    async def main(share: ShareKafka) -> None:
        pool = SharePool(share)
        async with pool.workers:
            with pytest.raises(KafkaConfigurationError, match="leave that to the workers"):
                ShareWorkers(pool.consumer, pool._noted)

    run_share(main)


def test_a_handler_that_is_no_coroutine_is_refused() -> None:
    async def main(share: ShareKafka) -> None:
        workers = ShareWorkers(share.explicit(), lambda _: None, clock=share.clock)  # type: ignore[arg-type,return-value]
        async with workers:
            with pytest.raises(KafkaConfigurationError, match="make it an `async def`"):
                await workers.run()
        assert await left_over(share) == [("a", 2)]

    run_share(main, "a")
