"""Wakeup: no lost wake-up, settings coalesce."""

import asyncio

import pytest

from aiokafka_lite.concurrency.wakeup import Wakeup
from aiokafka_lite.testing.fake_clock import FakeClock, settle


async def test_set_before_wait_is_not_lost() -> None:
    wakeup = Wakeup()
    wakeup.set()
    assert wakeup.is_set
    await wakeup.wait()
    assert not wakeup.is_set


async def test_many_sets_are_one() -> None:
    wakeup = Wakeup()
    wakeup.set()
    wakeup.set()
    await wakeup.wait()
    waiting = asyncio.create_task(wakeup.wait())
    await settle()
    assert not waiting.done()
    wakeup.set()
    wakeup.set()
    await waiting
    assert not wakeup.is_set


async def test_cancelled_wait_leaves_the_setting_for_the_next() -> None:
    wakeup = Wakeup()
    waiting = asyncio.create_task(wakeup.wait())
    await settle()
    wakeup.set()
    waiting.cancel()
    await asyncio.wait([waiting])
    assert waiting.cancelled()
    await wakeup.wait()


async def test_second_waiter_is_refused() -> None:
    wakeup = Wakeup()
    waiting = asyncio.create_task(wakeup.wait())
    await settle()
    with pytest.raises(RuntimeError, match="one waiting task"):
        await wakeup.wait()
    wakeup.set()
    await waiting


async def test_wait_for_tells_a_setting_from_the_end_of_the_time() -> None:
    clock = FakeClock()
    wakeup = Wakeup()
    waiting = asyncio.create_task(wakeup.wait_for(clock, 5.0))
    await clock.advance(4.9)
    assert not waiting.done()
    await clock.advance(0.1)
    assert await waiting is False

    waiting = asyncio.create_task(wakeup.wait_for(clock, 5.0))
    await settle()
    wakeup.set()
    assert await waiting is True
    assert not wakeup.is_set
    assert clock.pending_timers == 0


async def test_wait_for_without_time_only_looks() -> None:
    clock = FakeClock()
    wakeup = Wakeup()
    assert await wakeup.wait_for(clock, 0) is False
    wakeup.set()
    assert await wakeup.wait_for(clock, 0) is True
    assert await wakeup.wait_for(clock, -1) is False


async def test_cancelled_wait_for_leaves_no_timer() -> None:
    clock = FakeClock()
    wakeup = Wakeup()
    waiting = asyncio.create_task(wakeup.wait_for(clock, 5.0))
    await settle()
    assert clock.pending_timers == 1
    waiting.cancel()
    await asyncio.wait([waiting])
    assert clock.pending_timers == 0
