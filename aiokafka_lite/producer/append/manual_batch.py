"""Owns a batch that the user fills by hand for `send_batch`. Does not wait; it reads the clock."""

from collections.abc import Callable, Iterable
from typing import Any

from aiokafka_lite.errors import IllegalArgumentError, IllegalStateError
from aiokafka_lite.light_named_tuple import NamedTuple
from aiokafka_lite.producer.batch.record_fields import (
    RecordSerializers,
    check_bytes,
    checked_timestamp,
    freeze_headers,
)
from aiokafka_lite.record.batch_builder import RecordBatchBuilder, record_upper_bound
from aiokafka_lite.record.batch_header import HEADER_BYTES


class BatchRecordMetadata(NamedTuple):
    """The place of a record in its batch."""

    offset: int
    """The number of the record in the batch, from 0."""
    size: int
    """Bytes of the record, before compression."""
    timestamp: int
    crc: None = None
    """Since magic 2 a batch has a CRC, and a record has none."""


class BatchBuilder:
    """A batch of records for one partition, made by `create_batch`.

    The serializers of the producer are used. One that takes the topic gets "": it is not known yet.
    """

    def __init__(
        self,
        make_builder: Callable[[bytearray], RecordBatchBuilder],
        batch_bytes: int,
        serializers: RecordSerializers,
        now: Callable[[], float],
    ) -> None:
        self._make_builder = make_builder
        self._batch_bytes = batch_bytes
        self._serializers = serializers
        self._now = now
        self._buffer: bytearray | None = None
        self._builder: RecordBatchBuilder | None = None
        self._is_closed = False
        self._is_sent = False
        self._first_timestamp_ms = -1

    def append(
        self,
        *,
        timestamp: int | None,
        key: Any,
        value: Any,
        headers: Iterable[tuple[str, bytes | None]] = (),
    ) -> BatchRecordMetadata | None:
        """Add a record; None if the batch is closed or has no room. The first record has room.

        `timestamp`: ms since 1970; None is the present time.
        Raises: SerializationError, IllegalArgumentError.
        """
        if self._is_closed:
            return None
        listed = list(freeze_headers(headers))
        if self._serializers:
            key = self._serializers.to_bytes("key", "", listed, key)
            value = self._serializers.to_bytes("value", "", listed, value)
        key, value, frozen = check_bytes("key", key), check_bytes("value", value), tuple(listed)
        when_ms = int(self._now() * 1000) if timestamp is None else checked_timestamp(timestamp)
        if self._builder is None:
            size = max(self._batch_bytes, record_upper_bound(key, value, frozen))
            self._buffer = bytearray(size)
            self._builder = self._make_builder(self._buffer)
            self._first_timestamp_ms = when_ms
        before = self._builder.uncompressed_size
        index = self._builder.append(when_ms, key, value, frozen)
        if index is None:
            return None
        return BatchRecordMetadata(index, self._builder.uncompressed_size - before, when_ms)

    def close(self) -> None:
        """Take no more records. `send_batch` closes the batch, too."""
        self._is_closed = True

    def closed(self) -> bool:
        """Return whether the batch takes no more records."""
        return self._is_closed

    def size(self) -> int:
        """Return the size of the batch before compression, with its header of 61 bytes."""
        return HEADER_BYTES if self._builder is None else self._builder.uncompressed_size

    def record_count(self) -> int:
        """Return how many records the batch has."""
        return 0 if self._builder is None else self._builder.record_count

    # For `send_batch`; the leading underscore keeps these out of completion…

    def _take(self) -> tuple[RecordBatchBuilder, bytearray]:
        """Close the batch and return its builder and buffer, once.

        Raises: IllegalArgumentError for a batch without records; IllegalStateError for a batch that
        was taken before, whether it is queued by now or not.
        """
        if self._is_sent:
            raise IllegalStateError(
                "the batch was sent before, or is being sent; create another with create_batch()"
            )
        if self._builder is None or self._buffer is None:
            raise IllegalArgumentError("the batch has no records; append some before send_batch()")
        self._is_closed = self._is_sent = True
        return self._builder, self._buffer

    def _give_back(self) -> None:
        """Note that the batch was not queued, so it may be sent again."""
        self._is_sent = False


__all__ = ["BatchBuilder", "BatchRecordMetadata"]
