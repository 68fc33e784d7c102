"""Owns the records of one partition that are sent together: their bytes, their sequence numbers and
their outcome. It calls listeners, and knows nothing of tasks or requests. Does not wait.

A record is (batch, index) once it is appended. No object is kept per record: an ack asks the batch
by index. A batch that was split knows which piece has a record.
"""

import logging
from collections.abc import Callable, Mapping, Sequence

from aiokafka_lite.errors import BrokerResponseError, InvalidRecordError, KafkaError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.batch import record_ack
from aiokafka_lite.record.batch_builder import RecordBatchBuilder

logger = logging.getLogger(__name__)

Append = Callable[[int, bytes | None, bytes | None, Sequence[tuple[str, bytes | None]]], int | None]
NO_SEQUENCE = -1


class ProducerBatch(record_ack.BatchOutcome):
    """A batch: open for records until it is closed, then sent until it is written or has failed."""

    __slots__ = (
        "_is_stamped",
        "append",
        "attempts",
        "base_sequence",
        "buffer",
        "created_s",
        "drain_number",
        "is_closed",
        "is_grown",
        "is_in_flight",
        "is_queued",
        "last_error",
        "leader_epoch",
        "piece_number",
        "producer_epoch",
        "producer_id",
        "reserved_bytes",
        "retry_at_s",
        "sequence_was_reset",
    )

    def __init__(
        self,
        topic_partition: TopicPartition,
        builder: RecordBatchBuilder,
        buffer: bytearray,
        created_s: float,
    ) -> None:
        super().__init__(topic_partition, builder)
        self._is_stamped = True
        self.append: Append = builder.append
        """`append(timestamp_ms, key, value, headers) -> index | None`: the builder's own method, to
        save a call per record. None: no room.
        """
        self.buffer: bytearray | None = buffer
        """The memory of the pool that the builder writes into; None once it was given back."""
        self.reserved_bytes = len(buffer)
        """How many bytes the pool counts for this batch."""
        self.created_s = created_s
        """Monotonic; linger_ms and delivery_timeout_ms count from then on."""
        self.is_closed = False
        self.is_grown = False
        """It was full, and got more memory. So it is due, although it takes records."""
        self.attempts = 0
        self.drain_number = 0
        """The number of its first drain among those of the producer, from 1; 0: not drained."""
        self.piece_number: tuple[int, ...] = ()
        """The place of a piece among the pieces of a split batch, which have one `drain_number`."""
        self.retry_at_s = 0.0
        self.last_error: Exception | None = None
        """Why the batch was sent again."""
        self.leader_epoch = -1
        """The epoch of the leader it was last sent to."""
        self.is_in_flight = False
        """A request with this batch is in flight: its bytes may not change."""
        self.is_queued = False
        """The batch is in its partition's queue."""
        self.producer_id = -1
        self.producer_epoch = -1
        self.base_sequence = NO_SEQUENCE
        self.sequence_was_reset = False
        """The batch got another base sequence after an epoch bump."""

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
        return f"<ProducerBatch {topic}-{partition}, {self.next_index} records, {state}>"

    # Before it is sent…

    def close(self) -> None:
        """Take no more records."""
        if not self.is_closed and self._builder is not None:
            self.is_closed = True
            self._builder.limit_to(0)
            self.record_count = self._builder.record_count

    def limit_to(self, size: int) -> None:
        """Lower the size of an open batch to `size` bytes."""
        if self._builder is not None:
            self._builder.limit_to(size)

    def grow_into(self, buffer: bytearray) -> bool:
        """Go on in a larger buffer, or up to the end of the present one. False: it is closed."""
        builder = self._builder
        if self.is_closed or builder is None or not builder.move_to(buffer):
            return False
        self.buffer = buffer
        self.reserved_bytes = len(buffer)
        self.is_grown = True
        return True

    def wastes_memory(self) -> bool:
        """Whether half of the buffer or more is not used, or an eighth or more stands for values
        that lie elsewhere.
        """
        builder, buffer = self._builder, self.buffer
        if builder is None or buffer is None:
            return False
        size = len(buffer)
        return 2 * builder.uncompressed_size <= size or 8 * builder.referred_bytes >= size

    def leave_buffer(self) -> bytearray | None:
        """Go on in memory of its own, of the size of what is in the buffer. Return the buffer;
        None: the batch has none, or keeps it, since it is sealed.
        """
        builder, buffer = self._builder, self.buffer
        if builder is None or buffer is None:
            return None
        if not builder.leave_buffer() or self.buffer is not buffer:
            return None
        self.buffer = None
        self.reserved_bytes = builder.size_in_bytes
        return buffer

    @property
    def next_index(self) -> int:
        """The index of the next record, which is the number of records."""
        return self._builder.record_count if self._builder is not None else self.record_count

    @property
    def open_builder(self) -> RecordBatchBuilder | None:
        """The builder, to append many records in one call; None once the batch is closed."""
        return None if self.is_closed else self._builder

    @property
    def size_in_bytes(self) -> int:
        """The size of the batch, compressed once it is sealed; 0 after `drop_bytes`."""
        return self._builder.size_in_bytes if self._builder is not None else 0

    @property
    def uncompressed_size(self) -> int:
        """The size of the batch before compression; 0 after `drop_bytes`."""
        return self._builder.uncompressed_size if self._builder is not None else 0

    @property
    def is_sealed(self) -> bool:
        """Whether the bytes to send are made."""
        return self._builder is not None and self._builder.is_sealed

    @property
    def holds_buffer(self) -> bool:
        """Whether the bytes to send are in `buffer`, and not in a compressed copy."""
        return self._builder is not None and self._builder.holds_buffer

    def wire(self) -> memoryview:
        """Return the bytes to send. They are sealed and stamped if needed. Not once it is done."""
        return self._stamped().wire()

    def part(self) -> memoryview:
        """As `wire`, for a frame: see `RecordBatchBuilder.part`."""
        return self._stamped().part()

    def _stamped(self) -> RecordBatchBuilder:
        assert self._builder is not None
        if not self._is_stamped:
            self._is_stamped = True
            self._builder.stamp(self.producer_id, self.producer_epoch, self.base_sequence)
        return self._builder

    def drop_bytes(self) -> None:
        """Drop everything but the outcome: acks may keep a batch for long."""
        self.close()
        self._builder = None
        self.append = _no_room
        self.buffer = None
        self.reserved_bytes = 0

    @property
    def has_sequence(self) -> bool:
        """Whether producer id, epoch and base sequence are set, that is: the batch was drained."""
        return self.base_sequence != NO_SEQUENCE

    @property
    def last_sequence(self) -> int:
        """The sequence number of the last record; after 2^31-1 comes 0."""
        return (self.base_sequence + self.record_count - 1) & 0x7FFFFFFF

    def set_sequence(self, producer_id: int, producer_epoch: int, base_sequence: int) -> None:
        """Set the sequence; the next `wire` stamps it. Not while the batch is in flight."""
        self.sequence_was_reset = self.base_sequence != NO_SEQUENCE
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.base_sequence = base_sequence
        self._is_stamped = False

    # Split into pieces…

    def split_into(self, pieces: Sequence["ProducerBatch"]) -> None:
        """Hand over the records and their listeners to `pieces`, which have them in this order.

        A record has the outcome of its piece. This batch is done when the last piece is.
        """
        places: list[tuple[int, record_ack.BatchOutcome]] = []
        first = 0
        for piece in pieces:
            places.append((first, piece))
            first += piece.record_count
        self._pieces = places  # in one step: a call before it finds none
        self._move_listeners(first)
        for piece in pieces:
            piece.add_listener(record_ack.BEHIND_ALL, self._piece_is_done)

    def _piece_is_done(self) -> None:
        if all(piece.is_done for _, piece in self._pieces):
            self._finish()

    def __del__(self) -> None:
        # The last ack is gone, so nobody can ask for the error any more.
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
    error: type[BrokerResponseError],
    messages: Mapping[int, str | None],
    batch_message: str | None,
    record_count: int,
) -> tuple[KafkaError, dict[int, Exception]]:
    """Return the error of a refused batch, and those of its records by index (KIP-467).

    With records to blame, `messages`, the error of the batch says what is wrong with the first of
    them. The other records fail with an InvalidRecordError that says that they are fine.
    """
    if not messages:
        return (error(batch_message) if batch_message else error()), {}
    blamed: dict[int, Exception] = {
        index: error(message or batch_message) if message or batch_message else error()
        for index, message in messages.items()
    }
    first = min(messages)
    whole_text, first_text = batch_message or "", messages[first] or ""
    if first_text not in whole_text:  # newer brokers quote it there
        whole_text = f"{whole_text}; {first_text}" if whole_text else first_text
    reason = f": {whole_text}" if whole_text else ""
    whole = error(f"record {first} of {record_count}{reason}")
    listed = ", ".join(str(index) for index in sorted(messages)[:10])
    other = InvalidRecordError(
        f"the record itself is fine, but the broker refused its batch because of "
        f"{len(messages)} other record(s), at index {listed}{reason or f': {error.message}'}"
    )
    return whole, {index: blamed.get(index, other) for index in range(record_count)}


__all__ = ["NO_SEQUENCE", "ProducerBatch", "record_errors_from"]
