"""Owns one partition's part of a fetch response: raw bytes, decoded into records as they are taken.

It keeps its own next offset. The collector compares that with the position in the subscription
before it takes records (A6). A fetch changes only itself. Does not wait.
"""

from typing import TYPE_CHECKING, Any

from aiokafka_lite.cluster.metadata.metadata_snapshot import LeaderAndEpoch
from aiokafka_lite.consumer.fetch import decoded_records
from aiokafka_lite.consumer.position.partition_state import FetchState, PartitionState
from aiokafka_lite.errors import KafkaError, RecordDeserializationError
from aiokafka_lite.model import ConsumerRecord, TopicPartition
from aiokafka_lite.record.batch_reader import RecordCursor
from aiokafka_lite.record.cursor.record_deserializer import RecordDeserializer, to_raise
from aiokafka_lite.serialization import NotPreparedError

if TYPE_CHECKING:
    from aiokafka_lite.record.cursor.columns_builder import ColumnsBuilder

CHUNK_RECORDS = 512
CHUNK_BYTES = 65_536
"""How much `take_one` decodes ahead. More would cost memory that the allocator cannot reuse; less
would make the call of the decoder dear."""

Record = ConsumerRecord[Any, Any]

_AWAIT_VALIDATION = FetchState.AWAIT_VALIDATION  # on 3.11 it costs a call to find it in its class


class CompletedFetch(decoded_records.FetchPlace):
    """Records of one partition from `fetch_offset` on, or the error that came in their place.

    Without a cursor it is a failure: it holds no bytes, and the next poll raises `error`. With a
    cursor, `error` is set after a poll has raised that the bytes cannot be decoded any further. The
    fetch then stands aside (A9).
    """

    __slots__ = (
        "_chunk",
        "_chunk_epoch",
        "_cursor",
        "_deserialized",
        "_failure",
        "_told_bytes",
        "deserializer",
        "end_offset",
        "error",
        "fetch_offset",
        "incarnation",
        "is_busy",
        "is_failure",
        "is_released",
        "leader",
        "leader_epoch",
        "node_id",
        "place",
        "raw",
        "received_at_s",
        "size_in_bytes",
        "topic_partition",
        "unprepared",
        "wanted",
    )

    def __init__(
        self,
        topic_partition: TopicPartition,
        fetch_offset: int,
        *,
        node_id: int,
        cursor: RecordCursor | None = None,
        deserializer: RecordDeserializer | None = None,
        size_in_bytes: int = 0,
        error: KafkaError | None = None,
        incarnation: int = 0,
        leader: LeaderAndEpoch | None = None,
        received_at_s: float = 0.0,
        end_offset: int | None = None,
    ) -> None:
        super().__init__(fetch_offset)
        # `next_offset` is the offset after the last record handed out, and after control batches
        # and gaps there.
        self.topic_partition = topic_partition
        self.fetch_offset = fetch_offset
        self.node_id = node_id
        self.incarnation = incarnation
        """The number of the log, as in `PartitionState`. It grows when another topic has the name,
        and when the log is truncated."""
        self.leader = leader
        """The leader of the partition when it was fetched. Another leader's log may differ."""
        self.received_at_s = received_at_s
        """When the response came, in the clock's monotonic seconds."""
        self.place = 0
        """Its number among the fetches that the buffer has got, which are taken from in order."""
        self.end_offset = end_offset
        """The offset after its last record; None: not known, or not needed."""
        self.size_in_bytes = size_in_bytes
        self.error: Exception | None = error
        self.leader_epoch = -1
        """The epoch of the last record handed out, -1 when not known."""
        self.is_failure = cursor is None
        """True if it never held bytes, only an error."""
        self.is_busy = False
        """Records are being taken. So `release` waits for the end of that, and is repeated then."""
        self.is_released = False
        """It has left the buffer: the position has moved, or the partition is not assigned."""
        self._cursor = cursor
        self._chunk: list[Record] = []  # decoded, not handed out; the next one is the last
        self._chunk_epoch = -1
        self._told_bytes = 0
        self.deserializer = deserializer
        """What makes objects of the records' bytes; None: nothing."""
        self.unprepared: NotPreparedError | None = None
        """What has to be awaited before more records can be taken; `prepared` ends that."""
        self.wanted = 0
        """How many of the records that are awaited a poll would return at once."""
        self.raw: list[Record] = []
        """Records taken from the cursor that are not deserialized, in offset order."""
        self._deserialized: list[Record] = []  # by `prepared`, in offset order, before `raw`
        self._failure: RecordDeserializationError | None = None  # of the record behind them

    def __repr__(self) -> str:
        topic, partition = self.topic_partition
        what = "failed" if self._cursor is None else f"{self.size_in_bytes} bytes"
        return f"<CompletedFetch {topic}-{partition} at {self.next_offset}, {what}>"

    def newly_read_bytes(self) -> int:
        """Return how many bytes of records were decoded since the call before, without compression
        and batch headers.
        """
        if self._cursor is None:
            return 0
        read = self._cursor.read_bytes - self._told_bytes
        self._told_bytes += read
        return read

    def is_drained(self) -> bool:
        """Say whether no record is left to take."""
        if self._chunk or self.raw or self._deserialized or self._failure is not None:
            return False
        return self._cursor is None or self._cursor.exhausted

    def fits(self, state: PartitionState) -> bool:
        """Say whether its next record is the one at the position of its partition (A6).

        It does not fit once the partition has another leader. That leader's log may have been
        truncated before the end of this fetch. A valid position says nothing about the records
        behind it (2b-14).
        """
        offset, incarnation = state.offset, state.incarnation
        return (
            self.next_offset == offset
            and self.incarnation == incarnation
            and (self.leader is state.leader or self.leader == state.leader)
            and state.fetch_state is not _AWAIT_VALIDATION
        )

    def take(self, max_records: int) -> list[Record]:
        """Return up to `max_records` records in offset order and move `next_offset` behind them.

        An empty list means that no record was left. `next_offset` may still move, over a gap.
        Raises: CorruptRecordException, RecordDeserializationError, … for bytes that the cursor
        cannot read, only at the bad record itself, and again at each call; NotPreparedError at a
        record whose deserializer has to wait first.
        """
        chunk = self._chunk
        if not chunk:
            return self._take_from_cursor(max_records)
        taken = chunk[: -max_records - 1 : -1]
        del chunk[-len(taken) :]
        if chunk:
            self._stand_behind(taken[-1])
            return taken
        self._stand_at_cursor()
        if len(taken) < max_records and not self.is_drained():
            try:
                taken += self._take_from_cursor(max_records - len(taken))
            except Exception:  # noqa: BLE001 - the next take raises it again (A9)
                return taken
        return taken

    def take_columns(self, columns: "ColumnsBuilder") -> int:
        """Append the next records to `columns` until those are full; return how many.

        `next_offset` moves behind them. Raises: as `take`, but only if nothing was appended.
        """
        before = len(columns)
        if self._chunk:
            self._append_decoded(columns)
            if self._chunk:
                return len(columns) - before
        if self._cursor is None or columns.is_full:
            return len(columns) - before
        try:
            self._cursor.take_columns(columns)
        except Exception:
            if len(columns) == before:
                raise
            # The next take raises it again (A9).
        finally:
            self._stand_at_cursor()
        return len(columns) - before

    def _append_decoded(self, columns: "ColumnsBuilder") -> None:
        """Append the records that were decoded ahead."""
        chunk = self._chunk
        columns.begin(*self.topic_partition)
        while chunk and not columns.is_full:
            record = chunk[-1]
            if not columns.append(
                record.offset,
                record.timestamp,
                record.timestamp_type,
                record.key,
                record.value,
                record.headers,
            ):
                return
            self._stand_behind(chunk.pop())
        if not chunk:
            self._stand_at_cursor()

    def take_one(self) -> Record | None:
        """Return the next record and move `next_offset` behind it; None if no record is left.

        It decodes some records ahead. Those do not count as taken. Raises: as `take`.
        """
        if not self._chunk:
            self._decode_ahead()
            if not self._chunk:
                return None
        record = self._chunk.pop()
        if self._chunk:
            self._stand_behind(record)
        else:
            self._stand_at_cursor()
        return record

    def decode_on(self) -> bool:
        """Decode more records behind those that were decoded ahead; say whether any came.

        Records behind a bad one, and those whose deserializer has to wait, are left to `take_one`.
        """
        if self._cursor is None or not self._chunk or self._has_others_first():
            return False
        try:
            more = self._next_records(CHUNK_RECORDS, 0, CHUNK_BYTES)
        except Exception:  # noqa: BLE001 - the next take raises it again (A9)
            return False
        if not more:
            return False
        more.reverse()
        self._chunk[:0] = more
        self._chunk_epoch = self.leader_epoch = self._cursor.last_leader_epoch
        return True

    def _has_others_first(self) -> bool:
        """Say whether the next records, or an error, were taken from the cursor already."""
        if self.deserializer is None:
            return False
        if self.deserializer.is_async or self._failure is not None:
            return True
        return bool(self.raw or self._deserialized)

    @property
    def decoded(self) -> list[Record]:
        """The records that `take_one` decoded ahead, the next one last, for `DecodedRecords`."""
        return self._chunk

    def fail(self, error: Exception) -> None:
        """Keep `error` in place of the bytes, which cannot be decoded any further (A9)."""
        self.error = error
        self.end_offset = None
        self.size_in_bytes = 0
        self.release()

    def own_bytes(self) -> None:
        """Copy the unread bytes out of the response, into memory of their own."""
        if self._cursor is not None:
            self._cursor.own_bytes()

    def release(self) -> None:
        """Drop the bytes and the records that were decoded ahead."""
        self.is_released = True
        if self.is_busy:  # a finalizer or a deserializer has sought
            return
        if self.deserializer is not None:
            self._note_dropped(self._deserialized)
            self._note_dropped(self._chunk[::-1])
        self._chunk, self.raw, self._deserialized, self._failure = [], [], [], None
        if self._cursor is not None:
            self._cursor.release()

    def _note_dropped(self, made: list[Record]) -> None:
        if made:
            assert self.deserializer is not None
            self.deserializer.in_vain.add(made)

    def prepared(
        self, deserialized: list[Record], failure: RecordDeserializationError | None
    ) -> None:
        """Go on after the wait, with the records of `raw` that were deserialized meanwhile.

        `failure` is the error of the record behind them. Without any, the others are deserialized
        when they are taken.
        """
        self.unprepared = None
        if self.is_released:
            self._note_dropped(deserialized)
        elif self.raw:
            self.raw = [] if failure is not None else self.raw[len(deserialized) :]
            self._deserialized = deserialized
            self._failure = failure

    def _take_from_cursor(self, max_records: int) -> list[Record]:
        if self._cursor is None:
            return []
        try:
            return self._next_records(max_records, max_records)
        finally:
            self._stand_at_cursor()

    def _next_records(
        self, max_records: int, wanted: int, max_bytes: int | None = None
    ) -> list[Record]:
        """Return the next records, deserialized. A poll returns `wanted` of them at once."""
        assert self._cursor is not None
        deserializer = self.deserializer
        if deserializer is None:
            return self._cursor.take(max_records, max_bytes)
        if self._deserialized:
            ready = self._deserialized
            self._deserialized = ready[max_records:]
            return ready[:max_records]
        if self._failure is not None:
            raise to_raise(self._failure)
        if self.raw:
            records, self.raw = self.raw[:max_records], self.raw[max_records:]
        elif deserializer.is_async:
            records = self._cursor.take(CHUNK_RECORDS, CHUNK_BYTES)
        else:
            records = self._cursor.take(max_records, max_bytes)
        return self._made_objects(deserializer, records, wanted)

    def _made_objects(
        self, deserializer: RecordDeserializer, records: list[Record], wanted: int
    ) -> list[Record]:
        if deserializer.is_async:
            if records:
                self.wanted = wanted
                self.raw = records + self.raw
                self.unprepared = NotPreparedError("an async deserializer is awaited", _nothing)
                raise self.unprepared
            return records
        given = records.copy()
        del records[deserializer.in_vain.allowed(records, wanted) :]
        failed = deserializer.apply(records)
        if failed is None:
            if len(records) < len(given):  # the time of this turn is over, or the rest can wait
                self.raw = given[len(records) :] + self.raw
            return records
        if isinstance(failed.__cause__, NotPreparedError):
            self.raw = given[len(records) :] + self.raw
            self.unprepared = failed.__cause__
            if not records:
                raise self.unprepared.with_traceback(None)
        else:
            self._failure = failed
            self.raw = []
            if not records:
                raise to_raise(failed)
        return records

    def _decode_ahead(self) -> None:
        if self._cursor is None:
            return
        chunk: list[Record] = []
        try:
            chunk = self._next_records(CHUNK_RECORDS, 1, CHUNK_BYTES)
        finally:
            if not chunk:
                self._stand_at_cursor()
        # Each record of the chunk gets the newest epoch of the chunk. That is safe, because logs
        # with a common epoch are equal up to its first offset. With an older epoch, a validation
        # could report a truncation that never happened. Without an epoch, no election would be
        # followed by a validation (KIP-320).
        self._chunk_epoch = self._cursor.last_leader_epoch
        chunk.reverse()
        self._chunk = chunk

    def _stand_behind(self, record: Record) -> None:
        self.next_offset = record.offset + 1
        self.leader_epoch = self._chunk_epoch

    def _stand_at_cursor(self) -> None:
        assert self._cursor is not None
        self.next_offset = self._cursor.next_offset
        waiting = self._deserialized or self.raw
        if waiting:
            self.next_offset = waiting[0].offset
        if not self._deserialized and self._failure is not None:
            self.next_offset = self._failure.offset
        self.leader_epoch = self._cursor.last_leader_epoch


def _nothing() -> Any:
    raise AssertionError("the consumer awaits the deserializers itself")


__all__ = ["CompletedFetch", "Record"]
