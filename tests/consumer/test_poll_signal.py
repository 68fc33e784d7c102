"""The waiting of polls: woken by news or by time, any number at once, nothing left behind."""

import asyncio

import pytest

from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.testing.fake_clock import FakeClock, settle


async def test_everybody_who_waits_is_woken() -> None:
    signal = PollSignal(FakeClock())
    waiters = [asyncio.create_task(signal.wait()) for _ in range(3)]
    await settle()
    assert signal.waiting == 3
    signal.notify()
    await asyncio.gather(*waiters)
    assert signal.waiting == 0


async def test_those_who_wait_are_woken_in_the_order_of_their_calls() -> None:
    """Many of them, so that the order of their addresses in memory is another one."""
    signal = PollSignal(FakeClock())
    woken: list[int] = []

    async def wait(number: int) -> None:
        await signal.wait()
        woken.append(number)

    waiters = [asyncio.create_task(wait(number)) for number in range(100)]
    await settle()
    for other in range(0, 100, 2):
        waiters[other].cancel()
    signal.notify()
    await asyncio.gather(*waiters, return_exceptions=True)
    assert woken == list(range(1, 100, 2))


async def test_news_before_the_wait_do_not_count() -> None:
    signal = PollSignal(FakeClock())
    signal.notify()
    waiter = asyncio.create_task(signal.wait())
    await settle()
    assert not waiter.done()
    signal.notify()
    await waiter


async def test_the_wait_ends_with_its_time() -> None:
    clock = FakeClock()
    signal = PollSignal(clock)
    waiter = asyncio.create_task(signal.wait(until_s=5.0))
    await clock.advance(4.9)
    assert not waiter.done()
    await clock.advance(0.2)
    assert waiter.done()
    assert clock.pending_timers == 0


async def test_a_cancelled_wait_leaves_no_timer_and_no_waiter() -> None:
    clock = FakeClock()
    signal = PollSignal(clock)
    waiter = asyncio.create_task(signal.wait(until_s=5.0))
    await settle()
    waiter.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiter
    assert (signal.waiting, clock.pending_timers) == (0, 0)
