"""A latch that says "work may have arrived": many callers set it, one loop waits, no set is lost.

Several sets between two waits count as one. It carries no data: the woken loop looks for its work.
"""

import asyncio

from aiokafka_lite.clock import Clock
from aiokafka_lite.concurrency.outcome import give


class Wakeup:
    """For one waiting task at a time."""

    __slots__ = ("_is_set", "_waiter")

    def __init__(self) -> None:
        self._is_set = False
        self._waiter: asyncio.Future[None] | None = None

    @property
    def is_set(self) -> bool:
        """Whether the next wait returns at once."""
        return self._is_set

    def set(self) -> None:
        """Let the present or the next wait return. May be called any number of times."""
        if not self._is_set:  # already set: the waiting task was woken and has not run yet
            self._is_set = True
            self._stir()

    async def wait(self) -> None:
        """Return once the latch is set, and clear it.

        Cancelled: the latch stays set, and the next wait returns at once.
        """
        while not self._is_set:
            await self._pause()
        self._is_set = False

    async def wait_for(self, clock: Clock, timeout_s: float) -> bool:
        """Wait at most `timeout_s`; return whether the latch was set.

        Cheaper than a deadline around it.

        Cancelled: as `wait`.
        """
        if self._take():
            return True
        if timeout_s <= 0:
            return False
        until = clock.monotonic() + timeout_s
        timer = clock.call_at(until, self._stir)
        try:
            while not self._is_set and clock.monotonic() < until:
                await self._pause()
        finally:
            timer.cancel()
        return self._take()

    def _take(self) -> bool:
        was_set, self._is_set = self._is_set, False
        return was_set

    def _stir(self) -> None:
        waiter = self._waiter
        if waiter is not None:
            give(waiter, None)

    async def _pause(self) -> None:
        if self._waiter is not None:
            raise RuntimeError("a Wakeup has one waiting task at a time")
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            if not self._is_set:  # a finalizer that sends may have set it since it was looked at
                await self._waiter
        finally:
            self._waiter = None


__all__ = ["Wakeup"]
