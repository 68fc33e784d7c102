"""WaitingCalls: all calls that wait end with one error when they are told to."""

import asyncio

import pytest

from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.waiting_calls import WaitingCalls
from aiokafka_lite.testing.fake_clock import FakeClock, settle


class EndedError(Exception):
    """What ended calls raise here."""


def calls() -> WaitingCalls:
    return WaitingCalls(FakeClock(), EndedError)


async def test_all_calls_that_wait_are_ended_and_their_tasks_go_on() -> None:
    waiting = calls()

    async def call() -> str:
        with pytest.raises(EndedError):
            async with waiting.one():
                await asyncio.Event().wait()
        await asyncio.sleep(0)
        return "goes on"

    tasks = [asyncio.create_task(call()) for _ in range(3)]
    await settle()
    waiting.end()
    waiting.end()
    assert await asyncio.gather(*tasks) == ["goes on"] * 3


async def test_a_call_that_returns_or_raises_by_itself_is_left_alone() -> None:
    waiting = calls()
    async with waiting.one():
        await asyncio.sleep(0)
    with pytest.raises(TimeoutError, match="its own"):
        async with waiting.one():
            raise TimeoutError("its own")
    waiting.end()
    await asyncio.sleep(0)


async def test_a_bound_inside_a_call_is_not_taken_for_its_end() -> None:
    waiting = calls()
    with pytest.raises(TimeoutError):
        async with waiting.one(), deadline(FakeClock(), 0):
            await asyncio.Event().wait()


async def test_a_call_that_is_cancelled_as_it_ends_is_cancelled() -> None:
    waiting = calls()

    async def call() -> None:
        async with waiting.one():
            await asyncio.Event().wait()

    task = asyncio.create_task(call())
    await settle()
    waiting.end()
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()


async def test_calls_made_after_the_end_wait_for_the_next_one() -> None:
    waiting = calls()
    waiting.end()
    async with waiting.one():
        await asyncio.sleep(0)
