"""The bounded inbox of an actor: first in, first out, with a definite end.

Waits when empty (get) or full (put). Closing wakes everybody with the cause and hands back what was
never taken, so that nobody waits for an answer that cannot come.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class MailboxFullError(Exception):
    """The mailbox holds as many items as it may."""


class MailboxClosedError(Exception):
    """The mailbox is closed; chained to the cause, if one was given."""


class Mailbox(Generic[T]):
    """Items for one reader from many writers.

    `maxsize`: items it may hold, 0 for no bound. `reject(item, cause)` is called for every item
    still inside when the mailbox is closed. Writers that wait for room are served in their order.
    """

    def __init__(
        self, maxsize: int = 0, *, reject: Callable[[T, BaseException | None], object] | None = None
    ) -> None:
        self.maxsize = maxsize
        self.closed = False
        self.cause: BaseException | None = None
        self._reject = reject
        self._items: deque[T] = deque()
        self._getters: deque[asyncio.Future[None]] = deque()
        self._putters: deque[asyncio.Future[None]] = deque()

    def __len__(self) -> int:
        return len(self._items)

    def __bool__(self) -> bool:
        # An empty mailbox is still a mailbox.
        return True

    @property
    def is_full(self) -> bool:
        return 0 < self.maxsize <= len(self._items)

    def put_nowait(self, item: T) -> None:
        """Add an item. Raises MailboxFullError, MailboxClosedError."""
        self._check_open()
        if self.is_full or self._putters:
            raise MailboxFullError(f"the mailbox holds {len(self._items)} of {self.maxsize} items")
        self._add(item)

    async def put(self, item: T) -> None:
        """Add an item, waiting for room behind those who came before.

        Raises MailboxClosedError. Cancelled: the item is not in.
        """
        self._check_open()
        if self.is_full or self._putters:
            await self._wait_in(self._putters, pass_on=self._wake_putter)
            self._check_open()
        self._add(item)

    def get_nowait(self) -> T | None:
        """Take the oldest item, None when there is none. Raises MailboxClosedError."""
        self._check_open()
        return self._take() if self._items else None

    async def get(self) -> T:
        """Take the oldest item, waiting for one.

        Raises MailboxClosedError. Cancelled: no item is lost.
        """
        self._check_open()
        while not self._items:
            await self._wait_in(self._getters, pass_on=self._wake_getter)
            self._check_open()
        return self._take()

    def drain(self) -> list[T]:
        """Take all items there are, oldest first. Raises MailboxClosedError."""
        self._check_open()
        items = list(self._items)
        self._items.clear()
        for _ in items:
            self._wake_putter()
        return items

    def close(self, cause: BaseException | None = None) -> list[T]:
        """Refuse everything from now on; return, and reject, what is left. First cause stays."""
        if self.closed:
            return []
        self.closed = True
        self.cause = cause
        left = list(self._items)
        self._items.clear()
        for waiter in (*self._getters, *self._putters):
            if not waiter.done():
                waiter.set_result(None)
        if self._reject is not None:
            for item in left:
                self._reject(item, cause)
        return left

    def _check_open(self) -> None:
        if self.closed:
            raise MailboxClosedError("the mailbox is closed") from self.cause

    def _add(self, item: T) -> None:
        self._items.append(item)
        self._wake_getter()

    def _take(self) -> T:
        item = self._items.popleft()
        self._wake_putter()
        return item

    def _wake_getter(self) -> None:
        if self._items:
            _wake_first(self._getters)

    def _wake_putter(self) -> None:
        # A writer that was woken and has not run yet has its room; nobody else can take it, since
        # newcomers queue up behind it.
        promised = sum(putter.done() for putter in self._putters)
        if not self.maxsize or len(self._items) + promised < self.maxsize:
            _wake_first(self._putters)

    async def _wait_in(
        self, queue: "deque[asyncio.Future[None]]", *, pass_on: Callable[[], None]
    ) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            queue.remove(waiter)
            # Woken and cancelled in the same moment: what it was woken for is the next one's.
            pass_on()
            raise
        queue.remove(waiter)


def _wake_first(queue: "deque[asyncio.Future[None]]") -> None:
    for waiter in queue:
        if not waiter.done():
            waiter.set_result(None)
            return


__all__ = ["Mailbox", "MailboxClosedError", "MailboxFullError"]
