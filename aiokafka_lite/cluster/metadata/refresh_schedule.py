"""Decides when the next metadata refresh is due.

A refresh is due when the metadata reaches its maximum age, or on request. Failures delay it, and so
do responses that said nothing new. Times are seconds of the client's monotonic clock. Does not
wait.
"""

from aiokafka_lite.concurrency.backoff import ExponentialBackoff

NEVER = float("inf")

_ELECTION_S = 10.0
"""A dead leader is replaced after the session timeout of its broker, nine seconds by default."""


class RefreshSchedule:
    """When the next refresh is due, and whether it may be partial.

    The caller runs one refresh at a time: `begin`, then `succeeded` or `failed`. All requests that
    come in between cause one more refresh. Source: Metadata.timeToNextUpdate, KIP-580.
    """

    def __init__(self, *, max_age_s: float, backoff: ExponentialBackoff) -> None:
        self._max_age_s = max(max_age_s, backoff.initial_s, 0.001)  # 0 must not become a busy loop
        self._backoff = backoff
        self._wants_full = False
        self._wants_partial = False
        self._is_urgent = False
        self._was_requested = False  # the running refresh was requested, and not caused by age
        self._refreshed_at_s = -NEVER
        self._not_before_s = -NEVER  # after responses that said nothing new
        self._failed_until_s = -NEVER
        self._failures = 0
        self._equivalents = 0
        self._election_since_s: float | None = None
        self._trying_since_s: float | None = None

    def request(self, *, partial: bool = False, urgent: bool = False) -> None:
        """Ask for a refresh as soon as the backoff allows.

        `partial`: only the topics that are not fully described yet. `urgent`: only failures delay
        it; for a caller that waits, or for a new topic.
        """
        if partial:
            self._wants_partial = True
        else:
            self._wants_full = True
        self._is_urgent = self._is_urgent or urgent

    @property
    def is_requested(self) -> bool:
        """Whether a refresh was requested and has not begun."""
        return self._wants_full or self._wants_partial

    def due_at(self) -> float:
        """Return when the next refresh is due. A time in the past means now."""
        if not self.is_requested:
            return max(self._refreshed_at_s + self._max_age_s, self._failed_until_s)
        if self._is_urgent:
            return self._failed_until_s
        return max(self._failed_until_s, self._not_before_s)

    def begin(self, now_s: float) -> bool:
        """Note that a refresh begins; return whether it may be partial."""
        self._was_requested = self.is_requested
        is_aged = now_s >= self._refreshed_at_s + self._max_age_s
        partial = self._wants_partial and not self._wants_full and not is_aged
        if is_aged:
            self._equivalents = 0
        self._wants_full = self._wants_partial = self._is_urgent = False
        if self._trying_since_s is None:
            self._trying_since_s = now_s
        return partial

    def succeeded(
        self, now_s: float, *, partial: bool, news: bool, awaits_leader: bool = False
    ) -> None:
        """Note a response. `news`: it said something new, so the next request is not delayed.

        `awaits_leader`: it names a leader that cannot be reached, so another one may be elected
        soon. Then the metadata is asked for again and again, and the pauses do not grow yet.
        """
        self._failures = 0
        self._failed_until_s = -NEVER
        self._trying_since_s = None
        if not partial:
            self._refreshed_at_s = now_s
        if self._is_election(now_s, awaits_leader=awaits_leader):
            self._not_before_s = now_s + self._backoff.delay(0)
            self.request()
            return
        if news or not self._was_requested:
            self._equivalents = 0
            self._not_before_s = -NEVER
            return
        self._not_before_s = now_s + self._backoff.delay(self._equivalents)
        self._equivalents += 1

    def _is_election(self, now_s: float, *, awaits_leader: bool) -> bool:
        if not awaits_leader:
            self._election_since_s = None
            return False
        if self._election_since_s is None:
            self._election_since_s = now_s
        return now_s < self._election_since_s + _ELECTION_S

    def failed(self, now_s: float, *, partial: bool, at_least_s: float = 0.0) -> None:
        """Note that the refresh failed. It is requested again and waits for the backoff, or for
        `at_least_s` if that is longer.
        """
        self._failed_until_s = now_s + max(self._backoff.delay(self._failures), at_least_s)
        self._failures += 1
        self.request(partial=partial)

    def trying_for(self, now_s: float) -> float:
        """Return the seconds since the first attempt after the last success; 0 without such an
        attempt (KIP-1102).
        """
        return 0.0 if self._trying_since_s is None else now_s - self._trying_since_s

    def restart_trial(self, now_s: float) -> None:
        """Count `trying_for` from now on, because the client turns to the seeds."""
        self._trying_since_s = now_s


__all__ = ["RefreshSchedule"]
