"""Decides which handlers are slow, and which are stuck. Does not wait."""

import math
from collections.abc import Iterable
from typing import Generic, NamedTuple, Protocol

from aiokafka_lite.workers.pool_item import ItemT


class Running(Protocol[ItemT]):
    """A worker, as far as the watch looks at it."""

    item: ItemT | None
    began_s: float


class Findings(NamedTuple, Generic[ItemT]):
    """What a look has found: items with their age in seconds."""

    slow: list[tuple[ItemT, float]]
    """To be named in the log now. Each is named again when its age has doubled."""
    stuck: list[tuple[ItemT, float]]
    """Each comes once."""


class HandlerWatch(Generic[ItemT]):
    """Compares the ages of the running handlers with their bounds."""

    def __init__(self, slow_s: float, stuck_s: float) -> None:
        self._slow_s = slow_s
        self._stuck_s = stuck_s
        self._named: dict[tuple[ItemT, float], float] = {}  # -> the age at which it is named

    @property
    def interval_s(self) -> float:
        """How often to look."""
        return min(self._slow_s, self._stuck_s) / 4

    def look(self, workers: Iterable[Running[ItemT]], now_s: float) -> Findings[ItemT]:
        """Return the handlers that have become slow or stuck since the last look."""
        found: Findings[ItemT] = Findings([], [])
        named: dict[tuple[ItemT, float], float] = {}
        for worker in workers:
            item, age_s = worker.item, now_s - worker.began_s
            if item is None or age_s < min(self._slow_s, self._stuck_s):
                continue
            attempt = (item, worker.began_s)
            if age_s >= self._stuck_s:
                if self._named.get(attempt) != math.inf:
                    found.stuck.append((item, age_s))
                named[attempt] = math.inf
                continue
            limit_s = self._named.get(attempt, self._slow_s)
            if age_s >= limit_s:
                found.slow.append((item, age_s))
                limit_s = age_s * 2
            named[attempt] = limit_s
        self._named = named
        return found


__all__ = ["Findings", "HandlerWatch", "Running"]
