"""What `send` returns: an awaitable handle of one record: (batch, index), its timestamp and sizes.

It looks like a future and is none: a future is made per waiter, when somebody waits. So an ack that
is dropped costs nothing, and cancelling one who waits touches nobody else.
"""

import asyncio
import contextvars
from collections.abc import Callable, Generator

from aiokafka_lite.model import RecordMetadata, TopicPartition
from aiokafka_lite.producer.producer_batch import BEHIND_ALL, Listener, ProducerBatch


class RecordAck:
    """The acknowledgement of one record, to come.

    `await` it, any number of times and from any number of tasks: it gives a RecordMetadata or
    raises why the record was not written. Works with asyncio.wait, gather, wait_for and shield.
    Belongs to the event loop of its producer.
    """

    __slots__ = (
        "_batch",
        "_index",
        "_timestamp_ms",
        "serialized_key_size",
        "serialized_value_size",
    )

    def __init__(
        self,
        batch: ProducerBatch,
        index: int,
        timestamp_ms: int,
        serialized_key_size: int = -1,
        serialized_value_size: int = -1,
    ) -> None:
        """The sizes are those of the bytes, -1 for None."""
        self._batch: ProducerBatch | None = batch
        """None: cancelled."""
        self._index = index
        self._timestamp_ms = timestamp_ms
        self.serialized_key_size = serialized_key_size
        self.serialized_value_size = serialized_value_size

    def __repr__(self) -> str:
        return f"<RecordAck {self._index} of {self._place() or 'a cancelled wait'!r}>"

    def __await__(self) -> Generator[object, None, RecordMetadata]:
        """Wait for the acknowledgement.

        Cancelled: the record is sent all the same; others may wait on, and so may a later await.
        """
        batch = self._place()
        if batch is not None and not batch.is_done:
            future = asyncio.get_running_loop().create_future()
            token = batch.add_listener(self._index, _Waiter(self, future))
            try:
                yield from future
            finally:
                batch.remove_listener(token)
        return self.result()

    @property
    def timestamp_ms(self) -> int:
        """The record's own timestamp."""
        return self._timestamp_ms

    @property
    def place(self) -> tuple[ProducerBatch, int]:
        """The record's batch and its index there. Not once it is cancelled."""
        batch = self._place()
        assert batch is not None
        return batch, self._index

    @property
    def topic_partition(self) -> TopicPartition:
        """Where the record goes. Not once it is cancelled."""
        assert self._batch is not None
        return self._batch.topic_partition

    @property
    def has_failed(self) -> bool:
        """Whether the record was not written. Asking does not count as having noticed."""
        batch = self._place()
        return batch is not None and batch.error is not None

    def copy(self) -> "RecordAck":
        """Return another ack of the same record; each is cancelled by itself."""
        assert self._batch is not None
        return RecordAck(
            self._batch,
            self._index,
            self._timestamp_ms,
            self.serialized_key_size,
            self.serialized_value_size,
        )

    def done(self) -> bool:
        """Whether there is an outcome: acknowledged, failed or cancelled."""
        batch = self._place()
        return batch is None or batch.is_done

    def result(self) -> RecordMetadata:
        """Return where the record is, or raise why it is nowhere.

        Raises asyncio.InvalidStateError while there is no outcome.
        """
        error = self.exception()
        if error is not None:
            raise error.with_traceback(None)
        assert self._batch is not None
        return self._batch.metadata_of(
            self._index, self._timestamp_ms, self.serialized_key_size, self.serialized_value_size
        )

    def exception(self) -> Exception | None:
        """Return why the record was not written, None if it was. Raises as `result` otherwise."""
        batch = self._place()
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
        batch = self._place()
        if batch is None or batch.is_done:
            return False
        listeners = self._listeners(batch)
        self._batch = None
        for token, listener in listeners:
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
        batch = self._place()
        if batch is None or batch.is_done:
            call()
        else:
            batch.add_listener(self._index, call)

    def remove_done_callback(self, callback: Callable[["RecordAck"], object]) -> int:
        """Take back a callback; return how often it was there."""
        batch = self._place()
        if batch is None:
            return 0
        tokens = [
            token
            for token, call in self._listeners(batch)
            if isinstance(call, _Callback) and call.callback == callback
        ]
        for token in tokens:
            batch.remove_listener(token)
        return len(tokens)

    def _place(self) -> ProducerBatch | None:
        """Return the batch that has the record now, None once cancelled: batches may be split."""
        batch = self._batch
        if batch is not None and batch.is_split:
            batch, self._index = batch.place_of(self._index)
            self._batch = batch
        return batch

    def _listeners(self, batch: ProducerBatch) -> list[tuple[int, Listener]]:
        """Return who listens through this ack, with their tokens; a record may have several."""
        return [
            (token, listener)
            for token, listener in batch.listeners_of(self._index)
            if isinstance(listener, _Waiter | _Callback) and listener.ack is self
        ]


class BatchAck(RecordAck):
    """The acknowledgement of a whole batch, to come; its metadata are those of the first record."""

    __slots__ = ()

    def __init__(self, batch: ProducerBatch, timestamp_ms: int) -> None:
        super().__init__(batch, BEHIND_ALL, timestamp_ms)

    def result(self) -> RecordMetadata:
        """Return where the first record is, or raise why one of them is nowhere."""
        error = self.exception()
        if error is not None:
            raise error.with_traceback(None)
        assert self._batch is not None
        batch, index = self._batch.place_of(0)
        return batch.metadata_of(index, self._timestamp_ms)

    def exception(self) -> Exception | None:
        """Return why one of the records was not written, None if all were."""
        batch = self._place()
        if batch is None:
            raise asyncio.CancelledError
        if not batch.is_done:
            raise asyncio.InvalidStateError("the batch is not acknowledged yet")
        places = (batch.place_of(index) for index in range(batch.record_count))
        errors = [piece.error_of(at) for piece, at in places]
        return next((error for error in errors if error is not None), None)

    def _place(self) -> ProducerBatch | None:
        return self._batch  # which is done when all its pieces are


class _Waiter:
    """Wakes somebody who awaits an ack."""

    __slots__ = ("ack", "future")

    def __init__(self, ack: RecordAck, future: "asyncio.Future[None]") -> None:
        self.ack = ack
        self.future = future

    def __call__(self) -> None:
        if not self.future.done():
            self.future.set_result(None)


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


__all__ = ["BatchAck", "RecordAck"]
