"""Finds the batches of a fetch that belong to aborted transactions.

It uses the broker's list and the markers in the data. Does not wait.
"""

from collections.abc import Iterable

from aiokafka_lite.record.batch_header import BatchHeader
from aiokafka_lite.record.control_record import ControlRecordType


class AbortedTransactions:
    """The aborted transactions of one partition's fetched bytes.

    They are (producer id, first offset), in any order. The list states no ends: an abort marker in
    the data ends its producer's transaction. Pass the batches in offset order, each once. Source:
    CompletedFetch.consumeAbortedTransactionsUpTo, isBatchAborted.
    """

    __slots__ = ("_active", "_ahead")

    def __init__(self, transactions: Iterable[tuple[int, int]]) -> None:
        # Sorted here, the next one last, because the broker promises no order.
        self._ahead = sorted(transactions, key=lambda transaction: transaction[1], reverse=True)
        self._active: set[int] = set()

    def advance_to(self, header: BatchHeader) -> None:
        """Begin every transaction whose first offset is not above the batch's last offset."""
        ahead = self._ahead
        while ahead and ahead[-1][1] <= header.last_offset:
            self._active.add(ahead.pop()[0])

    def hides(self, header: BatchHeader) -> bool:
        """Return whether the data batch was aborted. Call `advance_to` with it first."""
        return header.is_transactional and header.producer_id in self._active

    def see_marker(self, producer_id: int, control: int) -> None:
        """Process a control batch.

        Only abort markers matter; all others, even commits, are ignored.
        """
        if control == ControlRecordType.ABORT:
            self._active.discard(producer_id)


__all__ = ["AbortedTransactions"]
