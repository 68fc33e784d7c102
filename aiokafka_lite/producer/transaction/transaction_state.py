"""Owns the state table of a transactional producer, and what another process needs to end its
transaction. Does not wait.

Source: 2d'-1, TransactionManager.State; KIP-98, KIP-360, KIP-890.
"""

from enum import Enum
from typing import NamedTuple

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import IllegalStateError, KafkaError


class TransactionState(Enum):
    """The states of a transactional producer."""

    UNINITIALIZED = "not initialized"
    INITIALIZING = "initializing"
    READY = "between two transactions"
    IN_TRANSACTION = "in a transaction"
    COMMITTING = "committing"
    ABORTING = "aborting"
    ABORTABLE_ERROR = "in a transaction that can only be aborted"
    FATAL_ERROR = "unable to go on"

    __hash__ = object.__hash__  # that of Enum is a function in Python


# On 3.11 it costs a call to find a member in its class.
_READY, _OPEN = TransactionState.READY, TransactionState.IN_TRANSACTION
_FATAL = TransactionState.FATAL_ERROR
_FAILED = (TransactionState.ABORTABLE_ERROR, TransactionState.FATAL_ERROR)


MAY_COME_FROM = {
    TransactionState.UNINITIALIZED: {
        TransactionState.READY,
        TransactionState.INITIALIZING,
        TransactionState.COMMITTING,  # another process ends the transaction
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
    """An open transaction whose records are all written.

    It holds values only, so another process can get it and end it with `TransactionEnder`.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    is_v2: bool
    """It follows the second protocol, in which its end gives the next epoch (KIP-890)."""


class TransactionStatus:
    """The state of one transactional producer, with the error that put it there."""

    def __init__(self, transactional_id: str) -> None:
        self.transactional_id = transactional_id
        self.state = TransactionState.UNINITIALIZED
        self.error: KafkaError | None = None
        """Why the transaction can only be aborted, or the producer only closed."""
        self.needs_epoch_bump = False
        """A new epoch must follow the next abort, because sequence numbers have a gap."""

    def __repr__(self) -> str:
        return f"<TransactionStatus {quoted(self.transactional_id)} {self.state.name}>"

    @property
    def is_open(self) -> bool:
        """Whether a transaction is open and takes records."""
        return self.state is _OPEN

    @property
    def has_failed(self) -> bool:
        """Whether the transaction takes no more records because of an error."""
        return self.state in _FAILED

    @property
    def is_fatal(self) -> bool:
        """Whether the producer can only be closed."""
        return self.state is _FATAL

    def to(self, state: TransactionState) -> None:
        """Go to `state`. Raises: as `check`, and changes nothing then."""
        self.check(state)
        self.state = state
        if state is _READY:
            self.error = None
            self.needs_epoch_bump = False

    def check(self, state: TransactionState) -> None:
        """Raise unless `state` may come next.

        Raises: the fatal error; IllegalStateError for any other move that the table does not have.
        """
        if self.state is _FATAL and state is not _FATAL:
            self.raise_error()
        if self.state not in MAY_COME_FROM[state]:
            raise IllegalStateError(
                f"transactional_id={quoted(self.transactional_id)} is {self.state.value}: it "
                f"cannot be {state.value} next; call begin_transaction(), then "
                "commit_transaction() or abort_transaction()"
            )

    def fail_abortable(self, error: KafkaError, *, bump: bool) -> None:
        """Note that the transaction can only be aborted; the first error is kept.

        While it is being aborted, only `bump` is noted.
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
        """Note that the producer can only be closed; the first fatal error is kept."""
        if self.state is not TransactionState.FATAL_ERROR:
            self.state = TransactionState.FATAL_ERROR
            self.error = error

    def raise_error(self) -> None:
        """Raise the error of the transaction or of the producer, if there is one."""
        if self.has_failed and self.error is not None:
            raise self.error.with_traceback(None)


__all__ = ["MAY_COME_FROM", "PreparedTransaction", "TransactionState", "TransactionStatus"]
