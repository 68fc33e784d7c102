"""Watches the deadlines of the requests of one connection, with one timer for all of them.

The timer stays when the request that it was set for is answered, which saves a timer per request.
"""

from collections.abc import Callable, Iterable

from aiokafka_lite.clock import Clock, TimerHandle
from aiokafka_lite.errors import RequestTimedOutError
from aiokafka_lite.net.exchange import Exchange


class RequestDeadlines:
    """Calls `on_late` with the requests of `pending()` whose deadline has passed."""

    __slots__ = ("_at_s", "_clock", "_on_late", "_pending", "_timer")

    def __init__(
        self,
        clock: Clock,
        pending: Callable[[], Iterable[Exchange]],
        on_late: Callable[[list[Exchange]], None],
    ) -> None:
        """`on_late` takes the requests out of `pending()`."""
        self._clock = clock
        self._pending = pending
        self._on_late = on_late
        self._timer: TimerHandle | None = None
        self._at_s = 0.0

    def watch(self, deadline_s: float) -> None:
        """Check the deadlines at `deadline_s` or before. Does not wait."""
        if self._is_watching(deadline_s):
            return
        timer = self._clock.call_at(deadline_s, self._check)
        if self._is_watching(deadline_s):  # a finalizer that sends has set one meanwhile
            timer.cancel()
            return
        former, self._timer, self._at_s = self._timer, timer, deadline_s
        if former is not None:
            former.cancel()

    def _is_watching(self, deadline_s: float) -> bool:
        return self._timer is not None and self._at_s <= deadline_s

    def stop(self) -> None:
        """Drop the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _check(self) -> None:
        self._timer = None
        now_s = self._clock.monotonic()
        late = [pending for pending in self._pending() if pending.deadline_s <= now_s]
        if late:
            self._on_late(late)
        next_s = min([pending.deadline_s for pending in self._pending()], default=None)
        if next_s is not None:
            self.watch(next_s)


def timed_out_error(name: str, pending: Exchange, unanswered: int) -> RequestTimedOutError:
    """Return the error of a request that the node called `name` has not answered in time."""
    within = f"within {(pending.timeout_s or 0) * 1000:,.0f} ms"
    if not pending.was_sent:
        return RequestTimedOutError(
            f"{pending} could not be sent to {name} {within}: {unanswered} requests are unanswered"
        )
    failed = "did not answer" if pending.expects_response else "did not take all bytes of"
    return RequestTimedOutError(
        f"{name} {failed} {pending} {within}; the connection is closed. If the"
        " broker is only slow, raise request_timeout_ms"
    )


__all__ = ["RequestDeadlines", "timed_out_error"]
