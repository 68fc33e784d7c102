"""A signal cancels the work of a command, and the exit code says which one it was."""

import asyncio
import os
import signal
from collections.abc import Iterator

import pytest

from aiokafka_lite.cli.stop_signals import StoppedBySignalError, stopped_by_signals


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_cancels_and_the_clean_up_runs(name: str) -> None:
    number = getattr(signal, name)
    cleaned = []

    async def work() -> None:
        os.kill(os.getpid(), number)
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append(name)

    with pytest.raises(StoppedBySignalError, match=name) as caught:
        asyncio.run(stopped_by_signals(work()))
    assert caught.value.exit_code == 128 + number
    assert cleaned == [name]
    assert signal.getsignal(number) is signal.SIG_DFL


@pytest.fixture
def ignored() -> Iterator[None]:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("ignored")
def test_an_ignored_signal_stays_ignored() -> None:
    async def work() -> int:
        os.kill(os.getpid(), signal.SIGHUP)
        await asyncio.sleep(0)
        return 7

    assert asyncio.run(stopped_by_signals(work())) == 7


def test_work_without_a_signal_returns_and_its_own_cancel_stays_one() -> None:
    async def work() -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(stopped_by_signals(work()))


def test_another_thread_runs_it_without_signals() -> None:
    async def work() -> int:
        return 7

    async def in_a_thread() -> int:
        return await asyncio.to_thread(lambda: asyncio.run(stopped_by_signals(work())))

    assert asyncio.run(in_a_thread()) == 7
