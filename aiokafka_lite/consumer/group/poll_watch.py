"""Owns the watch over `max_poll_interval_ms`: how long the application has held records or let them
lie, without polling.

Time counts only while it holds records of its newest poll or records lie unread: a consumer that
has nothing to read may wait for ever. Plain; it is told moments and does not wait.
Source: KIP-62; the rule of what counts is ours.
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
    """Most of the interval is over; told once per hold."""
    OVERDUE = 2


class PollWatch:
    """Told of polls by the consumer, asked by the membership."""

    def __init__(self, interval_s: float) -> None:
        self.interval_s = interval_s
        self._polls_running = 0
        self._holds_records = False
        self._busy_since_s: float | None = None
        self._mark: object = None
        self._is_warned = False

    def poll_began(self) -> None:
        """A poll runs: whatever was returned before is done with."""
        self._polls_running += 1
        self._rest()

    def poll_ended(self, now_s: float, *, returned_records: bool, mark: object = None) -> None:
        """A poll is over. `mark`: what `check` hears unless more is taken; None: not known."""
        self._polls_running -= 1
        if mark is not None:
            self._mark = mark
        self._rest()
        self._holds_records = returned_records
        if returned_records:
            self._busy_since_s = now_s

    @property
    def is_polling(self) -> bool:
        """Whether a poll runs now."""
        return self._polls_running > 0

    def check(self, now_s: float, *, has_unread: bool, mark: object) -> Verdict:
        """Say how it stands.

        `has_unread`: records lie in the buffer that a poll would return. `mark`: anything that
        changes with records taken on the fast path, where no poll is reported.
        """
        if mark != self._mark:
            self._mark = mark
            self._rest()
        if self._polls_running or not (self._holds_records or has_unread):
            self._rest()
            return Verdict.FINE
        if self._busy_since_s is None:
            self._busy_since_s = now_s
        busy_s = now_s - self._busy_since_s
        if busy_s >= self.interval_s:
            return Verdict.OVERDUE
        if busy_s >= self.interval_s * WARN_AT and not self._is_warned:
            self._is_warned = True
            return Verdict.WARN
        return Verdict.FINE

    def next_check_s(self, now_s: float) -> float:
        """Return the seconds after which `check` may have something new to say."""
        step_s = self.interval_s * (1 - WARN_AT)
        if self._busy_since_s is None:
            return step_s
        busy_s = now_s - self._busy_since_s
        moments = (self.interval_s * WARN_AT, self.interval_s)
        left_s = [moment - busy_s for moment in moments if moment > busy_s]
        return max(min([step_s, *left_s]), _SHORTEST_STEP_S)

    def _rest(self) -> None:
        self._busy_since_s = None
        self._is_warned = False


__all__ = ["PollWatch", "Verdict"]
