"""The workers: how a handler is given up, and that the rest of the program runs meanwhile."""

import asyncio
from contextlib import suppress

import pytest

from aiokafka_lite.errors import HandlerFailedError
from aiokafka_lite.testing.fake_clock import FakeClock, settle
from tests.workers.running import Handle, Pool, Record, embedded_topic


async def test_handlers_that_never_wait_let_the_loop_run() -> None:
    async with embedded_topic(records=500, keys=50) as broker:
        pool, turns, turns_before = Pool(broker), 0, list[int]()

        async def count() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        async def handle(_: Record) -> None:
            turns_before.append(turns)
            sum(range(10_000))

        pool.does(handle)
        async with pool.running():
            counting = asyncio.create_task(count())
            await broker.wait_until(lambda: len(pool.ended) == 500)
            counting.cancel()
        assert len(set(turns_before)) > 5


async def test_a_handler_that_was_given_up_leaves_its_worker_to_the_next_record() -> None:
    async with embedded_topic(records=3, keys=3) as broker:
        pool, gate = Pool(broker, concurrency=1), asyncio.Event()
        cleaned = []

        async def handle(record: Record) -> None:
            if record.offset == 0:
                try:
                    await gate.wait()
                finally:
                    await asyncio.sleep(0)
                    cleaned.append(record.offset)

        pool.does(handle)
        async with pool.running():
            await broker.wait_until(lambda: pool.began == [(0, 0)])
            given_up = pool.workers._engine.pool.give_up(lambda _: True)
            assert [item.record.offset for item in given_up] == [0]
            pool.workers._engine.pool.give_up(lambda _: True)  # has no further effect
            await broker.wait_until(lambda: len(pool.ended) == 2)
        assert cleaned == [0]


async def test_a_handler_that_ends_although_it_was_given_up_is_finished() -> None:
    async with embedded_topic(records=2, keys=2) as broker:
        pool, gate = Pool(broker, concurrency=1), asyncio.Event()

        async def handle(record: Record) -> None:
            if record.offset == 0:
                try:
                    await gate.wait()
                except asyncio.CancelledError:
                    return

        pool.does(handle)
        async with pool.running():
            await broker.wait_until(lambda: pool.began == [(0, 0)])
            pool.workers._engine.pool.give_up(lambda _: True)
            await broker.wait_until(lambda: pool.ended == [(0, 0), (0, 1)])
            await settle()
            worker = pool.workers._engine.pool.workers[0].task
            assert worker is not None
            assert not worker.cancelling()


async def test_something_cancelled_inside_a_handler_is_a_failure_like_others() -> None:
    async with embedded_topic(records=1) as broker:
        pool = Pool(broker, retry_backoff_ms=1)

        async def handle(_: Record) -> None:
            if len(pool.began) == 1:
                other = asyncio.get_running_loop().create_future()
                other.cancel()
                await other

        pool.does(handle)
        async with pool.running():
            await broker.wait_until(lambda: pool.ended == [(0, 0)])
        assert len(pool.began) == 2


async def test_an_error_in_answer_to_a_cancellation_is_no_failure(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with embedded_topic(records=2, keys=1) as broker:
        pool = Pool(broker, retries=0, drain_timeout_ms=50)

        async def handle(_: Record) -> None:
            if len(pool.began) == 1:
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    raise ConnectionError("gone") from None

        pool.does(handle)
        async with pool.running():
            await broker.wait_until(lambda: len(pool.began) == 1)
            pool.consumer.enforce_rebalance()
            await broker.wait_until(lambda: len(pool.ended) == 2)
        assert pool.workers.statistics().failed_attempts == 0
        assert "raised when it was cancelled: ConnectionError('gone')" in caplog.text


async def _cancel_own_task(_: Record) -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(10)


async def _cancel_own_task_last(_: Record) -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()


async def _raise_no_exception(_: Record) -> None:
    raise NoExceptionError


class NoExceptionError(BaseException):
    """What `except Exception` does not catch."""


@pytest.mark.parametrize(
    "handle",
    [_cancel_own_task, _cancel_own_task_last, _raise_no_exception],
    ids=lambda f: f.__name__,
)
async def test_what_ends_a_worker_names_the_record(
    handle: Handle, caplog: pytest.LogCaptureFixture
) -> None:
    """It ends the run at once: nothing of the record runs that could be waited for."""
    clock = FakeClock(autojump_threshold_s=0.02)
    async with embedded_topic(records=1, clock=clock) as broker:
        pool = Pool(broker, clock=clock, drain_timeout_ms=100_000)
        pool.does(handle)
        async with pool.workers:
            began_s = clock.monotonic()
            with pytest.raises(HandlerFailedError, match="t-0 offset 0") as caught:
                await pool.workers.run()
            assert clock.monotonic() - began_s < 50
        assert caught.value.__cause__ is not None
        assert "set dead_letters" not in str(caught.value)
    assert "no call came" not in caplog.text


async def test_a_cancellation_that_a_handler_leaves_behind_is_taken_back() -> None:
    """Old helpers for timeouts cancel their own task, and never call `uncancel`."""
    async with embedded_topic(records=3, keys=3) as broker:
        pool, gate = Pool(broker, concurrency=1), asyncio.Event()

        async def handle(record: Record) -> None:
            task = asyncio.current_task()
            assert task is not None
            if record.offset < 2:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await asyncio.sleep(10)
            if record.offset == 1:
                await gate.wait()

        pool.does(handle)
        async with pool.running():
            await broker.wait_until(lambda: len(pool.began) == 2)
            await settle()
            pool.workers._engine.pool.give_up(lambda _: True)
            await broker.wait_until(lambda: pool.ended == [(0, 0), (0, 2)])
            worker = pool.workers._engine.pool.workers[0].task
            assert worker is not None
            assert not worker.cancelling()
