"""deadline: asyncio.timeout's rules on the client's own clock."""

import asyncio
import contextlib

import pytest

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.concurrency.deadline import deadline, silence_deadline
from aiokafka_lite.testing.fake_clock import FakeClock, settle


async def forever() -> None:
    await asyncio.Event().wait()


async def test_body_in_time_is_left_alone() -> None:
    clock = FakeClock()
    async with deadline(clock, 1.0) as bound:
        await asyncio.sleep(0)
    assert not bound.expired
    assert clock.pending_timers == 0


async def test_passing_time_raises_the_builtin_timeout_error() -> None:
    clock = FakeClock()

    async def body() -> str:
        with pytest.raises(TimeoutError) as caught:
            async with deadline(clock, 5.0):
                await forever()
        assert isinstance(caught.value.__cause__, asyncio.CancelledError)
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
        await asyncio.sleep(0)
        return "goes on"

    task = asyncio.create_task(body())
    await clock.advance(4.999)
    assert not task.done()
    await clock.advance(0.001)
    assert await task == "goes on"


async def test_none_sets_no_bound() -> None:
    clock = FakeClock()
    async with deadline(clock, None):
        assert clock.pending_timers == 0


@pytest.mark.parametrize("timeout_s", [0, -1.0])
async def test_no_time_at_all_lets_the_body_run_to_its_first_wait(timeout_s: float) -> None:
    ran: list[bool] = []

    async def body() -> None:
        async with deadline(FakeClock(), timeout_s):
            ran.append(True)
            await forever()

    with pytest.raises(TimeoutError):
        await body()
    assert ran == [True]


async def test_outer_cancellation_stays_a_cancellation() -> None:
    clock = FakeClock()

    async def body() -> None:
        async with deadline(clock, 5.0):
            await forever()

    task = asyncio.create_task(body())
    await settle()
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert clock.pending_timers == 0


async def test_outer_cancellation_wins_over_a_deadline_of_the_same_moment() -> None:
    clock = FakeClock()

    async def body() -> None:
        async with deadline(clock, 5.0):
            await forever()

    task = asyncio.create_task(body())
    await settle()
    clock.call_at(5.0, task.cancel)  # runs right after the deadline's own timer
    await clock.advance(5.0)
    await asyncio.wait([task])
    assert task.cancelled()


async def test_error_of_the_body_is_not_replaced() -> None:
    clock = FakeClock()

    async def body() -> None:
        async with deadline(clock, 5.0):
            try:
                await forever()
            finally:
                raise ValueError("clean-up failed")

    task = asyncio.create_task(body())
    await clock.advance(5.0)
    with pytest.raises(ValueError, match="clean-up failed"):
        await task


async def test_body_that_ends_although_the_time_has_passed_counts_as_done() -> None:
    clock = FakeClock()

    async def body() -> int:
        async with deadline(clock, 5.0) as bound:
            with contextlib.suppress(asyncio.CancelledError):
                await forever()
        assert bound.expired
        task = asyncio.current_task()
        assert task is not None
        return task.cancelling()

    task = asyncio.create_task(body())
    await clock.advance(5.0)
    assert await task == 0


async def test_inner_and_outer_deadline_are_told_apart() -> None:
    clock = FakeClock()

    async def body() -> str:
        try:
            async with deadline(clock, 1.0):
                try:
                    async with deadline(clock, 2.0):
                        await forever()
                except TimeoutError:
                    return "inner"
        except TimeoutError:
            return "outer"
        return "none"

    task = asyncio.create_task(body())
    await clock.advance(1.0)
    assert await task == "outer"


async def test_system_clock_measures_real_time() -> None:
    with pytest.raises(TimeoutError):
        async with deadline(SYSTEM_CLOCK, 0.001):
            await forever()


@pytest.mark.parametrize("timeout_s", [None, 60.0])
async def test_a_body_can_be_ended_before_its_time(timeout_s: float | None) -> None:
    clock = FakeClock()
    bounds: list[deadline] = []

    async def body() -> None:
        async with deadline(clock, timeout_s) as bound:
            bounds.append(bound)
            await forever()

    task = asyncio.create_task(body())
    await settle()
    bounds[0].expire()
    bounds[0].expire()
    with pytest.raises(TimeoutError):
        await task
    assert clock.pending_timers == 0


@pytest.mark.parametrize(
    ("heard", "ends"),
    [([], 5), ([3], 8), ([3, 7], 12), ([6], 5), ([4, 8, 12, 16, 19], 20), ([5], 5)],
)
async def test_silence_ends_a_body_before_its_time(heard: list[float], ends: float) -> None:
    """Twenty seconds at most, five without a sign of life."""
    clock = FakeClock()
    signs: list[float] = []

    async def body() -> float:
        bound = silence_deadline(
            clock, 20, silence_s=5, since_s=0, heard_s=lambda: max(signs, default=-1.0)
        )
        with pytest.raises(TimeoutError):
            async with bound:
                await forever()
        return clock.monotonic()

    task = asyncio.create_task(body())
    for second in range(1, 22):
        await clock.advance(1)
        if second in heard:
            signs.append(second)
    assert await task == ends
    assert clock.pending_timers == 0


async def test_silence_that_is_over_already_lets_the_body_run_to_its_first_wait() -> None:
    clock = FakeClock(start=100)
    with pytest.raises(TimeoutError):
        async with silence_deadline(clock, 20, silence_s=5, since_s=90, heard_s=lambda: 0.0):
            await forever()
    assert clock.monotonic() == 100
