"""Owns noticing that the event loop was blocked: a timer of its own comes late.

While the loop does not run, no heartbeat goes out and nothing is polled. What was noticed is kept
for a while, so that a lost membership can name it as the cause. Nothing here waits.
"""

import logging
from collections import deque
from collections.abc import Callable

from aiokafka_lite.clock import Clock, TimerHandle

logger = logging.getLogger(__name__)

_SHORTEST_S = 1.0
"""A shorter block does no harm, whatever the heartbeat interval is."""

_TICKS = 3
"""How many times per shortest block the loop is looked at."""

_KEPT = 100


class LoopWatch:
    """Logs blocks of the loop longer than `heartbeat_s`, and adds up what they took.

    It looks while `is_wanted()`, from `start()` on. What it says is a lower bound: a block begins
    at most one look before the first look that came late.
    """

    def __init__(
        self, clock: Clock, name: str, heartbeat_s: float, is_wanted: Callable[[], bool]
    ) -> None:
        self._clock = clock
        self._name = name
        self._longest_s = max(heartbeat_s, _SHORTEST_S)
        self._step_s = self._longest_s / _TICKS
        self._is_wanted = is_wanted
        self._timer: TimerHandle | None = None
        self._due_at_s = 0.0
        self._blocks: deque[tuple[float, float]] = deque(maxlen=_KEPT)

    def start(self) -> None:
        """Look from now on; idempotent."""
        if self._timer is None:
            self._arm()

    def stop(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def blocked_s(self, since_s: float) -> float:
        """Return the seconds that blocks took which ended after `since_s` (monotonic)."""
        return sum(late_s for ended_at_s, late_s in self._blocks if ended_at_s > since_s)

    def _arm(self) -> None:
        self._due_at_s = self._clock.monotonic() + self._step_s
        self._timer = self._clock.call_at(self._due_at_s, self._look)

    def _look(self) -> None:
        self._timer = None
        if not self._is_wanted():
            return
        now_s = self._clock.monotonic()
        late_s = now_s - self._due_at_s
        if late_s + self._step_s > self._longest_s:
            self._blocks.append((now_s, late_s))
            logger.warning(
                "%s: the event loop was blocked for at least %.1f s; heartbeats could not be sent. "
                "Run what computes for long in a thread (asyncio.to_thread) or another process",
                self._name,
                late_s,
            )
        self._arm()


__all__ = ["LoopWatch"]
