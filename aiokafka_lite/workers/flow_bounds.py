"""Decides which partitions are paused, so that memory has a bound. Does not wait.

Each partition has an equal share of `max_records`, and never more than that. It is paused alone at
three quarters of its share, and resumed at half: one slow key does not stop other partitions. The
same holds for bytes, but for one poll, whose records are estimated by those before.
"""

from collections.abc import Collection, Iterable
from typing import Final

from aiokafka_lite.workers.work_queues import PartitionWork, WorkQueues

MOST_TRACKED: Final = 20_000
"""How many offsets are tracked of one partition behind its first unfinished record. They limit what
one stuck record can leave to be repeated, and the length of the note."""


class FlowBounds:
    """Compares the queues with their bounds."""

    def __init__(self, queues: WorkQueues, max_records: int, max_bytes: int) -> None:
        self._queues = queues
        self._max_records = max_records
        self._max_bytes = max_bytes
        self.is_full = False
        """Whether all partitions are paused because of what they have together.

        That happens if there are more of them than records, or if records are larger than expected.
        """
        self.paused = 0
        """How many partitions are paused."""

    @property
    def _share(self) -> int:
        return max(self._max_records // max(len(self._queues.partitions), 1), 1)

    def poll_limit(self) -> int:
        """Return how many records the next poll may return; at least 1.

        No partition gets more than its share by it, not even if all records are of one.
        """
        queues = self._queues
        number = max(len(queues.partitions), 1)
        polled = [work for work in queues.partitions.values() if not work.is_paused]
        most = max((work.records for work in polled), default=0)
        limit = min(self._share - most, self._max_records - queues.records)
        if queues.byte_count:
            mean = queues.byte_count / queues.records
            most_bytes = max((work.byte_count for work in polled), default=0)
            limit = min(limit, int((self._max_bytes / number - most_bytes) / mean))
        return max(limit, 1)

    def to_pause(self, changed: Collection[PartitionWork]) -> list[PartitionWork]:
        """Return the partitions to pause now that records of `changed` were added.

        A paused one among them was resumed by the user's code, and is paused again.
        """
        queues = self._queues
        resumed = [work for work in changed if work.is_paused]
        if queues.records >= self._max_records or queues.byte_count >= self._max_bytes:
            self.is_full = True
            changed = queues.partitions.values()
        found = [
            work
            for work in changed
            if not work.is_paused and (self.is_full or not self._is_below(work, 3, 4))
        ]
        for work in found:
            work.is_paused = True
            # Bytes and offsets may come below their bounds with any record.
            has_many = not self.is_full and work.records * 4 > self._share * 3
            work.resume_at = self._share // 2 if has_many else work.records
        self.paused += len(found)
        return resumed + found

    def to_resume(self, changed: PartitionWork | None = None) -> list[PartitionWork]:
        """Return the partitions to resume now that a record of `changed` is finished.

        None: now that partitions are gone.
        """
        queues = self._queues
        candidates: Iterable[PartitionWork] = () if changed is None else (changed,)
        if self.is_full or changed is None:
            is_low = (
                queues.records * 2 <= self._max_records and queues.byte_count * 2 <= self._max_bytes
            )
            if self.is_full and not is_low:
                return []
            self.is_full = False
            candidates = queues.partitions.values()
        found = [work for work in candidates if work.is_paused and self._is_below(work, 1, 2)]
        for work in found:
            work.is_paused = False
        self.paused -= len(found)
        return found

    def forget(self, gone: Iterable[PartitionWork]) -> None:
        """Note that partitions are gone, paused or not."""
        for work in gone:
            self.paused -= work.is_paused
            work.is_paused = False

    def _is_below(self, work: PartitionWork, part: int, of: int) -> bool:
        """Return whether a partition has no more than `part`/`of` of its share."""
        number = max(len(self._queues.partitions), 1)
        return (
            work.records * of <= self._share * part
            and work.byte_count * of * number <= self._max_bytes * part
            and len(work.offsets) * of <= MOST_TRACKED * part
        )


__all__ = ["MOST_TRACKED", "FlowBounds"]
