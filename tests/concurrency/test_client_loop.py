"""Which event loop a client belongs to, and the sentence for calls from elsewhere."""

import asyncio
import threading

import pytest

from aiokafka_lite.concurrency.client_loop import ClientLoop
from aiokafka_lite.errors import IllegalStateError


async def started() -> ClientLoop:
    loop = ClientLoop("a client")
    loop.enter()
    return loop


def test_a_client_that_was_not_started_may_be_used_anywhere() -> None:
    loop = ClientLoop("a client")
    loop.check()
    assert loop.loop is None
    assert not loop.has_ended


async def test_calls_in_the_loop_of_the_start_pass() -> None:
    loop = ClientLoop("a client")
    assert loop.enter() is asyncio.get_running_loop()
    assert loop.thread_id == threading.get_ident()
    loop.check()
    assert not loop.has_ended


async def test_another_loop_and_a_thread_without_one_are_refused_with_the_remedy() -> None:
    loop = await started()

    async def check() -> None:
        loop.check()

    with pytest.raises(
        IllegalStateError, match=r"^IllegalStateError: a client .*another event loop.*threadsafe"
    ):
        await asyncio.to_thread(asyncio.run, check())
    with pytest.raises(IllegalStateError, match=r"without one\. Use .*run_coroutine_threadsafe"):
        await asyncio.to_thread(loop.check)


async def test_the_check_for_records_finds_other_threads() -> None:
    ClientLoop("not started").check_thread()
    loop = await started()
    loop.check_thread()

    async def check() -> None:
        loop.check_thread()

    with pytest.raises(IllegalStateError, match="run_coroutine_threadsafe"):
        await asyncio.to_thread(asyncio.run, check())


def test_between_two_runs_of_the_loop_its_own_thread_may_call() -> None:
    with asyncio.Runner() as runner:
        loop = runner.run(started())
        loop.check()


def test_once_the_loop_is_closed_every_call_is_refused_and_told_so() -> None:
    loop = asyncio.run(started())
    assert loop.has_ended

    async def check() -> None:
        loop.check()

    with pytest.raises(IllegalStateError, match=r"has ended; create another.*run_coroutine_thread"):
        asyncio.run(check())
    with pytest.raises(IllegalStateError, match="has ended"):
        loop.check()
