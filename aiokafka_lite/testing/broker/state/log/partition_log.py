"""One partition's log in memory: batches as bytes, found by offset, position or timestamp.

Owns offsets, leader epochs, retention and the transaction index. The Produce handler checks what
producers send; this file does not. So tests may append anything, even broken batches. All nodes of
the embedded cluster share the one log of a partition. Replication takes no time, and the high
watermark is the end of the log. Does not wait.

Three lists are parallel (last offset, end position, batch), so each lookup is one bisection.
Retention only moves `_first`. The unused head of the lists is cut off once it is half of them.
"""

import struct
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from aiokafka_lite.errors import OffsetOutOfRangeError
from aiokafka_lite.model import ConsumerRecord
from aiokafka_lite.record.batch_builder import RecordBatchBuilder, record_upper_bound
from aiokafka_lite.record.batch_header import (
    HEADER_BYTES,
    MAGIC_OFFSET,
    BatchHeader,
    assign_offsets,
    parse_header,
)
from aiokafka_lite.record.batch_reader import RecordCursor
from aiokafka_lite.record.control_record import ControlRecordType, control_type
from aiokafka_lite.record.memory_records import next_batch_size
from aiokafka_lite.testing.broker.state.log.transaction_index import TransactionIndex

DEFAULT_RETENTION_BYTES = 256 * 1024 * 1024
"""The most bytes of a partition, unless the broker or the topic has a smaller limit."""

UNKNOWN_EPOCH_END = (-1, -1)

_INT64 = struct.Struct(">q")
_LEGACY_TIMESTAMP_OFFSET = 18


@dataclass(slots=True)
class StoredBatch:
    """A batch in the log; a fetch sends `data` byte for byte."""

    base_offset: int
    last_offset: int
    leader_epoch: int
    max_timestamp: int
    data: bytearray
    written_ms: int = -1
    """When it was written, which counts for records without timestamps; -1: nobody knows."""

    @property
    def newest_ms(self) -> int:
        """Its largest timestamp; without one, when it was written.

        Source: LogSegment.largestTimestamp.
        """
        return self.max_timestamp if self.max_timestamp >= 0 else self.written_ms


_DROPPED = StoredBatch(-1, -1, -1, -1, bytearray())


class LogRead(NamedTuple):
    """The result of a read; `end_offset` follows the last offset it includes."""

    records: bytes | memoryview
    end_offset: int


class PartitionLog:
    """The batches of one partition, in offset order."""

    def __init__(
        self, topic: str, partition: int, *, retention_bytes: int = DEFAULT_RETENTION_BYTES
    ) -> None:
        self.topic = topic
        self.partition = partition
        self.retention_bytes = retention_bytes
        self.log_start_offset = 0
        self.log_end_offset = 0
        """The offset of the next record."""
        self.transactions = TransactionIndex()
        self._last_offsets: list[int] = []
        self._ends: list[int] = []
        self._batches: list[StoredBatch] = []
        self._first = 0
        self._epochs: list[tuple[int, int]] = []

    def __repr__(self) -> str:
        return (
            f"<PartitionLog {self.topic}-{self.partition} "
            f"[{self.log_start_offset}, {self.log_end_offset}) {self.size_in_bytes} bytes>"
        )

    @property
    def high_watermark(self) -> int:
        """The end of what read_uncommitted consumers may read."""
        return self.log_end_offset

    @property
    def last_stable_offset(self) -> int:
        """The end of what read_committed consumers may read: before the oldest open transaction."""
        unstable = self.transactions.first_unstable_offset()
        return self.log_end_offset if unstable is None else unstable

    @property
    def size_in_bytes(self) -> int:
        """Bytes of all stored batches."""
        return self._ends[-1] - self._position(self._first) if self._ends else 0

    def batches(self) -> Iterator[StoredBatch]:
        """Iterate over the stored batches, in offset order."""
        return iter(self._batches[self._first :])

    def records(self, *, committed: bool = False) -> list[ConsumerRecord[bytes, bytes]]:
        """Return every stored record, decoded, without control batches.

        With `committed` only those below the last stable offset, and none of an aborted
        transaction.
        """
        end = self.last_stable_offset if committed else self.log_end_offset
        data = b"".join(batch.data for batch in self.batches() if batch.base_offset < end)
        cursor = RecordCursor(
            memoryview(data),
            topic=self.topic,
            partition=self.partition,
            fetch_offset=self.log_start_offset,
            read_committed=committed,
            aborted_transactions=self.transactions.aborted_between(self.log_start_offset, end),
        )
        found: list[ConsumerRecord[bytes, bytes]] = []
        while not cursor.exhausted:
            found += cursor.take(10_000)
        return found

    # Writing

    def append(
        self,
        records: bytes | bytearray | memoryview,
        *,
        leader_epoch: int,
        written_ms: int = -1,
        log_append_time_ms: int | None = None,
        keep_offsets: bool = False,
    ) -> int:
        """Copy one or more whole batches to the end of the log; return the first one's base offset.

        Batches of format 2 get the log's next offset and `leader_epoch`, written in place.
        `log_append_time_ms` replaces their timestamps. Formats 0 and 1 keep their offsets, and so
        does format 2 with `keep_offsets`. That may leave a gap, as compaction does. Retention goes
        by `written_ms`, the present time, where records have no timestamps.

        Raises: CorruptRecordException for an impossible header; ValueError for bytes that are not
        whole batches, or an offset below the end of the log. Batches before the faulty one stay.
        """
        view = memoryview(records)
        position, base_offset = 0, -1
        while position < len(view):
            size = next_batch_size(view, position)
            if not size:
                raise ValueError(
                    f"the {len(view) - position} bytes at {position} are not a whole record batch"
                )
            data = bytearray(view[position : position + size])
            batch = self._place(data, leader_epoch, log_append_time_ms, keep_offsets=keep_offsets)
            batch.written_ms = written_ms
            self._last_offsets.append(batch.last_offset)
            self._ends.append(self._position(len(self._ends)) + size)
            self._batches.append(batch)
            self.log_end_offset = batch.last_offset + 1
            base_offset = batch.base_offset if base_offset < 0 else base_offset
            position += size
        self._enforce_retention()
        return base_offset

    def _place(
        self,
        data: bytearray,
        leader_epoch: int,
        log_append_time_ms: int | None,
        *,
        keep_offsets: bool,
    ) -> StoredBatch:
        """Put a batch behind the last one; update the records of transactions and epochs."""
        if data[MAGIC_OFFSET] < 2:
            batch = _legacy_batch(data, leader_epoch)
            self._check_order(batch.base_offset)
        else:
            header = parse_header(data)
            base_offset = header.base_offset if keep_offsets else self.log_end_offset
            self._check_order(base_offset)
            assign_offsets(data, base_offset, leader_epoch, log_append_time_ms)
            batch = StoredBatch(
                base_offset,
                base_offset + header.last_offset_delta,
                leader_epoch,
                header.max_timestamp if log_append_time_ms is None else log_append_time_ms,
                data,
            )
            self._index_transaction(header, batch)
        self.start_epoch(leader_epoch, batch.base_offset)
        return batch

    def _check_order(self, base_offset: int) -> None:
        if base_offset < self.log_end_offset:
            raise ValueError(
                f"a batch at offset {base_offset} cannot follow the end of the log, "
                f"{self.log_end_offset}; append batches in offset order"
            )

    def _index_transaction(self, header: BatchHeader, batch: StoredBatch) -> None:
        if header.is_control:
            if not header.records_count:  # all of its transaction was cleaned away
                return
            kind = control_type(bytes(batch.data[HEADER_BYTES:]))
            if kind in (ControlRecordType.ABORT, ControlRecordType.COMMIT):
                self.transactions.append_marker(
                    header.producer_id,
                    batch.base_offset,
                    is_commit=kind == ControlRecordType.COMMIT,
                )
        elif header.is_transactional:
            self.transactions.append_data(header.producer_id, batch.base_offset)

    def _enforce_retention(self) -> None:
        """Drop the oldest batches while the rest still exceeds the limit; the newest one stays."""
        newest = len(self._batches) - 1
        first = self._first
        while first < newest and self._ends[-1] - self._position(first) > self.retention_bytes:
            self._batches[first] = _DROPPED
            first += 1
        if first > self._first:
            self._first = first
            self._advance_start(self._batches[first].base_offset)

    def expire(self, before_ms: int, segment_ms: int, segment_bytes: int) -> None:
        """Drop the oldest segments whose newest record is older than `before_ms`.

        A segment ends before a batch that makes it larger than `segment_bytes`, or that is
        `segment_ms` newer than its first one. Records without timestamps are as old as the last
        write to their segment; they stay if nobody knows it.
        Source: UnifiedLog.deleteRetentionMsBreachedSegments, LogSegment.timeWaitedForRoll.
        """
        keep, begin = self._first, self._first
        while begin < len(self._batches):
            end, newest = begin, -1
            first = self._batches[begin]
            while end < len(self._batches):
                batch = self._batches[end]
                is_too_large = self._ends[end] - self._position(begin) > segment_bytes
                if end > begin and (is_too_large or _lies_between(first, batch) > segment_ms):
                    break
                newest = max(newest, batch.max_timestamp)
                end += 1
            if newest < 0:
                newest = self._batches[end - 1].written_ms
            if newest < 0 or newest >= before_ms:
                break
            keep = begin = end
        if keep > self._first:
            self.delete_records(self._last_offsets[keep - 1] + 1)

    def replace_batches(self, batches: list[StoredBatch]) -> None:
        """Have these batches, of the same offsets, in place of all; for the cleaner."""
        self._first, self._batches = 0, batches
        self._last_offsets = [batch.last_offset for batch in batches]
        self._ends = list(accumulate(len(batch.data) for batch in batches))

    def delete_records(self, before_offset: int) -> None:
        """Move the start of the log up to `before_offset`; whole batches below it are freed.

        Raises: OffsetOutOfRangeError if `before_offset` lies beyond the end of the log.
        """
        if before_offset > self.log_end_offset:
            raise OffsetOutOfRangeError(
                f"cannot delete records before {before_offset}: "
                f"the log ends at {self.log_end_offset}"
            )
        first = bisect_left(self._last_offsets, before_offset, self._first)
        for index in range(self._first, first):
            self._batches[index] = _DROPPED
        self._first = first
        self._advance_start(max(before_offset, self.log_start_offset))

    def truncate(self, end_offset: int) -> None:
        """Drop the batches that reach `end_offset` or lie beyond it.

        A replica does the same when it follows a leader without them. Transactions and epochs that
        began there are forgotten.
        """
        keep = bisect_left(self._last_offsets, end_offset, self._first)
        del self._last_offsets[keep:], self._ends[keep:], self._batches[keep:]
        kept = self._last_offsets[-1] + 1 if keep > self._first else self.log_start_offset
        self.log_end_offset = kept
        self._epochs = [entry for entry in self._epochs if entry[1] < kept]
        self.transactions.drop_from(kept)

    def _advance_start(self, log_start_offset: int) -> None:
        self.log_start_offset = log_start_offset
        self.transactions.drop_before(log_start_offset)
        if self._first > 64 and self._first * 2 > len(self._batches):
            base = self._position(self._first)
            self._ends = [end - base for end in self._ends[self._first :]]
            del self._last_offsets[: self._first], self._batches[: self._first]
            self._first = 0

    def corrupt(self, offset: int) -> None:
        """Flip the bits of the last byte of the batch with `offset`, which makes its CRC wrong."""
        data = self._batches[self._index_of(offset)].data
        data[-1] ^= 0xFF

    # Reading

    def read(
        self, fetch_offset: int, max_bytes: int, upper_bound: int, *, at_least_one: bool
    ) -> LogRead:
        """Return the bytes from the batch with `fetch_offset` on; empty if nothing is there.

        At most `max_bytes`, cut anywhere, so the last batch may be partial. The first one never is.
        If it does not fit, the result is empty; with `at_least_one` it is the first batch alone.
        Only batches wholly below the offset `upper_bound` are read. Source: KIP-74,
        LogSegment.read, ReplicaManager.readFromLog.
        """
        first, stop = self._range(fetch_offset, upper_bound)
        if first >= stop:
            return LogRead(b"", fetch_offset)
        start = self._position(first)
        if self._ends[first] - start > max_bytes and not at_least_one:
            return LogRead(b"", fetch_offset)
        end = max(self._ends[first], min(start + max_bytes, self._ends[stop - 1]))
        last = bisect_left(self._ends, end, first, stop)
        end_offset = self._last_offsets[last] + 1
        if last == first:
            return LogRead(memoryview(self._batches[first].data), end_offset)
        parts: list[bytearray | memoryview] = [b.data for b in self._batches[first:last]]
        parts.append(memoryview(self._batches[last].data)[: end - self._position(last)])
        return LogRead(b"".join(parts), end_offset)

    def available_bytes(self, fetch_offset: int, upper_bound: int) -> int:
        """Return the size of `read`'s result without a limit."""
        first, stop = self._range(fetch_offset, upper_bound)
        return self._ends[stop - 1] - self._position(first) if first < stop else 0

    def batches_from(self, offset: int, upper_bound: int) -> Iterator[StoredBatch]:
        """Iterate over the batches from the one with `offset` on that lie below `upper_bound`."""
        first, stop = self._range(offset, upper_bound)
        return (self._batches[index] for index in range(first, stop))

    def _range(self, fetch_offset: int, upper_bound: int) -> tuple[int, int]:
        first = bisect_left(self._last_offsets, fetch_offset, self._first)
        if upper_bound >= self.log_end_offset:
            return first, len(self._batches)
        return first, bisect_left(self._last_offsets, upper_bound, first)

    def _position(self, index: int) -> int:
        return self._ends[index - 1] if index else 0

    def _index_of(self, offset: int) -> int:
        index = bisect_left(self._last_offsets, offset, self._first)
        if index == len(self._batches) or self._batches[index].base_offset > offset:
            raise OffsetOutOfRangeError(f"no batch of {self!r} holds offset {offset}")
        return index

    # Looking up offsets

    def offset_for_timestamp(self, timestamp_ms: int) -> tuple[int, int] | None:
        """Return (offset, timestamp) of the first record at or after `timestamp_ms`, or None.

        Here and below, markers of transactions count as records.
        """
        for batch in self.batches():
            if batch.max_timestamp >= timestamp_ms:
                for offset, timestamp in self._timestamps_in(batch):
                    if timestamp >= timestamp_ms and offset >= self.log_start_offset:
                        return offset, timestamp
        return None

    def offset_of_max_timestamp(self) -> tuple[int, int] | None:
        """Return (offset, timestamp) of the first record with the newest timestamp, or None."""
        filled = (batch for batch in self.batches() if not _is_emptied(batch))
        newest = max(filled, key=lambda batch: batch.max_timestamp, default=None)
        if newest is None:
            return None
        for offset, timestamp in self._timestamps_in(newest):
            if timestamp == newest.max_timestamp:
                return offset, timestamp
        return None

    def _timestamps_in(self, batch: StoredBatch) -> list[tuple[int, int]]:
        """Return (offset, timestamp) of each record."""
        if _is_emptied(batch):
            return []
        if batch.data[MAGIC_OFFSET] >= 2 and parse_header(batch.data).is_control:
            return [(batch.base_offset, batch.max_timestamp)]
        cursor = RecordCursor(
            memoryview(batch.data),
            topic=self.topic,
            partition=self.partition,
            fetch_offset=batch.base_offset,
        )
        records = cursor.take(batch.last_offset - batch.base_offset + 1)
        return [(record.offset, record.timestamp) for record in records]

    # Leader epochs

    def start_epoch(self, epoch: int, start_offset: int) -> None:
        """Begin a leader epoch at `start_offset`. An earlier epoch without records is removed.

        Source: LeaderEpochFileCache.assign.
        """
        if self._epochs and self._epochs[-1][0] >= epoch:
            return
        while self._epochs and self._epochs[-1][1] >= start_offset:
            self._epochs.pop()
        self._epochs.append((epoch, start_offset))

    def epoch_of(self, offset: int) -> int:
        """Return the leader epoch in which `offset` was or would be written; -1 if none was."""
        index = bisect_right(self._epochs, offset, key=lambda entry: entry[1])
        return self._epochs[index - 1][0] if index else -1

    def end_of_epoch(self, epoch: int) -> tuple[int, int]:
        """Return (epoch, end offset) of the largest known epoch that is not above `epoch`.

        (-1, -1) if `epoch` is above all known ones. Source: KIP-320,
        LeaderEpochFileCache.endOffsetFor.
        """
        if not self._epochs or epoch < 0 or epoch > self._epochs[-1][0]:
            return UNKNOWN_EPOCH_END
        if epoch == self._epochs[-1][0]:
            return epoch, self.log_end_offset
        higher = bisect_right(self._epochs, epoch, key=lambda entry: entry[0])
        end_offset = self._epochs[higher][1]
        return (self._epochs[higher - 1][0] if higher else epoch), end_offset


def batch_of_one(
    timestamp_ms: int,
    key: bytes | None,
    value: bytes | None,
    headers: Sequence[tuple[str, bytes | None]],
) -> memoryview:
    """Return a batch of one record, uncompressed and outside transactions."""
    builder = RecordBatchBuilder(bytearray(record_upper_bound(key, value, headers)))
    builder.append(timestamp_ms, key, value, headers)
    builder.seal()
    return builder.wire()


def _lies_between(first: StoredBatch, batch: StoredBatch) -> int:
    """Return the milliseconds from the first batch of a segment to another."""
    if first.max_timestamp >= 0:
        return batch.max_timestamp - first.max_timestamp
    return batch.written_ms - first.written_ms


def _is_emptied(batch: StoredBatch) -> bool:
    """Return whether compaction has left only the header, which keeps a producer's sequence."""
    return batch.data[MAGIC_OFFSET] >= 2 and not parse_header(batch.data).records_count


def _legacy_batch(data: bytearray, leader_epoch: int) -> StoredBatch:
    """Return a message of format 0 or 1 as a batch.

    A compressed one has the offset of its last inner message.
    """
    (offset,) = _INT64.unpack_from(data)
    timestamp = -1
    if data[MAGIC_OFFSET] == 1:
        (timestamp,) = _INT64.unpack_from(data, _LEGACY_TIMESTAMP_OFFSET)
    return StoredBatch(offset, offset, leader_epoch, timestamp, data)


__all__ = ["DEFAULT_RETENTION_BYTES", "LogRead", "PartitionLog", "StoredBatch", "batch_of_one"]
