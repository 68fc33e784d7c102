"""Which event loop a client belongs to, and the sentence for calls from elsewhere."""

import asyncio
import copy
import pickle
import threading
from typing import NoReturn

import pytest

from aiokafka_lite import (
    AIOKafkaAdminClient,
    AIOKafkaClient,
    AIOKafkaConsumer,
    AIOKafkaProducer,
)
from aiokafka_lite.concurrency.client_loop import ClientLoop, refuse_pickling
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


async def test_in_a_forked_process_every_call_is_refused_also_in_the_same_loop() -> None:
    loop = await started()
    heard: list[str] = []
    loop.add_fork_listener(lambda: heard.append("forked"))
    assert not loop.is_of_parent
    loop.forked()  # as os.fork() does in the child
    assert heard == ["forked"]
    assert loop.is_of_parent
    assert loop.has_ended, "nothing is left to close here"
    for check in (loop.check, loop.check_thread):
        with pytest.raises(IllegalStateError, match=r"forked from.*create a client in this proc"):
            check()


def test_pickling_names_the_client_and_the_remedy() -> None:
    class SomeClient:
        def __reduce__(self) -> NoReturn:
            refuse_pickling(self)

    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=r"^SomeClient cannot be pickled or copied.*options"):
            attempt(SomeClient())


@pytest.mark.parametrize(
    "client", [AIOKafkaProducer, AIOKafkaConsumer, AIOKafkaAdminClient, AIOKafkaClient]
)
def test_no_client_is_pickled(client: type) -> None:
    with pytest.raises(TypeError, match=f"^{client.__name__} cannot be pickled"):
        pickle.dumps(client())
