"""Wakes workers that wait for a record, and callers that wait until handlers have ended."""

import asyncio
from collections.abc import Callable

from aiokafka_lite.concurrency.outcome import give


class IdleWorkers:
    """The waits of one pool. Wakes the worker that went idle last: its memory is still warm."""

    def __init__(self) -> None:
        self._idle: list[asyncio.Future[None]] = []
        self._watching: list[asyncio.Future[None]] = []

    async def wait_for_work(self) -> None:
        """Wait until `wake` chooses this worker. Cancelled: another one may be chosen."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._idle.append(future)
        await future

    def wake(self, count: int) -> None:
        """Let up to `count` idle workers look for a record. Does not wait."""
        idle = self._idle
        while count > 0 and idle:
            if give(idle.pop(), None):
                count -= 1

    def ended(self) -> None:
        """Note that a handler has ended. Does not wait."""
        if self._watching:
            watching, self._watching = self._watching, []
            for future in watching:
                give(future, None)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until `condition()`, which is asked whenever a handler has ended.

        Cancelled: nothing stays behind.
        """
        while not condition():
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._watching.append(future)
            await future


__all__ = ["IdleWorkers"]
