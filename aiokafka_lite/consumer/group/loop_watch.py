"""Notices that the event loop was blocked: then a timer of this file comes late.

While the loop is blocked, no heartbeat is sent and no poll runs. The newest blocks are kept, so
that the error of a lost membership can name them as the cause. Does not wait.

Neither a heartbeat nor a poll can distinguish a blocked loop from a slow coordinator; a timer can.
Three looks per heartbeat interval cost nothing measurable.
"""

import logging
from collections import deque
from collections.abc import Callable

from aiokafka_lite.clock import Clock, TimerHandle

logger = logging.getLogger(__name__)

_SHORTEST_S = 1.0
"""Shorter blocks are not logged, whatever the heartbeat interval is."""

_TICKS = 3
"""How many times the timer looks in the time of the shortest block."""

_KEPT = 100


class LoopWatch:
    """Logs blocks of the loop longer than `heartbeat_s`, and adds up what they took.

    After `start()` a timer looks again and again while `is_wanted()`. The seconds are a lower
    bound: a block may have begun just after the last look that was in time.
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
        """Start the timer. Idempotent."""
        if self._timer is None:
            self._due_at_s = self._clock.awake() + self._step_s
            self._timer = self._clock.call_at(self._clock.monotonic() + self._step_s, self._look)

    def stop(self) -> None:
        """Stop the timer. Idempotent."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def blocked_s(self, since_s: float) -> float:
        """Return how long the blocks took that ended after `since_s` (monotonic), in seconds."""
        return sum(late_s for ended_at_s, late_s in list(self._blocks) if ended_at_s > since_s)

    def _look(self) -> None:
        self._timer = None
        if not self._is_wanted():
            return
        now_s = self._clock.monotonic()
        late_s = self._clock.awake() - self._due_at_s  # a machine that slept blocked nothing
        if late_s + self._step_s > self._longest_s:
            self._blocks.append((now_s, late_s))
            logger.warning(
                "%s: the event loop was blocked for at least %.1f s; heartbeats could not be sent. "
                "Run what computes for long in a thread (asyncio.to_thread) or another process",
                self._name,
                late_s,
            )
        self.start()


__all__ = ["LoopWatch"]
