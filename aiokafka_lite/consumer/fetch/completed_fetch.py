"""Owns one partition's part of a fetch answer: raw bytes, turned into records as they are taken.

It carries its own next offset, so that whoever drains it can see whether it still fits the
subscription's position (A6). It changes nothing but itself and does not wait.
"""

from typing import Any

from aiokafka_lite.cluster.metadata_snapshot import LeaderAndEpoch
from aiokafka_lite.consumer.position.partition_state import FetchState, PartitionState
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.model import ConsumerRecord, TopicPartition
from aiokafka_lite.record.batch_reader import RecordCursor
from aiokafka_lite.record.columns_builder import ColumnsBuilder

CHUNK_RECORDS = 512
CHUNK_BYTES = 65_536
"""How much is decoded ahead for records taken one by one: enough to pay for the call, little
enough that the allocator reuses the memory."""

Record = ConsumerRecord[Any, Any]


class CompletedFetch:
    """Records of one partition from `fetch_offset` on, or the error that came in their place.

    Without a cursor it is a failure: it holds no bytes and `error` is what the user has to hear.
    With one, `error` is set once the bytes could not be read on and the user has heard of it: the
    fetch then stands aside (A9).
    """

    __slots__ = (
        "_chunk",
        "_chunk_epoch",
        "_cursor",
        "end_offset",
        "error",
        "fetch_offset",
        "incarnation",
        "leader",
        "leader_epoch",
        "next_offset",
        "node_id",
        "received_at_s",
        "size_in_bytes",
        "topic_partition",
    )

    def __init__(
        self,
        topic_partition: TopicPartition,
        fetch_offset: int,
        *,
        node_id: int,
        cursor: RecordCursor | None = None,
        size_in_bytes: int = 0,
        error: KafkaError | None = None,
        incarnation: int = 0,
        leader: LeaderAndEpoch | None = None,
        received_at_s: float = 0.0,
        end_offset: int | None = None,
    ) -> None:
        self.topic_partition = topic_partition
        self.fetch_offset = fetch_offset
        self.node_id = node_id
        self.incarnation = incarnation
        """Of the topic: one that was deleted and created again has another."""
        self.leader = leader
        """Who led the partition when it was fetched: the log of another may differ from it."""
        self.received_at_s = received_at_s
        """When the answer came, in the clock's monotonic seconds."""
        self.end_offset = end_offset
        """Where it will stand when it is used up; None: not known, or of no interest."""
        self.size_in_bytes = size_in_bytes
        self.error: Exception | None = error
        self.next_offset = fetch_offset
        """The offset after the last record handed out; past control batches and gaps."""
        self.leader_epoch = -1
        """The epoch of the last record handed out, -1 when not known."""
        self._cursor = cursor
        self._chunk: list[Record] = []  # decoded, not handed out; the next one is the last
        self._chunk_epoch = -1

    def __repr__(self) -> str:
        topic, partition = self.topic_partition
        what = "failed" if self._cursor is None else f"{self.size_in_bytes} bytes"
        return f"<CompletedFetch {topic}-{partition} at {self.next_offset}, {what}>"

    @property
    def is_failure(self) -> bool:
        """True when it never held bytes, only an error."""
        return self._cursor is None

    @property
    def is_drained(self) -> bool:
        """True when nothing is left to take."""
        return not self._chunk and (self._cursor is None or self._cursor.exhausted)

    def fits(self, state: PartitionState) -> bool:
        """Say whether it goes on where the position of its partition stands (A6).

        It does not outlive the leadership it was fetched under: the next leader's log may have been
        truncated before its end, and a valid position says nothing of what lies behind it (2b-14).
        """
        return (
            self.next_offset == state.offset
            and self.incarnation == state.incarnation
            and self.leader == state.leader
            and state.fetch_state is not FetchState.AWAIT_VALIDATION
        )

    def take(self, max_records: int) -> list[Record]:
        """Return up to `max_records` records in offset order and move on behind them.

        An empty list means that there was none left, which may move `next_offset` all the same.
        Raises: what the cursor raises for bytes it cannot read (CorruptRecordException,
        RecordDeserializationError, …), only at the bad record itself and again at each call.
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
        if len(taken) < max_records and not self.is_drained:
            try:
                taken += self._take_from_cursor(max_records - len(taken))
            except Exception:  # noqa: BLE001 - sticky: it comes back with the next take (A9)
                return taken
        return taken

    def take_columns(self, columns: ColumnsBuilder) -> int:
        """Append the next records to `columns` until those are full, and move on behind them.

        Returns how many. Raises: as `take`; only with nothing appended.
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
            # Sticky: it comes back with the next take (A9).
        finally:
            self._stand_at_cursor()
        return len(columns) - before

    def _append_decoded(self, columns: ColumnsBuilder) -> None:
        """Append what was decoded ahead."""
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
        """Return the next record and move on behind it; None when there is none left.

        Decodes some records ahead; they count as not taken. Raises: as `take`.
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

    @property
    def decoded(self) -> list[Record]:
        """Records decoded ahead by `take_one`, the next one last; for the one-by-one fast path."""
        return self._chunk

    def fail(self, error: Exception) -> None:
        """Stand aside with `error` in place of the bytes, which cannot be read on (A9)."""
        self.error = error
        self.end_offset = None
        self.size_in_bytes = 0
        self.release()

    def own_bytes(self) -> None:
        """Copy what is left to memory of its own, out of the answer it came with."""
        if self._cursor is not None:
            self._cursor.own_bytes()

    def release(self) -> None:
        """Drop the bytes and what was decoded ahead."""
        self._chunk = []
        if self._cursor is not None:
            self._cursor.release()

    def _take_from_cursor(self, max_records: int) -> list[Record]:
        if self._cursor is None:
            return []
        try:
            return self._cursor.take(max_records)
        finally:
            self._stand_at_cursor()

    def _decode_ahead(self) -> None:
        if self._cursor is None:
            return
        chunk: list[Record] = []
        try:
            chunk = self._cursor.take(CHUNK_RECORDS, CHUNK_BYTES)
        finally:
            if not chunk:
                self._stand_at_cursor()
        # The newest epoch that was read serves every record before it: logs which have an epoch in
        # common are the same up to its first offset. An older one could tell of a truncation that
        # never was, and none at all would have the next election find nothing (KIP-320).
        self._chunk_epoch = self._cursor.last_leader_epoch
        chunk.reverse()
        self._chunk = chunk

    def _stand_behind(self, record: Record) -> None:
        self.next_offset = record.offset + 1
        self.leader_epoch = self._chunk_epoch

    def _stand_at_cursor(self) -> None:
        assert self._cursor is not None
        self.next_offset = self._cursor.next_offset
        self.leader_epoch = self._cursor.last_leader_epoch


__all__ = ["CompletedFetch", "Record"]
