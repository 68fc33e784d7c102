"""What each error code calls for, against Java's client: one table per request of a group or a
transaction, read from kafka-clients 4.4.0 code by code. Each difference has its reason here.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest

from aiokafka_lite.cluster.error_actions import ErrorActions
from aiokafka_lite.consumer.group.group_errors import (
    COMMIT_ACTIONS,
    EPOCH_COMMIT_ACTIONS,
    EPOCH_HEARTBEAT_ACTIONS,
    HEARTBEAT_ACTIONS,
    JOIN_ACTIONS,
    OFFSET_FETCH_ACTIONS,
    Action,
)
from aiokafka_lite.errors import InvalidProducerEpoch, ProducerFenced, for_code
from aiokafka_lite.producer.transaction.transaction_errors import (
    ADD_OFFSETS_ACTIONS,
    ADD_PARTITIONS_ACTIONS,
    END_ACTIONS,
    FIND_ACTIONS,
    INIT_ACTIONS,
    OFFSET_COMMIT_ACTIONS,
    TxnAction,
    produce_action_for,
)
from tests.conformance.test_error_codes import JAVA_ERRORS

T, G = TxnAction, Action


@dataclass(frozen=True)
class Java:
    """What a response handler of Java's does: by name, else for retriable errors, else at all."""

    ours: ErrorActions[Any]
    listed: dict[str, Enum]
    retriable: Enum
    others: Enum


_COORDINATOR_GONE: dict[str, Enum] = {
    "COORDINATOR_NOT_AVAILABLE": T.FIND_COORDINATOR,
    "NOT_COORDINATOR": T.FIND_COORDINATOR,
}
_IN_TRANSACTIONS: dict[str, Enum] = {
    **_COORDINATOR_GONE,
    "INVALID_PRODUCER_EPOCH": T.FENCED,
    "PRODUCER_FENCED": T.FENCED,
    "TRANSACTION_ABORTABLE": T.ABORT,
}
_FATAL_TWO = {"INVALID_TXN_STATE": T.FATAL, "INVALID_PRODUCER_ID_MAPPING": T.FATAL}
_GROUP_GONE: dict[str, Enum] = {
    "COORDINATOR_NOT_AVAILABLE": G.FIND_COORDINATOR,
    "NOT_COORDINATOR": G.FIND_COORDINATOR,
}

TABLES = {
    # TransactionManager.FindCoordinatorHandler
    "FindCoordinator of a transaction": Java(
        FIND_ACTIONS,
        {
            "GROUP_AUTHORIZATION_FAILED": T.ABORT,
            "TRANSACTION_ABORTABLE": T.ABORT,
        },
        T.RETRY,
        T.FATAL,
    ),
    # TransactionManager.InitProducerIdHandler
    "InitProducerId": Java(
        INIT_ACTIONS,
        {
            **_IN_TRANSACTIONS,
            "TRANSACTIONAL_ID_AUTHORIZATION_FAILED": T.ABORT,
            "CLUSTER_AUTHORIZATION_FAILED": T.ABORT,
        },
        T.RETRY,
        T.FATAL,
    ),
    # TransactionManager.AddPartitionsToTxnHandler
    "AddPartitionsToTxn": Java(
        ADD_PARTITIONS_ACTIONS,
        {
            **_IN_TRANSACTIONS,
            **_FATAL_TWO,
            "TRANSACTIONAL_ID_AUTHORIZATION_FAILED": T.FATAL,
            "UNKNOWN_PRODUCER_ID": T.ABORT_AND_BUMP,
        },
        T.RETRY,
        T.ABORT,
    ),
    # TransactionManager.AddOffsetsToTxnHandler
    "AddOffsetsToTxn": Java(
        ADD_OFFSETS_ACTIONS,
        {
            **_IN_TRANSACTIONS,
            **_FATAL_TWO,
            "UNKNOWN_PRODUCER_ID": T.ABORT_AND_BUMP,
            "GROUP_AUTHORIZATION_FAILED": T.ABORT,
        },
        T.RETRY,
        T.FATAL,
    ),
    # TransactionManager.EndTxnHandler; for an abort TRANSACTION_ABORTABLE is fatal, see the
    # tests of the transaction manager
    "EndTxn": Java(
        END_ACTIONS,
        {**_IN_TRANSACTIONS, **_FATAL_TWO, "UNKNOWN_PRODUCER_ID": T.ABORT_AND_BUMP},
        T.RETRY,
        T.FATAL,
    ),
    # TransactionManager.TxnOffsetCommitHandler
    "TxnOffsetCommit": Java(
        OFFSET_COMMIT_ACTIONS,
        {
            **_IN_TRANSACTIONS,
            "REQUEST_TIMED_OUT": T.FIND_COORDINATOR,
            "GROUP_AUTHORIZATION_FAILED": T.ABORT,
            "FENCED_INSTANCE_ID": T.ABORT,
            "UNKNOWN_MEMBER_ID": T.ABORT_COMMIT_FAILED,
            "ILLEGAL_GENERATION": T.ABORT_COMMIT_FAILED,
            "GROUP_ID_NOT_FOUND": T.ABORT_COMMIT_FAILED,
            "STALE_MEMBER_EPOCH": T.ABORT_COMMIT_FAILED,
        },
        T.RETRY,
        T.FATAL,
    ),
    # AbstractCoordinator.JoinGroupResponseHandler
    "JoinGroup": Java(
        JOIN_ACTIONS,
        {
            **_GROUP_GONE,
            "COORDINATOR_LOAD_IN_PROGRESS": G.RETRY,
            "UNKNOWN_MEMBER_ID": G.LOSE_MEMBERSHIP,
            "MEMBER_ID_REQUIRED": G.TAKE_MEMBER_ID,
            "REBALANCE_IN_PROGRESS": G.REJOIN,
        },
        G.RAISE,
        G.RAISE,
    ),
    # AbstractCoordinator.SyncGroupResponseHandler
    "SyncGroup": Java(
        JOIN_ACTIONS,
        {
            **_GROUP_GONE,
            "REBALANCE_IN_PROGRESS": G.REJOIN,
            "UNKNOWN_MEMBER_ID": G.LOSE_MEMBERSHIP,
            "ILLEGAL_GENERATION": G.LOSE_GENERATION,
        },
        G.RAISE,
        G.RAISE,
    ),
    # AbstractCoordinator.HeartbeatResponseHandler, and onFailure of the heartbeat thread
    "Heartbeat": Java(
        HEARTBEAT_ACTIONS,
        {
            **_GROUP_GONE,
            "REBALANCE_IN_PROGRESS": G.REJOIN,
            "UNKNOWN_MEMBER_ID": G.LOSE_MEMBERSHIP,
            "ILLEGAL_GENERATION": G.LOSE_GENERATION,
            "FENCED_INSTANCE_ID": G.RAISE,
        },
        G.RETRY,
        G.RETRY,
    ),
    # ConsumerCoordinator.OffsetCommitResponseHandler
    "OffsetCommit": Java(
        COMMIT_ACTIONS,
        {
            **_GROUP_GONE,
            "REQUEST_TIMED_OUT": G.FIND_COORDINATOR,
            "COORDINATOR_LOAD_IN_PROGRESS": G.RETRY,
            "UNKNOWN_TOPIC_OR_PARTITION": G.RETRY,
            "REBALANCE_IN_PROGRESS": G.REJOIN,
            "UNKNOWN_MEMBER_ID": G.LOSE_MEMBERSHIP,
            "ILLEGAL_GENERATION": G.LOSE_GENERATION,
        },
        G.RAISE,
        G.RAISE,
    ),
    # ConsumerCoordinator.OffsetFetchResponseHandler
    "OffsetFetch": Java(
        OFFSET_FETCH_ACTIONS,
        {**_GROUP_GONE, "UNSTABLE_OFFSET_COMMIT": G.RETRY, "UNKNOWN_TOPIC_OR_PARTITION": G.RAISE},
        G.RETRY,
        G.RAISE,
    ),
    # AbstractHeartbeatRequestManager and ConsumerHeartbeatRequestManager
    "ConsumerGroupHeartbeat": Java(
        EPOCH_HEARTBEAT_ACTIONS,
        {
            **_GROUP_GONE,
            "COORDINATOR_LOAD_IN_PROGRESS": G.RETRY,
            "FENCED_MEMBER_EPOCH": G.LOSE_GENERATION,
            "UNKNOWN_MEMBER_ID": G.LOSE_GENERATION,
            "TOPIC_AUTHORIZATION_FAILED": G.TELL,
        },
        G.RAISE,
        G.RAISE,
    ),
    # AbstractHeartbeatRequestManager and ShareHeartbeatRequestManager
    "ShareGroupHeartbeat": Java(
        EPOCH_HEARTBEAT_ACTIONS,
        {
            **_GROUP_GONE,
            "COORDINATOR_LOAD_IN_PROGRESS": G.RETRY,
            "FENCED_MEMBER_EPOCH": G.LOSE_GENERATION,
            "UNKNOWN_MEMBER_ID": G.LOSE_GENERATION,
            "TOPIC_AUTHORIZATION_FAILED": G.TELL,
        },
        G.RAISE,
        G.RAISE,
    ),
    # CommitRequestManager.OffsetCommitRequestState
    "OffsetCommit of a member with an epoch": Java(
        EPOCH_COMMIT_ACTIONS,
        {
            **_GROUP_GONE,
            "REQUEST_TIMED_OUT": G.FIND_COORDINATOR,
            "COORDINATOR_LOAD_IN_PROGRESS": G.RETRY,
            "UNKNOWN_TOPIC_OR_PARTITION": G.RETRY,
            "UNKNOWN_TOPIC_ID": G.RETRY,
        },
        G.RAISE,
        G.RAISE,
    ),
    # CommitRequestManager.OffsetFetchRequestState
    "OffsetFetch of a member with an epoch": Java(
        OFFSET_FETCH_ACTIONS,
        {**_GROUP_GONE, "UNKNOWN_TOPIC_OR_PARTITION": G.RETRY, "UNSTABLE_OFFSET_COMMIT": G.RETRY},
        G.RETRY,
        G.RAISE,
    ),
}

ANY_RETRIABLE = "any other retriable error"
ANY_OTHER = "any other error"
"""These stand for all errors of their sort that Java does not list, and the rows here neither."""

_ASKED_AGAIN = "Java ends the consumer for each error that it does not list; to ask again mends it"
_MAKES_GROUP = "the coordinator has lost the group's state: to join again makes the group anew"
_SAYS_GONE = "it says that the membership is gone, which the next heartbeat would say as well"
_WHOSE_PLACE = (
    "the place may be this member's, if an answer was lost or its epoch is fenced; a leave under "
    "its own member id tells whose it is, and a stranger's place is raised as in Java"
)

DIFFERENT: dict[tuple[str, str], tuple[Enum, str]] = {
    ("FindCoordinator of a transaction", "COORDINATOR_NOT_AVAILABLE"): (
        T.FIND_COORDINATOR,
        "the same as another attempt: nothing is known that could be forgotten",
    ),
    ("FindCoordinator of a transaction", "NOT_COORDINATOR"): (
        T.FIND_COORDINATOR,
        "the same as another attempt: nothing is known that could be forgotten",
    ),
    ("FindCoordinator of a transaction", "INVALID_PRODUCER_EPOCH"): (
        T.FENCED,
        "fatal as well; brokers do not send it",
    ),
    ("FindCoordinator of a transaction", "PRODUCER_FENCED"): (
        T.FENCED,
        "fatal as well; brokers do not send it",
    ),
    ("AddPartitionsToTxn", "UNSUPPORTED_VERSION"): (
        T.FATAL,
        "the error of a client without a common version, which is fatal in Java, too",
    ),
    ("TxnOffsetCommit", "TOPIC_AUTHORIZATION_FAILED"): (
        T.ABORT,
        "nothing is in doubt: the transaction is aborted, and goes on once the right is there",
    ),
    ("TxnOffsetCommit", "FENCED_MEMBER_EPOCH"): (
        T.ABORT_COMMIT_FAILED,
        "it says of a member what STALE_MEMBER_EPOCH says, and the transaction can be aborted",
    ),
    ("TxnOffsetCommit", "UNKNOWN_TOPIC_ID"): (
        T.ABORT,
        "the ids are asked for again; if they have changed, the offsets are of a former topic",
    ),
    **{
        (request, ANY_RETRIABLE): (G.RETRY, _ASKED_AGAIN)
        for request in (
            "JoinGroup",
            "SyncGroup",
            "OffsetCommit",
            "ConsumerGroupHeartbeat",
            "ShareGroupHeartbeat",
            "OffsetCommit of a member with an epoch",
        )
    },
    ("JoinGroup", "ILLEGAL_GENERATION"): (
        G.LOSE_GENERATION,
        "one table for JoinGroup and SyncGroup; no broker answers JoinGroup with it",
    ),
    ("SyncGroup", "MEMBER_ID_REQUIRED"): (
        G.TAKE_MEMBER_ID,
        "one table for JoinGroup and SyncGroup; no broker answers SyncGroup with it",
    ),
    ("Heartbeat", ANY_OTHER): (
        G.RAISE,
        "Java's heartbeat thread goes on until the session ends; here the user hears why",
    ),
    ("OffsetCommit", "GROUP_ID_NOT_FOUND"): (
        G.LOSE_MEMBERSHIP,
        "a member asks, so an unknown group has lost its members: to join again mends it",
    ),
    ("ConsumerGroupHeartbeat", "GROUP_ID_NOT_FOUND"): (G.LOSE_GENERATION, _MAKES_GROUP),
    ("ShareGroupHeartbeat", "GROUP_ID_NOT_FOUND"): (G.LOSE_GENERATION, _MAKES_GROUP),
    ("ConsumerGroupHeartbeat", "UNRELEASED_INSTANCE_ID"): (
        G.RELEASE_PLACE,
        _WHOSE_PLACE,
    ),
    ("ShareGroupHeartbeat", "UNRELEASED_INSTANCE_ID"): (
        G.RELEASE_PLACE,
        "one table for both; share groups have no instance ids",
    ),
    ("OffsetCommit of a member with an epoch", "UNKNOWN_MEMBER_ID"): (
        G.LOSE_GENERATION,
        _SAYS_GONE,
    ),
    ("OffsetCommit of a member with an epoch", "FENCED_MEMBER_EPOCH"): (
        G.LOSE_GENERATION,
        _SAYS_GONE,
    ),
    ("OffsetCommit of a member with an epoch", "GROUP_ID_NOT_FOUND"): (
        G.LOSE_GENERATION,
        _SAYS_GONE,
    ),
    ("OffsetCommit of a member with an epoch", "STALE_MEMBER_EPOCH"): (
        G.NEW_EPOCH,
        "commitSync fails in Java; who has kept its partitions may commit with a newer epoch",
    ),
    ("OffsetCommit of a member with an epoch", "ILLEGAL_GENERATION"): (
        G.NEW_EPOCH,
        "in a transaction a stale epoch is told by this error",
    ),
    ("OffsetFetch of a member with an epoch", "UNKNOWN_TOPIC_OR_PARTITION"): (
        G.RAISE,
        "Kafka does not send it for offsets that are fetched; Java would ask until its timeout",
    ),
}
"""(request, error) -> what is done here, and why. For OffsetFetch, STALE_MEMBER_EPOCH and
UNKNOWN_MEMBER_ID are looked at before the table (`offset_lookup`)."""


def ours(table: ErrorActions[Any], code: int) -> Enum:
    action: Enum = table.action_for(code)[0]
    return action


@pytest.mark.parametrize("request_name", TABLES)
def test_each_error_calls_for_what_java_does_or_has_its_reason(request_name: str) -> None:
    java = TABLES[request_name]
    used = set()
    for code, name, is_retriable, _ in JAVA_ERRORS:
        if not code:
            continue
        expected = java.listed.get(name, java.retriable if is_retriable else java.others)
        row = (request_name, name)
        if row not in DIFFERENT and name not in java.listed:
            any_name = ANY_RETRIABLE if is_retriable else ANY_OTHER
            row = (request_name, any_name) if (request_name, any_name) in DIFFERENT else row
        if row in DIFFERENT:
            used.add(row)
            assert DIFFERENT[row][0] is not expected, f"{row} is no difference"
            expected = DIFFERENT[row][0]
        assert ours(java.ours, code) is expected, f"{request_name}: {name}"
    assert used == {row for row in DIFFERENT if row[0] == request_name}


FATAL_ON_PRODUCE = {
    "CLUSTER_AUTHORIZATION_FAILED",
    "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
    "PRODUCER_FENCED",
    "UNSUPPORTED_VERSION",
    "INVALID_PRODUCER_ID_MAPPING",
}
"""TransactionManager.maybeTransitionToErrorState."""
NEEDS_NO_EPOCH = {"TOPIC_AUTHORIZATION_FAILED", "TRANSACTION_ABORTABLE"}
"""Java asks for a new epoch after each batch that failed; here only if sequence numbers have a gap,
which `TransactionManager.batch_failed` knows."""


@pytest.mark.parametrize(
    ("code", "name"), [(code, name) for code, name, _, _ in JAVA_ERRORS if code]
)
def test_a_failed_batch_does_to_the_transaction_what_it_does_in_java(code: int, name: str) -> None:
    action = produce_action_for(for_code(code)("x"))
    if name in FATAL_ON_PRODUCE:
        assert action is TxnAction.FATAL
    elif name in NEEDS_NO_EPOCH:
        assert action is TxnAction.ABORT
    else:
        assert action is TxnAction.ABORT_AND_BUMP


def test_a_leaders_word_that_a_producer_is_fenced_can_be_aborted() -> None:
    """Only the coordinator's word is the end, as in Java since 2.7."""
    told = ProducerFenced("x")
    told.__cause__ = InvalidProducerEpoch("y")
    assert produce_action_for(told) is TxnAction.ABORT_AND_BUMP
