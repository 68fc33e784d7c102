"""Owns the records of one partition that travel together: their bytes, their place in the sequence,
and what became of them. Plain: it tells listeners, and knows nothing of tasks or requests.

A record is (batch, index) from the moment it is appended. Nothing is kept per record: whoever wants
to know asks the batch by index. A batch that was split knows which piece has the record now.
"""

import itertools
import logging
from collections.abc import Callable, Mapping, Sequence

from aiokafka_lite.errors import BrokerResponseError, InvalidRecordError, KafkaError
from aiokafka_lite.model import RecordMetadata, TimestampType, TopicPartition
from aiokafka_lite.record.batch_builder import RecordBatchBuilder

logger = logging.getLogger(__name__)

Listener = Callable[[], object]
Append = Callable[[int, bytes | None, bytes | None, Sequence[tuple[str, bytes | None]]], int | None]
NO_SEQUENCE = -1
BEHIND_ALL = 2**31 - 1
"""The index of those who listen for the batch as a whole, after the listeners of its records."""

_tokens = itertools.count()  # of all batches: a listener moves to a piece with its token


class ProducerBatch:
    """A batch, open for records until it is closed, then sent until somebody knows its outcome."""

    __slots__ = (
        "_builder",
        "_error_was_seen",
        "_is_stamped",
        "_listeners",
        "_pieces",
        "append",
        "attempts",
        "base_offset",
        "base_sequence",
        "buffer",
        "created_s",
        "drain_number",
        "error",
        "is_closed",
        "is_done",
        "is_in_flight",
        "last_error",
        "leader_epoch",
        "log_append_time_ms",
        "log_start_offset",
        "piece_number",
        "producer_epoch",
        "producer_id",
        "record_count",
        "record_errors",
        "reserved_bytes",
        "retry_at_s",
        "sequence_was_reset",
        "topic_partition",
    )

    def __init__(
        self,
        topic_partition: TopicPartition,
        builder: RecordBatchBuilder,
        buffer: bytearray,
        created_s: float,
    ) -> None:
        self.topic_partition = topic_partition
        self._builder: RecordBatchBuilder | None = builder
        self._is_stamped = True
        self.append: Append = builder.append
        """`append(timestamp_ms, key, value, headers) -> index | None`: the builder's own, so that
        the path of a record has one call less. None: no room.
        """
        self.buffer: bytearray | None = buffer
        """The pool's memory the builder writes into; None once it was given back."""
        self.reserved_bytes = len(buffer)
        """What the pool counts for this batch."""
        self.created_s = created_s
        """Monotonic; linger and delivery timeout count from here."""
        self.is_closed = False
        self.record_count = 0
        """Set when the batch is closed."""

        self.attempts = 0
        self.drain_number = 0
        """Counts the batches of a producer in the order of their first drain, from 1."""
        self.piece_number: tuple[int, ...] = ()
        """Orders the pieces of a split batch, which share its `drain_number`."""
        self.retry_at_s = 0.0
        self.last_error: Exception | None = None
        """Why it was sent again."""
        self.leader_epoch = -1
        """Of the leader it was last sent to."""
        self.is_in_flight = False
        """A request with this batch is on its way: its bytes may not change."""
        self.producer_id = -1
        self.producer_epoch = -1
        self.base_sequence = NO_SEQUENCE
        self.sequence_was_reset = False
        """Got another base sequence after an epoch bump."""

        self.is_done = False
        self.error: Exception | None = None
        self.record_errors: Mapping[int, Exception] = {}
        self.base_offset = -1
        self.log_append_time_ms = -1
        self.log_start_offset = -1
        self._listeners: dict[int, tuple[int, Listener]] = {}
        self._pieces: list[tuple[int, ProducerBatch]] = []
        """What it was split into, each with the index here of its first record."""
        self._error_was_seen = False

    def __repr__(self) -> str:
        state = (
            f"failed: {self.error!r}"
            if self.error is not None
            else f"written at {self.base_offset}"
            if self.is_done
            else f"split into {len(self._pieces)}"
            if self._pieces
            else "in flight"
            if self.is_in_flight
            else "closed"
            if self.is_closed
            else "open"
        )
        topic, partition = self.topic_partition
        count = self._builder.record_count if self._builder is not None else self.record_count
        return f"<ProducerBatch {topic}-{partition}, {count} records, {state}>"

    # Before it is sent…

    def close(self) -> None:
        """Take no more records."""
        if not self.is_closed and self._builder is not None:
            self.is_closed = True
            self.record_count = self._builder.record_count

    @property
    def size_in_bytes(self) -> int:
        """Its size as far as known: compressed once it is sealed. 0 when its bytes are gone."""
        return self._builder.size_in_bytes if self._builder is not None else 0

    @property
    def uncompressed_size(self) -> int:
        """Its size before compression. 0 when its bytes are gone."""
        return self._builder.uncompressed_size if self._builder is not None else 0

    @property
    def is_sealed(self) -> bool:
        """Whether the bytes to send were made."""
        return self._builder is not None and self._builder.is_sealed

    @property
    def holds_buffer(self) -> bool:
        """Whether its bytes lie in `buffer`, not in a compressed copy."""
        return self._builder is not None and self._builder.holds_buffer

    def wire(self) -> memoryview:
        """Return the bytes to send, made or numbered anew if need be. Not once it is done."""
        assert self._builder is not None
        if not self._is_stamped:
            self._is_stamped = True
            self._builder.stamp(self.producer_id, self.producer_epoch, self.base_sequence)
        return self._builder.wire()

    def drop_bytes(self) -> None:
        """Let go of everything but the outcome: acks may keep a batch for long."""
        self.close()
        self._builder = None
        self.append = _no_room
        self.buffer = None
        self.reserved_bytes = 0

    @property
    def has_sequence(self) -> bool:
        """Whether a producer id, an epoch and a base sequence were set, that is: it was drained."""
        return self.base_sequence != NO_SEQUENCE

    @property
    def last_sequence(self) -> int:
        """The sequence number of the last record; after 2^31-1 comes 0."""
        return (self.base_sequence + self.record_count - 1) & 0x7FFFFFFF

    def set_sequence(self, producer_id: int, producer_epoch: int, base_sequence: int) -> None:
        """Give the batch its place; the next `wire` shows it. Not while it is in flight."""
        self.sequence_was_reset = self.has_sequence
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.base_sequence = base_sequence
        self._is_stamped = False

    # Split into pieces…

    @property
    def is_split(self) -> bool:
        """Whether its records are in other batches now; `place_of` says where."""
        return bool(self._pieces)

    def split_into(self, pieces: Sequence["ProducerBatch"]) -> None:
        """Hand over the records to `pieces`, in their order, and the listeners with them.

        Each record has its outcome where it is now. This batch is done when the last piece is.
        """
        first = 0
        for piece in pieces:
            self._pieces.append((first, piece))
            first += piece.record_count
        for token, (index, listener) in tuple(self._listeners.items()):
            if index < first:
                del self._listeners[token]
                piece, at = self.place_of(index)
                piece._listeners[token] = (at, listener)
        for piece in pieces:
            piece.add_listener(BEHIND_ALL, self._piece_is_done)

    def place_of(self, index: int) -> tuple["ProducerBatch", int]:
        """Return the batch that has a record now, and its index there."""
        batch = self
        while batch._pieces:
            first, piece = next(at for at in reversed(batch._pieces) if at[0] <= index)
            batch, index = piece, index - first
        return batch, index

    def _piece_is_done(self) -> None:
        if all(piece.is_done for _, piece in self._pieces):
            self._finish()

    # Its outcome…

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

    def __del__(self) -> None:
        # The last ack is gone, so nobody can ask any more.
        if getattr(self, "error", None) is not None and not self._error_was_seen:
            topic, partition = self.topic_partition
            logger.error(
                "%d records for %s-%d were not delivered, and nobody asked what became of them: %s",
                self.record_count,
                topic,
                partition,
                self.error,
            )


def _no_room(
    timestamp_ms: int,  # noqa: ARG001  stands in for a builder's append
    key: bytes | None,  # noqa: ARG001
    value: bytes | None,  # noqa: ARG001
    headers: Sequence[tuple[str, bytes | None]] = (),  # noqa: ARG001
) -> None:
    return None


def record_errors_from(
    error: type[BrokerResponseError], messages: Mapping[int, str | None], batch_message: str | None
) -> tuple[KafkaError, dict[int, Exception]]:
    """Return the error of a refused batch and those of the records to blame (KIP-467).

    With records to blame, the others fail with an InvalidRecordError that says so.
    """
    if not messages:
        return (error(batch_message) if batch_message else error()), {}
    blamed: dict[int, Exception] = {
        index: error(message or batch_message) if message or batch_message else error()
        for index, message in messages.items()
    }
    listed = ", ".join(str(index) for index in sorted(messages)[:10])
    return (
        InvalidRecordError(
            f"the record itself is fine, but the broker refused its batch because of "
            f"{len(messages)} other record(s), at index {listed}: {batch_message or error.message}"
        ),
        blamed,
    )


__all__ = ["BEHIND_ALL", "NO_SEQUENCE", "Listener", "ProducerBatch", "record_errors_from"]
