"""The open and the aborted transactions of one partition.

The log passes each appended batch to it. It answers the two questions of a read_committed fetch:
the last stable offset, and the aborted transactions inside a range. Does not wait. Source: KIP-98,
storage/internals/log/TransactionIndex.java.
"""

from typing import NamedTuple


class AbortedTransactionEntry(NamedTuple):
    """An aborted transaction: its producer and the offsets of its first record and its marker."""

    producer_id: int
    first_offset: int
    last_offset: int


class TransactionIndex:
    """Open and aborted transactions of a partition."""

    __slots__ = ("_aborted", "_open")

    def __init__(self) -> None:
        self._open: dict[int, int] = {}
        self._aborted: list[AbortedTransactionEntry] = []

    def append_data(self, producer_id: int, base_offset: int) -> None:
        """Handle a transactional batch; it opens its producer's transaction if none is open."""
        self._open.setdefault(producer_id, base_offset)

    def append_marker(self, producer_id: int, offset: int, *, is_commit: bool) -> None:
        """Handle a control batch; it ends its producer's transaction, if one is open."""
        first_offset = self._open.pop(producer_id, None)
        if first_offset is not None and not is_commit:
            self._aborted.append(AbortedTransactionEntry(producer_id, first_offset, offset))

    def is_open(self, producer_id: int) -> bool:
        """Return whether the producer has an open transaction here."""
        return producer_id in self._open

    def start_of(self, producer_id: int) -> int | None:
        """Return the first offset of the producer's open transaction; None if none is open."""
        return self._open.get(producer_id)

    def first_unstable_offset(self) -> int | None:
        """Return the first offset of the oldest open transaction; None when none is open."""
        return min(self._open.values(), default=None)

    def aborted_between(self, fetch_offset: int, upper_bound: int) -> list[tuple[int, int]]:
        """Return (producer id, first offset) of transactions aborted in [fetch_offset,
        upper_bound).
        """
        return [
            (entry.producer_id, entry.first_offset)
            for entry in self._aborted
            if entry.last_offset >= fetch_offset and entry.first_offset < upper_bound
        ]

    def is_aborted(self, producer_id: int, offset: int) -> bool:
        """Return whether a producer's record lies in a transaction that was aborted."""
        return any(
            entry.producer_id == producer_id and entry.first_offset <= offset <= entry.last_offset
            for entry in self._aborted
        )

    def drop_before(self, log_start_offset: int) -> None:
        """Drop aborted transactions that lie wholly below the start of the log."""
        if self._aborted and self._aborted[0].last_offset < log_start_offset:
            self._aborted = [e for e in self._aborted if e.last_offset >= log_start_offset]

    def drop_from(self, log_end_offset: int) -> None:
        """Drop transactions that began at the end of the log or beyond it.

        Transactions whose marker was cut off are open again.
        """
        cut = [entry for entry in self._aborted if entry.last_offset >= log_end_offset]
        self._aborted = [entry for entry in self._aborted if entry.last_offset < log_end_offset]
        self._open.update({entry.producer_id: entry.first_offset for entry in cut})
        self._open = {id_: first for id_, first in self._open.items() if first < log_end_offset}


__all__ = ["AbortedTransactionEntry", "TransactionIndex"]
