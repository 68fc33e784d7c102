"""Owns where a transactional producer stands, and what another has to know to end its transaction.
The state table is here. Plain: it does not wait.

Source: 2d'-1, TransactionManager.State; KIP-98, KIP-360, KIP-890.
"""

from enum import Enum
from typing import NamedTuple

from aiokafka_lite.errors import IllegalStateError, KafkaError


class TransactionState(Enum):
    """Where a transactional producer stands."""

    UNINITIALIZED = "not initialized"
    INITIALIZING = "initializing"
    READY = "between two transactions"
    IN_TRANSACTION = "in a transaction"
    COMMITTING = "committing"
    ABORTING = "aborting"
    ABORTABLE_ERROR = "in a transaction that can only be aborted"
    FATAL_ERROR = "unable to go on"


_MAY_COME_FROM = {
    TransactionState.UNINITIALIZED: {
        TransactionState.READY,
        TransactionState.INITIALIZING,
        TransactionState.COMMITTING,  # which another does
        TransactionState.ABORTABLE_ERROR,
    },
    TransactionState.INITIALIZING: {
        TransactionState.UNINITIALIZED,
        TransactionState.ABORTING,
        TransactionState.COMMITTING,
    },
    TransactionState.READY: {
        TransactionState.INITIALIZING,
        TransactionState.COMMITTING,
        TransactionState.ABORTING,
    },
    TransactionState.IN_TRANSACTION: {TransactionState.READY},
    TransactionState.COMMITTING: {TransactionState.IN_TRANSACTION},
    TransactionState.ABORTING: {
        TransactionState.IN_TRANSACTION,
        TransactionState.ABORTABLE_ERROR,
    },
    TransactionState.ABORTABLE_ERROR: {
        TransactionState.IN_TRANSACTION,
        TransactionState.COMMITTING,
        TransactionState.ABORTABLE_ERROR,
        TransactionState.INITIALIZING,
    },
    TransactionState.FATAL_ERROR: set(TransactionState),
}


class PreparedTransaction(NamedTuple):
    """A transaction whose records are all written, and that is still open.

    Values only: it may travel to another process, which ends it by `TransactionEnder`.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    is_v2: bool
    """By the second protocol, whose end gives the next epoch (KIP-890)."""


class TransactionStatus:
    """The state of one transactional producer, with the error that put it there."""

    def __init__(self, transactional_id: str) -> None:
        self.transactional_id = transactional_id
        self.state = TransactionState.UNINITIALIZED
        self.error: KafkaError | None = None
        """Why the transaction can only be aborted, or the producer only closed."""
        self.needs_epoch_bump = False
        """The next abort has to be followed by a new epoch, or sequence numbers have a gap."""

    def __repr__(self) -> str:
        return f"<TransactionStatus {self.transactional_id!r} {self.state.name}>"

    @property
    def is_open(self) -> bool:
        """Whether records belong to a transaction now."""
        return self.state is TransactionState.IN_TRANSACTION

    @property
    def has_failed(self) -> bool:
        """Whether nothing more may be sent in this transaction."""
        return self.state in (TransactionState.ABORTABLE_ERROR, TransactionState.FATAL_ERROR)

    @property
    def is_fatal(self) -> bool:
        """Whether only closing helps."""
        return self.state is TransactionState.FATAL_ERROR

    def to(self, state: TransactionState) -> None:
        """Go to `state`. Raises: as `check`, and changes nothing then."""
        self.check(state)
        self.state = state
        if state is TransactionState.READY:
            self.error = None
            self.needs_epoch_bump = False

    def check(self, state: TransactionState) -> None:
        """Raise unless `state` may come next.

        Raises: the error that made it fatal; IllegalStateError for a move that has no sense.
        """
        if self.state is TransactionState.FATAL_ERROR and state is not TransactionState.FATAL_ERROR:
            self.raise_error()
        if self.state not in _MAY_COME_FROM[state]:
            raise IllegalStateError(
                f"transactional_id={self.transactional_id!r} is {self.state.value}: it cannot be "
                f"{state.value} next; call begin_transaction(), then commit_transaction() or "
                f"abort_transaction()"
            )

    def fail_abortable(self, error: KafkaError, *, bump: bool) -> None:
        """The transaction can only be aborted from now on; the first reason stays.

        While it is being aborted nothing is worse than before; only the bump is remembered.
        """
        self.needs_epoch_bump = self.needs_epoch_bump or bump
        if self.state in (TransactionState.FATAL_ERROR, TransactionState.ABORTING):
            return
        if self.state in (TransactionState.READY, TransactionState.UNINITIALIZED):
            return
        if self.state is not TransactionState.ABORTABLE_ERROR:
            self.to(TransactionState.ABORTABLE_ERROR)
            self.error = error

    def fail_fatally(self, error: KafkaError) -> None:
        """Nothing but closing helps from now on; the first fatal reason stays."""
        if self.state is not TransactionState.FATAL_ERROR:
            self.state = TransactionState.FATAL_ERROR
            self.error = error

    def raise_error(self) -> None:
        """Raise why the transaction, or the producer, cannot go on; nothing if it can."""
        if self.has_failed and self.error is not None:
            raise self.error.with_traceback(None)


__all__ = ["PreparedTransaction", "TransactionState", "TransactionStatus"]
