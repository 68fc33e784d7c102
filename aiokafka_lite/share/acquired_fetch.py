"""Owns one partition's part of a ShareFetch response: raw bytes, and the offsets acquired in them.

Records are decoded when a poll takes them. Acquired offsets without a record become gaps. Does not
wait, but for deserializers that do.
"""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from aiokafka_lite.clock import Clock
from aiokafka_lite.consumer.fetch.fetch_preparations import Pace, make_objects
from aiokafka_lite.errors import RecordDeserializationError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.record.batch_reader import RecordCursor
from aiokafka_lite.record.cursor.record_deserializer import RecordDeserializer
from aiokafka_lite.serialization import NotPreparedError
from aiokafka_lite.share.held_records import Record

_CHUNK_RECORDS: Final = 512
_offset_of: Final = attrgetter("offset")


@dataclass(slots=True, eq=False)
class Portion:
    """Consecutive acquired offsets, and the records among them."""

    first: int
    last: int
    delivery_count: int
    records: list[Record]
    done: int = 0
    """How many of the records are deserialized."""
    failure: RecordDeserializationError | None = None
    """Why the record behind them cannot be."""
    behind: Sequence[Record] = ()
    """With a failure: the records behind that one."""


class AcquiredFetch:
    """The acquired records of one partition, oldest first."""

    def __init__(
        self,
        tp: TopicPartition,
        node_id: int,
        cursor: RecordCursor,
        ranges: Iterable[tuple[int, int, int]],
        deserializer: RecordDeserializer | None,
        *,
        expires_at_s: float,
        size_in_bytes: int = 0,
    ) -> None:
        """`ranges`: first offset, last offset, delivery count; ascending. `size_in_bytes`: of the
        bytes as they were fetched.
        """
        self.topic_partition = tp
        self.size_in_bytes = size_in_bytes
        self.node_id = node_id
        self.expires_at_s = expires_at_s
        """When the broker gives the records to others (monotonic); no later, but maybe earlier."""
        self.deserializer = deserializer
        self._cursor = cursor
        self._ranges = deque(ranges)
        self._chunk: list[Record] = []
        self._waiting: deque[Portion] = deque()

    @property
    def is_drained(self) -> bool:
        """Whether nothing is left."""
        return not (self._waiting or self._ranges)

    @property
    def next_offset(self) -> int:
        """The offset of the next record to be returned; -1: nothing is left."""
        return (
            self._waiting[0].first if self._waiting else self._ranges[0][0] if self._ranges else -1
        )

    def left(self) -> list[tuple[int, int]]:
        """Return the acquired offsets that were not taken, as first and last ones."""
        waiting = [(portion.first, portion.last) for portion in list(self._waiting)]
        return waiting + [(first, last) for first, last, _ in self._ranges]

    def peek(self, room: int) -> Portion | None:
        """Return the next portion, of at most `room` records; None: nothing is left.

        It stays the next one until `took`. Raises: CorruptRecordException.
        """
        if not self._waiting and self._ranges:
            self._waiting.append(self._cut(room))
        if not self._waiting:
            return None
        portion = self._waiting[0]
        if len(portion.records) > room:
            self._split(portion, room)
        return portion

    def took(self) -> None:
        """Go on behind the portion that was returned or failed."""
        portion = self._waiting.popleft()
        if portion.failure is not None and portion.failure.offset < portion.last:
            first, records = portion.failure.offset + 1, list(portion.behind)
            rest = Portion(first, portion.last, portion.delivery_count, records)
            self._waiting.appendleft(rest)

    def _cut(self, room: int) -> Portion:
        first, last, count = self._ranges[0]
        chunk, cursor = self._chunk, self._cursor
        while not (chunk and chunk[-1].offset >= first) and not cursor.exhausted:
            chunk = cursor.take(_CHUNK_RECORDS)
        begin = bisect_left(chunk, first, key=_offset_of)
        end = bisect_right(chunk, last, key=_offset_of)
        records = chunk[begin:end]
        last_taken = last
        if len(records) > room:
            del records[room:]
            last_taken = records[-1].offset
        elif end == len(chunk) and not cursor.exhausted:
            last_taken = min(last, max(cursor.next_offset - 1, first))
        self._chunk = chunk[begin + len(records) :]
        if last_taken < last:
            self._ranges[0] = (last_taken + 1, last, count)
        else:
            self._ranges.popleft()
        for record in records:
            record.delivery_count = count
        return Portion(first, last_taken, count, records)

    def _split(self, portion: Portion, room: int) -> None:
        """Keep only `room` records in the portion; another one has the others."""
        rest = portion.records[room:]
        del portion.records[room:]
        last = portion.records[-1].offset
        done = max(portion.done - room, 0)
        put_off = Portion(last + 1, portion.last, portion.delivery_count, rest, done)
        put_off.failure, put_off.behind = portion.failure, portion.behind
        self._waiting.insert(1, put_off)
        portion.done, portion.last = min(portion.done, room), last
        portion.failure, portion.behind = None, ()

    # Deserializing…

    def deserialize(self, portion: Portion) -> NotPreparedError | None:
        """Make objects of the records' bytes; return what has to be awaited first, if anything."""
        deserializer = self.deserializer
        if deserializer is None or portion.failure is not None:
            return None
        raw = portion.records[portion.done :]
        failure = deserializer.apply(raw)
        portion.done += len(raw)
        if failure is None:
            self._end_after_done(portion)  # the time of this turn is over
            return None
        if isinstance(failure.__cause__, NotPreparedError):
            return failure.__cause__
        self._cut_off(portion, failure)
        return None

    async def deserialize_waiting(self, portion: Portion, clock: Clock) -> None:
        """Do the same with deserializers that wait. Cancelled: what is done stays done."""
        deserializer = self.deserializer
        assert deserializer is not None
        done: list[Record] = []
        try:
            failure = await make_objects(
                deserializer, portion.records[portion.done :], done, Pace(clock)
            )
        finally:
            portion.done += len(done)
        if failure is None:
            self._end_after_done(portion)
        else:
            self._cut_off(portion, failure)

    def _end_after_done(self, portion: Portion) -> None:
        """End the portion behind the records that are made; the others are another one."""
        if portion.done < len(portion.records):
            self._split(portion, portion.done)

    def _cut_off(self, portion: Portion, failure: RecordDeserializationError) -> None:
        """End the portion before the record that failed. The records behind it come later."""
        portion.behind = portion.records[portion.done + 1 :]
        del portion.records[portion.done :]
        portion.failure = failure

    def release(self) -> None:
        """Drop the bytes."""
        self._cursor.release()
        self._ranges.clear()
        self._waiting.clear()
        self._chunk = []


__all__ = ["AcquiredFetch", "Portion"]
