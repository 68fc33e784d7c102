"""Decides which handlers are slow, and which are stuck. Does not wait.

A process may stand still: it is paused by a signal or a debugger, or its event loop is blocked. No
handler has a turn meanwhile, so that time is no age of theirs.
"""

import math
from collections.abc import Iterable
from typing import Generic, NamedTuple, Protocol

from aiokafka_lite.workers.pool_item import ItemT


class Running(Protocol[ItemT]):
    """A worker, as far as the watch looks at it."""

    item: ItemT | None
    began_s: float
    is_handling: bool
    """Whether the handler of `item` runs; False: its outcome is being written, as a dead letter."""


class Findings(NamedTuple, Generic[ItemT]):
    """What a look has found: items with their age in seconds."""

    slow: list[tuple[ItemT, float]]
    """To be named in the log now. Each is named again when its age has doubled."""
    stuck: list[tuple[ItemT, float]]
    """Each comes once."""
    waiting: list[tuple[ItemT, float]]
    """As `slow`, of records whose handlers have ended and whose outcomes are not written yet."""


class HandlerWatch(Generic[ItemT]):
    """Compares the ages of the running handlers with their bounds."""

    def __init__(self, slow_s: float, stuck_s: float) -> None:
        self._slow_s = slow_s
        self._stuck_s = stuck_s
        self._named: dict[tuple[ItemT, float], float] = {}  # -> the age at which it is named
        self._still: dict[tuple[ItemT, float], float] = {}  # -> for how long nothing could run
        self._due_s: float | None = None

    @property
    def interval_s(self) -> float:
        """How often to look."""
        return min(self._slow_s, self._stuck_s) / 4

    def begin(self, now_s: float) -> None:
        """Note that the next look is due after `interval_s`."""
        self._due_s = now_s + self.interval_s

    def look(self, workers: Iterable[Running[ItemT]], now_s: float) -> Findings[ItemT]:
        """Return the handlers that have become slow or stuck since the last look.

        By how much it came too late is no age of a handler: the program could not run. After a look
        that was left out, handlers get the time until the next one to end.
        """
        late_s = 0.0 if self._due_s is None else max(now_s - self._due_s, 0.0)
        found: Findings[ItemT] = Findings([], [], [])
        named: dict[tuple[ItemT, float], float] = {}
        still: dict[tuple[ItemT, float], float] = {}
        for worker in workers:
            item = worker.item
            if item is None:
                continue
            attempt = (item, worker.began_s)
            still_s = self._still.get(attempt, 0.0) + min(late_s, now_s - worker.began_s)
            if still_s:
                still[attempt] = still_s
            age_s = now_s - worker.began_s - still_s
            if age_s < min(self._slow_s, self._stuck_s):
                continue
            if age_s >= self._stuck_s and worker.is_handling:
                if late_s > self.interval_s:
                    continue
                if self._named.get(attempt) != math.inf:
                    found.stuck.append((item, age_s))
                named[attempt] = math.inf
                continue
            limit_s = self._named.get(attempt, self._slow_s)
            if age_s >= limit_s:
                (found.slow if worker.is_handling else found.waiting).append((item, age_s))
                limit_s = age_s * 2
            named[attempt] = limit_s
        self._named, self._still = named, still
        return found


__all__ = ["Findings", "HandlerWatch", "Running"]
