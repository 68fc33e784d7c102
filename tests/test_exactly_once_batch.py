"""What has to be done about a batch that its session does not know to be committed."""

import pytest

from aiokafka_lite.exactly_once_batch import NextStep, SessionBatch
from aiokafka_lite.model import (
    ConsumerGroupMetadata,
    ConsumerRecord,
    OffsetAndMetadata,
    TopicPartition,
)
from aiokafka_lite.producer.transaction.transaction_manager import ABORT, COMMIT
from aiokafka_lite.producer.transaction.transaction_state import TransactionState

TP, OTHER = TopicPartition("t", 0), TopicPartition("t", 1)
MEMBER = ConsumerGroupMetadata("g", 5, "m")
MOVED_ON = ConsumerGroupMetadata("g", 6, "m")
EXPELLED = ConsumerGroupMetadata("g", -1, "")


def batch(member: ConsumerGroupMetadata = MEMBER, *, is_subscribed: bool = True) -> SessionBatch:
    record: ConsumerRecord[bytes, bytes] = ConsumerRecord(
        "t", 0, 7, 0, 0, None, b"v", None, -1, 1, ()
    )
    offsets = {TP: OffsetAndMetadata(8, ""), OTHER: OffsetAndMetadata(3, "")}
    return SessionBatch({TP: [record]}, offsets, member, {}, is_subscribed=is_subscribed)


def test_only_what_was_polled_is_committed() -> None:
    made = batch()
    assert made.first_offsets == {TP: 7}
    assert made.offsets == {TP: OffsetAndMetadata(8, "")}


@pytest.mark.parametrize(
    ("polled_as", "is_subscribed", "now", "expected"),
    [
        (MEMBER, True, MEMBER, True),
        (MEMBER, True, MOVED_ON, False),
        (MEMBER, True, EXPELLED, False),
        (MEMBER, True, ConsumerGroupMetadata("g", 5, "another"), False),
        (EXPELLED, True, EXPELLED, False),
        (ConsumerGroupMetadata("g"), False, ConsumerGroupMetadata("g"), True),
    ],
)
def test_a_batch_is_of_one_member_and_generation_and_a_subscriber_has_to_be_in_one(
    polled_as: ConsumerGroupMetadata,
    is_subscribed: bool,
    now: ConsumerGroupMetadata,
    expected: bool,
) -> None:
    """A batch belongs to one generation of a member (KIP-447)."""
    assert batch(polled_as, is_subscribed=is_subscribed).is_of(now) is expected


@pytest.mark.parametrize(
    ("state", "unfinished", "expected"),
    [
        (TransactionState.COMMITTING, COMMIT, NextStep.COMMIT),
        (TransactionState.READY, COMMIT, NextStep.COMMIT),
        (TransactionState.ABORTABLE_ERROR, COMMIT, NextStep.COMMIT),
        (TransactionState.ABORTING, ABORT, NextStep.ABORT),
        (TransactionState.INITIALIZING, ABORT, NextStep.ABORT),
        (TransactionState.READY, ABORT, NextStep.ABORT),
        (TransactionState.IN_TRANSACTION, None, NextStep.ABORT),
        (TransactionState.ABORTABLE_ERROR, None, NextStep.ABORT),
        (TransactionState.FATAL_ERROR, None, NextStep.RAISE),
        (TransactionState.READY, None, NextStep.SEEK_TO_COMMITTED),
    ],
)
@pytest.mark.parametrize("member", [MEMBER, MOVED_ON])
def test_a_transaction_is_ended_before_its_records_are_read_again(
    state: TransactionState,
    unfinished: str | None,
    expected: NextStep,
    member: ConsumerGroupMetadata,
) -> None:
    made = batch()
    made.has_begun = True
    assert made.next_step(state, unfinished, member) is expected


@pytest.mark.parametrize("has_begun", [True, False])
@pytest.mark.parametrize(
    ("member", "expected"),
    [
        (MEMBER, NextStep.SEEK_TO_FIRST),
        (MOVED_ON, NextStep.SEEK_TO_COMMITTED),
        (EXPELLED, NextStep.SEEK_TO_COMMITTED),
    ],
)
def test_the_first_record_is_right_only_if_nobody_had_the_partitions_meanwhile(
    has_begun: bool, member: ConsumerGroupMetadata, expected: NextStep
) -> None:
    made = batch()
    made.has_begun = made.is_aborted = has_begun
    for state in (TransactionState.READY, TransactionState.IN_TRANSACTION):
        assert made.next_step(state, None, member) is expected
