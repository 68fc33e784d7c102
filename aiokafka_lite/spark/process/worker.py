"""Owns the event loop of a Spark worker process: a thread, made at the first use.

Spark's methods block, and its processes are forked. So nothing is made at import, and a process
does not use objects that it inherited from its parent.
"""

import asyncio
import logging
import os
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Generic, TypeVar

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.concurrency.task_owner import TaskOwner
from aiokafka_lite.net.frame_buffer_pool import keep_freed_memory
from aiokafka_lite.spark.options.user_words import name_options
from aiokafka_lite.spark.process.client_cache import IDLE_S, ClientCache, ClientT

logger = logging.getLogger(__name__)

_T = TypeVar("_T")
_END_S: Final = 10.0
"""How long the end of a read waits for the loop to release its work."""
_KEPT_BYTES: Final = 16 << 20
"""Larger than a column of an Arrow batch. After each batch, the C library would else return its
columns to the system. The page faults of the next one cost up to half of the CPU of reading records
of 1 KB.
"""


class Worker:
    """An event loop in a thread of its own, with the clients that live in it."""

    def __init__(self, idle_s: float = IDLE_S) -> None:
        """Start the thread. It ends with the process, or by `close()`."""
        keep_freed_memory(_KEPT_BYTES)
        self.pid = os.getpid()
        self._idle_s = idle_s
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop
        self._leave: asyncio.Event
        self.clients: ClientCache
        """Belongs to the loop; only code that runs there may use it."""
        self._thread = threading.Thread(target=self._run, name="kafka-lite", daemon=True)
        self._thread.start()
        self._ready.wait()

    def _run(self) -> None:
        asyncio.run(self._main())

    async def _main(self) -> None:
        self._loop, self._leave = asyncio.get_running_loop(), asyncio.Event()
        owner = TaskOwner("kafka-lite")
        await owner.start()
        self.clients = ClientCache(owner, SYSTEM_CLOCK, self._idle_s)
        self._ready.set()
        try:
            await self._leave.wait()
        finally:
            await self.clients.close()
            await owner.close()

    @property
    def is_alive(self) -> bool:
        """Whether it may be used: False after `close()`, and in a forked process."""
        return self.pid == os.getpid() and self._thread.is_alive()

    def run(self, work: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
        """Run a coroutine in the loop; return its result or raise its error, which names options.

        If the caller is interrupted, the coroutine is cancelled.
        """
        future = asyncio.run_coroutine_threadsafe(work(), self._loop)
        try:
            return future.result()
        except BaseException as error:
            future.cancel()
            name_options(error)
            raise

    def iterate(
        self,
        source: Callable[[], AsyncGenerator[_T, None]],
        size: Callable[[_T], int],
        max_bytes: int,
    ) -> Iterator[_T]:
        """Yield the items of an asynchronous generator in the loop.

        The generator runs ahead by at most `max_bytes` and one item. Closing the iterator cancels
        the generator and waits for its end. Raises: the generator's error.
        """
        bridge: _Bridge[_T] = _Bridge(self._loop, max_bytes)
        future = asyncio.run_coroutine_threadsafe(bridge.fill(source(), size), self._loop)
        try:
            while True:
                try:
                    item = bridge.take()
                except _Exhausted:
                    return
                yield item
        finally:
            future.cancel()
            if not bridge.has_ended.wait(_END_S):
                logger.warning("a read has not ended %s s after it was closed", _END_S)

    @contextmanager
    def lend(
        self, make: Callable[..., ClientT], arguments: Mapping[str, object]
    ) -> Iterator[ClientT]:
        """Lend a client to the calling thread, for use inside `run`.

        Raises: as `ClientCache.lend`.
        """
        lending = self.clients.lend(make, arguments)
        client = self.run(lending.__aenter__)
        try:
            yield client
        except BaseException as error:
            raised = error
            self.run(lambda: lending.__aexit__(type(raised), raised, raised.__traceback__))
            raise
        else:
            self.run(lambda: lending.__aexit__(None, None, None))

    def close(self) -> None:
        """Stop the clients and end the thread. Idempotent."""
        if self.is_alive:
            self._loop.call_soon_threadsafe(self._leave.set)
            self._thread.join()


class _Exhausted(Exception):
    """Nothing is left to take."""


class _Bridge(Generic[_T]):
    """Items on their way from the loop to a thread that waits for them."""

    def __init__(self, loop: asyncio.AbstractEventLoop, max_bytes: int) -> None:
        self._loop = loop
        self._max_bytes = max_bytes
        self._items: deque[tuple[_T, int]] = deque()
        self._bytes = 0
        self._error: BaseException | None = None
        self._is_filled = False
        self._changed = threading.Condition()
        self._has_room = asyncio.Event()
        self.has_ended = threading.Event()

    # In the loop…

    async def fill(self, source: AsyncGenerator[_T, None], size: Callable[[_T], int]) -> None:
        """Put the generator's items, waiting for room. `take` raises the generator's error.

        Cancelled: the generator is cancelled, too.
        """
        error: BaseException | None = None
        try:
            async for item in source:
                await self._put(item, size(item))
        except BaseException as raised:
            error = raised
            name_options(error)
            if not isinstance(raised, Exception):
                raise
        finally:
            try:
                await source.aclose()
            finally:
                self._finish(error)

    async def _put(self, item: _T, size: int) -> None:
        with self._changed:
            self._items.append((item, size))
            self._bytes += size
            is_full = self._bytes >= self._max_bytes
            if is_full:
                self._has_room.clear()
            self._changed.notify()
        if is_full:
            await self._has_room.wait()

    def _finish(self, error: BaseException | None) -> None:
        with self._changed:
            self._error = error
            self._is_filled = True
            self._changed.notify()
        self.has_ended.set()

    # In the thread…

    def take(self) -> _T:
        """Wait for the next item. Raises: the generator's error; `_Exhausted` at its end."""
        with self._changed:
            while not self._items and not self._is_filled:
                self._changed.wait()
            if self._items:
                item, size = self._items.popleft()
                was_full = self._bytes >= self._max_bytes
                self._bytes -= size
                if was_full and self._bytes < self._max_bytes:
                    self._loop.call_soon_threadsafe(self._has_room.set)
                return item
        raise _Exhausted if self._error is None else self._error


_of_process: Worker | None = None
_lock = threading.Lock()


def worker() -> Worker:
    """Return the worker of this process, made at the first use."""
    global _of_process  # noqa: PLW0603 - one for a process is what it is for
    with _lock:
        if _of_process is None or not _of_process.is_alive:
            _of_process = Worker()
        return _of_process


__all__ = ["Worker", "worker"]
