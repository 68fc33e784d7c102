"""Ties each call of `send` to the transaction that is open at the call.

A call that still waits when its transaction ends raises, so its record never gets into the next
transaction.
"""

import asyncio
from collections.abc import Callable
from types import TracebackType

from aiokafka_lite.errors import NoTransactionError


class TransactionSends:
    """The sending calls that wait in the transactions of one producer."""

    def __init__(self, check_may_send: Callable[[], None]) -> None:
        """`check_may_send()` raises unless a transaction is open that has not failed."""
        self._check_may_send = check_may_send
        self._calls: dict[_SendCall, None] = {}  # in the order of the calls
        self.number = 0
        """The number of the newest transaction."""

    def begin(self) -> None:
        """Note that another transaction has begun."""
        self.number += 1

    def end(self) -> None:
        """Note that the transaction takes no more records: the calls that wait raise."""
        for call in list(self._calls):
            call.end()

    def call(self, number: int) -> "_SendCall":
        """Return a context for a call that was made in the transaction with that number.

        Entering it raises: as `check_may_send`; NoTransactionError when another transaction is open
        by now. A body that still waits at the end of the transaction is cancelled, and the context
        raises NoTransactionError.
        """
        return _SendCall(self, number)

    def check(self, number: int) -> None:
        """Raise unless calls that were made in the transaction with that number may send."""
        self._check_may_send()
        if number != self.number:
            raise NoTransactionError(
                "send() was called before the transaction that is open now: nothing was queued; "
                "call it after begin_transaction()"
            )


class _SendCall:
    """One call and the task it runs in."""

    __slots__ = ("_cancelling", "_is_over", "_number", "_sends", "_task")

    def __init__(self, sends: TransactionSends, number: int) -> None:
        self._sends = sends
        self._number = number
        self._task: asyncio.Task[object] | None = None
        self._cancelling = 0
        self._is_over = False

    def __enter__(self) -> None:
        self._sends.check(self._number)
        self._task = task = asyncio.current_task()
        assert task is not None, "send() runs in a task"
        self._cancelling = task.cancelling()
        self._sends._calls[self] = None

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._sends._calls.pop(self, None)
        if not self._is_over or self._task is None:
            return
        # uncancel() takes back the cancel() of `end`. If more remain than at the start, the task
        # was also cancelled from elsewhere.
        ours_alone = self._task.uncancel() <= self._cancelling
        if ours_alone and exc_type is not None and issubclass(exc_type, asyncio.CancelledError):
            raise NoTransactionError(
                "the transaction ended while send() waited: nothing was queued; await each send() "
                "before commit_transaction() or abort_transaction()"
            ) from None

    def end(self) -> None:
        """Cancel the body."""
        self._is_over = True
        if self._task is not None:
            self._task.cancel()


__all__ = ["TransactionSends"]
