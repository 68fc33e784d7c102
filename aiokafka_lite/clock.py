"""Time comes in through here: every wait and every timestamp of the library asks a `Clock`.

The only file that reads the machine's clock. `testing/fake_clock.py` has the one tests move.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Protocol


class TimerHandle(Protocol):
    """A callback that has not run yet."""

    def cancel(self) -> None:
        """Drop the callback; harmless when it has run or was dropped before."""


class Clock(Protocol):
    """What the library knows of time. Every method belongs to the event loop's thread."""

    def monotonic(self) -> float:
        """Seconds since an arbitrary moment; never goes back."""

    def time(self) -> float:
        """Seconds since the epoch, as the machine (or the test) believes."""

    def call_at(self, when: float, callback: Callable[[], object]) -> TimerHandle:
        """Run `callback` in the loop once `monotonic()` has reached `when`; never at once."""

    async def sleep(self, delay_s: float) -> None:
        """Wait `delay_s` seconds; with 0 or less, let others run once.

        Cancelled: nothing stays behind.
        """


_FOREIGN_LOOP_MARGIN_S = 0.002
"""uvloop counts whole milliseconds from a truncated now: its timers may come 1.5 ms early, and a
wait that is over for the loop but not for `monotonic()` would begin again, without a timer."""


class SystemClock:
    """The machine's own time, waited for by the running event loop."""

    # The functions themselves: `send` asks for the time once per record.
    monotonic = staticmethod(time.monotonic)
    time = staticmethod(time.time)

    def call_at(self, when: float, callback: Callable[[], object]) -> TimerHandle:
        # The loop's own clock may count from another moment, so only the difference travels.
        loop = asyncio.get_running_loop()
        delay_s = max(0.0, when - time.monotonic())
        if not isinstance(loop, asyncio.BaseEventLoop):
            delay_s += _FOREIGN_LOOP_MARGIN_S
        return loop.call_later(delay_s, callback)

    async def sleep(self, delay_s: float) -> None:
        await asyncio.sleep(delay_s)


SYSTEM_CLOCK = SystemClock()
"""The clock of every client that was given none."""

__all__ = ["SYSTEM_CLOCK", "Clock", "SystemClock", "TimerHandle"]
