"""Holds the state of an exactly-once session's newest batch, and decides the next step for it.

The session records each fact here before it waits. So a cancelled wait loses no fact. Does not
wait.
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from aiokafka_lite.consumer.offset_calls import Tenures
from aiokafka_lite.model import (
    ConsumerGroupMetadata,
    ConsumerRecord,
    OffsetAndMetadata,
    TopicPartition,
)
from aiokafka_lite.producer.transaction.transaction_manager import COMMIT
from aiokafka_lite.producer.transaction.transaction_state import TransactionState


class NextStep(Enum):
    """The next step for a batch that was not committed, as far as its session knows."""

    COMMIT = "call commit_transaction() again: its outcome is unknown"
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
        tenures: Tenures,
        *,
        is_subscribed: bool,
    ) -> None:
        """`offsets`: the offsets behind the records.

        `member`: the consumer's identity in its group at the poll. With a later generation,
        partitions of the batch may already belong to other members. `tenures`: what tells whether
        the consumer has had them all the time.
        """
        self.first_offsets = {tp: batch[0].offset for tp, batch in records.items()}
        self.offsets = {tp: offsets[tp] for tp in records}
        self.member = member
        self.tenures = tenures
        self._is_subscribed = is_subscribed
        self.is_in_block = True
        """The block that processes the batch has not ended."""
        self.has_begun = False
        """The batch has a transaction."""
        self.is_aborted = False
        """Nothing of the batch counts, and nothing will."""

    def offsets_in(
        self, changes: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        """Return the offsets that still mean the records of the batch.

        `changes`: from which offset on a partition has another log than at the poll. An offset
        behind that place would mean records that nobody has processed.
        """
        found = {
            tp: OffsetAndMetadata(changes[tp]) if at.offset > changes.get(tp, at.offset) else at
            for tp, at in self.offsets.items()
        }
        return {tp: at for tp, at in found.items() if changes.get(tp) != 0}

    def is_of(self, member: ConsumerGroupMetadata) -> bool:
        """Return whether `member` took the records and still owns their partitions.

        A subscribed consumer without a generation never does. The coordinator would accept its
        offsets from any member, whichever owns the partitions (KIP-447).
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
        """Return the next step.

        `state` is the producer's. `unfinished` names the call whose result is still open. `member`
        is the consumer's present identity in its group.

        The session may continue at the first record only under two conditions. Nothing of the batch
        counts for certain, and no other member can have owned the partitions meanwhile.
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
