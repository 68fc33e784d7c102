"""Owns the waiting of polls for records, positions or an assignment.

It carries no data: a woken poll looks for itself. Any number of tasks may wait at once.
"""

import asyncio

from aiokafka_lite.clock import Clock
from aiokafka_lite.concurrency.outcome import give


class PollSignal:
    """Wakes every waiting poll when anything it may wait for has changed."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.number = 0
        """How many times `notify` was called."""
        self._waiters: dict[asyncio.Future[None], None] = {}  # in the order of their calls

    @property
    def waiting(self) -> int:
        """How many polls wait."""
        return len(self._waiters)

    def notify(self) -> None:
        """Let all who wait now look again."""
        self.number += 1
        for waiter in list(self._waiters):
            give(waiter, None)

    async def wait(self, until_s: float | None = None, since: int | None = None) -> None:
        """Wait for the next `notify`, at most until `until_s` (monotonic seconds; None: no bound).

        Nothing that happened before the call counts: look first, then wait, with no await between.
        Give the `number` of before the look as `since`, if a finalizer may change what is looked
        at. Then a `notify` that came since counts, too. Cancelled: nothing stays behind.
        """
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters[waiter] = None
        if since is not None and since != self.number:
            give(waiter, None)
        timer = None
        if until_s is not None:
            timer = self._clock.call_at(until_s, lambda: give(waiter, None))
        try:
            await waiter
        finally:
            del self._waiters[waiter]
            if timer is not None:
                timer.cancel()


__all__ = ["PollSignal"]
