"""Lets many callers share one refresh: a caller that asks during a flight waits for its result.

The work runs as a child of the client's `TaskOwner`. So a caller that gives up does not end the
work for the others, and closing the client ends it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from aiokafka_lite.concurrency.outcome import give, give_error
from aiokafka_lite.concurrency.task_owner import OwnedTask, TaskOwner
from aiokafka_lite.errors import Cancelled

T = TypeVar("T")


class SingleFlight(Generic[T]):
    """Runs one flight of `name` at a time."""

    def __init__(self, owner: TaskOwner, name: str) -> None:
        self._owner = owner
        self._name = name
        self._waiters: list[asyncio.Future[T]] | None = None

    @property
    def in_flight(self) -> bool:
        return self._waiters is not None

    async def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """Return the result of the running flight. If none runs, start `work()` as a new one.

        Raises: what the flight raised; `Cancelled` when the owner was closed before its end.
        Cancelled: the flight goes on for the other callers, up to its end.
        """
        waiters = self._waiters
        if waiters is None:
            waiters = []
            child = self._owner.spawn(self._name, self._fly, waiters, work)
            self._waiters = waiters
            child.add_done_callback(self._give_up)
        waiter: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        waiters.append(waiter)
        try:
            return await waiter
        finally:
            # The caller was answered and cancelled in the same moment. Reading the error keeps the
            # loop from reporting it as unseen.
            if waiter.done() and not waiter.cancelled():
                waiter.exception()

    async def _fly(
        self, waiters: "list[asyncio.Future[T]]", work: Callable[[], Awaitable[T]]
    ) -> None:
        try:
            result = await work()
        except Exception as error:  # noqa: BLE001  every waiting caller raises it
            self._land(waiters)
            _fail(waiters, error)
        else:
            self._land(waiters)
            for waiter in waiters:
                give(waiter, result)

    def _land(self, waiters: "list[asyncio.Future[T]]") -> None:
        # This comes before the waiting callers get the result: a later caller needs a newer result.
        if self._waiters is waiters:
            self._waiters = None

    def _give_up(self, _child: OwnedTask) -> None:
        # The flight is still recorded although its task has ended. So the task was cancelled, maybe
        # before it began.
        waiters, self._waiters = self._waiters, None
        if waiters is not None:
            _fail(waiters, Cancelled(f"{self._name} was given up because its client closed"))


def _fail(waiters: "list[asyncio.Future[T]]", error: Exception) -> None:
    for waiter in waiters:
        give_error(waiter, error)


__all__ = ["SingleFlight"]
