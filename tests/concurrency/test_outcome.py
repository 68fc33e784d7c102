"""A future gets its outcome once, whatever comes between the look and the call."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from aiokafka_lite.concurrency.outcome import give, give_error
from aiokafka_lite.concurrency.wakeup import Wakeup
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.producer.batch.buffer_pool import BufferPool
from aiokafka_lite.testing.fake_clock import FakeClock
from aiokafka_lite.workers.idle_workers import IdleWorkers


class CancelledBetween(asyncio.Future[Any]):
    """Is cancelled when somebody has looked, as by asyncio's handler of Ctrl+C."""

    def done(self) -> bool:
        was_done = super().done()
        if not was_done:
            self.cancel()
        return was_done


async def test_a_future_without_an_outcome_gets_one() -> None:
    loop = asyncio.get_running_loop()
    first, second = loop.create_future(), loop.create_future()
    assert give(first, 1)
    assert not give(first, 2)
    assert not give_error(first, ValueError("late"))
    assert await first == 1
    error = ValueError("x")
    assert give_error(second, error)
    assert not give(second, 2)
    with pytest.raises(ValueError, match="x"):
        await second


async def test_one_that_is_cancelled_in_between_stays_so() -> None:
    assert not give(CancelledBetween(), 1)
    assert not give_error(CancelledBetween(), ValueError("x"))


async def of_signal() -> tuple[Awaitable[Any], Callable[[], object]]:
    signal = PollSignal(FakeClock())
    return signal.wait(), signal.notify


async def of_wakeup() -> tuple[Awaitable[Any], Callable[[], object]]:
    wakeup = Wakeup()
    return wakeup.wait(), wakeup.set


async def of_workers() -> tuple[Awaitable[Any], Callable[[], object]]:
    workers = IdleWorkers()
    return workers.wait_for_work(), lambda: workers.wake(1)


@pytest.mark.parametrize("made", [of_signal, of_wakeup, of_workers])
async def test_who_wakes_others_goes_on(
    made: Callable[[], Awaitable[tuple[Awaitable[Any], Callable[[], object]]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = asyncio.get_running_loop()
    if not isinstance(loop, asyncio.BaseEventLoop):
        pytest.skip("uvloop makes its futures itself")
    monkeypatch.setattr(loop, "create_future", lambda: CancelledBetween(loop=loop))
    waiting, wake = await made()
    task = asyncio.ensure_future(waiting)
    await asyncio.sleep(0)
    wake()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_memory_for_a_call_that_was_cancelled_in_between_is_free_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pool = BufferPool(100, 50)
    held = pool.take_nowait(80)
    assert held is not None
    loop = asyncio.get_running_loop()
    if not isinstance(loop, asyncio.BaseEventLoop):
        pytest.skip("uvloop makes its futures itself")
    monkeypatch.setattr(loop, "create_future", lambda: CancelledBetween(loop=loop))
    task = asyncio.ensure_future(pool.take(60, clock=FakeClock(), timeout_s=1.0, max_block_ms=1000))
    await asyncio.sleep(0)
    pool.give(held)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert pool.used_bytes == 0
