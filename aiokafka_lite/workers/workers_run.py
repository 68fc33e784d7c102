"""The life that all workers have: the block around them, one run, its stop, and signals."""

import asyncio
import signal
from types import TracebackType
from typing import Protocol, Self

from aiokafka_lite.concurrency.anyio_shield import anyio_shield
from aiokafka_lite.errors import IllegalStateError
from aiokafka_lite.workers.stop_request import StopRequest


class RunnableEngine(Protocol):
    """What runs the handlers."""

    stop: StopRequest

    async def run(self) -> None:
        """Run until `stop` is set, then end in order."""


class Startable(Protocol):
    """The consumer of the workers."""

    async def start(self) -> None:
        """Start it."""

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop it."""


class WorkersRun:
    """The block around workers, and their only run."""

    _engine: RunnableEngine

    def __init__(self) -> None:
        self._has_started = False
        self._has_run = False
        self._ended: asyncio.Event | None = None
        self._signals: list[signal.Signals] = []

    @property
    def _reader(self) -> Startable:
        """The consumer, which the block starts and stops."""
        raise NotImplementedError

    def _attach(self) -> None:
        """Connect the consumer with the engine, before it starts."""
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        """Start the consumer, which joins its group. Raises: as its `start()`.

        Cancelled: nothing stays behind.
        """
        self._attach()
        await self._reader.start()
        self._has_started = True
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with anyio_shield():
            try:
                self.stop()
                if self._ended is not None:
                    await self._ended.wait()
            finally:
                self._restore_signals()
                await self._reader.__aexit__(exc_type, exc, traceback)

    async def _run(self) -> None:
        """Run once, within the block. Raises: IllegalStateError otherwise; as the engine."""
        if self._has_run:
            raise IllegalStateError("these workers have run; make new ones, with a new consumer")
        if not self._has_started:
            raise IllegalStateError("the workers are not started; use `async with` around run()")
        self._has_run = True
        self._ended = asyncio.Event()
        try:
            await self._engine.run()
        finally:
            self._ended.set()

    def stop(self) -> None:
        """Let `run()` end in order. Idempotent, and possible before `run()`. Does not wait."""
        self._engine.stop.set()

    def stop_on_signals(self, *signals: signal.Signals) -> None:
        """Call `stop()` on these signals; without any, on SIGTERM. Until the end of the block.

        SIGINT is left alone unless it is named: asyncio cancels the program's main task for it.

        Raises: RuntimeError outside of the main thread; NotImplementedError on Windows. Does not
        wait.
        """
        loop = asyncio.get_running_loop()
        for number in signals or (signal.SIGTERM,):
            loop.add_signal_handler(number, self.stop)
            self._signals.append(number)

    def _restore_signals(self) -> None:
        loop = asyncio.get_running_loop()
        while self._signals:
            loop.remove_signal_handler(self._signals.pop())


__all__ = ["RunnableEngine", "Startable", "WorkersRun"]
