"""Runs a broker's event loop in a thread of its own, for clients and tests that block."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import Any, Final, Protocol, TypeVar

_LOOK_S: Final = 0.1
"""How often a call looks whether the thread still runs."""
T = TypeVar("T")


class StartStop(Protocol):
    """The object that the thread runs."""

    async def start(self) -> object: ...

    async def stop(self) -> None: ...


class BrokerThread:
    """A thread with an event loop, and calls into it."""

    def __init__(
        self, subject: StartStop, loop_factory: Callable[[], asyncio.AbstractEventLoop] | None
    ) -> None:
        self._subject = subject
        self._loop_factory = loop_factory
        self._loop: asyncio.AbstractEventLoop | None = None
        self._leave: asyncio.Event | None = None
        self._started = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="kafka-broker", daemon=True)

    def start(self) -> None:
        """Return when the subject has started. Raises: the error of its start()."""
        self._thread.start()
        self._started.wait()
        self._raise_error()

    def stop(self) -> None:
        """Stop the subject and return when the thread has ended.

        Raises: the error of its stop().
        """
        if self._loop is not None and self._leave is not None and self._thread.is_alive():
            with suppress(RuntimeError):  # the loop is closed a moment before the thread ends
                self._loop.call_soon_threadsafe(self._leave.set)
        self._thread.join()
        self._raise_error()

    def call(self, function: Callable[[], T]) -> T:
        """Run a function in the loop's thread; return its result or raise its error.

        After the thread has ended, the function runs in the caller's thread.
        """
        if threading.current_thread() is self._thread or not self._thread.is_alive():
            return function()
        result: Future[T] = Future()

        def run() -> None:
            try:
                result.set_result(function())
            except BaseException as error:  # noqa: BLE001 - raised in the caller
                result.set_exception(error)

        try:
            self._running_loop().call_soon_threadsafe(run)
        except RuntimeError:  # the thread ends in this moment
            self._thread.join()
            return function()
        while not result.done() and self._thread.is_alive():
            wait([result], _LOOK_S)
        return result.result() if result.done() else function()  # the loop ended before it ran

    async def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the loop's thread, awaited from another loop.

        Cancelled: the coroutine is cancelled, too.
        """
        try:
            future = asyncio.run_coroutine_threadsafe(coroutine, self._running_loop())
        except RuntimeError:
            coroutine.close()
            raise
        waiter: Awaitable[T] = asyncio.wrap_future(future)
        return await waiter

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None or not self._thread.is_alive():
            raise RuntimeError("the broker's thread is not running; use it inside its with block")
        return self._loop

    def _raise_error(self) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=self._loop_factory) as runner:
                self._loop = runner.get_loop()
                runner.run(self._main())
        except BaseException as error:  # noqa: BLE001 - raised where the thread was started or ended
            self._error = error
        finally:
            self._started.set()

    async def _main(self) -> None:
        self._leave = asyncio.Event()
        try:
            await self._subject.start()
            self._started.set()
            await self._leave.wait()
        finally:
            await self._subject.stop()


__all__ = ["BrokerThread", "StartStop"]
