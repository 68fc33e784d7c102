"""Measures how long a member with partitions was not polled (`max_poll_interval_ms`).

Time counts from the end of the last poll, or from a later assignment that gave the member its first
partitions. It stands still while a poll runs, and while the member has no partitions. Only
`run` waits: it looks in time, and tells the member. Source: KIP-62.

The time also counts for a member that never polls: it would otherwise hold its partitions for ever.
A member without partitions holds nothing that another could need.
"""

import logging
from collections.abc import Callable
from enum import Enum
from typing import Protocol

from aiokafka_lite.clock import Clock

logger = logging.getLogger(__name__)

WARN_AT = 0.8
"""The part of the interval after which the log warns."""

_SHORTEST_STEP_S = 0.001
"""Waiting for less than a clock can measure would be a busy loop."""


class Verdict(Enum):
    """What `check` found."""

    FINE = 0
    WARN = 1
    """Most of the interval is over. Returned once between two polls."""
    OVERDUE = 2


class WatchedMember(Protocol):
    """What the watch needs of a membership."""

    @property
    def is_stable(self) -> bool:
        """Whether the member has its assignment and the group does not rebalance."""

    async def poll_overdue(self, since_s: float) -> None:
        """Leave the group until the next poll: there was none since `since_s` (monotonic)."""


class PollWatch:
    """The consumer reports polls and assignments; `run` looks whether a poll is overdue."""

    def __init__(self, interval_s: float) -> None:
        self.interval_s = interval_s
        self.since_s = 0.0
        """The moment (monotonic) time counts from; means nothing while `is_counting` is false."""
        self._polls_running = 0
        self._owns_partitions = False
        self._mark: object = None
        self._is_warned = False

    def poll_began(self) -> None:
        """Stop the time: a poll runs."""
        self._polls_running += 1

    def poll_ended(self, now_s: float, *, mark: object = None) -> None:
        """Count from now: a poll is over. `mark`: as for `check`; None: not known."""
        self._polls_running -= 1
        if mark is not None:
            self._mark = mark
        self._count_from(now_s)

    def assigned(self, now_s: float, *, owns_partitions: bool) -> None:
        """Note a new assignment, or that the consumer has unsubscribed.

        Do not call it when partitions are only revoked between two assignments: time goes on.
        """
        if owns_partitions and not self._owns_partitions:
            self._count_from(now_s)
        self._owns_partitions = owns_partitions

    @property
    def is_counting(self) -> bool:
        """Whether time counts: the member owns partitions, and no poll runs."""
        return self._owns_partitions and not self._polls_running

    def check(self, now_s: float, *, mark: object) -> Verdict:
        """Return whether a poll is overdue. `mark`: a value that changes when records are taken on
        the fast path, which reports no poll.
        """
        if mark != self._mark:
            if self._mark is not None:
                self._count_from(now_s)
            self._mark = mark
        if not self.is_counting:
            return Verdict.FINE
        waited_s = now_s - self.since_s
        if waited_s >= self.interval_s:
            return Verdict.OVERDUE
        if waited_s >= self.interval_s * WARN_AT and not self._is_warned:
            self._is_warned = True
            return Verdict.WARN
        return Verdict.FINE

    def waited_s(self, now_s: float, *, mark: object) -> float | None:
        """Return the seconds since the last poll; None while the member owns no partitions.
        `mark`: as for `check`, after whose newest value records were taken on the fast path.
        """
        if not self._owns_partitions:
            return None
        if self._polls_running or mark != self._mark:
            return 0.0
        return now_s - self.since_s

    def next_check_s(self, now_s: float) -> float:
        """Return after how many seconds `check` may return another verdict."""
        step_s = self.interval_s * (1 - WARN_AT)
        if not self.is_counting:
            return step_s
        waited_s = now_s - self.since_s
        moments = (self.interval_s * WARN_AT, self.interval_s)
        left_s = [moment - waited_s for moment in moments if moment > waited_s]
        return max(min([step_s, *left_s]), _SHORTEST_STEP_S)

    async def run(
        self, member: WatchedMember, clock: Clock, handed_out: Callable[[], object]
    ) -> None:
        """Log a warning, then tell `member` that a poll is overdue. Runs until it is cancelled.

        `handed_out()` returns the mark for `check`. A member that is not stable is not looked at.
        """
        while True:
            slept_s = clock.monotonic() - clock.awake()
            await clock.sleep(self.next_check_s(clock.monotonic()))
            self._note_sleep(clock.monotonic() - clock.awake() - slept_s)
            if not member.is_stable:
                continue
            verdict = self.check(clock.monotonic(), mark=handed_out())
            if verdict is Verdict.WARN:
                logger.warning(
                    "%s: no poll for most of max_poll_interval_ms=%d: the group will give the "
                    "partitions to others; poll more often, or raise max_poll_interval_ms",
                    member,
                    round(self.interval_s * 1000),
                )
            elif verdict is Verdict.OVERDUE:
                await member.poll_overdue(self.since_s)

    def _note_sleep(self, slept_s: float) -> None:
        """Do not count the time for which the machine slept: the application could not poll."""
        if slept_s > _SHORTEST_STEP_S:
            self.since_s += slept_s

    def _count_from(self, now_s: float) -> None:
        self.since_s = now_s
        self._is_warned = False


def overdue_reason(max_poll_interval_ms: int, blocked_s: float) -> str:
    """Return why a member leaves that was not polled. `blocked_s`: how long the loop was blocked
    meanwhile.
    """
    blocked = f", with the event loop blocked for {blocked_s:.1f} s of it" if blocked_s else ""
    return (
        f"no poll for max_poll_interval_ms={max_poll_interval_ms}{blocked}; poll "
        f"more often, take fewer records with max_poll_records, or raise max_poll_interval_ms"
    )


__all__ = ["PollWatch", "Verdict", "WatchedMember", "overdue_reason"]
