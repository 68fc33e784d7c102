"""The block around workers: what starts and ends in it, by signals, too."""

import asyncio
import os
import signal
from types import TracebackType

import pytest

from aiokafka_lite.errors import IllegalStateError
from aiokafka_lite.workers.stop_request import StopRequest
from aiokafka_lite.workers.workers_run import WorkersRun


class Engine:
    def __init__(self) -> None:
        self.stop = StopRequest()
        self.log: list[str] = []

    async def run(self) -> None:
        self.log.append("run begins")
        await self.stop.wait()
        await asyncio.sleep(0)
        self.log.append("run ends")


class Reader:
    def __init__(self, log: list[str]) -> None:
        self._log = log

    async def start(self) -> None:
        self._log.append("start")

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._log.append("stop")


class Workers(WorkersRun):
    def __init__(self) -> None:
        super().__init__()
        engine = Engine()
        self._engine = engine
        self.log = engine.log
        self.reader = Reader(engine.log)

    @property
    def _reader(self) -> Reader:
        return self.reader

    def _attach(self) -> None:
        self.log.append("attach")


async def test_the_end_of_the_block_ends_the_run_before_the_consumer() -> None:
    workers = Workers()
    async with workers:
        run = asyncio.create_task(workers._run())
        await asyncio.sleep(0)
        with pytest.raises(IllegalStateError, match="make new ones"):
            await workers._run()
    await run
    assert workers.log == ["attach", "start", "run begins", "run ends", "stop"]


async def test_outside_of_the_block_nothing_runs() -> None:
    with pytest.raises(IllegalStateError, match="use `async with`"):
        await Workers()._run()


async def test_a_signal_stops_the_run_and_is_left_alone_after_the_block() -> None:
    before = signal.getsignal(signal.SIGTERM)
    async with Workers() as workers:
        workers.stop_on_signals()
        run = asyncio.create_task(workers._run())
        os.kill(os.getpid(), signal.SIGTERM)
        await run
    assert signal.getsignal(signal.SIGTERM) is before
