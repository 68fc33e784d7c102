"""What `send` returns, and what it looks into: the pure twin of the acks and of a batch's outcome.

An ack is an awaitable handle of one record: (batch, index), its timestamp and sizes. It looks like
a future and is none: a future is made per waiter, when somebody waits. So an ack that is dropped
costs nothing, and cancelling one who waits touches nobody else.
"""

import asyncio
import contextvars
import itertools
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Final

from aiokafka_lite.model import RecordMetadata, TimestampType, TopicPartition
from aiokafka_lite.record.batch_builder import RecordBatchBuilder

Listener = Callable[[], object]
BEHIND_ALL: Final = 2**31 - 1
"""The index of those who listen for the batch as a whole, after the listeners of its records."""

_tokens = itertools.count()  # of all batches: a listener moves to a piece with its token


class BatchOutcome:
    """What acks know of their batch: the outcome, who waits for it, and the pieces it was split
    into.
    """

    __slots__ = (
        "_builder",
        "_error_was_seen",
        "_listeners",
        "_pieces",
        "base_offset",
        "error",
        "is_done",
        "log_append_time_ms",
        "log_start_offset",
        "record_count",
        "record_errors",
        "topic_partition",
    )

    def __init__(self, topic_partition: TopicPartition, builder: RecordBatchBuilder) -> None:
        self.topic_partition = topic_partition
        self._builder: RecordBatchBuilder | None = builder
        self.record_count = 0
        """Set when the batch is closed."""
        self.is_done = False
        self.error: Exception | None = None
        self.record_errors: Mapping[int, Exception] = {}
        self.base_offset = -1
        self.log_append_time_ms = -1
        self.log_start_offset = -1
        self._listeners: dict[int, tuple[int, Listener]] = {}
        self._pieces: list[tuple[int, BatchOutcome]] = []
        """What it was split into, each with the index here of its first record."""
        self._error_was_seen = False

    @property
    def is_split(self) -> bool:
        """Whether its records are in other batches now; `place_of` says where."""
        return bool(self._pieces)

    def place_of(self, index: int) -> tuple["BatchOutcome", int]:
        """Return the batch that has a record now, and its index there."""
        batch = self
        while batch._pieces:
            first, piece = next(at for at in reversed(batch._pieces) if at[0] <= index)
            batch, index = piece, index - first
        return batch, index

    def succeed(
        self, base_offset: int, log_append_time_ms: int = -1, log_start_offset: int = -1
    ) -> bool:
        """Set the outcome and tell the listeners; False if there was one before, which stays.

        `base_offset` -1: written, nobody knows where.
        """
        if self.is_done:
            return False
        self.base_offset = base_offset
        self.log_append_time_ms = log_append_time_ms
        self.log_start_offset = log_start_offset
        self._finish()
        return True

    def fail(self, error: Exception, record_errors: Mapping[int, Exception] | None = None) -> bool:
        """Set the outcome and tell the listeners; False if there was one before, which stays.

        `record_errors`: the records that have an error of their own, by index (KIP-467).
        """
        if self.is_done:
            return False
        self.error = error
        self.record_errors = record_errors or {}
        self._finish()
        return True

    def error_of(self, index: int) -> Exception | None:
        """Return why a record failed, None if it did not. Asking counts as having noticed."""
        if self.error is None:
            return None
        self._error_was_seen = True
        return self.record_errors.get(index, self.error)

    def metadata_of(
        self, index: int, timestamp_ms: int, key_size: int = -1, value_size: int = -1
    ) -> RecordMetadata:
        """Return where a record of this written batch is; the other arguments are the record's."""
        is_appended = self.log_append_time_ms >= 0
        metadata = RecordMetadata(
            self.topic_partition.topic,
            self.topic_partition.partition,
            self.topic_partition,
            self.base_offset + index if self.base_offset >= 0 else -1,
            self.log_append_time_ms if is_appended else timestamp_ms,
            TimestampType.LOG_APPEND_TIME if is_appended else TimestampType.CREATE_TIME,
            self.log_start_offset,
        )
        metadata.serialized_key_size = key_size
        metadata.serialized_value_size = value_size
        return metadata

    # Who wants to hear of it…

    def add_listener(self, index: int, listener: Listener) -> int:
        """Call `listener()` once there is an outcome; return a token to take that back.

        Listeners are called in the order of `index`, then of their coming. Not for a done batch.
        """
        token = next(_tokens)
        self._listeners[token] = (index, listener)
        return token

    def remove_listener(self, token: int) -> None:
        """Forget a listener; harmless when it was called or removed before."""
        if self._listeners.pop(token, None) is None:
            for _, piece in self._pieces:
                piece.remove_listener(token)

    def listeners_of(self, index: int) -> Sequence[tuple[int, Listener]]:
        """Return the (token, listener) pairs of one record, in the order of their coming."""
        return [(token, call) for token, (at, call) in self._listeners.items() if at == index]

    def _finish(self) -> None:
        self.is_done = True
        listeners, self._listeners = self._listeners, {}
        for _, listener in sorted(listeners.values(), key=lambda entry: entry[0]):
            listener()


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
        batch: BatchOutcome,
        index: int,
        timestamp_ms: int,
        serialized_key_size: int = -1,
        serialized_value_size: int = -1,
    ) -> None:
        """The sizes are those of the bytes, -1 for None."""
        self._batch: BatchOutcome | None = batch
        """None: cancelled."""
        self._index = index
        self._timestamp_ms = timestamp_ms
        self.serialized_key_size = serialized_key_size
        self.serialized_value_size = serialized_value_size

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._index} of {self._place() or 'a cancelled wait'!r}>"

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
    def place(self) -> tuple[BatchOutcome, int]:
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

    def _place(self) -> BatchOutcome | None:
        """Return the batch that has the record now, None once cancelled: batches may be split."""
        batch = self._batch
        if batch is not None and batch.is_split:
            batch, self._index = batch.place_of(self._index)
            self._batch = batch
        return batch

    def _listeners(self, batch: BatchOutcome) -> list[tuple[int, Listener]]:
        """Return who listens through this ack, with their tokens; a record may have several."""
        return [
            (token, listener)
            for token, listener in batch.listeners_of(self._index)
            if isinstance(listener, _Waiter | _Callback) and listener.ack is self
        ]


class BatchAck(RecordAck):
    """The acknowledgement of a whole batch, to come; its metadata are those of the first record."""

    __slots__ = ()

    def __init__(self, batch: BatchOutcome, timestamp_ms: int) -> None:
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

    def _place(self) -> BatchOutcome | None:
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


__all__ = ["BEHIND_ALL", "BatchAck", "BatchOutcome", "Listener", "RecordAck"]
