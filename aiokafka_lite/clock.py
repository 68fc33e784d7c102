"""The source of time: every wait and every timestamp of the library comes from a `Clock`.

Only this file reads the machine's clock. Tests use the clock in `testing/fake_clock.py`, which they
move by hand.
"""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import Protocol

from aiokafka_lite.native import native


class TimerHandle(Protocol):
    """A callback that has not run yet."""

    def cancel(self) -> None:
        """Drop the callback. Harmless after it has run or was dropped."""


class Clock(Protocol):
    """The time functions that the library uses. Call every method in the event loop's thread."""

    def monotonic(self) -> float:
        """Seconds since an arbitrary moment; never goes back. They pass while the machine sleeps,
        where the system can tell: locks and sessions end meanwhile.
        """

    def awake(self) -> float:
        """The same without the time for which the machine has slept, and read at less cost: for
        spans within a turn of the loop.
        """

    def time(self) -> float:
        """Seconds since the epoch, by the machine's clock or the test's."""

    def call_at(self, when: float, callback: Callable[[], object]) -> TimerHandle:
        """Run `callback` in the loop once `monotonic()` has reached `when`, never in this call."""

    async def sleep(self, delay_s: float) -> None:
        """Wait `delay_s` seconds. With 0 or less, let the other tasks of the loop run once.

        Cancelled: the wait ends and leaves nothing behind.
        """


_FOREIGN_LOOP_MARGIN_S = 0.002
"""How many seconds a timer of uvloop may fire early, rounded up.

uvloop counts whole milliseconds from a truncated present, so a timer may fire 1.5 ms early. A loop
that checks `monotonic()` then waits again, without a timer.
"""


def _with_sleep() -> Callable[[], float]:
    """Return the clock that goes on while the machine sleeps: Linux has one of its own for that."""
    boottime = getattr(time, "CLOCK_BOOTTIME", None)
    if boottime is None:
        return time.monotonic
    try:
        time.clock_gettime(boottime)
    except OSError:  # a sandbox without it
        return time.monotonic
    leaf = native("aiokafka_lite.concurrency._ready")
    return partial(time.clock_gettime, boottime) if leaf is None else leaf.with_sleep


class SystemClock:
    """The machine's clock; the running event loop does the waiting."""

    # The functions themselves, without a method around them: `send` reads the time once per record.
    monotonic = staticmethod(_with_sleep())
    awake = staticmethod(time.monotonic)
    time = staticmethod(time.time)

    def call_at(self, when: float, callback: Callable[[], object]) -> TimerHandle:
        # The loop's clock may start from another moment. So only the difference is passed on. It
        # stands still while the machine sleeps: the timer is late then, as after a SIGSTOP.
        loop = asyncio.get_running_loop()
        delay_s = max(0.0, when - self.monotonic())
        if not isinstance(loop, asyncio.BaseEventLoop):
            delay_s += _FOREIGN_LOOP_MARGIN_S
        return loop.call_later(delay_s, callback)

    async def sleep(self, delay_s: float) -> None:
        await asyncio.sleep(delay_s)


SYSTEM_CLOCK = SystemClock()
"""The default clock of every client."""

__all__ = ["SYSTEM_CLOCK", "Clock", "SystemClock", "TimerHandle"]
