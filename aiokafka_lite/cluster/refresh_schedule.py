"""Owns when metadata is asked for next: at age, on request, at once for new topics, later after
failures and answers without news. It reads no clock and does not wait; times are seconds of the
client's monotonic clock.
"""

from aiokafka_lite.concurrency.backoff import ExponentialBackoff

NEVER = float("inf")


class RefreshSchedule:
    """When the next refresh is due and whether it may be partial.

    One refresh at a time: `begin`, then `succeeded` or `failed`. Requests that come in between are
    kept for the next one; any number of them is one refresh. Source: Metadata.timeToNextUpdate,
    KIP-580.
    """

    def __init__(self, *, max_age_s: float, backoff: ExponentialBackoff) -> None:
        self._max_age_s = max(max_age_s, backoff.initial_s, 0.001)  # 0 must not become a busy loop
        self._backoff = backoff
        self._wants_full = False
        self._wants_partial = False
        self._is_urgent = False
        self._was_requested = False  # the running refresh answers a request, it is not due to age
        self._refreshed_at_s = -NEVER
        self._not_before_s = -NEVER  # after answers without news
        self._failed_until_s = -NEVER
        self._failures = 0
        self._equivalents = 0
        self._trying_since_s: float | None = None

    def request(self, *, partial: bool = False, urgent: bool = False) -> None:
        """Ask for a refresh as soon as the backoff allows.

        `partial`: of unsettled topics only. `urgent`: only failures can delay it; for somebody who
        waits, or for topics never asked about before.
        """
        if partial:
            self._wants_partial = True
        else:
            self._wants_full = True
        self._is_urgent = self._is_urgent or urgent

    @property
    def is_requested(self) -> bool:
        """Whether somebody asked for a refresh that has not begun."""
        return self._wants_full or self._wants_partial

    def due_at(self) -> float:
        """Return when the next refresh is due; in the past: now."""
        if not self.is_requested:
            return max(self._refreshed_at_s + self._max_age_s, self._failed_until_s)
        if self._is_urgent:
            return self._failed_until_s
        return max(self._failed_until_s, self._not_before_s)

    def begin(self, now: float) -> bool:
        """Note that a refresh begins; return whether a partial one is enough."""
        self._was_requested = self.is_requested
        is_aged = now >= self._refreshed_at_s + self._max_age_s
        partial = self._wants_partial and not self._wants_full and not is_aged
        if is_aged:
            self._equivalents = 0
        self._wants_full = self._wants_partial = self._is_urgent = False
        if self._trying_since_s is None:
            self._trying_since_s = now
        return partial

    def succeeded(self, now: float, *, partial: bool, news: bool) -> None:
        """Note an answer; `news`: it said something new, so that asking soon again makes sense."""
        self._failures = 0
        self._failed_until_s = -NEVER
        self._trying_since_s = None
        if not partial:
            self._refreshed_at_s = now
        if news or not self._was_requested:
            self._equivalents = 0
            self._not_before_s = -NEVER
            return
        self._not_before_s = now + self._backoff.delay(self._equivalents)
        self._equivalents += 1

    def failed(self, now: float, *, partial: bool) -> None:
        """Note that the refresh failed; it is asked for again, after the backoff."""
        self._failed_until_s = now + self._backoff.delay(self._failures)
        self._failures += 1
        self.request(partial=partial)

    def trying_for(self, now: float) -> float:
        """Return the seconds since the first attempt after the last success, 0 before it
        (KIP-1102).
        """
        return 0.0 if self._trying_since_s is None else now - self._trying_since_s

    def restart_trial(self, now: float) -> None:
        """Count `trying_for` from now: the client has begun anew with the seeds."""
        self._trying_since_s = now


__all__ = ["RefreshSchedule"]
