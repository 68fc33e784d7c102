"""Owns when a heartbeat is due and when the session is over, as far as this side can tell.

Plain arithmetic on moments it is given (monotonic seconds). Source: 2e-4, Heartbeat.
"""

from aiokafka_lite.concurrency.backoff import ExponentialBackoff


class HeartbeatTimer:
    """The times of one membership."""

    def __init__(self, interval_s: float, session_s: float, backoff: ExponentialBackoff) -> None:
        self._interval_s = interval_s
        self.session_s = session_s
        """How long a coordinator waits for a heartbeat."""
        self._backoff = backoff
        self._failures = 0
        self.due_at_s = 0.0
        """When the next heartbeat is to be sent."""
        self.expires_at_s = 0.0
        """When the coordinator will have given the member up, unless it hears from it."""

    def restart(self, now_s: float) -> None:
        """The coordinator knows of us as of now: joined, or found again."""
        self._failures = 0
        self.due_at_s = now_s + self._interval_s
        self.expires_at_s = now_s + self.session_s

    def sent(self, now_s: float) -> None:
        """A heartbeat goes out; the interval counts from its sending."""
        self.due_at_s = now_s + self._interval_s

    def answered(self, now_s: float) -> None:
        """The coordinator has heard of us."""
        self._failures = 0
        self.expires_at_s = now_s + self.session_s

    def failed(self, now_s: float) -> None:
        """No answer, or one that does not count: again after a backoff that grows."""
        self.due_at_s = min(now_s + self._backoff.delay(self._failures), now_s + self._interval_s)
        self._failures += 1

    def is_expired(self, now_s: float) -> bool:
        """Say whether the session must be taken as over."""
        return now_s >= self.expires_at_s


__all__ = ["HeartbeatTimer"]
