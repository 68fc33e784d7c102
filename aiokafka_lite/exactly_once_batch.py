"""Owns what an exactly-once session knows of its newest batch, and what has to be done about it
before there may be another. Plain: it does not wait.

What is known is noted before anything is waited for, so that nobody who stops waiting loses it.
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from aiokafka_lite.model import (
    ConsumerGroupMetadata,
    ConsumerRecord,
    OffsetAndMetadata,
    TopicPartition,
)
from aiokafka_lite.producer.transaction.transaction_manager import COMMIT
from aiokafka_lite.producer.transaction.transaction_state import TransactionState


class NextStep(Enum):
    """What to do about a batch that was not committed, as far as its session knows."""

    COMMIT = "call commit_transaction() again: nobody knows how it ended"
    ABORT = "call abort_transaction(), again if it has not ended"
    RAISE = "the producer cannot go on"
    SEEK_TO_FIRST = "read the records again, from the first of the batch"
    SEEK_TO_COMMITTED = "read on where the group stands, whatever came of the batch"


class SessionBatch:
    """The records of one poll, which count together or not at all."""

    def __init__(
        self,
        records: Mapping[TopicPartition, Sequence[ConsumerRecord[Any, Any]]],
        offsets: Mapping[TopicPartition, OffsetAndMetadata],
        member: ConsumerGroupMetadata,
        *,
        is_subscribed: bool,
    ) -> None:
        """`offsets`: behind the records. `member`: who the consumer was in its group at the poll; a
        later generation may belong to partitions that others have by now.
        """
        self.first_offsets = {tp: batch[0].offset for tp, batch in records.items()}
        self.offsets = {tp: offsets[tp] for tp in records}
        self.member = member
        self._is_subscribed = is_subscribed
        self.is_in_block = True
        """The block that processes it has not ended."""
        self.has_begun = False
        """It has a transaction."""
        self.is_aborted = False
        """Nothing of it counts, and nothing ever will."""

    def is_of(self, member: ConsumerGroupMetadata) -> bool:
        """Say whether `member` is who took the records, and still owns their partitions.

        A subscribed consumer without a generation is nobody: the coordinator would take offsets
        that are committed so, whoever owns the partitions (KIP-447).
        """
        if self._is_subscribed and member.generation_id < 0:
            return False
        return (member.generation_id, member.member_id) == (
            self.member.generation_id,
            self.member.member_id,
        )

    def next_step(
        self, state: TransactionState, unfinished: str | None, member: ConsumerGroupMetadata
    ) -> NextStep:
        """Return what is next, with the producer in `state`, waiting for the result of the call
        named `unfinished`, and the consumer in its group as `member`.

        The first record is where to go on only when nothing counts for sure, and nobody else can
        have had the partitions meanwhile.
        """
        if self.has_begun and not self.is_aborted:
            if unfinished == COMMIT:
                return NextStep.COMMIT
            if unfinished is not None or state in _OPEN:
                return NextStep.ABORT
            if state is TransactionState.FATAL_ERROR:
                return NextStep.RAISE
            return NextStep.SEEK_TO_COMMITTED
        return NextStep.SEEK_TO_FIRST if self.is_of(member) else NextStep.SEEK_TO_COMMITTED


_OPEN = (TransactionState.IN_TRANSACTION, TransactionState.ABORTABLE_ERROR)


__all__ = ["NextStep", "SessionBatch"]
