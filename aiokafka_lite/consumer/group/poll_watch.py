"""Owns the watch over `max_poll_interval_ms`: how long nobody polled a member with partitions.

Time counts from the end of the last poll, or from the assignment that gave partitions to a member
without any, if no poll came since. It stands still while a poll runs, and for a member without
partitions. Plain; it is told moments and does not wait. Source: KIP-62.
"""

from enum import Enum

WARN_AT = 0.8
"""The part of the interval after which the log warns."""

_SHORTEST_STEP_S = 0.001
"""A moment nearer than what a clock can tell apart would be waited for in a busy loop."""


class Verdict(Enum):
    """What `check` found."""

    FINE = 0
    WARN = 1
    """Most of the interval is over; told once between two polls."""
    OVERDUE = 2


class PollWatch:
    """Told of polls and assignments by the consumer, asked by a task that looks now and then."""

    def __init__(self, interval_s: float) -> None:
        self.interval_s = interval_s
        self.since_s = 0.0
        """The moment (monotonic) time counts from; means nothing while `is_counting` is false."""
        self._polls_running = 0
        self._owns_partitions = False
        self._mark: object = None
        self._is_warned = False

    def poll_began(self) -> None:
        """A poll runs: time stands still."""
        self._polls_running += 1

    def poll_ended(self, now_s: float, *, mark: object = None) -> None:
        """A poll is over. `mark`: what `check` hears unless more is taken; None: not known."""
        self._polls_running -= 1
        if mark is not None:
            self._mark = mark
        self._count_from(now_s)

    def assigned(self, now_s: float, *, owns_partitions: bool) -> None:
        """The member has its assignment, or has given it up.

        That it owns nothing between two assignments is not told: it has not been polled meanwhile.
        """
        if owns_partitions and not self._owns_partitions:
            self._count_from(now_s)
        self._owns_partitions = owns_partitions

    @property
    def is_counting(self) -> bool:
        """Whether time counts: the member owns partitions, and no poll runs."""
        return self._owns_partitions and not self._polls_running

    def check(self, now_s: float, *, mark: object) -> Verdict:
        """Say how it stands. `mark`: anything that changes with records taken on the fast path,
        where no poll is reported.
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

    def next_check_s(self, now_s: float) -> float:
        """Return the seconds after which `check` may have something new to say."""
        step_s = self.interval_s * (1 - WARN_AT)
        if not self.is_counting:
            return step_s
        waited_s = now_s - self.since_s
        moments = (self.interval_s * WARN_AT, self.interval_s)
        left_s = [moment - waited_s for moment in moments if moment > waited_s]
        return max(min([step_s, *left_s]), _SHORTEST_STEP_S)

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


__all__ = ["PollWatch", "Verdict", "overdue_reason"]
