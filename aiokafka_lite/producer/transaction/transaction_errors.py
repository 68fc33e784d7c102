"""Decides the action for each error of a transactional request: the table 2d'-4. Does not wait.

`TransactionManager` carries out the action. The tables are those of TransactionManager of Kafka
4.4.0; `tests/conformance/test_error_tables.py` compares them code by code, and has the reasons of
the few differences.

INVALID_PRODUCER_ID_MAPPING is fatal since Kafka 4.0 (KAFKA-18019). After
transactional.id.expiration.ms nobody can tell any more whether another producer had taken over.
"""

from enum import Enum

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.cluster.error_actions import ErrorActions
from aiokafka_lite.errors import (
    ClusterAuthorizationFailedError,
    ConcurrentTransactions,
    FencedInstanceIdError,
    FencedMemberEpochError,
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
)
from aiokafka_lite.kafka_error import reason_of


class TxnAction(Enum):
    """What to do about an error."""

    RETRY = "ask again after a backoff"
    FIND_COORDINATOR = "find the coordinator again, then retry"
    ABORT = "the transaction can only be aborted"
    ABORT_AND_BUMP = "the transaction can only be aborted, and a new epoch has to follow"
    ABORT_COMMIT_FAILED = "the group has moved on: abort, as CommitFailedError"
    FENCED = "another producer has this transactional id: fatal"
    FATAL = "nothing but closing helps"


_ALWAYS = ErrorActions(
    {
        GroupCoordinatorNotAvailableError: TxnAction.FIND_COORDINATOR,
        NotCoordinatorForGroupError: TxnAction.FIND_COORDINATOR,
        GroupLoadInProgressError: TxnAction.RETRY,
        ConcurrentTransactions: TxnAction.RETRY,
        ProducerFenced: TxnAction.FENCED,
        InvalidProducerEpoch: TxnAction.FENCED,
        TransactionAbortableError: TxnAction.ABORT,
    },
    retriable=TxnAction.RETRY,
    others=TxnAction.FATAL,
)

FIND_ACTIONS = _ALWAYS.but_for({GroupAuthorizationFailedError: TxnAction.ABORT})
INIT_ACTIONS = _ALWAYS.but_for(
    {
        TransactionalIdAuthorizationFailed: TxnAction.ABORT,
        ClusterAuthorizationFailedError: TxnAction.ABORT,
    }
)
ADD_PARTITIONS_ACTIONS = _ALWAYS.but_for(
    {
        TransactionalIdAuthorizationFailed: TxnAction.FATAL,
        InvalidTxnState: TxnAction.FATAL,
        InvalidProducerIdMapping: TxnAction.FATAL,
        UnsupportedVersionError: TxnAction.FATAL,
        UnknownProducerId: TxnAction.ABORT_AND_BUMP,
    },
    others=TxnAction.ABORT,
)
ADD_OFFSETS_ACTIONS = _ALWAYS.but_for(
    {
        UnknownProducerId: TxnAction.ABORT_AND_BUMP,
        GroupAuthorizationFailedError: TxnAction.ABORT,
    }
)
END_ACTIONS = _ALWAYS.but_for({UnknownProducerId: TxnAction.ABORT_AND_BUMP})
OFFSET_COMMIT_ACTIONS = _ALWAYS.but_for(
    {
        GroupAuthorizationFailedError: TxnAction.ABORT,
        TopicAuthorizationFailedError: TxnAction.ABORT,
        FencedInstanceIdError: TxnAction.ABORT,
        RequestTimedOutError: TxnAction.FIND_COORDINATOR,
        UnknownMemberIdError: TxnAction.ABORT_COMMIT_FAILED,
        IllegalGenerationError: TxnAction.ABORT_COMMIT_FAILED,
        GroupIdNotFound: TxnAction.ABORT_COMMIT_FAILED,
        StaleMemberEpochError: TxnAction.ABORT_COMMIT_FAILED,
        FencedMemberEpochError: TxnAction.ABORT_COMMIT_FAILED,
        UnknownTopicIdError: TxnAction.ABORT,
    }
)

_FATAL_ON_PRODUCE = (
    ClusterAuthorizationFailedError,
    TransactionalIdAuthorizationFailed,
    ProducerFenced,
    UnsupportedVersionError,
    InvalidProducerIdMapping,
)


def as_expired(transactional_id: str, error: KafkaError) -> InvalidProducerIdMapping:
    """Return the error of a producer that its coordinator has forgotten, with what to do."""
    expired = InvalidProducerIdMapping(
        f"{reason_of(error).rstrip('.')}; the coordinator has forgotten this producer of "
        f"transactional_id={quoted(transactional_id)}, which had no transaction for "
        f"transactional.id.expiration.ms, and another one may have taken over since: "
        f"stop this one, and go on with a new producer, from the offsets that are committed"
    )
    expired.__cause__ = error
    return expired


def as_timed_out(
    transactional_id: str, error: InvalidTxnState, age_s: float, timeout_ms: int
) -> InvalidTxnState:
    """Return the error of a transaction that its coordinator does not have open any more; if it is
    older than its timeout, with that and what to do.
    """
    if age_s * 1000 < timeout_ms:
        return error
    timed_out = InvalidTxnState(
        f"{reason_of(error).rstrip('.')}; the transaction of "
        f"transactional_id={quoted(transactional_id)} began {age_s:,.1f} s ago, and its "
        f"transaction_timeout_ms is {timeout_ms}, so its coordinator has probably aborted it: its "
        "records do not count; stop this producer, and send them by a new one, with a higher "
        "transaction_timeout_ms or in smaller transactions"
    )
    timed_out.__cause__ = error
    return timed_out


def as_fenced(transactional_id: str, error: KafkaError) -> ProducerFenced:
    """Return any error that means a fenced producer as ProducerFenced."""
    if isinstance(error, ProducerFenced):
        return error
    fenced = ProducerFenced(
        f"another producer with transactional_id={quoted(transactional_id)} has taken over, or the "
        f"transaction took longer than transaction_timeout_ms: {error}"
    )
    fenced.__cause__ = error
    return fenced


def produce_action_for(error: BaseException) -> TxnAction:
    """Return the action for a batch that was given up.

    Only the coordinator decides that a producer is fenced: INVALID_PRODUCER_EPOCH of a partition's
    leader aborts the transaction, also where the user gets it as ProducerFenced.
    """
    if isinstance(error, ProducerFenced) and isinstance(error.__cause__, InvalidProducerEpoch):
        return TxnAction.ABORT_AND_BUMP
    if isinstance(error, _FATAL_ON_PRODUCE):
        return TxnAction.FATAL
    if isinstance(error, TopicAuthorizationFailedError | TransactionAbortableError):
        return TxnAction.ABORT
    return TxnAction.ABORT_AND_BUMP


def as_kafka_error(error: BaseException) -> KafkaError:
    """Return a KafkaError: the error itself, or one with its text."""
    return error if isinstance(error, KafkaError) else KafkaError(repr(error))


__all__ = [
    "ADD_OFFSETS_ACTIONS",
    "ADD_PARTITIONS_ACTIONS",
    "END_ACTIONS",
    "FIND_ACTIONS",
    "INIT_ACTIONS",
    "OFFSET_COMMIT_ACTIONS",
    "TxnAction",
    "as_expired",
    "as_fenced",
    "as_kafka_error",
    "as_timed_out",
    "produce_action_for",
]
