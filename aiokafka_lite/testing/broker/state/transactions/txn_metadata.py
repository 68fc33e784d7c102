"""One transactional id as its coordinator knows it: state, producer id, epochs, and its parts.

Defines the steps and their effect on ids and epochs; `txn_coordinator.py` decides which are
allowed. Does not wait. Source: TransactionMetadata, TxnState; KIP-98, KIP-360, KIP-890.
"""

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import NamedTuple

from aiokafka_lite.errors import IllegalStateError, ProducerFenced, UnknownError
from aiokafka_lite.model import TopicPartition

NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1
MAX_EPOCH = 2**15 - 1


class TxnState(StrEnum):
    """The states of a transactional id, in Kafka's words."""

    EMPTY = "Empty"
    """A producer was initialised; nothing was added yet."""
    ONGOING = "Ongoing"
    """Partitions or groups were added."""
    PREPARE_COMMIT = "PrepareCommit"
    """It is committed for good, but not every marker is written."""
    PREPARE_ABORT = "PrepareAbort"
    """It is aborted for good, but not every marker is written."""
    COMPLETE_COMMIT = "CompleteCommit"
    COMPLETE_ABORT = "CompleteAbort"
    DEAD = "Dead"
    """The transactional id does not exist."""


_RESTING = frozenset({TxnState.EMPTY, TxnState.COMPLETE_COMMIT, TxnState.COMPLETE_ABORT})
PREPARING = frozenset({TxnState.PREPARE_COMMIT, TxnState.PREPARE_ABORT})
ALLOWED_FROM: dict[TxnState, frozenset[TxnState]] = {
    TxnState.EMPTY: _RESTING,
    TxnState.ONGOING: _RESTING | {TxnState.ONGOING},
    TxnState.PREPARE_COMMIT: frozenset({TxnState.ONGOING}),
    TxnState.PREPARE_ABORT: _RESTING | {TxnState.ONGOING},
    TxnState.COMPLETE_COMMIT: frozenset({TxnState.PREPARE_COMMIT}),
    TxnState.COMPLETE_ABORT: frozenset({TxnState.PREPARE_ABORT}),
    TxnState.DEAD: frozenset(),
}
"""Target state -> the states it may follow."""


class TxnProducerId(NamedTuple):
    """The identity of a producer in its batches, and in its requests to the coordinator."""

    producer_id: int
    producer_epoch: int


class TransactionMetadata:
    """One transactional id."""

    def __init__(self, transactional_id: str, producer_id: int, timeout_ms: int) -> None:
        self.transactional_id = transactional_id
        self.state = TxnState.EMPTY
        self.producer_id = producer_id
        self.previous_producer_id = NO_PRODUCER_ID
        """The identity before the last step, if that changed it."""
        self.next_producer_id = NO_PRODUCER_ID
        """The next identity, while a transaction that used up the epochs is being ended."""
        self.producer_epoch = NO_PRODUCER_EPOCH
        self.last_producer_epoch = NO_PRODUCER_EPOCH
        """The previous epoch, if its producer is the one that continues."""
        self.timeout_ms = timeout_ms
        self.start_time_ms = -1
        """When the newest transaction began; -1 before the first one of this producer."""
        self.partitions: set[TopicPartition] = set()
        self.groups: set[str] = set()

    def __repr__(self) -> str:
        return (
            f"<TransactionMetadata {self.transactional_id} {self.state.value} "
            f"producer {self.producer_id} epoch {self.producer_epoch}>"
        )

    @property
    def producer(self) -> TxnProducerId:
        return TxnProducerId(self.producer_id, self.producer_epoch)

    @property
    def has_exhausted_epochs(self) -> bool:
        """Whether no epoch is left to assign: the last one is kept for fencing."""
        return is_exhausted(self.producer_epoch)

    def check_claim(self, claim: TxnProducerId) -> None:
        """Raise ProducerFenced unless a producer with the identity `claim` may be initialised anew.

        Its epoch is checked when it is to be raised.
        """
        if (
            self.producer_epoch != NO_PRODUCER_EPOCH
            and claim.producer_id != self.producer_id
            and not (
                claim.producer_id == self.previous_producer_id
                and is_exhausted(claim.producer_epoch)
            )
        ):
            raise ProducerFenced(f"{claim} is over; {self.producer} is in use now")

    # The steps…

    def initialise(
        self, timeout_ms: int, claim: TxnProducerId | None, new_producer_id: Callable[[], int]
    ) -> None:
        """Begin the next epoch, or a new id when no epoch is left. Source: KIP-360.

        A claim to the previous epoch repeats the last request, and changes nothing.

        Raises: ProducerFenced for a claim to any other epoch.
        """
        producer_id, epoch, last = self.producer_id, self.producer_epoch + 1, NO_PRODUCER_EPOCH
        if self.has_exhausted_epochs and (
            claim is None or claim.producer_epoch == self.producer_epoch
        ):
            producer_id, epoch = new_producer_id(), 0
            last = NO_PRODUCER_EPOCH if claim is None else self.producer_epoch
        elif self.has_exhausted_epochs:
            raise UnknownError(f"{self.producer} has no epoch left, and {claim} claims another")
        elif claim is not None:
            last = self.producer_epoch
            if claim.producer_epoch != self.producer_epoch != NO_PRODUCER_EPOCH:
                if claim.producer_epoch != self.last_producer_epoch:
                    raise ProducerFenced(f"{claim} is over; {self.producer} is in use now")
                epoch, last = self.producer_epoch, self.last_producer_epoch
        self._move(TxnState.EMPTY, producer_id, epoch)
        self.last_producer_epoch = last
        self.timeout_ms = timeout_ms
        self.start_time_ms = -1

    def add(self, partitions: Iterable[TopicPartition], groups: Iterable[str], now_ms: int) -> None:
        """Add partitions and the offsets of groups; the first ones begin the transaction."""
        began_ms = self._began_ms(now_ms)
        self._move(TxnState.ONGOING, self.producer_id, self.producer_epoch)
        self.start_time_ms = began_ms
        self.partitions.update(partitions)
        self.groups.update(groups)

    def _began_ms(self, now_ms: int) -> int:
        return self.start_time_ms if self.state is TxnState.ONGOING else now_ms

    def fence(self) -> None:
        """Raise the epoch in the middle of a transaction, to fence its producer for good (V1).

        In V2 `prepare` raises it, and the producer may continue from there by its claim
        (KAFKA-19367).
        """
        self.producer_epoch = min(self.producer_epoch + 1, MAX_EPOCH)
        self.last_producer_epoch = NO_PRODUCER_EPOCH

    def prepare(
        self,
        now_ms: int,
        *,
        is_commit: bool,
        bumps_epoch: bool,
        next_producer_id: int = NO_PRODUCER_ID,
    ) -> None:
        """Decide the outcome. With `bumps_epoch` the markers carry the next epoch (KIP-890)."""
        state = TxnState.PREPARE_COMMIT if is_commit else TxnState.PREPARE_ABORT
        last, epoch = self.last_producer_epoch, self.producer_epoch
        if bumps_epoch:
            last, epoch = epoch, min(epoch + 1, MAX_EPOCH)
        began_ms = self._began_ms(now_ms)
        self._move(state, self.producer_id, epoch)
        self.start_time_ms = began_ms
        self.last_producer_epoch = last
        self.next_producer_id = next_producer_id

    def after_completion(self) -> TxnProducerId:
        """Return the producer's identity after the markers are written."""
        if self.next_producer_id != NO_PRODUCER_ID:
            return TxnProducerId(self.next_producer_id, 0)
        return self.producer

    def complete(self) -> None:
        """Complete the transaction, after every marker is written."""
        is_commit = self.state is TxnState.PREPARE_COMMIT
        self._move(
            TxnState.COMPLETE_COMMIT if is_commit else TxnState.COMPLETE_ABORT,
            *self.after_completion(),
        )
        self.next_producer_id = NO_PRODUCER_ID
        self.partitions.clear()
        self.groups.clear()

    def _move(self, state: TxnState, producer_id: int, epoch: int) -> None:
        if self.state not in ALLOWED_FROM[state]:
            raise IllegalStateError(f"{self!r} cannot become {state.value}")
        self.state = state
        self.previous_producer_id, self.producer_id = self.producer_id, producer_id
        self.producer_epoch = epoch


def is_exhausted(producer_epoch: int) -> bool:
    """Return whether no producer gets an epoch after this one. Source: isEpochExhausted."""
    return producer_epoch >= MAX_EPOCH - 1


__all__ = [
    "MAX_EPOCH",
    "NO_PRODUCER_EPOCH",
    "NO_PRODUCER_ID",
    "PREPARING",
    "TransactionMetadata",
    "TxnProducerId",
    "TxnState",
    "is_exhausted",
]
