"""An answer that comes now or later, from whoever decides it: the broker's side of a long wait."""

import asyncio
from typing import Generic, TypeVar

T = TypeVar("T")


class PendingAnswer(Generic[T]):
    """Given once, by `give`; a handler returns `value` if it is there, else waits for it."""

    __slots__ = ("_value", "_waiter")

    def __init__(self) -> None:
        self._value: T | None = None
        self._waiter: asyncio.Future[None] | None = None

    @property
    def value(self) -> T | None:
        """The answer, None as long as there is none."""
        return self._value

    def give(self, value: T) -> None:
        """Answer; nobody need be waiting (any more)."""
        self._value = value
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def wait(self) -> T:
        """Return the answer when it has been given. For one waiting task.

        Cancelled: an answer that comes later is dropped.
        """
        while self._value is None:
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        return self._value


__all__ = ["PendingAnswer"]
