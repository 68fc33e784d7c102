"""Decodes a fetched partition's bytes, record by record: the pure `RecordCursor`.

Owns the decoding and the position within the bytes. It hides control batches, aborted transactions
and records before the fetch offset. Knows nothing of assignments and seeks. Does not wait.

`_fill_in` is the hot loop, written for speed. Varints of one and two bytes are inlined through
tables. A field is one slice. A record is made without calling its class. A batch is copied out of
the frame once: slices of bytes are bytes, as the user expects, and slices of a memoryview are not.
"""

import struct
import sys
from collections.abc import Iterator, Sequence
from itertools import repeat
from operator import length_hint
from struct import Struct
from typing import Any, Final

from aiokafka_lite.compression.compressor import DEFAULT_MAX_DECOMPRESSED_BYTES, decompress
from aiokafka_lite.errors import CorruptRecordException, KafkaError
from aiokafka_lite.model import ConsumerRecord
from aiokafka_lite.record.batch_header import (
    CODEC_MASK,
    CONTROL,
    HEADER_BYTES,
    LOG_APPEND_TIME,
    MAGIC_OFFSET,
    MIN_RECORD_BYTES,
    BatchHeader,
    check_crc,
    parse_header,
)
from aiokafka_lite.record.control_record import control_type
from aiokafka_lite.record.cursor.aborted_transactions import AbortedTransactions
from aiokafka_lite.record.cursor.columns_builder import ColumnsBuilder
from aiokafka_lite.record.cursor.error_place import with_place
from aiokafka_lite.record.cursor.message_set import Message, read_messages
from aiokafka_lite.record.cursor.record_start import (
    read_headers,
    read_record_start,
    size_of_records,
)
from aiokafka_lite.record.memory_records import end_offset, has_complete_batch, next_batch_size
from aiokafka_lite.record.varint import read_varint
from aiokafka_lite.serialization import Headers

_Record = ConsumerRecord[Any, Any]

# What varints of one and two bytes hold, as tables. Adding two table entries is cheaper than
# shifting, and Python caches such small numbers. The sign of a two-byte varint is in its first
# byte. _LOW has the non-negative ones and makes the others impossibly small, which later
# comparisons detect.
_IMPOSSIBLE: Final = -(1 << 40)
_ONE: Final = tuple((byte >> 1) ^ -(byte & 1) for byte in range(128))
_LOW: Final = tuple(_IMPOSSIBLE if byte & 1 else (byte & 0x7F) >> 1 for byte in range(256))
_HIGH: Final = tuple(byte << 6 for byte in range(128))
_ONE_END: Final = tuple(size + 1 for size in _ONE)  # the record's end, counted from its length
_LOW_END: Final = tuple(size + 2 for size in _LOW)
_eight_bytes: Final = Struct("8B").unpack_from
_CAREFUL: Final = 255
_FAR: Final = 1 << 62
"""A base timestamp nearer to 0 than this stays within 64 bits after any short delta."""

# CPython lays out a class's instances when __init__ first makes one. Bare ones made before that
# would be four times as expensive to fill, for the life of the process.
ConsumerRecord("", 0, 0, 0, 0, None, None, None, 0, 0, ())

_bare = ConsumerRecord.__new__
_NO_DATA: Final = memoryview(b"")
_NO_HEADERS: Final[Headers] = ()


class RecordCursor:
    """The records of one partition's bytes in a fetch response, decoded batch by batch.

    `data` holds whole batches, and possibly a partial one at the end, which is ignored. Records
    come in offset order. Those before `fetch_offset` are skipped. With `read_committed`, so are the
    records of `aborted_transactions`: (producer id, first offset) in any order.
    """

    __slots__ = (
        "_aborted",
        "_attributes",
        "_base_offset",
        "_base_timestamp",
        "_buffer",
        "_check_crcs",
        "_data",
        "_error",
        "_header",
        "_last_offset",
        "_left",
        "_max_decompressed_bytes",
        "_max_timestamp",
        "_messages",
        "_partition",
        "_position",
        "_record_position",
        "_topic",
        "has_complete_batch",
        "last_leader_epoch",
        "next_offset",
        "read_bytes",
    )

    def __init__(
        self,
        data: bytes | bytearray | memoryview,
        *,
        topic: str,
        partition: int,
        fetch_offset: int,
        check_crcs: bool = True,
        read_committed: bool = False,
        aborted_transactions: Sequence[tuple[int, int]] = (),
        max_decompressed_bytes: int = DEFAULT_MAX_DECOMPRESSED_BYTES,
    ) -> None:
        self._data = memoryview(data)
        self._topic = topic
        self._partition = partition
        self._check_crcs = check_crcs
        self._aborted = AbortedTransactions(aborted_transactions) if read_committed else None
        self._max_decompressed_bytes = max_decompressed_bytes
        self.next_offset = fetch_offset
        """The offset to fetch next, once all taken records are processed."""
        self.read_bytes = 0
        """The bytes of the records taken so far, without compression and batch headers."""
        self.last_leader_epoch = -1
        """Leader epoch of the newest batch that was read; -1 if none or unknown."""
        self.has_complete_batch = has_complete_batch(self._data)
        """False: the bytes are empty, or only the beginning of one oversize batch."""
        self._error: KafkaError | None = None
        self._position = 0  # of the next batch to look at
        self._header: BatchHeader | None = None  # of a batch with records to show, not opened yet
        # The open batch, if it has records left:
        self._left = 0
        self._buffer = b""
        self._record_position = 0
        self._base_offset = 0
        self._last_offset = 0
        self._base_timestamp = 0
        self._max_timestamp = 0
        self._attributes = 0
        # the messages of an open magic 0 or 1 batch, the next one last
        self._messages: list[Message] = []

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left to take: no record, no error, no batch to skip."""
        return not (self._left or self._messages or self._header or self._error or self._data)

    def __repr__(self) -> str:
        state = "failed" if self._error else "exhausted" if self.exhausted else "readable"
        return f"<RecordCursor {self._topic}-{self._partition} at {self.next_offset}, {state}>"

    def take(self, max_records: int, max_bytes: int | None = None) -> list[_Record]:
        """Return the next records: at most `max_records`, and about `max_bytes` bytes.

        A single record of any size is returned. An empty list means exhausted; even then
        `next_offset` may have moved.

        Raises: CorruptRecordException at a bad record. The records before it are returned first.
        Later calls raise the same again, and the position stays.
        """
        if self._error is not None:
            raise self._error.with_traceback(None)
        records: list[_Record] = []
        try:
            self._fill(records, max_records, max_bytes)
        except CorruptRecordException as error:
            self._error = with_place(error, self._topic, self._partition, self.next_offset)
        if self._error is not None and not records:
            raise self._error
        return records

    def take_columns(self, columns: ColumnsBuilder) -> int:
        """Append the next records to `columns` until those are full; return how many.

        0 means exhausted, or columns that were full before. Raises: as `take`.
        """
        if self._error is not None:
            raise self._error.with_traceback(None)
        before = len(columns)
        columns.begin(self._topic, self._partition)
        try:
            self._fill_columns(columns)
        except CorruptRecordException as error:
            self._error = with_place(error, self._topic, self._partition, self.next_offset)
        taken = len(columns) - before
        if self._error is not None and not taken:
            raise self._error
        return taken

    def end_offset(self) -> int | None:
        """Return the offset behind the last record; None if the header of a batch is invalid.

        For a cursor from which nothing was taken. It reads the headers and decodes nothing.
        """
        return end_offset(self._data, self.next_offset)

    def own_bytes(self) -> None:
        """Copy the remaining bytes to separate memory, so that the rest of `data` can be freed."""
        if self._data:
            self._data = memoryview(bytes(self._data[self._position :]))
            self._position = 0

    def release(self) -> None:
        """Drop every buffer. Nothing more can be taken; `next_offset` stays."""
        self._data = _NO_DATA
        self._buffer = b""
        self._messages = []
        self._left = 0
        self._header = None
        self._error = None

    # Moving from batch to batch…

    def _fill(self, records: list[_Record], max_records: int, max_bytes: int | None) -> None:
        """Append records until a limit is reached or nothing is left.

        Raises: CorruptRecordException.
        """
        byte_room = sys.maxsize if max_bytes is None else max_bytes
        while len(records) < max_records and (byte_room > 0 or not records):
            if not self._stand_at_record():
                return
            if self._left:
                byte_room -= self._decode(records, max_records - len(records), byte_room)
                if not self._left:
                    self._close_batch()
            else:
                byte_room -= self._take_message(records)
        self._look_ahead()

    def _fill_columns(self, columns: ColumnsBuilder) -> None:
        """Do the same as `_fill` for columns, which know when they are full."""
        while not columns.is_full:
            if not self._stand_at_record():
                return
            if self._left:
                self._decode_columns(columns)
            elif not self._take_message_into(columns):
                return
        self._look_ahead()

    def _stand_at_record(self) -> bool:
        """Open the batch of the next record; return False if none is left.

        Raises: CorruptRecordException.
        """
        while not (self._left or self._messages):
            if self._header is not None:
                self._open(self._header)
            elif not self._advance():
                return False
        return True

    def _look_ahead(self) -> None:
        """If no record is left before them, skip batches that are not shown, such as markers.

        So the position is behind them before the next fetch, and the buffer counts as used up.
        """
        if not self._left and not self._messages:
            try:
                self._advance()
            except CorruptRecordException as error:
                self._error = with_place(error, self._topic, self._partition, self.next_offset)

    def _advance(self) -> bool:
        """Move to the next batch with something to show; return False if none is left.

        Raises: CorruptRecordException.
        """
        while self._header is None and not self._messages:
            size = next_batch_size(self._data, self._position)
            if not size:
                self._data = _NO_DATA
                return False
            batch = self._data[self._position : self._position + size]
            if batch[MAGIC_OFFSET] < 2:
                self._open_message(batch)
            else:
                header = parse_header(batch)
                if self._is_shown(header, batch):
                    self._header = header
                    return True
                self.last_leader_epoch = header.partition_leader_epoch
                self.next_offset = max(self.next_offset, header.last_offset + 1)
            self._position += size
        return True

    def _is_shown(self, header: BatchHeader, batch: memoryview) -> bool:
        """Return whether the batch has records for the user; process the marker of a control
        batch.
        """
        is_control = bool(header.attributes & CONTROL)
        if is_control and self._check_crcs:
            check_crc(batch, header)
        if self._aborted is not None and header.producer_id >= 0:
            self._aborted.advance_to(header)
            if is_control:
                if header.records_count:  # the cleaner keeps some markers without their record
                    control = control_type(self._payload(header, batch))
                    self._aborted.see_marker(header.producer_id, control)
            elif self._aborted.hides(header):
                return False
        if is_control or not header.records_count:
            return False
        return header.last_offset >= self.next_offset

    def _open(self, header: BatchHeader) -> None:
        """Open the cursor's batch for `_decode`. Raises: CorruptRecordException."""
        batch = self._data[self._position : self._position + header.size]
        if self._check_crcs:
            check_crc(batch, header)
        payload = self._payload(header, batch)
        if header.records_count * MIN_RECORD_BYTES > len(payload):
            raise CorruptRecordException(
                f"records count {header.records_count:,} does not fit {len(payload):,} bytes"
            )
        self._position += header.size
        self._header = None
        self.last_leader_epoch = header.partition_leader_epoch
        self._left = header.records_count
        self._buffer = payload
        self._record_position = 0
        self._base_offset = header.base_offset
        self._last_offset = header.last_offset
        self._base_timestamp = header.base_timestamp
        self._max_timestamp = header.max_timestamp
        self._attributes = header.attributes

    def _payload(self, header: BatchHeader, batch: memoryview) -> bytes:
        payload = batch[HEADER_BYTES:]
        codec = header.attributes & CODEC_MASK
        if codec:
            return bytes(decompress(codec, payload, self._max_decompressed_bytes))
        return bytes(payload)

    def _close_batch(self) -> None:
        """Move behind the batch, all of whose records were read. Raises: CorruptRecordException."""
        if self._record_position != len(self._buffer):
            raise CorruptRecordException(
                f"{len(self._buffer) - self._record_position:,} bytes follow a batch's last record"
            )
        self._buffer = b""
        # A compacted batch keeps its last offset even if its last record was removed.
        self.next_offset = max(self.next_offset, self._last_offset + 1)

    # Records of magic 2…

    def _decode(self, records: list[_Record], room: int, byte_room: int) -> int:
        """Append up to `room` records of the open batch; return how many bytes they took.

        Reads at least one record, and stops after `byte_room` bytes.

        Raises: CorruptRecordException; the records before the bad one are appended.
        """
        start = self._record_position
        # One loop in C makes all bare records, without calling the class.
        bare = list(map(_bare, repeat(ConsumerRecord, min(room, self._left))))
        progress = iter(bare)
        try:
            skipped = self._fill_in(bare, progress, start + max(byte_room, 1))
        except (IndexError, CorruptRecordException) as error:
            whole = bare[: len(bare) - length_hint(progress) - 1]
            self._deliver([record for record in whole if hasattr(record, "offset")], records)
            if isinstance(error, IndexError):
                raise CorruptRecordException("a record ends beyond its batch") from error
            raise
        read = len(bare) - length_hint(progress)
        self._left -= read
        self._deliver(bare[skipped:read], records)
        size = self._record_position - start
        self.read_bytes += size
        if skipped:
            self.read_bytes -= size_of_records(self._buffer, start, skipped)
        return size

    def _fill_in(  # noqa: C901, PLR0912, PLR0915  the hot loop: calls would double its cost
        self, bare: list[_Record], progress: Iterator[_Record], stop: int
    ) -> int:
        """Decode into the bare records until they are full or position `stop` is reached.

        `progress` ends behind the last record read. Return how many records at the beginning stay
        bare, because they lie before the fetch offset.

        Raises: CorruptRecordException; IndexError for a position beyond the batch.
        """
        buffer = self._buffer
        position = self._record_position
        base_offset = self._base_offset
        base_timestamp = self._base_timestamp
        timestamp_type = self._attributes >> 3 & 1
        first_offset = self.next_offset
        topic = self._topic
        partition = self._partition
        one, low, up, one_end, low_end = _ONE, _LOW, _HIGH, _ONE_END, _LOW_END
        eight_bytes = _eight_bytes
        headers: Headers
        skipped = 0
        for record in progress:
            # A record begins with its length, attributes (unused), timestamp delta, offset delta
            # and key length. Eight bytes hold them, unless the record is large or its deltas are.
            try:
                a, b, c, d, e, f, g, h = eight_bytes(buffer, position)
            except struct.error:  # fewer than eight bytes are left
                a = b = _CAREFUL
            begin = position
            if a < 128:
                end = position + one_end[a]
                position -= 1
                d, e, f, g, h = c, d, e, f, g
            elif b < 128:
                end = position + low_end[a] + up[b]
            else:
                d = e = f = _CAREFUL
            key_length = _CAREFUL
            if d < 128:
                if e < 128:
                    timestamp = base_timestamp + one[d]
                    offset = base_offset + one[e]
                    key_length = f
                    position += 6
                elif f < 128:
                    timestamp = base_timestamp + one[d]
                    offset = base_offset + low[e] + up[f]
                    key_length = g
                    position += 7
            elif e < 128 and not d & 1:
                if f < 128:
                    timestamp = base_timestamp + low[d] + up[e]
                    offset = base_offset + one[f]
                    key_length = g
                    position += 7
                elif g < 128:
                    timestamp = base_timestamp + low[d] + up[e]
                    offset = base_offset + low[f] + up[g]
                    key_length = h
                    position += 8
            if key_length < 128:
                key_size = one[key_length]
            else:
                end, timestamp, offset, key_size, position = read_record_start(buffer, begin)
                timestamp = _int64(base_timestamp + timestamp)
                offset += base_offset
            if key_size >= 0:
                key = buffer[position : (position := position + key_size)]
            elif key_size == -1:
                key = None
            else:
                raise CorruptRecordException(f"a key of {key_size:,} bytes")
            byte = buffer[position]
            if byte < 128:
                value_size = one[byte]
                position += 1
            elif (high := buffer[position + 1]) < 128:
                value_size = low[byte] + up[high]
                position += 2
            else:
                value_size, position = read_varint(buffer, position)
            if value_size >= 0:
                value = buffer[position : (position := position + value_size)]
            elif value_size == -1:
                value = None
            else:
                raise CorruptRecordException(f"a value of {value_size:,} bytes")
            # A slice that was cut short raises here: the headers' count lies beyond the buffer.
            if buffer[position]:
                headers, position = read_headers(buffer, position)
            else:
                headers = _NO_HEADERS
                position += 1
            if position != end:
                raise CorruptRecordException("a record's fields do not end where it does")
            if offset < first_offset:
                if offset < base_offset or bare[skipped] is not record:
                    raise CorruptRecordException(f"a record of offset {offset} behind a later one")
                skipped += 1
                continue
            record.topic = topic
            record.partition = partition
            record.offset = offset
            record.timestamp = timestamp
            record.timestamp_type = timestamp_type
            record.key = key
            record.value = value
            record.checksum = None
            record.serialized_key_size = key_size
            record.serialized_value_size = value_size
            record.headers = headers
            if position >= stop:
                break
        self._record_position = position
        return skipped

    def _deliver(self, decoded: list[_Record], records: list[_Record]) -> None:
        """Append the decoded records and move the position. Raises: CorruptRecordException."""
        if not decoded:
            return
        if decoded[-1].offset > self._last_offset:
            raise CorruptRecordException("a record lies behind its batch's last offset")
        if self._attributes & LOG_APPEND_TIME:
            for record in decoded:
                record.timestamp = self._max_timestamp
        elif not -_FAR <= self._base_timestamp <= _FAR:
            for record in decoded:
                record.timestamp = _int64(record.timestamp)
        records += decoded
        self.next_offset = decoded[-1].offset + 1

    def _decode_columns(self, columns: ColumnsBuilder) -> None:
        """Append records of the open batch to `columns`. Raises: CorruptRecordException."""
        start, rows = self._record_position, len(columns)
        try:
            columns.decode(
                self._buffer,
                self._record_position,
                self._left,
                self._base_offset,
                self._last_offset,
                self._base_timestamp,
                self._attributes >> 3 & 1,
                self._max_timestamp,
                self.next_offset,
            )
        finally:
            self._record_position = columns.position
            self._left -= columns.records_read
            self.next_offset = columns.next_offset
        skipped = columns.records_read - (len(columns) - rows)
        self.read_bytes += columns.position - start
        if skipped:
            self.read_bytes -= size_of_records(self._buffer, start, skipped)
        if not self._left:
            self._close_batch()

    # Messages of magic 0 and 1…

    def _open_message(self, batch: memoryview) -> None:
        messages = read_messages(
            batch,
            check_crcs=self._check_crcs,
            max_decompressed_bytes=self._max_decompressed_bytes,
        )
        shown = [message for message in messages if message.offset >= self.next_offset]
        shown.reverse()
        self._messages = shown

    def _take_message(self, records: list[_Record]) -> int:
        """Append the next message; return about how many bytes it took."""
        message = self._messages.pop()
        records.append(message.record(self._topic, self._partition))
        self.next_offset = message.offset + 1
        self.read_bytes += message.size_in_bytes
        return message.size_in_bytes

    def _take_message_into(self, columns: ColumnsBuilder) -> bool:
        """Append the next message to `columns`; return False without room for it."""
        message = self._messages[-1]
        if not columns.append(
            message.offset, message.timestamp, message.timestamp_type, message.key, message.value
        ):
            return False
        self._messages.pop()
        self.next_offset = message.offset + 1
        self.read_bytes += message.size_in_bytes
        return True

    # Errors…


def _int64(number: int) -> int:
    """Return the low 64 bits of a sum, signed, as a long in Java wraps around."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


__all__ = ["RecordCursor"]
