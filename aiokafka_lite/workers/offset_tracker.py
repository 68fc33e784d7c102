"""Knows which records of one partition are finished, and which offset may be committed.

The committed offset never passes a record that is not finished. Records that are finished behind it
are named in a note (`finished_note`). Does not wait.
"""

from collections import deque
from collections.abc import Iterator

from aiokafka_lite.workers.finished_note import NOTHING_FINISHED, FinishedOffsets, written_note


class OffsetTracker:
    """The records of one partition from the first unfinished one on.

    Offsets come in ascending order. Numbers may be missing: a compacted log has gaps, and
    transactions leave markers.
    """

    __slots__ = (
        "_ahead",
        "_changes",
        "_committed_changes",
        "_cut",
        "_epoch",
        "_finished_before",
        "_known",
        "_next",
    )

    def __init__(self) -> None:
        self._known: deque[int] = deque()  # from the first unfinished offset on
        self._ahead: set[int] = set()  # of them, those that are finished
        self._next: int | None = None  # behind the newest record; None: nothing to commit
        self._changes = 0
        self._committed_changes = 0
        self._finished_before = NOTHING_FINISHED
        self._epoch = -1
        self._cut: int | None = None  # the lowest, until the earlier owner's note comes

    def __len__(self) -> int:
        """Return the number of records from the first unfinished one on, finished ones included."""
        return len(self._known)

    def finished_before(self, finished: FinishedOffsets, leader_epoch: int = -1) -> None:
        """Take over what an earlier owner of the partition has finished.

        `leader_epoch`: the newest one of those records; -1 if not known.
        """
        self._epoch = max(self._epoch, leader_epoch)
        self._finished_before = finished if self._cut is None else finished.before(self._cut)

    def returned(self, leader_epoch: int) -> None:
        """Note the leader epoch of the newest record that was returned; -1 if not known."""
        self._epoch = max(self._epoch, leader_epoch)

    @property
    def leader_epoch(self) -> int:
        """The leader epoch to commit with `next_offset`; -1 if not known.

        It is that of the newest record, which may lie behind the offset. The broker's answer about
        it then covers the records that the note names, too (KIP-320).
        """
        return self._epoch

    def begin(self, offset: int) -> bool:
        """Note a record that was returned; say whether it has to be handled.

        It has not if an earlier owner of the partition has finished it.
        """
        if self._next is not None and offset < self._next:
            self._go_back(offset)
        self._known.append(offset)
        self._next = offset + 1
        before = self._finished_before
        if before is NOTHING_FINISHED:
            return True
        if not before.base <= offset <= before.last:
            # Behind the note, or before it: then the records are meant to be handled once more.
            self._finished_before = NOTHING_FINISHED
            return True
        if offset not in before:
            return True
        self.finish(offset)
        return False

    def _go_back(self, offset: int) -> None:
        """Forget what lies behind `offset`: the position has gone back, so that comes once more.

        What is not finished before it still keeps its place.
        """
        self._go_back_to(offset)
        self._finished_before = NOTHING_FINISHED

    def _go_back_to(self, offset: int) -> None:
        known = self._known
        while known and known[-1] >= offset:
            self._ahead.discard(known.pop())

    def cut(self, offset: int) -> bool:
        """Forget what lies at `offset` or behind it: the log is another one from there on.

        Say whether records were known there. Then the next commit stores what is left.
        """
        self._cut = offset if self._cut is None else min(offset, self._cut)
        self._finished_before = self._finished_before.before(offset)
        if not offset:
            self._epoch = -1
        if self._next is None or self._next <= offset:
            return False
        self._go_back_to(offset)
        self._next = offset or None
        self._changes += 1
        return True

    def stop_before(self, offset: int) -> None:
        """Commit nothing behind `offset`: its record was returned, and nobody will handle it."""
        if self._next is None or offset >= self._next:
            self._known.append(offset)
            self._next = offset + 1

    def finish(self, offset: int) -> None:
        """Note that a record is finished: handled, or in the dead-letter topic."""
        self._changes += 1
        known = self._known
        if not known or not known[0] <= offset <= known[-1]:
            return  # of an earlier attempt, before the position went back
        if known[0] != offset:
            self._ahead.add(offset)
            return
        known.popleft()
        ahead = self._ahead
        while known and known[0] in ahead:
            ahead.remove(known.popleft())

    @property
    def next_offset(self) -> int | None:
        """The offset to commit: the first unfinished one; None before the first record."""
        return self._known[0] if self._known else self._next

    @property
    def note(self) -> str:
        """The metadata to commit with `next_offset`."""
        offset = self.next_offset
        return "" if offset is None else written_note(offset, self._finished_ranges())

    @property
    def has_note(self) -> bool:
        """Whether something is finished behind `next_offset`, here or by an earlier owner."""
        return bool(self._ahead) or self._finished_before is not NOTHING_FINISHED

    def _finished_ranges(self) -> Iterator[tuple[int, int]]:
        """Yield the finished ranges from `next_offset` on, in ascending order.

        Numbers without a record belong to the range around them. The note of the earlier owner has
        the last word on records that have not come yet.
        """
        behind = self._next
        if behind is None:
            return
        first: int | None = None
        if self._ahead:
            for offset in list(self._known):
                if offset in self._ahead:
                    first = offset if first is None else first
                elif first is not None:
                    yield first, offset
                    first = None
        for start, end in self._finished_before.ranges_from(behind):
            if first is not None and start > behind:
                yield first, behind
                first = None
            yield (start if first is None else first), end
            first = None
        if first is not None:
            yield first, behind

    @property
    def changes(self) -> int:
        """A number that grows with each record that is finished."""
        return self._changes

    @property
    def has_news(self) -> bool:
        """Whether there is something else to commit than at the last commit."""
        return self._changes != self._committed_changes and self.next_offset is not None

    def committed(self, changes: int) -> None:
        """Note that the group has stored what was finished at the number `changes`."""
        self._committed_changes = max(self._committed_changes, changes)


__all__ = ["OffsetTracker"]
