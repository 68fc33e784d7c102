"""A time limit around awaits, like `asyncio.timeout`, measured by the client's own clock.

An outer cancellation that arrives together with the deadline wins: it stays a cancellation.
"""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Self

from aiokafka_lite.clock import Clock, TimerHandle


class deadline:  # noqa: N801  reads as `async with deadline(clock, 5.0):`, like asyncio.timeout
    """Cancel the body after `timeout_s` seconds and raise TimeoutError; None sets no limit.

    With 0 or less the body runs up to its first real wait. `expire()` ends the body early. The
    TimeoutError is the builtin one and has no text, because the caller that set the limit can word
    it. Use each instance once.
    """

    __slots__ = ("_cancelling", "_clock", "_expired", "_task", "_timer", "timeout_s")

    def __init__(self, clock: Clock, timeout_s: float | None) -> None:
        self.timeout_s = timeout_s
        self._clock = clock
        self._timer: TimerHandle | None = None
        self._task: asyncio.Task[object] | None = None
        self._cancelling = 0
        self._expired = False

    @property
    def expired(self) -> bool:
        """Whether the limit was reached."""
        return self._expired

    async def __aenter__(self) -> Self:
        self._task = task = asyncio.current_task()
        if task is not None:
            self._cancelling = task.cancelling()
        if self.timeout_s is not None:
            if task is None:
                raise RuntimeError("a deadline needs a task to cancel")
            self._timer = self._clock.call_at(
                self._clock.monotonic() + self.timeout_s, self._time_is_up
            )
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if not self._expired or self._task is None:
            return
        # uncancel() takes back this deadline's own cancel(). If more requests remain than at the
        # start, another caller wants this task to end.
        ours_alone = self._task.uncancel() <= self._cancelling
        if ours_alone and exc_type is not None and issubclass(exc_type, asyncio.CancelledError):
            raise TimeoutError from exc

    def _time_is_up(self) -> None:
        self.expire()

    def expire(self) -> None:
        """End the body now, from another task or callback. Does not wait.

        Without effect once the body has begun to end.
        """
        if self._task is not None and not self._expired:
            self._expired = True
            self._task.cancel()


class silence_deadline(deadline):  # noqa: N801
    """A deadline that also ends the body when nothing was heard for too long.

    `heard_s()` returns when something was last heard. The body is cancelled `silence_s` seconds
    after that, but not before `silence_s` seconds after `since_s`.
    """

    __slots__ = ("_ends_s", "_heard_s", "_silence_s", "_since_s")

    def __init__(
        self,
        clock: Clock,
        timeout_s: float,
        *,
        silence_s: float,
        since_s: float,
        heard_s: Callable[[], float],
    ) -> None:
        super().__init__(clock, timeout_s)
        self._silence_s = silence_s
        self._since_s = since_s
        self._heard_s = heard_s
        self._ends_s = 0.0

    async def __aenter__(self) -> Self:
        now_s = self._clock.monotonic()
        self._ends_s = now_s + (self.timeout_s or 0.0)
        self.timeout_s = self._over_s() - now_s
        return await super().__aenter__()

    def _over_s(self) -> float:
        return min(self._ends_s, max(self._heard_s(), self._since_s) + self._silence_s)

    def _time_is_up(self) -> None:
        over_s = self._over_s()
        if self._clock.monotonic() >= over_s:
            self.expire()
        else:
            self._timer = self._clock.call_at(over_s, self._time_is_up)


__all__ = ["deadline", "silence_deadline"]
