"""Computes when a heartbeat is due and when the session expires, as far as the client knows.

Plain arithmetic on moments in monotonic seconds. Source: 2e-4, Heartbeat. Does not wait.
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
        """When the coordinator gives the member up without another heartbeat."""
        self.heard_at_s = 0.0
        """When the coordinator last answered, as far as the session is concerned."""

    def restart(self, now_s: float) -> None:
        """Begin a session: the member has joined."""
        self.answered(now_s)
        self.due_at_s = now_s + self._interval_s

    def expired(self, now_s: float) -> None:
        """Send a heartbeat now, and wait another session for its answer: the session expired."""
        self._failures = 0
        self.due_at_s = now_s
        self.expires_at_s = now_s + self.session_s

    def sent(self, now_s: float) -> None:
        """Count the interval from now: a heartbeat is sent."""
        self.due_at_s = now_s + self._interval_s

    def answered(self, now_s: float) -> None:
        """Extend the session: the coordinator answered a heartbeat."""
        self._failures = 0
        self.heard_at_s = now_s
        self.expires_at_s = now_s + self.session_s

    def failed(self, now_s: float) -> None:
        """Send the next heartbeat after a backoff that grows: this one failed."""
        self.due_at_s = min(now_s + self._backoff.delay(self._failures), now_s + self._interval_s)
        self._failures += 1

    def is_expired(self, now_s: float) -> bool:
        """Return whether the session has expired."""
        return now_s >= self.expires_at_s


__all__ = ["HeartbeatTimer"]
