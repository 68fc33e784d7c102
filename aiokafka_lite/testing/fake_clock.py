"""A clock that tests move by hand, or that jumps by itself when everything waits for it.

It works with the real event loop, asyncio's or uvloop, and with real sockets. Only the library's
own waits follow this clock. It belongs to the thread of the loop that uses it.
"""

import asyncio
import contextvars
import heapq
import itertools
from collections.abc import Callable

_EPOCH_S = 1_767_225_600.0
"""time() at monotonic() 0: 2026-01-01 UTC."""

_MIN_SETTLE_PASSES = 4
_MAX_SETTLE_PASSES = 1000
_TICKS_PER_THRESHOLD = 4


class FakeTimer:
    """A callback waiting for its moment on a `FakeClock`."""

    __slots__ = ("_callback", "_context", "_order", "when")

    def __init__(self, when: float, order: int, callback: Callable[[], object]) -> None:
        self.when = when
        self._order = order
        self._callback: Callable[[], object] | None = callback
        self._context = contextvars.copy_context()

    @property
    def is_pending(self) -> bool:
        return self._callback is not None

    def cancel(self) -> None:
        self._callback = None

    def _run(self) -> None:
        callback, self._callback = self._callback, None
        if callback is not None:
            self._context.run(callback)

    def __lt__(self, other: "FakeTimer") -> bool:
        return (self.when, self._order) < (other.when, other._order)


class FakeClock:
    """A `Clock` whose time stands still until `advance()`, or jumps by itself.

    `autojump_threshold_s` is a number of real seconds. If nothing uses the clock for that long,
    time jumps to the next timer. Choose it longer than the idle times of real sockets in the test;
    0.01 is enough on loopback. None: only `advance()` moves time.
    """

    def __init__(self, start: float = 0.0, autojump_threshold_s: float | None = None) -> None:
        self._now = start
        self._slept_s = 0.0
        self._set_by_s = 0.0
        self._threshold_s = autojump_threshold_s
        self.is_moved_by_hand = autojump_threshold_s is None
        """Whether only `advance()` moves it. A broker leaves out then what clients wait for."""
        self._timers: list[FakeTimer] = []
        self._order = itertools.count()
        self._touched = False
        self._idle_ticks = 0
        self._watchdog: asyncio.TimerHandle | None = None
        self._advancing = 0

    # The Clock protocol…

    def monotonic(self) -> float:
        self._touched = True
        return self._now

    def awake(self) -> float:
        return self.monotonic() - self._slept_s

    def time(self) -> float:
        self._touched = True
        return _EPOCH_S + self._now + self._set_by_s

    def call_at(self, when: float, callback: Callable[[], object]) -> "_Handle":
        self._touched = True
        timer = FakeTimer(when, next(self._order), callback)
        if when <= self._now:
            asyncio.get_running_loop().call_soon(timer._run)
        else:
            heapq.heappush(self._timers, timer)
            self._watch()
        return _Handle(self, timer)

    async def sleep(self, delay_s: float) -> None:
        if delay_s <= 0:
            self._touched = True
            await asyncio.sleep(0)
            return
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        handle = self.call_at(self._now + delay_s, lambda: _wake(woken))
        try:
            await woken
        finally:
            handle.cancel()

    # For the test…

    @property
    def pending_timers(self) -> int:
        """How many timers have neither run nor been cancelled."""
        return sum(timer.is_pending for timer in self._timers)

    @property
    def next_timer_at(self) -> float | None:
        """The moment of the next timer; None without one."""
        self._drop_cancelled()
        return self._timers[0].when if self._timers else None

    async def advance(self, seconds: float) -> None:
        """Move time on, running the timers in between in their order, each at its own moment.

        After each moment the loop runs until every other task waits for something.
        """
        if seconds < 0:
            raise ValueError(f"time goes on only; cannot advance by {seconds} s")
        target = self._now + seconds
        self._advancing += 1
        try:
            await settle()
            while (when := self.next_timer_at) is not None and when <= target:
                self._jump_to(when)
                await settle()
            self._now = max(self._now, target)
            await settle()
        finally:
            self._advancing -= 1

    def sleep_through(self, seconds: float) -> None:
        """Let the machine sleep, as under a laptop's lid: the time goes on, and timers wait."""
        self._now += seconds
        self._slept_s += seconds
        for timer in self._timers:
            timer.when += seconds

    def set_time(self, by_s: float) -> None:
        """Set the time of day: `time()` jumps by so many seconds, back if negative.

        `monotonic()` goes on as before, and so do all timers.
        """
        self._set_by_s += by_s

    async def jump_to_next_timer(self) -> None:
        """Advance to the next timer, if one is set."""
        await settle()
        if (when := self.next_timer_at) is not None:
            await self.advance(max(0.0, when - self._now))

    def _jump_to(self, when: float) -> None:
        self._now = max(self._now, when)
        loop = asyncio.get_running_loop()
        while (due := self.next_timer_at) is not None and due <= self._now:
            # Run by the loop, so that it handles an error in a callback as usual.
            loop.call_soon(heapq.heappop(self._timers)._run)

    def _drop_cancelled(self) -> None:
        while self._timers and not self._timers[0].is_pending:
            heapq.heappop(self._timers)

    # Jumping by itself…

    def _watch(self) -> None:
        if self._threshold_s is not None and self._watchdog is None:
            self._idle_ticks = 0
            self._schedule_tick(asyncio.get_running_loop(), self._threshold_s)

    def _schedule_tick(self, loop: asyncio.AbstractEventLoop, threshold_s: float) -> None:
        self._watchdog = loop.call_later(
            threshold_s / _TICKS_PER_THRESHOLD, self._tick, loop, threshold_s
        )

    def _tick(self, loop: asyncio.AbstractEventLoop, threshold_s: float) -> None:
        # Count ticks instead of reading a real clock. A delayed loop then gets the time it missed,
        # so that time does not jump too early on a slow machine.
        self._watchdog = None
        self._idle_ticks = 0 if self._touched or self._advancing else self._idle_ticks + 1
        self._touched = False
        if self._idle_ticks >= _TICKS_PER_THRESHOLD and self.next_timer_at is not None:
            self._idle_ticks = 0
            self._jump_to(self._timers[0].when)
        if self.next_timer_at is not None:
            self._schedule_tick(loop, threshold_s)


class _Handle:
    """Cancels a timer and counts as a use of the clock."""

    __slots__ = ("_clock", "_timer")

    def __init__(self, clock: FakeClock, timer: FakeTimer) -> None:
        self._clock = clock
        self._timer = timer

    def cancel(self) -> None:
        self._clock._touched = True
        self._timer.cancel()


def _wake(waiter: "asyncio.Future[None]") -> None:
    if not waiter.done():
        waiter.set_result(None)


async def settle() -> None:
    """Let the loop run, ready sockets included, until every other task waits for something."""
    me = asyncio.current_task()
    quiet_passes = 0
    for _ in range(_MAX_SETTLE_PASSES):
        await asyncio.sleep(0)
        quiet_passes = 0 if _anybody_runnable(me) else quiet_passes + 1
        if quiet_passes >= _MIN_SETTLE_PASSES:
            return


def _anybody_runnable(me: "asyncio.Task[object] | None") -> bool:
    for task in asyncio.all_tasks():
        if task is not me:
            waiter = getattr(task, "_fut_waiter", None)
            if waiter is None or waiter.done():
                return True
    return False


__all__ = ["FakeClock", "FakeTimer", "settle"]
