"""The loop of a Spark process: how blocking callers get into it, and out again."""

import asyncio
import gc
import os
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator
from types import SimpleNamespace
from typing import Any

import pytest

from aiokafka_lite.spark.process import worker as worker_module
from aiokafka_lite.spark.process.worker import Worker, worker

BOUND_S = 30.0


def test_a_coroutine_is_run_and_its_error_is_the_callers(here: Worker) -> None:
    async def succeed() -> str:
        return threading.current_thread().name

    async def fail() -> None:
        raise ValueError("no")

    assert here.run(succeed) == "kafka-lite"
    with pytest.raises(ValueError, match="no"):
        here.run(fail)


def test_items_of_a_generator_come_in_order_and_so_does_its_error(here: Worker) -> None:
    async def source() -> AsyncGenerator[int, None]:
        for number in range(100):
            yield number
        raise ValueError("after the last")

    reading = here.iterate(source, lambda _: 1, 7)
    assert [next(reading) for _ in range(100)] == list(range(100))
    with pytest.raises(ValueError, match="after the last"):
        next(reading)


def test_a_generator_runs_ahead_by_so_many_bytes_and_no_further(here: Worker) -> None:
    made: list[int] = []
    has_waited = threading.Event()

    async def source() -> AsyncGenerator[int, None]:
        for number in range(10):
            made.append(number)
            asyncio.get_running_loop().call_soon(asyncio.get_running_loop().call_soon, look)
            yield number

    def look() -> None:
        if len(made) >= 3:
            has_waited.set()

    reading = here.iterate(source, lambda _: 10, 30)
    assert next(reading) == 0
    assert has_waited.wait(BOUND_S)
    here.run(settle)
    assert made in ([0, 1, 2], [0, 1, 2, 3])  # one was taken, three of ten bytes may wait
    assert [*reading] == list(range(1, 10))


async def settle() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


@pytest.mark.parametrize("how", ["close", "forget"])
def test_closing_the_iterator_cancels_the_generator_and_waits_for_its_end(
    here: Worker, how: str
) -> None:
    ended = threading.Event()

    async def source() -> AsyncGenerator[int, None]:
        try:
            yield 1
            await asyncio.Event().wait()  # for ever
        finally:
            await asyncio.sleep(0)
            ended.set()

    reading = here.iterate(source, lambda _: 1, 10)
    assert next(reading) == 1
    if how == "close":
        reading.close()  # type: ignore[attr-defined]  # it is a generator
    else:
        del reading
        gc.collect()
    assert ended.is_set()


def test_a_closed_iterator_that_waits_for_room_ends_too(here: Worker) -> None:
    ended = threading.Event()

    async def source() -> AsyncGenerator[int, None]:
        try:
            for number in range(10):
                yield number
        finally:
            ended.set()

    reading = here.iterate(source, lambda _: 1, 1)
    next(reading)
    reading.close()  # type: ignore[attr-defined]  # it is a generator
    assert ended.is_set()


class StubClient:
    made: list["StubClient"]

    def __init__(self, **arguments: object) -> None:
        self.arguments = arguments
        self.kafka_client: Any = SimpleNamespace(add_trouble_listener=lambda listener: None)
        self.life: list[str] = []

    async def start(self) -> None:
        self.life.append("started")

    async def stop(self) -> None:
        self.life.append("stopped")


def test_a_client_is_lent_to_the_thread_and_stopped_when_that_fails(here: Worker) -> None:
    with here.lend(StubClient, {"a": 1}) as client:
        assert client.life == ["started"]
    with here.lend(StubClient, {"a": 1}) as again:
        assert again is client
    with pytest.raises(ValueError, match="mine"), here.lend(StubClient, {"a": 1}):
        raise ValueError("mine")
    assert client.life == ["started", "stopped"]


def test_a_process_has_one_worker_and_none_of_its_parents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "_of_process", None)
    first = worker()
    try:
        assert worker() is first
        assert first.is_alive
        with monkeypatch.context() as forked:
            forked.setattr(os, "getpid", lambda: first.pid + 1)
            assert not first.is_alive
            second = worker()
            assert second is not first
            assert worker() is second
            second.close()
    finally:
        first.close()
    assert not first.is_alive
    third = worker()
    assert third is not first
    third.close()


def test_closing_stops_the_clients_that_wait_and_may_be_repeated() -> None:
    here = Worker()
    with here.lend(StubClient, {}) as client:
        pass
    here.close()
    here.close()
    assert client.life == ["started", "stopped"]


_FAULTS = """
import resource
from aiokafka_lite.spark.process.worker import Worker
made = Worker()
def use():
    return [bytearray(5 << 20) for _ in range(4)]
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
use()
before = faults()
for _ in range(10):
    use()
print(faults() - before)
made.close()
"""


@pytest.mark.skipif(not hasattr(os, "confstr"), reason="not glibc")
def test_memory_of_a_batch_is_not_faulted_in_anew_by_the_next() -> None:
    if "glibc" not in (os.confstr("CS_GNU_LIBC_VERSION") or ""):
        pytest.skip("the C library is not glibc")
    done = subprocess.run(
        [sys.executable, "-c", _FAULTS], capture_output=True, text=True, timeout=60, check=True
    )
    assert int(done.stdout) < 1000  # a fault for each 4 KiB would be 51,200
