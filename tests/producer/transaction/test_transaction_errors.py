"""Every error of a transaction has the consequence that its table gives (2d'-4)."""

import pytest

from aiokafka_lite.errors import (
    BrokerResponseError,
    ClusterAuthorizationFailedError,
    ConcurrentTransactions,
    CoordinatorLoadInProgressError,
    DeliveryTimeoutError,
    FencedInstanceIdError,
    GroupAuthorizationFailedError,
    GroupCoordinatorNotAvailableError,
    GroupIdNotFound,
    IllegalGenerationError,
    InvalidGroupIdError,
    InvalidProducerEpoch,
    InvalidProducerIdMapping,
    InvalidTxnState,
    KafkaConnectionError,
    KafkaError,
    MessageSizeTooLargeError,
    NotCoordinatorForGroupError,
    NotEnoughReplicasError,
    OperationNotAttempted,
    OutOfOrderSequenceNumber,
    ProducerFenced,
    RequestTimedOutError,
    StaleMemberEpochError,
    TopicAuthorizationFailedError,
    TransactionAbortableError,
    TransactionalIdAuthorizationFailed,
    UnknownError,
    UnknownMemberIdError,
    UnknownProducerId,
    UnknownTopicIdError,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from aiokafka_lite.producer.transaction.transaction_errors import (
    ADD_OFFSETS_ACTIONS,
    ADD_PARTITIONS_ACTIONS,
    END_ACTIONS,
    INIT_ACTIONS,
    OFFSET_COMMIT_ACTIONS,
    TxnAction,
    as_fenced,
    as_kafka_error,
    produce_action_for,
)

ALL = {
    "InitProducerId": INIT_ACTIONS,
    "AddPartitionsToTxn": ADD_PARTITIONS_ACTIONS,
    "AddOffsetsToTxn": ADD_OFFSETS_ACTIONS,
    "EndTxn": END_ACTIONS,
    "TxnOffsetCommit": OFFSET_COMMIT_ACTIONS,
}
ADD, OFFSETS = "AddPartitionsToTxn", "TxnOffsetCommit"

IN_EVERY_REQUEST = [
    (GroupCoordinatorNotAvailableError, TxnAction.FIND_COORDINATOR),
    (NotCoordinatorForGroupError, TxnAction.FIND_COORDINATOR),
    (CoordinatorLoadInProgressError, TxnAction.RETRY),
    (NotEnoughReplicasError, TxnAction.RETRY),  # "other retriable"
    (ConcurrentTransactions, TxnAction.RETRY),
    (ProducerFenced, TxnAction.FENCED),
    (InvalidProducerEpoch, TxnAction.FENCED),
    (TransactionalIdAuthorizationFailed, TxnAction.FATAL),
    (InvalidTxnState, TxnAction.FATAL),
    (UnsupportedVersionError, TxnAction.FATAL),
    (ClusterAuthorizationFailedError, TxnAction.FATAL),
    (UnknownProducerId, TxnAction.ABORT_AND_BUMP),
    (InvalidProducerIdMapping, TxnAction.ABORT_AND_BUMP),
    (TopicAuthorizationFailedError, TxnAction.ABORT),
    (GroupAuthorizationFailedError, TxnAction.ABORT),
    (TransactionAbortableError, TxnAction.ABORT),
    (FencedInstanceIdError, TxnAction.ABORT),
    (UnknownError, TxnAction.FATAL),
    (InvalidGroupIdError, TxnAction.FATAL),
]


@pytest.mark.parametrize("request_name", ALL)
@pytest.mark.parametrize(("error", "action"), IN_EVERY_REQUEST)
def test_what_an_error_of_any_request_calls_for(
    request_name: str, error: type[BrokerResponseError], action: TxnAction
) -> None:
    """Each error has one consequence, whichever request brings it (2d'-4)."""
    assert ALL[request_name].action_for(error.errno) == (action, error)


@pytest.mark.parametrize(
    ("request_name", "error", "action"),
    [
        (ADD, OperationNotAttempted, TxnAction.ABORT),
        (ADD, UnknownTopicOrPartitionError, TxnAction.RETRY),
        (OFFSETS, UnknownTopicOrPartitionError, TxnAction.RETRY),
        (OFFSETS, UnknownMemberIdError, TxnAction.ABORT_COMMIT_FAILED),
        (OFFSETS, IllegalGenerationError, TxnAction.ABORT_COMMIT_FAILED),
        (OFFSETS, GroupIdNotFound, TxnAction.ABORT_COMMIT_FAILED),
        (OFFSETS, StaleMemberEpochError, TxnAction.ABORT_COMMIT_FAILED),
        (OFFSETS, UnknownTopicIdError, TxnAction.ABORT),
        (OFFSETS, RequestTimedOutError, TxnAction.FIND_COORDINATOR),
        ("EndTxn", RequestTimedOutError, TxnAction.RETRY),
        ("EndTxn", OperationNotAttempted, TxnAction.FATAL),
        ("AddOffsetsToTxn", IllegalGenerationError, TxnAction.FATAL),
    ],
)
def test_what_an_error_of_one_request_calls_for(
    request_name: str, error: type[BrokerResponseError], action: TxnAction
) -> None:
    """Some errors have a consequence of their own for one request (2d'-4)."""
    assert ALL[request_name].action_for(error.errno) == (action, error)


@pytest.mark.parametrize(
    ("error", "action"),
    [
        (ClusterAuthorizationFailedError, TxnAction.FATAL),
        (TransactionalIdAuthorizationFailed, TxnAction.FATAL),
        (ProducerFenced, TxnAction.FATAL),
        (UnsupportedVersionError, TxnAction.FATAL),
        (TopicAuthorizationFailedError, TxnAction.ABORT),
        (TransactionAbortableError, TxnAction.ABORT),
        (InvalidProducerEpoch, TxnAction.ABORT_AND_BUMP),
        (UnknownProducerId, TxnAction.ABORT_AND_BUMP),
        (InvalidProducerIdMapping, TxnAction.ABORT_AND_BUMP),
        (OutOfOrderSequenceNumber, TxnAction.ABORT_AND_BUMP),
        (InvalidTxnState, TxnAction.ABORT_AND_BUMP),
        (MessageSizeTooLargeError, TxnAction.ABORT_AND_BUMP),
        (DeliveryTimeoutError, TxnAction.ABORT_AND_BUMP),
        (KafkaConnectionError, TxnAction.ABORT_AND_BUMP),
    ],
)
def test_what_a_failed_batch_calls_for(error: type[KafkaError], action: TxnAction) -> None:
    """A failed batch makes the transaction abortable, unless its error is fatal (2d'-4)."""
    assert produce_action_for(error("x")) is action


def test_every_error_is_told_as_one_of_kafka() -> None:
    error = ProducerFenced("x")
    assert as_kafka_error(error) is error
    told = as_kafka_error(ZeroDivisionError("y"))
    assert type(told) is KafkaError
    assert "ZeroDivisionError('y')" in str(told)


def test_a_producer_whose_epoch_is_refused_is_told_that_it_is_fenced() -> None:
    """Whatever the broker's number was; only the coordinator's own verdict is fatal."""
    refused, fenced = InvalidProducerEpoch("x"), ProducerFenced("y")
    told = as_fenced("t", refused)
    assert isinstance(told, ProducerFenced)
    assert told.__cause__ is refused
    assert as_fenced("t", fenced) is fenced
    assert produce_action_for(told) is TxnAction.ABORT_AND_BUMP
    assert produce_action_for(fenced) is TxnAction.FATAL
