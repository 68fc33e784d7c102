"""Subscription, positions and queue order: the rules B1 to B6, A8 and 2c-1."""

import re
from collections.abc import Callable
from functools import partial
from uuid import UUID

import pytest

from aiokafka_lite.cluster.metadata.metadata_snapshot import LeaderAndEpoch
from aiokafka_lite.consumer.position.committed_offset import CommittedOffset
from aiokafka_lite.consumer.position.subscription_state import (
    NO_OFFSET,
    FetchState,
    OffsetResetStrategy,
    SubscriptionMode,
    SubscriptionState,
)
from aiokafka_lite.errors import (
    IllegalStateError,
    NoOffsetForPartitionError,
    OffsetOutOfRangeError,
)
from aiokafka_lite.model import TopicPartition
from tests.consumer.batches import tps
from tests.support.reentry import between_bytecodes

EARLIEST = OffsetResetStrategy.EARLIEST
LATEST = OffsetResetStrategy.LATEST
P0, P1, P2 = tps(0, 1, 2)


@pytest.fixture
def state() -> SubscriptionState:
    state = SubscriptionState(EARLIEST)
    state.assign_from_user([P0, P1, P2])
    return state


def fetchable(state: SubscriptionState) -> list[TopicPartition]:
    return [tp for tp in state.queue() if state.assigned(tp).is_fetchable]


def without_position(state: SubscriptionState) -> list[TopicPartition]:
    return [tp for tp in state.queue() if state.assigned(tp).position is None]


# Two ways to get partitions (B1)…


def test_b1_subscribe_after_assign_is_an_error_until_unsubscribe(state: SubscriptionState) -> None:
    with pytest.raises(IllegalStateError, match="mutually exclusive"):
        state.subscribe(["t"])
    state.unsubscribe()
    state.subscribe(["t"])
    assert state.topics == {"t"}


def test_b1_assign_after_subscribe_is_an_error_until_unsubscribe() -> None:
    state = SubscriptionState(None)
    state.subscribe(["t"])
    with pytest.raises(IllegalStateError, match="mutually exclusive"):
        state.assign_from_user([P0])
    state.unsubscribe()
    state.assign_from_user([P0])
    assert state.assignment == {P0}


def test_assigning_anew_keeps_the_position_of_what_stays(state: SubscriptionState) -> None:
    state.seek(P1, 5)
    state.pause(P1)
    state.assign_from_user([P1, TopicPartition("u", 0)])
    assert state.assigned(P1).position == 5
    assert state.paused() == {P1}
    assert state.get(P0) is None


def test_subscribing_anew_lets_go_of_topics_not_named() -> None:
    state = SubscriptionState(None)
    state.subscribe(["t", "u"])
    state.assign_from_subscribed([P0, TopicPartition("u", 0)])
    state.subscribe(["t"])
    assert state.assignment == {P0}


def test_partitions_a_topic_gains_join_at_the_end_of_the_queue() -> None:
    state = SubscriptionState(None)
    state.subscribe(["t"])
    state.assign_from_subscribed([P0, P1])
    state.move_to_end(P0)
    state.assign_from_subscribed([*state.queue(), P2])
    assert state.queue() == (P1, P0, P2)


# What a partition has, and when it is fetched (B2, B3)…


def test_b2_a_new_partition_knows_nothing(state: SubscriptionState) -> None:
    partition = state.assigned(P0)
    assert partition.position is None
    assert partition.high_watermark is None
    assert partition.last_stable_offset is None
    assert partition.log_start_offset is None
    assert partition.reset_strategy is None
    assert not partition.is_paused
    assert repr(partition) == "<t-0 INITIALIZING nowhere>"


def test_b3_fetchable_means_assigned_not_paused_and_with_a_position(
    state: SubscriptionState,
) -> None:
    assert fetchable(state) == []
    assert without_position(state) == [P0, P1, P2]
    state.seek(P0, 1)
    state.seek(P1, 1)
    state.pause(P1)
    assert fetchable(state) == [P0]
    assert without_position(state) == [P2]
    assert not state.has_all_fetch_positions()
    state.await_reset(P0, EARLIEST)
    assert fetchable(state) == []
    assert without_position(state) == [P0, P2]
    state.seek(P0, 1)
    state.seek(P2, 0)
    assert state.has_all_fetch_positions()


def test_a_partition_that_is_not_assigned_is_named(state: SubscriptionState) -> None:
    with pytest.raises(IllegalStateError, match=r"partition=9\) is not assigned"):
        state.seek(TopicPartition("t", 9), 0)


# Missing positions, resets and seeks (B4, B5, B6)…


def test_b4_3_missing_positions_are_reset_by_the_default_strategy(state: SubscriptionState) -> None:
    state.seek(P0, 3)
    state.reset_missing_positions()
    assert [partition.topic_partition for partition in state.awaiting_reset()] == [P1, P2]
    assert all(partition.reset_strategy is EARLIEST for partition in state.awaiting_reset())
    assert state.assigned(P0).position == 3


def test_b4_without_a_strategy_the_partitions_are_named() -> None:
    state = SubscriptionState(None)
    state.assign_from_user([P0, P1])
    state.seek(P0, 0)
    state.reset_missing_positions()
    with pytest.raises(NoOffsetForPartitionError, match=r"no position for t-1, .*'none'; seek"):
        state.raise_for_missing_positions()


def test_b4_without_a_strategy_it_is_raised_until_the_user_has_heard_and_sought() -> None:
    """What was not told yet is told first, however much was sought before."""
    state = SubscriptionState(None)
    state.assign_from_user([P0, P1])
    state.seek(P0, 0)
    state.leave_missing()
    for _ in range(2):
        with pytest.raises(NoOffsetForPartitionError, match="t-1"):
            state.raise_for_missing_positions()
    state.leave_missing()
    state.raise_for_missing_positions()
    assert isinstance(state.missing_position_error(), NoOffsetForPartitionError)
    assert isinstance(state.missing_position_error([P1]), NoOffsetForPartitionError)
    assert state.missing_position_error([P0]) is None
    state.assign_from_user([P0, P1, P2])
    with pytest.raises(NoOffsetForPartitionError, match="t-1, t-2"):
        state.raise_for_missing_positions()
    state.seek(P1, 0)
    state.seek(P2, 0)
    assert state.missing_position_error() is None


def test_b4_no_poll_asks_for_a_position_that_the_listener_may_still_set() -> None:
    """A poll may run while the listener awaits something, before it seeks the other partitions."""
    state = SubscriptionState(None)
    state.subscribe(["t"])
    state.assign_from_group([P0, P1], await_callback=True)
    state.raise_for_missing_positions()
    assert state.missing_position_error() is None
    assert isinstance(state.missing_position_error([P1]), NoOffsetForPartitionError)
    state.seek(P0, 0)
    state.callback_is_over()
    with pytest.raises(NoOffsetForPartitionError, match="t-1"):
        state.raise_for_missing_positions()


def test_b4_a_pending_reset_is_kept_even_without_a_strategy() -> None:
    """`seek_to_end()` works with `auto_offset_reset='none'`: a pending reset goes first (B4)."""
    state = SubscriptionState(None)
    state.assign_from_user([P0])
    state.await_reset(P0, LATEST)
    state.reset_missing_positions()
    assert state.reset(P0, LATEST, 12)
    assert state.assigned(P0).position == 12


def test_b5_a_reset_is_used_only_by_a_partition_that_still_waits_for_it(
    state: SubscriptionState,
) -> None:
    state.await_reset(P0, EARLIEST)
    assert state.reset(P0, EARLIEST, 7)
    assert state.assigned(P0).position == 7
    assert state.assigned(P0).offset_epoch == -1, "2c-6: nothing is known of what lies before it"
    assert not state.reset(P0, EARLIEST, 9), "it waits no more"
    assert state.assigned(P0).position == 7


def test_b5_a_seek_meanwhile_wins(state: SubscriptionState) -> None:
    state.await_reset(P0, EARLIEST)
    state.seek(P0, 42)
    assert not state.reset(P0, EARLIEST, 0)
    assert state.assigned(P0).position == 42


def test_b5_a_reset_with_another_strategy_meanwhile_wins(state: SubscriptionState) -> None:
    state.await_reset(P0, EARLIEST)
    state.await_reset(P0, LATEST)
    assert not state.reset(P0, EARLIEST, 0)
    assert state.reset(P0, LATEST, 9)


def test_b5_a_partition_let_go_meanwhile_is_not_reset(state: SubscriptionState) -> None:
    state.await_reset(P0, EARLIEST)
    state.assign_from_user([P1])
    assert not state.reset(P0, EARLIEST, 0)


def test_b6_await_reset_empties_the_position_and_seek_clears_the_strategy(
    state: SubscriptionState,
) -> None:
    state.seek(P0, 4, offset_epoch=2)
    state.await_reset(P0, LATEST)
    partition = state.assigned(P0)
    assert partition.position is None
    assert (partition.offset, partition.offset_epoch) == (NO_OFFSET, -1)
    assert partition.reset_strategy is LATEST
    state.seek(P0, 5)
    assert partition.position == 5
    assert partition.reset_strategy is None


def test_2c_1_a_position_is_never_unlearnt_to_initializing(state: SubscriptionState) -> None:
    state.seek(P0, 1)
    with pytest.raises(IllegalStateError, match="cannot go to INITIALIZING while FETCHING"):
        state.assigned(P0).to(FetchState.INITIALIZING)


# Queue order (A8), pausing, backing off…


def test_a8_a_used_up_partition_goes_to_the_end_of_the_queue(state: SubscriptionState) -> None:
    state.move_to_end(P0)
    assert state.queue() == (P1, P2, P0)
    state.move_to_end(TopicPartition("t", 9))
    assert state.queue() == (P1, P2, P0)


def test_pausing_is_independent_of_the_position(state: SubscriptionState) -> None:
    state.pause(P0)
    state.seek(P0, 3)
    assert repr(state.assigned(P0)) == "<t-0 FETCHING at 3, paused>"
    state.resume(P0)
    assert fetchable(state) == [P0]


def test_a_new_position_ends_a_backoff(state: SubscriptionState) -> None:
    state.seek(P0, 1)
    state.back_off(state.assigned(P0), retry_at_s=50.0)
    assert state.assigned(P0).failures == 1
    state.seek(P0, 2)
    assert state.assigned(P0).retry_at_s == 0.0
    assert state.assigned(P0).failures == 0


def test_every_change_that_may_free_a_partition_is_seen_in_the_revision(
    state: SubscriptionState,
) -> None:
    changes = [
        lambda: state.seek(P0, 1),
        lambda: state.await_reset(P0, LATEST),
        lambda: state.reset(P0, LATEST, 3),
        lambda: state.pause(P0),
        lambda: state.resume(P0),
        lambda: state.back_off(state.assigned(P0), 1.0),
        lambda: state.assign_from_user([P0]),
        state.unsubscribe,
    ]
    for change in changes:
        before = state.revision.number
        change()
        assert state.revision.number > before


@pytest.mark.parametrize(
    ("option", "strategy"), [("earliest", EARLIEST), ("latest", LATEST), ("none", None)]
)
def test_the_option_names_a_strategy(option: str, strategy: OffsetResetStrategy | None) -> None:
    assert OffsetResetStrategy.from_option(option) is strategy


# What the newest poll returned is not processed yet (B7)…


def test_b7_a_position_counts_as_processed_once_the_next_poll_has_begun(
    state: SubscriptionState,
) -> None:
    state.seek(P0, 10)
    state.poll_number += 1
    state.note_move(state.assigned(P0))
    state.assigned(P0).offset = 20
    assert state.processed() == {P0: (10, -1)}
    state.poll_number += 1
    assert state.processed() == {P0: (20, -1)}
    assert state.processed([P1]) == {}


def test_b7_a_position_found_after_the_newest_poll_began_is_not_processed(
    state: SubscriptionState,
) -> None:
    state.seek(P0, 10)
    assert state.processed() == {}
    state.poll_number += 1
    assert state.processed() == {P0: (10, -1)}


def test_b7_a_seek_after_a_poll_does_not_count_until_the_next(state: SubscriptionState) -> None:
    state.seek(P0, 10)
    state.poll_number += 1
    state.seek(P0, 500)
    assert state.processed() == {P0: (10, -1)}
    state.await_reset(P0, LATEST)
    assert state.processed() == {P0: (10, -1)}


# What groups do to an assignment…


@pytest.fixture(name="subscribed")
def _subscribed() -> SubscriptionState:
    subscription = SubscriptionState(EARLIEST)
    subscription.subscribe(["t"])
    return subscription


def test_2c_9_a_kept_partition_keeps_position_and_pause(subscribed: SubscriptionState) -> None:
    subscribed.assign_from_group([P0, P1])
    subscribed.seek(P0, 7)
    subscribed.pause(P0)
    subscribed.assign_from_group([P0, P2])
    assert subscribed.assigned(P0).position == 7
    assert subscribed.paused() == {P0}
    assert subscribed.assignment == {P0, P2}


def test_2c_9_a_partition_that_is_being_revoked_is_not_fetched(
    subscribed: SubscriptionState,
) -> None:
    subscribed.assign_from_group([P0, P1])
    subscribed.seek(P0, 7)
    subscribed.seek(P1, 7)
    subscribed.revoke_soon([P1, P2])
    assert fetchable(subscribed) == [P0]
    subscribed.assign_from_group([P0, P1])
    assert fetchable(subscribed) == [P0, P1]


def test_2c_9_a_new_partition_is_not_fetched_before_the_callback_is_over(
    subscribed: SubscriptionState,
) -> None:
    subscribed.assign_from_group([P0])
    subscribed.seek(P0, 7)
    subscribed.assign_from_group([P0, P1], await_callback=True)
    subscribed.seek(P1, 7)
    assert fetchable(subscribed) == [P0]
    subscribed.callback_is_over()
    assert fetchable(subscribed) == [P0, P1]


def test_b1_a_pattern_takes_the_topics_it_matches_from_their_beginning() -> None:
    subscription = SubscriptionState(EARLIEST)
    subscription.subscribe_pattern(re.compile("log-[ab]"))
    assert subscription.match_topics(["log-a", "my-log-a", "log-b-2", "other"])
    assert subscription.topics == {"log-a", "log-b-2"}
    assert not subscription.match_topics(["log-b-2", "log-a"])
    with pytest.raises(IllegalStateError, match="mutually exclusive"):
        subscription.subscribe(["t"])
    subscription.unsubscribe()
    assert subscription.pattern is None
    subscription.subscribe(["t"])


# Leaders, epochs and topics: 2c-1 to 2c-4, 2b-5…

LEADER, NEXT_LEADER = LeaderAndEpoch(1, 3), LeaderAndEpoch(2, 4)
OLD_TOPIC, NEW_TOPIC = UUID(int=1), UUID(int=2)


@pytest.mark.parametrize("before", ["initializing", "awaiting a reset", "fetching", "validating"])
def test_2c_8_a_seek_with_an_epoch_is_validated_first(
    state: SubscriptionState, before: str
) -> None:
    if before == "awaiting a reset":
        state.await_reset(P0, LATEST)
    elif before == "fetching":
        state.seek(P0, 1)
    elif before == "validating":
        state.seek(P0, 1, offset_epoch=1)
    state.seek(P0, 4, offset_epoch=2)
    partition = state.assigned(P0)
    assert partition.fetch_state is FetchState.AWAIT_VALIDATION
    assert (partition.offset, partition.offset_epoch, partition.position) == (4, 2, None)
    assert list(state.awaiting_validation()) == [partition]
    assert without_position(state) == [P0, P1, P2]
    state.complete_validation(partition)
    assert partition.position == 4


def test_2c_2_a_position_of_a_known_epoch_is_validated_by_the_next_leader(
    state: SubscriptionState,
) -> None:
    state.seek(P0, 4)
    partition = state.assigned(P0)
    state.follow_leader(partition, LEADER)
    partition.offset, partition.offset_epoch = 9, 3  # as records were returned
    state.follow_leader(partition, LEADER)
    assert partition.fetch_state is FetchState.FETCHING
    state.follow_leader(partition, NEXT_LEADER)
    assert partition.fetch_state is FetchState.AWAIT_VALIDATION
    assert (partition.offset, partition.leader) == (9, NEXT_LEADER)


@pytest.mark.parametrize(
    ("offset_epoch", "leader"), [(-1, NEXT_LEADER), (3, LeaderAndEpoch(2, -1))]
)
def test_2c_2_without_both_epochs_nothing_is_validated(
    state: SubscriptionState, offset_epoch: int, leader: LeaderAndEpoch
) -> None:
    state.seek(P0, 4)
    partition = state.assigned(P0)
    state.follow_leader(partition, LEADER)
    partition.offset_epoch = offset_epoch
    state.follow_leader(partition, leader)
    assert partition.fetch_state is FetchState.FETCHING
    assert partition.leader == leader


def test_2c_2_a_partition_without_a_position_only_learns_who_leads(
    state: SubscriptionState,
) -> None:
    state.await_reset(P0, LATEST)
    partition = state.assigned(P0)
    for leader in (LEADER, NEXT_LEADER):
        state.follow_leader(partition, leader)
    assert partition.fetch_state is FetchState.AWAIT_RESET


def test_2b_5_the_lease_of_a_replica_is_not_renewed_by_the_same_one(
    state: SubscriptionState,
) -> None:
    state.seek(P0, 4)
    partition = state.assigned(P0)
    state.prefer_replica(partition, 2, 10.0)
    state.prefer_replica(partition, 2, 20.0)
    assert (partition.preferred_replica, partition.preferred_until_s) == (2, 10.0)
    state.prefer_replica(partition, 3, 30.0)
    assert (partition.preferred_replica, partition.preferred_until_s) == (3, 30.0)
    assert state.forget_replica(partition)
    assert not state.forget_replica(partition)


def test_2c_2_another_leader_a_seek_or_a_reset_end_the_lease(state: SubscriptionState) -> None:
    state.seek(P0, 4)
    partition = state.assigned(P0)
    state.follow_leader(partition, LEADER)
    state.prefer_replica(partition, 2, 10.0)
    state.follow_leader(partition, LEADER)
    assert partition.preferred_replica == 2
    state.follow_leader(partition, NEXT_LEADER)
    assert partition.preferred_replica is None
    state.prefer_replica(partition, 2, 10.0)
    state.seek(P0, 5)
    assert partition.preferred_replica is None
    state.prefer_replica(partition, 2, 10.0)
    state.await_reset(P0, LATEST)
    assert partition.preferred_replica is None


def test_2c_3_going_back_to_where_the_logs_part_needs_no_second_validation(
    state: SubscriptionState,
) -> None:
    state.seek(P0, 9, offset_epoch=3)
    partition = state.assigned(P0)
    state.follow_leader(partition, NEXT_LEADER)
    state.truncate(partition, 6, 2)
    assert (partition.position, partition.offset_epoch, partition.leader) == (6, 2, NEXT_LEADER)


def test_what_was_known_behind_a_truncation_does_not_count_any_more(
    state: SubscriptionState,
) -> None:
    changes: list[tuple[TopicPartition, int]] = []
    state.log_changed = lambda tp, offset: changes.append((tp, offset))
    state.seek(P0, 9, offset_epoch=3)
    state.poll_number += 1
    partition = state.assigned(P0)
    state.store({P0: CommittedOffset(8, 3)})
    state.truncate(partition, 6, 2)
    assert state.processed() == {P0: (6, -1)}, "not 9, where it was when the poll began"
    assert state.stored() == {P0: CommittedOffset(6)}
    assert [partition.epoch_at(offset) for offset in (6, 9, 10)] == [2, 3, -1]
    assert (partition.changed_from(0), partition.changed_from(1)) == (6, None)
    assert changes == [(P0, 6)]


@pytest.mark.parametrize(("offset", "changes"), [(0, [0]), (9, [0]), (10, [])])
def test_a_reset_back_from_out_of_range_means_another_log(
    state: SubscriptionState, offset: int, changes: list[int]
) -> None:
    """The leader has fewer records than were read. A reset ahead is that of retention."""
    found: list[int] = []
    state.log_changed = lambda _, offset: found.append(offset)
    state.seek(P0, 9)
    state.out_of_range(state.assigned(P0), EARLIEST)
    assert state.reset(P0, EARLIEST, offset)
    assert found == changes
    state.await_reset(P0, EARLIEST)
    assert state.reset(P0, EARLIEST, 0)
    assert found == changes, "the user's own resets tell nothing of the log"


def test_the_position_in_a_topic_that_was_recreated_is_reset_by_policy(
    state: SubscriptionState,
) -> None:
    state.seek(P0, 4)
    state.poll_number += 1
    partition = state.assigned(P0)
    partition.high_watermark = partition.last_stable_offset = partition.log_start_offset = 4
    assert not state.follow_topic(partition, OLD_TOPIC)
    assert not state.follow_topic(partition, OLD_TOPIC)
    assert state.processed() == {P0: (4, -1)}
    assert state.follow_topic(partition, NEW_TOPIC)
    assert (partition.fetch_state, partition.reset_strategy) == (FetchState.AWAIT_RESET, EARLIEST)
    assert partition.incarnation == 1
    assert partition.high_watermark is None
    assert state.processed() == {}, "B7: an offset of the old topic is none of the new one"


def test_without_a_policy_the_position_in_a_recreated_topic_is_an_error_until_a_seek() -> None:
    state = SubscriptionState(None)
    state.assign_from_user([P0])
    state.seek(P0, 4)
    partition = state.assigned(P0)
    state.follow_topic(partition, OLD_TOPIC)
    state.follow_topic(partition, NEW_TOPIC)
    for _ in range(2):
        with pytest.raises(OffsetOutOfRangeError, match=r"t-0 belongs to a topic that was deleted"):
            state.raise_for_missing_positions()
    state.seek(P0, 0)
    state.raise_for_missing_positions()
    assert partition.position == 0


def by_group(default_reset: OffsetResetStrategy | None) -> SubscriptionState:
    """A subscription to which the group has assigned a partition of the old topic, by its id."""
    state = SubscriptionState(default_reset)
    state.subscribe(["t"], by_group=True)
    state.assign_from_group([P0], topic_ids={"t": OLD_TOPIC})
    return state


@pytest.mark.parametrize("default_reset", [EARLIEST, None])
def test_a_topic_that_the_group_has_not_assigned_gets_no_position(
    default_reset: OffsetResetStrategy | None,
) -> None:
    """By name the partition is the same; another member may own the one of the new topic."""
    state = by_group(default_reset)
    partition = state.assigned(P0)
    assert not state.follow_topic(partition, OLD_TOPIC)
    assert state.follow_topic(partition, NEW_TOPIC)
    assert not state.follow_topic(partition, NEW_TOPIC)
    assert partition.topic_id == OLD_TOPIC, "what is committed is refused for the new topic"
    state.reset_missing_positions()
    state.raise_for_missing_positions()
    assert not list(state.initializing())
    assert not list(state.awaiting_reset())
    assert not state.reset(P0, EARLIEST, 0)
    state.seek(P0, 3)
    assert not partition.is_fetchable


def test_a_reset_that_was_asked_for_before_gives_no_position_either() -> None:
    state = by_group(EARLIEST)
    partition = state.assigned(P0)
    state.await_reset(P0, EARLIEST)
    state.follow_topic(partition, NEW_TOPIC)
    assert not state.reset(P0, EARLIEST, 0)
    assert (partition.position, partition.topic_id) == (None, OLD_TOPIC)


def test_old_metadata_holds_a_partition_until_newer_one_comes() -> None:
    state = by_group(EARLIEST)
    partition = state.assigned(P0)
    state.seek(P0, 4)
    state.follow_topic(partition, NEW_TOPIC)
    assert partition.is_held
    assert state.follow_topic(partition, OLD_TOPIC)
    assert not partition.is_held
    assert list(state.awaiting_reset()) == [partition]
    assert state.reset(P0, EARLIEST, 0)
    assert partition.is_fetchable


def test_the_next_assignment_names_the_new_topic() -> None:
    state = by_group(EARLIEST)
    state.follow_topic(state.assigned(P0), NEW_TOPIC)
    state.let_go([P0])
    state.assign_from_group([P0], topic_ids={"t": NEW_TOPIC})
    partition = state.assigned(P0)
    assert not state.follow_topic(partition, NEW_TOPIC)
    assert list(state.initializing()) == [partition]


def test_b4_2_only_partitions_without_a_committed_offset_are_reset(
    state: SubscriptionState,
) -> None:
    state.note_no_committed(state.assigned(P1))
    state.reset_missing_positions(without_committed=True)
    assert [partition.topic_partition for partition in state.awaiting_reset()] == [P1]
    assert [partition.topic_partition for partition in state.initializing()] == [P0, P2]


def test_topics_of_a_pattern_for_the_broker_are_those_of_the_assignment() -> None:
    state = SubscriptionState(None)
    state.subscribe_server_pattern("t.*")
    assert state.is_subscribed
    assert (state.server_pattern, state.topics) == ("t.*", frozenset())
    state.match_assigned({"t1"})
    assert state.topics == {"t1"}
    with pytest.raises(IllegalStateError):
        state.subscribe(["t"])
    state.unsubscribe()
    assert state.server_pattern == ""
    state.subscribe(["t"])
    state.match_assigned({"t1"})
    assert state.topics == {"t"}, "which the user has named"


# A call in the middle of another one…


def _reset(state: SubscriptionState) -> Callable[[], object]:
    state.await_reset(P0, EARLIEST)
    return lambda: state.reset(P0, EARLIEST, 0)


def _reset_missing(state: SubscriptionState) -> Callable[[], object]:
    return state.reset_missing_positions


def _validated(state: SubscriptionState) -> Callable[[], object]:
    state.seek(P0, 5, offset_epoch=1)
    partition = state.assigned(P0)
    return lambda: state.complete_validation(partition)


def _led_by_another(state: SubscriptionState) -> Callable[[], object]:
    state.seek(P0, 5)
    partition = state.assigned(P0)
    partition.offset_epoch, partition.leader = 1, LeaderAndEpoch(1, 1)
    return lambda: state.follow_leader(partition, LeaderAndEpoch(2, 2))


def _out_of_range(state: SubscriptionState) -> Callable[[], object]:
    state.seek(P0, 5)
    partition = state.assigned(P0)
    moves = partition.moves
    return lambda: state.out_of_range(partition, EARLIEST, since=moves)


def _truncated(state: SubscriptionState) -> Callable[[], object]:
    state.seek(P0, 5, offset_epoch=1)
    partition = state.assigned(P0)
    moves = partition.moves
    return lambda: state.truncate(partition, 3, 1, since=moves)


def _to_the_end(state: SubscriptionState) -> Callable[[], object]:
    state.seek(P0, 5)
    return lambda: state.move_to_end(P0)


def _assigned(state: SubscriptionState) -> Callable[[], object]:
    return lambda: state.assign_from_user([P0, TopicPartition("u", 0)])


def _unsubscribed(state: SubscriptionState) -> Callable[[], object]:
    return state.unsubscribe


def _assign_anew(state: SubscriptionState) -> None:
    state.unsubscribe()
    state.assign_from_user([P0, P2])


OUTER = {
    call.__name__: call
    for call in (
        _reset,
        _reset_missing,
        _validated,
        _led_by_another,
        _out_of_range,
        _truncated,
        _to_the_end,
        _assigned,
        _unsubscribed,
    )
}
INNER: dict[str, Callable[[SubscriptionState], object]] = {
    "seek": lambda state: state.seek(P0, 77),
    "reset": lambda state: state.await_reset(P0, LATEST),
    "pause": lambda state: state.pause(P0),
    "unsubscribe": lambda state: state.unsubscribe(),
    "assign": _assign_anew,
}


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("outer", OUTER)
def test_a_call_in_the_middle_of_another_loses_nothing(outer: str, inner: str) -> None:
    """As of a handler of signals. What the tables say of a partition is what it is (C1)."""
    for place in range(1, 400):
        state = SubscriptionState(EARLIEST)
        state.assign_from_user([P0, P1, P2])
        call = OUTER[outer](state)
        with between_bytecodes(partial(INNER[inner], state), after=place) as interruption:
            call()
        where = f"{inner} at {place} of {outer}"
        if outer != "_unsubscribed":
            assert interruption.error is None, where
        assert (state.mode is SubscriptionMode.NONE) == (not state.assignment), where
        assert state.assignment == frozenset(state.queue()), where
        states = state.states()
        missing = [each for each in states if each.fetch_state is not FetchState.FETCHING]
        assert state.has_all_fetch_positions() == (not missing), where
        for each in states:
            has_none = each.fetch_state in {FetchState.INITIALIZING, FetchState.AWAIT_RESET}
            assert (each.offset == NO_OFFSET) == has_none, where
        assert {each.topic_partition for each in state.take_unfollowed()} <= state.assignment, where
        if not interruption.came:
            break
        if P0 not in state.assignment or interruption.error is not None:
            continue
        partition = state.assigned(P0)
        if inner == "seek":
            assert partition.position == 77, where
        elif inner == "reset":
            assert partition.reset_strategy is LATEST, where
        elif inner == "pause":
            assert partition.is_paused, where
    else:
        raise AssertionError("it has more places")
