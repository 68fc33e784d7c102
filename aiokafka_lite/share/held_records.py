"""Owns the records that were returned and are not acknowledged to the broker yet.

Records are kept as ranges of offsets with one byte each, which says what becomes of the record. So
a returned record costs a byte, and a whole poll is accepted by one replacement. Does not wait.
Source: KIP-932.
"""

import math
import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Collection, Iterator, Sequence
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
_UNSENT: Final = re.compile(rb"[^\x00\xff]")
"""A record that is held, or about which the user has said something since the others were taken."""
_HELD_RUN: Final = re.compile(rb"\x80+")
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
    expires_at_s: float = math.inf
    """When its locks end, so that it does not count any more (monotonic); infinite: nobody knows.
    """

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
    expires_at_s: float
    """When the broker gives them to others (monotonic)."""
    is_renewing: bool = False

    @property
    def end(self) -> int:
        return self.first + len(self.types)

    def unsent(self) -> Iterator[int]:
        """The offsets of records that were not acknowledged to the broker."""
        for index, kind in enumerate(self.types):
            if kind not in (GAP, _GONE):
                yield self.first + index

    def has(self, offset: int) -> bool:
        return self.first <= offset < self.end and self.types[offset - self.first] != _GONE


class HeldRecords:
    """The records that a share consumer has returned, and what the user said about them."""

    def __init__(self, *, keeps_records: bool, outlive_polls: bool = False) -> None:
        """`keeps_records`: RENEW is possible, which returns the same records again.
        `outlive_polls`: records are held while others are polled; gaps do not wait for them.
        """
        self._keeps_records = keeps_records
        self._outlive_polls = outlive_polls
        self._ranges: dict[TopicPartition, list[_HeldRange]] = {}  # by their first offsets
        self._ends: dict[TopicPartition, int] = {}  # behind all that was ever held

    @property
    def unacknowledged(self) -> int:
        """How many records the user has said nothing about."""
        return sum(each.types.count(_HELD) for each in self._all())

    def __bool__(self) -> bool:
        return bool(self._ranges)

    def _all(self) -> Iterator[_HeldRange]:
        for ranges in list(self._ranges.values()):
            yield from ranges

    def add(
        self,
        tp: TopicPartition,
        node_id: int,
        first: int,
        last: int,
        records: Sequence[Record],
        *,
        expires_at_s: float = math.inf,
    ) -> None:
        """Hold the records, in offset order, of the acquired offsets from `first` to `last`."""
        size = last - first + 1
        if len(records) == size:
            types = bytearray([_HELD]) * size
        else:
            types = bytearray(size)
            for record in records:
                types[record.offset - first] = _HELD
        self._insert(tp, _HeldRange(node_id, first, types, self._kept(records), expires_at_s))

    def add_unreadable(
        self,
        tp: TopicPartition,
        node_id: int,
        offset: int,
        verdict: AcknowledgeType | None,
        *,
        expires_at_s: float = math.inf,
    ) -> None:
        """Hold an offset whose record could not be returned. `verdict` None: the user decides."""
        types = bytearray([_HELD if verdict is None else verdict])
        self._insert(tp, _HeldRange(node_id, offset, types, (), expires_at_s))

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

    def settle(self, tp: TopicPartition, offset: int, verdict: AcknowledgeType) -> bool:
        """Note what becomes of a record; return whether it was held."""
        found = self._find(tp, offset)
        if found is None:
            return False
        found.types[offset - found.first] = verdict
        return True

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
        for tp, ranges in self._ranges.copy().items():
            for each in ranges:
                batches = _take_from(each, all_gaps=self._outlive_polls)
                for batch in batches:
                    batch.expires_at_s = each.expires_at_s
                taken += [(tp, each.node_id, batch) for batch in batches]
            left = [each for each in ranges if _UNSENT.search(each.types)]
            if left:
                self._ranges[tp] = left
            else:
                del self._ranges[tp]
        return taken

    # Records that are held while others are polled…

    def due(self, by_s: float) -> list[tuple[TopicPartition, int, AckBatch]]:
        """Return what renews the locks that end by then, with the node it goes to. The records stay
        held; call `renewed` for each batch.
        """
        found: list[tuple[TopicPartition, int, AckBatch]] = []
        for tp, ranges in self._ranges.copy().items():
            for each in ranges:
                if each.is_renewing or each.expires_at_s > by_s:
                    continue
                runs = list(_HELD_RUN.finditer(bytes(each.types)))
                each.is_renewing = bool(runs)
                for run in runs:
                    types = bytearray([AcknowledgeType.RENEW]) * len(run.group())
                    batch = AckBatch(each.first + run.start(), types, by_user=False)
                    batch.expires_at_s = each.expires_at_s
                    found.append((tp, each.node_id, batch))
        return found

    def renewed(self, tp: TopicPartition, batch: AckBatch, expires_at_s: float | None) -> int:
        """Note that the locks of a batch last until then; None: they were not renewed. Return how
        many records are still held by them.
        """
        count = 0
        for each in self._ranges.get(tp, []):
            begin, stop = max(batch.first, each.first), min(batch.last + 1, each.end)
            if begin < stop:
                each.is_renewing = False
                if expires_at_s is not None:
                    each.expires_at_s = expires_at_s
                    count += each.types.count(_HELD, begin - each.first, stop - each.first)
        return count

    def expired(self, by_s: float) -> list[tuple[TopicPartition, int]]:
        """Let go of the records whose locks end by then; return their partitions and offsets."""
        return self._let_go(lambda each: each.expires_at_s <= by_s)

    def lost(self, node_id: int) -> list[tuple[TopicPartition, int]]:
        """Let go of all records of a node, whose session has ended; return as `expired`."""
        return self._let_go(lambda each: each.node_id == node_id)

    def locks_ended(self, node_id: int) -> None:
        """Note that a node has released all its records, whatever the user says about them."""
        for each in self._all():
            if each.node_id == node_id:
                each.expires_at_s = -math.inf

    def forget(self, topics: Collection[str]) -> None:
        """Let go of all records of topics that are gone."""
        for tp in [tp for tp in list(self._ranges) if tp.topic in topics]:
            del self._ranges[tp]
        for tp in [tp for tp in list(self._ends) if tp.topic in topics]:
            del self._ends[tp]

    def _let_go(self, is_meant: Callable[[_HeldRange], bool]) -> list[tuple[TopicPartition, int]]:
        gone: list[tuple[TopicPartition, int]] = []
        for tp, ranges in self._ranges.copy().items():
            for each in ranges:
                if is_meant(each):
                    gone += [(tp, offset) for offset in each.unsent()]
            left = [each for each in ranges if not is_meant(each)]
            if left:
                self._ranges[tp] = left
            else:
                del self._ranges[tp]
        return gone


def _give_up(held: _HeldRange, first: int, end: int) -> None:
    """Forget offsets that were acquired once more: their lock had expired."""
    begin, stop = max(first, held.first) - held.first, min(end, held.end) - held.first
    if begin < stop:
        held.types[begin:stop] = bytearray([_GONE]) * (stop - begin)


def _replace(held: _HeldRange, before: int, after: int) -> None:
    held.types = held.types.replace(bytes([before]), bytes([after]))


def _take_from(held: _HeldRange, *, all_gaps: bool) -> list[AckBatch]:
    batches: list[AckBatch] = []
    for run in _SENDABLE.finditer(bytes(held.types)):
        types = bytearray(run.group())
        is_gap = types[0] == GAP and types.count(GAP) == len(types)
        if is_gap and _HELD in held.types and not all_gaps:
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
