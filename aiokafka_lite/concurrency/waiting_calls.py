"""Tracks waiting calls of the application, so that another of its tasks can end them."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from aiokafka_lite.clock import Clock
from aiokafka_lite.concurrency.deadline import deadline


class WaitingCalls:
    """Ends all waiting calls, each with an error that `ended()` makes.

    A call is `async with calls.one():`. `end` cancels what the call awaits.
    """

    def __init__(self, clock: Clock, ended: Callable[[], Exception]) -> None:
        self._clock = clock
        self._ended = ended
        self._bounds: dict[deadline, None] = {}

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Run the body of one call.

        Raises: the error that `ended()` makes, once `end` was called. Cancelled: as the body; a
        cancellation wins over an `end` in the same moment.
        """
        bound = deadline(self._clock, None)
        try:
            async with bound:
                self._bounds[bound] = None
                try:
                    yield
                finally:
                    del self._bounds[bound]
        except TimeoutError:
            if bound.expired:
                raise self._ended() from None
            raise

    def end(self) -> bool:
        """End all calls that wait now; return whether there was one. Does not wait."""
        waiting = list(self._bounds)
        for bound in waiting:
            bound.expire()
        return bool(waiting)


__all__ = ["WaitingCalls"]
