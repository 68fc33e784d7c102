"""Lets callers that ask for the same thing at the same time share one request."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from aiokafka_lite.concurrency.outcome import give, give_error

T = TypeVar("T")


class SharedLookups(Generic[T]):
    """The lookups on their way, by key. The first caller does the work."""

    def __init__(self) -> None:
        self._pending: dict[Hashable, asyncio.Future[T]] = {}

    async def run(self, key: Hashable, work: Callable[[], Awaitable[T]]) -> T:
        """Return the result of `work()`, or of the lookup of `key` that is on its way.

        Raises: what the work raised. Cancelled: another caller of the same key starts anew.
        """
        while (pending := self._pending.get(key)) is not None:
            await asyncio.wait([pending])
            if not pending.cancelled():
                return pending.result()
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._pending[key] = future
        try:
            result = await work()
        except asyncio.CancelledError:
            future.cancel()
            raise
        except Exception as error:
            give_error(future, error)
            future.exception()  # seen: there may be no other caller
            raise
        else:
            give(future, result)
            return result
        finally:
            del self._pending[key]


__all__ = ["SharedLookups"]
