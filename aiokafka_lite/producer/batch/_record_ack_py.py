"""Owns the acks that `send` returns, and the outcome of a batch that they read: the pure twin.

An ack is an awaitable handle of one record: (batch, index), its timestamp and sizes. It has the
methods of a future, but a future is made only for each task that waits. So an ack that is dropped
costs nothing, and a waiter that is cancelled does not affect others.
"""

import asyncio
import contextvars
import itertools
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Final, Self

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.concurrency.outcome import give
from aiokafka_lite.model import RecordMetadata, TimestampType, TopicPartition
from aiokafka_lite.record.batch_builder import RecordBatchBuilder

Listener = Callable[[], object]
BEHIND_ALL: Final = 2**31 - 1
"""The index of listeners for the batch as a whole; they are called after those of its records."""

_tokens = itertools.count()  # of all batches: a listener moves to a piece with its token


class BatchOutcome:
    """The outcome of a batch's records, the listeners for it, and the pieces of a split batch."""

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
        """The pieces of a split batch, each with the index of its first record in this batch."""
        self._error_was_seen = False

    @property
    def is_split(self) -> bool:
        """Whether the records are in other batches, which `place_of` returns."""
        return bool(self._pieces)

    def place_of(self, index: int) -> tuple["BatchOutcome", int]:
        """Return the batch that has a record, and the record's index there."""
        batch = self
        while batch._pieces:
            first, piece = next(at for at in reversed(batch._pieces) if at[0] <= index)
            batch, index = piece, index - first
        return batch, index

    def succeed(
        self, base_offset: int, log_append_time_ms: int = -1, log_start_offset: int = -1
    ) -> bool:
        """Set the outcome and tell the listeners; False if there was one before, which stays.

        `base_offset` -1: written, at an unknown offset.
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
        """Return the error of a record, or None. It counts as seen then, and is not logged."""
        if self.error is None:
            return None
        self._error_was_seen = True
        return self.record_errors.get(index, self.error)

    def metadata_of(
        self, index: int, timestamp_ms: int, key_size: int = -1, value_size: int = -1
    ) -> RecordMetadata:
        """Return the metadata of a record of this written batch."""
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
        vars(metadata).update(serialized_key_size=key_size, serialized_value_size=value_size)
        return metadata

    # Listeners…

    def add_listener(self, index: int, listener: Listener) -> int:
        """Call `listener()` once there is an outcome; return a token for `remove_listener`.

        Listeners are called in the order of `index`, then of their coming. A batch that is done
        calls it at once.
        """
        token = next(_tokens)
        entry = (index, listener)
        if self.is_done:
            listener()
        else:
            self._listeners[token] = entry
        return token

    def remove_listener(self, token: int) -> bool:
        """Remove a listener. Return False if it was called or removed before."""
        if self._listeners.pop(token, None) is not None:
            return True
        return any(piece.remove_listener(token) for _, piece in self._pieces)

    def listeners_of(self, index: int) -> Sequence[tuple[int, Listener]]:
        """Return the (token, listener) pairs of one record, in the order they were added."""
        listeners = self._listeners.copy()  # which others may change meanwhile
        return [(token, call) for token, (at, call) in listeners.items() if at == index]

    def _move_listeners(self, end: int) -> None:
        """Move the listeners of the records before index `end` to the pieces that have these."""
        for token, (index, listener) in self._listeners.copy().items():
            if index < end:
                place, at = self.place_of(index)
                if self._listeners.pop(token, None) is not None:  # else it was removed meanwhile
                    place._listeners[token] = (at, listener)

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
        """The sizes are in bytes; -1: None."""
        self._batch: BatchOutcome | None = batch
        """None: cancelled."""
        self._index = index
        self._timestamp_ms = timestamp_ms
        self.serialized_key_size = serialized_key_size
        self.serialized_value_size = serialized_value_size

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} {self._index} of "
            f"{quoted(self._place() or 'a cancelled wait')}>"
        )

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
    def _batch_and_index(self) -> tuple[BatchOutcome, int]:
        """The record's batch and its index there. Not for a cancelled ack."""
        batch = self._place()
        assert batch is not None
        return batch, self._index

    @property
    def topic_partition(self) -> TopicPartition:
        """The partition of the record. Not for a cancelled ack."""
        assert self._batch is not None
        return self._batch.topic_partition

    @property
    def _has_failed(self) -> bool:
        """Whether the record has failed. The error does not count as seen."""
        batch = self._place()
        return batch is not None and batch.error is not None

    def _copy(self) -> "RecordAck":
        """Return another ack of the record. Each is cancelled separately."""
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
        """Return the record's metadata, or raise why it was not written.

        Raises: asyncio.InvalidStateError while there is no outcome.
        """
        error = self.exception()
        if error is not None:
            raise error.with_traceback(None)
        assert self._batch is not None
        return self._batch.metadata_of(
            self._index, self._timestamp_ms, self.serialized_key_size, self.serialized_value_size
        )

    def exception(self) -> Exception | None:
        """Return why the record was not written, None if it was. Raises: as `result` otherwise."""
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
        """Give up the ack. Tasks that await it get CancelledError, and its callbacks are called.

        The record is still sent, like the others of its batch. False: there was an outcome already.
        """
        batch = self._place()
        if batch is None or batch.is_done:
            return False
        listeners = self._listeners(batch)
        if self.done():  # meanwhile
            return False
        self._batch = None
        for token, listener in listeners:
            if batch.remove_listener(token):
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
        if context is None:  # an empty one counts as False
            context = contextvars.copy_context()
        call = _Callback(self, callback, context)
        batch = self._place()
        if batch is None or batch.is_done:
            call()
        else:
            batch.add_listener(self._index, call)

    def remove_done_callback(self, callback: Callable[["RecordAck"], object]) -> int:
        """Remove a callback; return how many times it was there."""
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
        """Return the batch or the piece that has the record; None: the ack is cancelled."""
        batch = self._batch
        if batch is not None and batch.is_split:
            batch, self._index = batch.place_of(self._index)
            self._batch = batch
        return batch

    def _listeners(self, batch: BatchOutcome) -> list[tuple[int, Listener]]:
        """Return the listeners of this ack with their tokens. A record may have several acks."""
        return [
            (token, listener)
            for token, listener in batch.listeners_of(self._index)
            if isinstance(listener, _Waiter | _Callback) and listener.ack is self
        ]


class BatchAck(RecordAck):
    """The ack of a whole batch; its metadata is that of the first record."""

    __slots__ = ()

    def __init__(self, batch: BatchOutcome, timestamp_ms: int) -> None:
        super().__init__(batch, BEHIND_ALL, timestamp_ms)

    def result(self) -> RecordMetadata:
        """Return the metadata of the first record, or raise why a record was not written."""
        error = self.exception()
        if error is not None:
            raise error.with_traceback(None)
        assert self._batch is not None
        batch, index = self._batch.place_of(0)
        return batch.metadata_of(index, self._timestamp_ms)

    def exception(self) -> Exception | None:
        """Return the error of the first batch of them that failed, or None if all are written."""
        batch = self._place()
        if batch is None:
            raise asyncio.CancelledError
        if not batch.is_done:
            raise asyncio.InvalidStateError("the batch is not acknowledged yet")
        places = (batch.place_of(index) for index in range(batch.record_count))
        failed = [piece for piece, at in places if piece.error_of(at) is not None]
        return failed[0].error if failed else None

    def _place(self) -> BatchOutcome | None:
        return self._batch  # it is done when all its pieces are done


class AwaitedAck:
    """What `send_and_wait` returns for a record in its batch: a coroutine that waits for its ack.
    Nothing warns when it is dropped, because the record is sent all the same.
    """

    __slots__ = ("_ack", "_future", "_wait")

    def __init__(self, ack: RecordAck) -> None:
        self._ack = ack
        self._wait = ack.__await__()
        self._future: Any = None
        """What the task that awaits it waits for."""

    def __await__(self) -> Self:
        return self

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> object:
        return self.send(None)

    def send(self, _value: object) -> object:
        """Wait, or return the outcome."""
        if self._future is not None and not self._future.done():
            raise RuntimeError("await of an ack was resumed before there is an outcome")
        try:
            self._future = self._wait.send(None)
        except BaseException:
            self._forget()
            raise
        return self._future

    def throw(self, kind: Any, value: Any = None, traceback: Any = None) -> object:
        """Raise an exception where it waits."""
        try:
            if value is None and traceback is None:  # more arguments are deprecated since 3.12
                return self._wait.throw(kind)
            return self._wait.throw(kind, value, traceback)
        finally:
            self._forget()

    def close(self) -> None:
        """Wait no longer."""
        self._wait.close()
        self._forget()

    def _forget(self) -> None:
        self._wait, self._future = self._ack.__await__(), None  # an ack may be awaited again


class _Waiter:
    """Wakes a task that awaits an ack."""

    __slots__ = ("ack", "future")

    def __init__(self, ack: RecordAck, future: "asyncio.Future[None]") -> None:
        self.ack = ack
        self.future = future

    def __call__(self) -> None:
        give(self.future, None)


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
