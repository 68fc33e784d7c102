"""Decides what follows a failed attempt, and which records are due for another one.

Does not wait.
"""

import heapq
from enum import Enum

from aiokafka_lite.concurrency.backoff import ExponentialBackoff
from aiokafka_lite.workers.work_queues import WorkItem
from aiokafka_lite.workers.workers_config import WorkersConfig


class AfterFailure(Enum):
    """What follows a failed attempt."""

    RETRY = 0
    DEAD_LETTER = 1
    STOP = 2
    """Without a dead-letter topic, a record that fails for good stops the workers."""


class RetryPlan:
    """The records that wait for another attempt, by the moment at which they are due."""

    def __init__(self, config: WorkersConfig, backoff: ExponentialBackoff) -> None:
        self._config = config
        self._backoff = backoff
        self._waiting: list[tuple[float, int, WorkItem]] = []
        self._number = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def after(self, item: WorkItem, error: BaseException) -> AfterFailure:
        """Return what follows this failure of an item."""
        config = self._config
        is_worth_it = config.retries is None or item.failures <= config.retries
        if is_worth_it and not isinstance(error, config.not_retried):
            return AfterFailure.RETRY
        return AfterFailure.DEAD_LETTER if config.has_dead_letters else AfterFailure.STOP

    def add(self, item: WorkItem, now_s: float) -> float:
        """Plan another attempt; return in how many seconds."""
        delay_s = self._backoff.delay(item.failures - 1)
        self._number += 1
        heapq.heappush(self._waiting, (now_s + delay_s, self._number, item))
        return delay_s

    def take_due(self, now_s: float) -> list[WorkItem]:
        """Return the items that are due, the longest due first."""
        due = []
        while self._waiting and self._waiting[0][0] <= now_s:
            due.append(heapq.heappop(self._waiting)[2])
        return due

    @property
    def next_due_s(self) -> float | None:
        """The moment (monotonic) at which the next item is due; None without one."""
        return self._waiting[0][0] if self._waiting else None

    def waiting(self) -> list[WorkItem]:
        """Return the items that wait, in no order."""
        return [each[2] for each in self._waiting]

    def forget_gone(self) -> None:
        """Drop the items of partitions that are given back, and of records that are gone."""
        self._waiting = [
            each for each in self._waiting if not (each[2].partition.is_leaving or each[2].is_void)
        ]
        heapq.heapify(self._waiting)


__all__ = ["AfterFailure", "RetryPlan"]
