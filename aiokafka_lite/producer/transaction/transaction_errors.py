"""Owns what each error of a transaction calls for: the table 2d'-4. Plain.

Acting on it is the business of the transaction manager.
"""

from enum import Enum

from aiokafka_lite.errors import (
    BrokerResponseError,
    ClusterAuthorizationFailedError,
    ConcurrentTransactions,
    FencedInstanceIdError,
    GroupAuthorizationFailedError,
    GroupCoordinatorNotAvailableError,
    GroupIdNotFound,
    GroupLoadInProgressError,
    IllegalGenerationError,
    InvalidProducerEpoch,
    InvalidProducerIdMapping,
    InvalidTxnState,
    KafkaError,
    NotCoordinatorForGroupError,
    OperationNotAttempted,
    ProducerFenced,
    RequestTimedOutError,
    StaleMemberEpochError,
    TopicAuthorizationFailedError,
    TransactionAbortableError,
    TransactionalIdAuthorizationFailed,
    UnknownMemberIdError,
    UnknownProducerId,
    UnknownTopicIdError,
    UnsupportedVersionError,
    for_code,
)


class TxnAction(Enum):
    """What to do about an error."""

    RETRY = "ask again after a backoff"
    FIND_COORDINATOR = "find the coordinator again, then retry"
    ABORT = "the transaction can only be aborted"
    ABORT_AND_BUMP = "the transaction can only be aborted, and a new epoch has to follow"
    ABORT_COMMIT_FAILED = "the group has moved on: abort, as CommitFailedError"
    FENCED = "another producer has this transactional id: fatal"
    FATAL = "nothing but closing helps"


_ALWAYS = {
    GroupCoordinatorNotAvailableError.errno: TxnAction.FIND_COORDINATOR,
    NotCoordinatorForGroupError.errno: TxnAction.FIND_COORDINATOR,
    GroupLoadInProgressError.errno: TxnAction.RETRY,
    ConcurrentTransactions.errno: TxnAction.RETRY,
    ProducerFenced.errno: TxnAction.FENCED,
    InvalidProducerEpoch.errno: TxnAction.FENCED,
    TransactionalIdAuthorizationFailed.errno: TxnAction.FATAL,
    InvalidTxnState.errno: TxnAction.FATAL,
    UnsupportedVersionError.errno: TxnAction.FATAL,
    ClusterAuthorizationFailedError.errno: TxnAction.FATAL,
    UnknownProducerId.errno: TxnAction.ABORT_AND_BUMP,
    InvalidProducerIdMapping.errno: TxnAction.ABORT_AND_BUMP,
    TopicAuthorizationFailedError.errno: TxnAction.ABORT,
    GroupAuthorizationFailedError.errno: TxnAction.ABORT,
    TransactionAbortableError.errno: TxnAction.ABORT,
    FencedInstanceIdError.errno: TxnAction.ABORT,
}

INIT_ACTIONS = _ALWAYS
ADD_PARTITIONS_ACTIONS = {**_ALWAYS, OperationNotAttempted.errno: TxnAction.ABORT}
ADD_OFFSETS_ACTIONS = _ALWAYS
END_ACTIONS = _ALWAYS
OFFSET_COMMIT_ACTIONS = {
    **_ALWAYS,
    RequestTimedOutError.errno: TxnAction.FIND_COORDINATOR,
    UnknownMemberIdError.errno: TxnAction.ABORT_COMMIT_FAILED,
    IllegalGenerationError.errno: TxnAction.ABORT_COMMIT_FAILED,
    GroupIdNotFound.errno: TxnAction.ABORT_COMMIT_FAILED,
    StaleMemberEpochError.errno: TxnAction.ABORT_COMMIT_FAILED,
    UnknownTopicIdError.errno: TxnAction.ABORT,
}

_FATAL_ON_PRODUCE = (
    ClusterAuthorizationFailedError,
    TransactionalIdAuthorizationFailed,
    ProducerFenced,
    UnsupportedVersionError,
)


def txn_action_for(
    actions: dict[int, TxnAction], error_code: int
) -> tuple[TxnAction, type[BrokerResponseError]]:
    """Return what to do about the error of a transactional request, and its class.

    Unlisted errors that time may mend are retried, all others are fatal.
    """
    error = for_code(error_code)
    listed = actions.get(error_code)
    if listed is not None:
        return listed, error
    return (TxnAction.RETRY if error.retriable else TxnAction.FATAL), error


def as_fenced(transactional_id: str, error: KafkaError) -> ProducerFenced:
    """Return an error that says a producer is fenced as ProducerFenced, whatever its number was."""
    if isinstance(error, ProducerFenced):
        return error
    fenced = ProducerFenced(
        f"another producer with transactional_id={transactional_id!r} has taken over, or the "
        f"transaction took longer than transaction_timeout_ms: {error}"
    )
    fenced.__cause__ = error
    return fenced


def produce_action_for(error: BaseException) -> TxnAction:
    """Return what a batch that failed for good does to its transaction.

    The verdict on fencing is the coordinator's: INVALID_PRODUCER_EPOCH of a partition's leader only
    aborts, also when users are told of it as ProducerFenced.
    """
    if isinstance(error, ProducerFenced) and isinstance(error.__cause__, InvalidProducerEpoch):
        return TxnAction.ABORT_AND_BUMP
    if isinstance(error, _FATAL_ON_PRODUCE):
        return TxnAction.FATAL
    if isinstance(error, TopicAuthorizationFailedError | TransactionAbortableError):
        return TxnAction.ABORT
    return TxnAction.ABORT_AND_BUMP


def as_kafka_error(error: BaseException) -> KafkaError:
    """Return the error itself, or one that says it in Kafka's tree."""
    return error if isinstance(error, KafkaError) else KafkaError(repr(error))


__all__ = [
    "ADD_OFFSETS_ACTIONS",
    "ADD_PARTITIONS_ACTIONS",
    "END_ACTIONS",
    "INIT_ACTIONS",
    "OFFSET_COMMIT_ACTIONS",
    "TxnAction",
    "as_fenced",
    "as_kafka_error",
    "produce_action_for",
    "txn_action_for",
]
