"""A response that is given now or later, by any part of the broker: its side of a long wait."""

import asyncio
from typing import Generic, TypeVar

T = TypeVar("T")


class PendingAnswer(Generic[T]):
    """Given once, by `give`. A handler returns `value` if it is set, else waits for it."""

    __slots__ = ("_value", "_waiter")

    def __init__(self) -> None:
        self._value: T | None = None
        self._waiter: asyncio.Future[None] | None = None

    @property
    def value(self) -> T | None:
        """The response; None until it is given."""
        return self._value

    def give(self, value: T) -> None:
        """Give the response, even if nothing waits for it (any more)."""
        self._value = value
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def wait(self) -> T:
        """Return the response when it has been given. For one waiting task.

        Cancelled: a later response is dropped.
        """
        while self._value is None:
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        return self._value


__all__ = ["PendingAnswer"]
