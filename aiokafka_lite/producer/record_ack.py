"""What `send` returns: an awaitable handle of one record, (batch, index) and its timestamp.

It looks like a future and is none: a future is made per waiter, when somebody waits. So an ack that
is dropped costs nothing, and cancelling one who waits touches nobody else.
"""

import asyncio
import contextvars
from collections.abc import Callable, Generator
from functools import partial

from aiokafka_lite.model import RecordMetadata
from aiokafka_lite.producer.producer_batch import ProducerBatch


class RecordAck:
    """The acknowledgement of one record, to come.

    `await` it, any number of times and from any number of tasks: it gives a RecordMetadata or
    raises why the record was not written. Works with asyncio.wait, gather, wait_for and shield.
    Belongs to the event loop of its producer.
    """

    __slots__ = ("_batch", "_index", "_timestamp_ms")

    def __init__(self, batch: ProducerBatch, index: int, timestamp_ms: int) -> None:
        self._batch: ProducerBatch | None = batch
        """None: cancelled."""
        self._index = index
        self._timestamp_ms = timestamp_ms

    def __repr__(self) -> str:
        return f"<RecordAck {self._index} of {self._batch or 'a cancelled wait'!r}>"

    def __await__(self) -> Generator[object, None, RecordMetadata]:
        """Wait for the acknowledgement.

        Cancelled: the record is sent all the same; others may wait on, and so may a later await.
        """
        batch = self._batch
        if batch is not None and not batch.is_done:
            future = asyncio.get_running_loop().create_future()
            token = batch.add_listener(self._index, partial(_release, future))
            try:
                yield from future
            finally:
                batch.remove_listener(token)
        return self.result()

    def done(self) -> bool:
        """Whether there is an outcome: acknowledged, failed or cancelled."""
        return self._batch is None or self._batch.is_done

    def result(self) -> RecordMetadata:
        """Return where the record is, or raise why it is nowhere.

        Raises asyncio.InvalidStateError while there is no outcome.
        """
        error = self.exception()
        if error is not None:
            raise error.with_traceback(None)
        assert self._batch is not None
        return self._batch.metadata_of(self._index, self._timestamp_ms)

    def exception(self) -> Exception | None:
        """Return why the record was not written, None if it was. Raises as `result` otherwise."""
        batch = self._batch
        if batch is None:
            raise asyncio.CancelledError
        if not batch.is_done:
            raise asyncio.InvalidStateError("the record is not acknowledged yet")
        return batch.error_of(self._index)

    def cancelled(self) -> bool:
        """Whether `cancel()` was called before there was another outcome."""
        return self._batch is None

    def cancel(self, msg: object = None) -> bool:  # noqa: ARG002  a future's signature
        """Give up the ack: who awaits it gets CancelledError, its callbacks are called.

        The record itself is sent all the same, as are its neighbours. False: too late.
        """
        batch = self._batch
        if batch is None or batch.is_done:
            return False
        self._batch = None
        for token, listener in batch.listeners_of(self._index):
            batch.remove_listener(token)
            listener()
        return True

    def add_done_callback(
        self,
        callback: Callable[["RecordAck"], object],
        *,
        context: contextvars.Context | None = None,
    ) -> None:
        """Have the loop call `callback(ack)` soon after there is an outcome.

        Callbacks of one partition are called in the order of sending.
        """
        call = _Callback(self, callback, context or contextvars.copy_context())
        if self._batch is None or self._batch.is_done:
            call()
        else:
            self._batch.add_listener(self._index, call)

    def remove_done_callback(self, callback: Callable[["RecordAck"], object]) -> int:
        """Take back a callback; return how often it was there."""
        batch = self._batch
        if batch is None:
            return 0
        tokens = [
            token
            for token, call in batch.listeners_of(self._index)
            if isinstance(call, _Callback) and call.callback == callback
        ]
        for token in tokens:
            batch.remove_listener(token)
        return len(tokens)


class _Callback:
    __slots__ = ("ack", "callback", "context", "loop")

    def __init__(
        self, ack: RecordAck, callback: Callable[[RecordAck], object], context: contextvars.Context
    ) -> None:
        self.ack = ack
        self.callback = callback
        self.context = context
        self.loop = asyncio.get_running_loop()

    def __call__(self) -> None:
        # As futures do: never inside the code that set the outcome.
        self.loop.call_soon(self.callback, self.ack, context=self.context)


def _release(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


__all__ = ["RecordAck"]
