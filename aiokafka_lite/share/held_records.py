"""Owns the records that were returned and are not acknowledged to the broker yet.

Records are kept as ranges of offsets with one byte each, which says what becomes of the record. So
a returned record costs a byte, and a whole poll is accepted by one replacement. Does not wait.
Source: KIP-932.
"""

import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final

from aiokafka_lite.errors import IllegalStateError
from aiokafka_lite.model import AcknowledgeType, ConsumerRecord, TopicPartition

Record = ConsumerRecord[Any, Any]

GAP: Final = 0
"""An offset that was acquired and has no record for the user, such as a transaction's marker."""
_HELD: Final = 0x80
_GONE: Final = 0xFF
"""Sent, or delivered once more: another range has it."""
_SENDABLE: Final = re.compile(rb"[\x00-\x03]+|\x04+")
_offset_of: Final = attrgetter("offset")
_first_of: Final = attrgetter("first")


@dataclass(slots=True, eq=False)
class AckBatch:
    """What became of consecutive offsets of one partition."""

    first: int
    types: bytearray
    """One byte per offset: `GAP` or an `AcknowledgeType`."""
    records: Sequence[Record] = ()
    """With RENEW: the records, which are returned again."""
    by_user: bool = True
    """False: nobody has seen the records, which the client gives back."""

    @property
    def last(self) -> int:
        """The last offset."""
        return self.first + len(self.types) - 1

    def offsets(self) -> set[int]:
        """Return the offsets that have records."""
        return {self.first + index for index, each in enumerate(self.types) if each != GAP}

    def wire_types(self) -> list[int]:
        """Return the types as requests have them: a single one if all are the same."""
        first = self.types[0]
        is_uniform = self.types.count(first) == len(self.types)
        return [first] if is_uniform else list(self.types)


@dataclass(slots=True, eq=False)
class _HeldRange:
    """Consecutive offsets of one partition that one node has given to this member."""

    node_id: int
    first: int
    types: bytearray
    records: Sequence[Record]

    @property
    def end(self) -> int:
        return self.first + len(self.types)

    def has(self, offset: int) -> bool:
        return self.first <= offset < self.end and self.types[offset - self.first] != _GONE


class HeldRecords:
    """The records that a share consumer has returned, and what the user said about them."""

    def __init__(self, *, keeps_records: bool) -> None:
        """`keeps_records`: RENEW is possible, which returns the same records again."""
        self._keeps_records = keeps_records
        self._ranges: dict[TopicPartition, list[_HeldRange]] = {}  # by their first offsets
        self._ends: dict[TopicPartition, int] = {}  # behind all that was ever held

    @property
    def unacknowledged(self) -> int:
        """How many records the user has said nothing about."""
        return sum(each.types.count(_HELD) for each in self._all())

    def __bool__(self) -> bool:
        return bool(self._ranges)

    def _all(self) -> Iterator[_HeldRange]:
        for ranges in self._ranges.values():
            yield from ranges

    def add(
        self, tp: TopicPartition, node_id: int, first: int, last: int, records: Sequence[Record]
    ) -> None:
        """Hold the records, in offset order, of the acquired offsets from `first` to `last`."""
        size = last - first + 1
        if len(records) == size:
            types = bytearray([_HELD]) * size
        else:
            types = bytearray(size)
            for record in records:
                types[record.offset - first] = _HELD
        self._insert(tp, _HeldRange(node_id, first, types, self._kept(records)))

    def add_unreadable(
        self, tp: TopicPartition, node_id: int, offset: int, verdict: AcknowledgeType | None
    ) -> None:
        """Hold an offset whose record could not be returned. `verdict` None: the user decides."""
        types = bytearray([_HELD if verdict is None else verdict])
        self._insert(tp, _HeldRange(node_id, offset, types, ()))

    def _kept(self, records: Sequence[Record]) -> Sequence[Record]:
        return tuple(records) if self._keeps_records else ()

    def _insert(self, tp: TopicPartition, added: _HeldRange) -> None:
        ranges = self._ranges.setdefault(tp, [])
        end = self._ends.get(tp, 0)
        self._ends[tp] = max(end, added.end)
        if added.first >= end:
            ranges.append(added)
            return
        for each in ranges:
            _give_up(each, added.first, added.end)
        insort(ranges, added, key=_first_of)

    def acknowledge(self, tp: TopicPartition, offset: int, verdict: AcknowledgeType) -> None:
        """Note what becomes of a record; the last call counts.

        Raises: IllegalStateError for a record that is not held.
        """
        found = self._find(tp, offset)
        index = -1 if found is None else offset - found.first
        if found is None or found.types[index] == GAP:
            raise IllegalStateError(
                f"{tp.topic}-{tp.partition} at offset {offset} is not held: acknowledge only "
                f"records that the newest getmany() or getone() returned, once before the next "
                f"one or commit()"
            )
        found.types[index] = verdict

    def _find(self, tp: TopicPartition, offset: int) -> _HeldRange | None:
        ranges = self._ranges.get(tp, [])
        for index in range(bisect_right(ranges, offset, key=_first_of) - 1, -1, -1):
            if ranges[index].has(offset):
                return ranges[index]
        return None

    def accept_all(self) -> None:
        """Accept what the user has said nothing about."""
        self._settle(AcknowledgeType.ACCEPT)

    def release_all(self) -> None:
        """Release what the user has said nothing about, and what was to be renewed."""
        self._settle(AcknowledgeType.RELEASE)
        for each in self._all():
            _replace(each, AcknowledgeType.RENEW, AcknowledgeType.RELEASE)

    def _settle(self, verdict: AcknowledgeType) -> None:
        for each in self._all():
            _replace(each, _HELD, verdict)

    def take(self) -> list[tuple[TopicPartition, int, AckBatch]]:
        """Return what is to be sent, with the node it goes to. It is held no more."""
        taken: list[tuple[TopicPartition, int, AckBatch]] = []
        for tp, ranges in list(self._ranges.items()):
            for each in ranges:
                taken += [(tp, each.node_id, batch) for batch in _take_from(each)]
            left = [each for each in ranges if _HELD in each.types]
            if left:
                self._ranges[tp] = left
            else:
                del self._ranges[tp]
        return taken


def _give_up(held: _HeldRange, first: int, end: int) -> None:
    """Forget offsets that were acquired once more: their lock had expired."""
    begin, stop = max(first, held.first) - held.first, min(end, held.end) - held.first
    if begin < stop:
        held.types[begin:stop] = bytearray([_GONE]) * (stop - begin)


def _replace(held: _HeldRange, before: int, after: int) -> None:
    held.types = held.types.replace(bytes([before]), bytes([after]))


def _take_from(held: _HeldRange) -> list[AckBatch]:
    batches: list[AckBatch] = []
    for run in _SENDABLE.finditer(bytes(held.types)):
        types = bytearray(run.group())
        if types[0] == GAP and types.count(GAP) == len(types) and _HELD in held.types:
            continue  # it goes with a record beside it
        first = held.first + run.start()
        batch = AckBatch(first, types)
        if types[0] == AcknowledgeType.RENEW:
            begin = bisect_left(held.records, first, key=_offset_of)
            batch.records = held.records[
                begin : bisect_right(held.records, batch.last, key=_offset_of)
            ]
        held.types[run.start() : run.end()] = bytearray([_GONE]) * len(types)
        batches.append(batch)
    return batches


__all__ = ["GAP", "AckBatch", "HeldRecords", "Record"]
