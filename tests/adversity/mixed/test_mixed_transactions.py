"""Model-based: readers see what was called in transactions that were committed, whichever way it
was sent, and nothing of the others.

See `mixed_transactions` for what may happen, and `send_model` for what has to be true of records.
"""

from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.errors import NotLeaderForPartitionError
from aiokafka_lite.model import RecordMetadata
from aiokafka_lite.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from aiokafka_lite.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest
from aiokafka_lite.protocol.messages.end_txn import EndTxnRequest
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest
from aiokafka_lite.testing.virtual_loop import run_virtual
from tests.adversity.mixed.mixed_schedules import (
    MixedOptions,
    bursts,
    calls,
    mixed_options,
    refreshes,
    topic_changes,
)
from tests.adversity.mixed.mixed_transactions import (
    InDoubt,
    MixedTransactionStep,
    MixedTransactionStory,
    MoveGroup,
    SendOffsets,
    play_mixed_transactions,
)
from tests.adversity.producer.send_calls import CancelCalls, Made, Way
from tests.adversity.producer.send_model import Written, judge_answers, judge_logs, judge_refused
from tests.adversity.schedule_strategies import several, weighted
from tests.adversity.soak import play_seeds, the_same_each_time
from tests.adversity.transaction.transaction_schedules import (
    Abort,
    Commit,
    CutOf,
    DropOf,
    FailOf,
    HoldMarkers,
    Outcome,
    ReleaseMarkers,
    Replace,
)
from tests.adversity.transaction.transaction_strategies import (
    concurrent,
    delays,
    disconnects,
    latencies,
    new_coordinators,
    new_leaders,
    nodes,
    starts,
    stops,
    waits,
    without_coordinator,
)

EXAMPLES = 250
SOAK_EXAMPLES = 200
"""Of one seed."""

pytestmark = [pytest.mark.timeout(10_000), pytest.mark.usefixtures("quiet")]

_topic_changes: st.SearchStrategy[Any] = topic_changes
_coordinating = st.sampled_from(
    [
        EndTxnRequest,
        AddPartitionsToTxnRequest,
        AddOffsetsToTxnRequest,
        TxnOffsetCommitRequest,
        InitProducerIdRequest,
        FindCoordinatorRequest,
    ]
)
_apis = st.one_of(_coordinating, st.sampled_from([ProduceRequest, MetadataRequest]))
_fails = st.one_of(
    without_coordinator(_coordinating, st.sampled_from([1, 1, 2, 6, 40])),
    concurrent(
        st.sampled_from([AddPartitionsToTxnRequest, AddOffsetsToTxnRequest, EndTxnRequest]),
        st.sampled_from([1, 2, 6]),
    ),
    st.builds(FailOf, st.just(ProduceRequest), st.just(NotLeaderForPartitionError), st.just(2)),
)
schedules: st.SearchStrategy[list[MixedTransactionStep]] = several(
    weighted(
        (10, calls),
        (6, bursts),
        (3, st.just(SendOffsets())),
        (3, st.builds(InDoubt, st.booleans(), st.booleans())),
        (5, st.just(Commit())),
        (4, st.just(Abort())),
        (5, waits),
        (2, st.just(CancelCalls())),
        (2, _topic_changes),
        (2, refreshes),
        (1, latencies),
        (3, st.builds(DropOf, _apis)),
        (4, st.builds(CutOf, _apis, st.integers(0, 40))),
        (2, delays(_apis)),
        (4, _fails),
        (1, new_leaders),
        (1, new_coordinators),
        (1, st.builds(MoveGroup, nodes)),
        (1, st.just(HoldMarkers())),
        (1, st.just(ReleaseMarkers())),
        (1, stops),
        (1, starts),
        (1, disconnects),
        (1, st.just(Replace())),
    )
)
transaction_options = mixed_options

SETTINGS = the_same_each_time(EXAMPLES)


# The model…


def judge(
    schedule: list[MixedTransactionStep], options: MixedOptions, transaction_version: int
) -> None:
    """Play a schedule, and compare what the user knows with what readers see."""
    story = run_virtual(
        partial(
            play_mixed_transactions,
            schedule=schedule,
            options=options,
            transaction_version=transaction_version,
        )
    )
    made = story.caller.made
    try:
        judge_answers(made)
        judge_logs(made, story.logs, story.topics.counts, in_order=options.keeps_order)
        judge_refused(made, story.logs)
        _judge_transactions(story)
        _judge_offsets(story)
        assert story.transactions[-1].outcome is Outcome.COMMITTED, "the producer does not recover"
    except AssertionError as error:
        error.add_note(str(story))
        raise


def _judge_transactions(story: MixedTransactionStory) -> None:
    """All of a committed transaction is there, and nothing of one that was aborted."""
    visible = {number for log in story.visible for _, number in log.records}
    for transaction in story.transactions:
        called = [each for each in story.caller.made if each.transaction == transaction.number]
        seen = visible & {number for each in called for number in each.numbers}
        promised = {
            number
            for each in called
            for number, fate in each.fates.items()
            if not isinstance(fate, Exception)
        }
        if transaction.outcome is Outcome.ABORTED:
            assert not seen, f"{seen} of transaction {transaction.number}, aborted, can be read"
            continue
        is_whole = promised <= visible
        if transaction.outcome is Outcome.COMMITTED:
            assert is_whole, f"{promised - visible} of transaction {transaction.number} are lost"
            _judge_committed(called, story.visible)
        assert is_whole or not seen, f"transaction {transaction.number} is there in part"


def _judge_committed(called: list[Made], visible: list[Written]) -> None:
    """What was committed is where its ack said, and none of it has failed."""
    places = {
        (log.topic, log.partition, offset): number
        for log in visible
        for offset, number in log.records
    }
    for made in called:
        for number, fate in made.fates.items():
            if isinstance(fate, RecordMetadata):
                place = (made.call.topic, fate.partition, fate.offset)
                assert places.get(place) == number, f"{number}: offset"
            elif fate is not None and made.call.way is not Way.AND_WAIT:
                raise AssertionError(f"committed though {number} has failed: {fate!r}")


def _judge_offsets(story: MixedTransactionStory) -> None:
    """The group has what the last transaction that was committed has sent."""
    possible: set[int | None] = {None}
    for transaction in story.transactions:
        if transaction.outcome is Outcome.ABORTED:
            continue
        before = set(possible)
        for offset, is_taken in transaction.offsets:
            possible = {offset} if is_taken else possible | {offset}
        if transaction.outcome is Outcome.UNKNOWN:
            possible |= before
    assert story.offset in possible, f"the group has {story.offset}, not one of {possible}"


@pytest.mark.parametrize("transaction_version", [1, 2])
@SETTINGS
@given(schedule=schedules, options=transaction_options)
def test_readers_see_what_was_called_in_committed_transactions(
    transaction_version: int, schedule: list[MixedTransactionStep], options: MixedOptions
) -> None:
    """Every way to send, sends that wait when it ends, answers that are lost (2d'-1 to 2d'-8)"""
    judge(schedule, options, transaction_version)


@pytest.mark.soak
@pytest.mark.parametrize("transaction_version", [1, 2])
def test_the_same_for_as_long_as_one_likes(
    request: pytest.FixtureRequest, transaction_version: int
) -> None:
    """One seed after the other; the one that fails can be played again"""
    play_seeds(
        request,
        judge,
        SOAK_EXAMPLES,
        schedule=schedules,
        options=transaction_options,
        transaction_version=st.just(transaction_version),
    )


@the_same_each_time(20)
@given(schedule=schedules, options=transaction_options)
def test_a_schedule_is_played_the_same_way_twice(
    schedule: list[MixedTransactionStep], options: MixedOptions
) -> None:
    """Two plays have the same transactions and calls, with the same places in the same logs"""
    first, second = (
        run_virtual(
            partial(
                play_mixed_transactions, schedule=schedule, options=options, transaction_version=2
            )
        )
        for _ in "12"
    )
    assert str(first) == str(second)
