"""Which batches of a fetch belong to aborted transactions.

Told from the broker's list and from the markers in the data.
"""

from collections.abc import Iterable

from aiokafka_lite.record.batch_header import BatchHeader
from aiokafka_lite.record.control_record import ControlRecordType


class AbortedTransactions:
    """The aborted transactions of one partition's fetched bytes.

    They are (producer id, first offset), in any order. The list has no ends: an abort marker in the
    data ends its producer's transaction. Shown the batches in offset order, each once.
    Source: CompletedFetch.consumeAbortedTransactionsUpTo, isBatchAborted.
    """

    __slots__ = ("_active", "_ahead")

    def __init__(self, transactions: Iterable[tuple[int, int]]) -> None:
        # The next one last. The broker's order is not relied upon.
        self._ahead = sorted(transactions, key=lambda transaction: transaction[1], reverse=True)
        self._active: set[int] = set()

    def advance_to(self, header: BatchHeader) -> None:
        """Begin every transaction with a first offset up to the batch's last offset."""
        ahead = self._ahead
        while ahead and ahead[-1][1] <= header.last_offset:
            self._active.add(ahead.pop()[0])

    def hides(self, header: BatchHeader) -> bool:
        """Return whether the data batch, which `advance_to` was called with, was aborted."""
        return header.is_transactional and header.producer_id in self._active

    def see_marker(self, producer_id: int, control: int) -> None:
        """Take note of a control batch; all but abort markers, a commit's too, mean nothing."""
        if control == ControlRecordType.ABORT:
            self._active.discard(producer_id)


__all__ = ["AbortedTransactions"]
