"""A member goes through the states of the table and no other way; answers that are late mean
nothing.
"""

from typing import Any
from uuid import UUID

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from aiokafka_lite.consumer.consumer_config import GroupMembershipOperation
from aiokafka_lite.consumer.group.consumer_rebalance.epoch_member import (
    NEXT_STATES,
    EpochMember,
    EpochState,
)
from aiokafka_lite.consumer.group.consumer_rebalance.heartbeat_fields import (
    HeartbeatFields,
    MemberWishes,
    TopicIdPartitions,
)
from aiokafka_lite.errors import IllegalStateError

T1 = UUID(int=1)
WISHES = MemberWishes(rebalance_timeout_ms=60_000, topics=frozenset({"orders"}))
MEMBERS = (EpochState.RECONCILING, EpochState.ACKNOWLEDGING, EpochState.STABLE)


def having(*partitions: int) -> TopicIdPartitions:
    return frozenset((T1, partition) for partition in partitions)


def new_member(instance_id: str | None = None) -> EpochMember:
    return EpochMember("g", instance_id, "client", lambda: "m-1")


def joined(*partitions: int, instance_id: str | None = None) -> EpochMember:
    """Return a member that has these partitions and has said so."""
    member = new_member(instance_id)
    member.join()
    member.begin_heartbeat(WISHES)
    member.answered(1, having(*partitions))
    member.took(having(*partitions), member.membership)
    member.begin_heartbeat(WISHES)
    member.answered(1, None)
    assert member.state is EpochState.STABLE
    return member


assignments = st.none() | st.frozensets(st.tuples(st.just(T1), st.integers(0, 2)))


class AnyLife(RuleBasedStateMachine):
    """Any sequence of events, beside a coordinator that hears the heartbeats."""

    def __init__(self) -> None:
        super().__init__()
        self.member = new_member()
        self.epoch = 0
        self.knows_owned: TopicIdPartitions | None = None
        self.reconciling = -1
        self.must_say_all = True
        self.awaits_owned = False

    @rule()
    def it_subscribes(self) -> None:
        was_away = self.member.state is EpochState.UNSUBSCRIBED
        assert self.member.join() is was_away

    @precondition(lambda self: self.member.sends_heartbeats)
    @rule(assignment=assignments)
    def a_heartbeat_is_answered(self, assignment: TopicIdPartitions | None) -> None:
        self.heartbeat()
        self.epoch += 1
        self.awaits_owned |= assignment not in (None, self.member.target)
        self.member.answered(self.epoch, assignment)
        assert self.member.epoch == self.epoch

    @precondition(lambda self: self.member.sends_heartbeats)
    @rule()
    def a_heartbeat_is_lost(self) -> None:
        self.heartbeat()
        self.member.heartbeat_failed()
        self.must_say_all = True

    def heartbeat(self) -> None:
        member = self.member
        is_joining = member.state is EpochState.JOINING
        told = member.begin_heartbeat(WISHES)
        if is_joining:
            assert member.epoch == 0
            assert told.owned == frozenset()
        if is_joining or self.must_say_all:
            assert None not in (told.owned, told.topics)
            assert told.rebalance_timeout_ms == 60_000
        if told.owned is not None:
            self.knows_owned = told.owned
            self.awaits_owned = False
            assert told.owned == member.taking.union(member.owned or (), member.target)
        self.must_say_all = False
        assert self.knows_owned is not None
        assert self.knows_owned >= (member.owned or frozenset())
        assert member.state is not EpochState.ACKNOWLEDGING

    @precondition(lambda self: self.member.state is EpochState.RECONCILING)
    @rule()
    def it_begins_to_reconcile(self) -> None:
        self.reconciling = self.member.membership

    @precondition(lambda self: self.reconciling == self.member.membership)
    @rule()
    def it_begins_to_take_over(self) -> None:
        self.member.takes(self.member.target)

    @rule(partitions=assignments)
    def it_has_reconciled(self, partitions: TopicIdPartitions | None) -> None:
        """None: to the newest target."""
        partitions = self.member.target if partitions is None else partitions
        began, self.reconciling = self.reconciling, -1
        is_same = began == self.member.membership and self.member.state in MEMBERS
        assert self.member.took(partitions, began) is is_same
        if is_same:
            assert self.member.state is EpochState.ACKNOWLEDGING
            assert self.member.has_news(WISHES)

    @rule()
    def the_coordinator_gives_it_up(self) -> None:
        had_membership = self.member.sends_heartbeats
        assert self.member.fence("lost") is had_membership
        self.must_say_all |= had_membership

    @rule()
    def the_listener_has_heard_of_the_loss(self) -> None:
        self.member.told_lost()

    @rule()
    def it_is_not_polled(self) -> None:
        had_membership = self.member.sends_heartbeats
        assert self.member.leave_unpolled("silence") is had_membership

    @rule()
    def it_fails(self) -> None:
        matters = self.member.state not in (EpochState.UNSUBSCRIBED, EpochState.LEAVING)
        assert self.member.fail("refused") is matters

    @rule()
    def it_is_polled(self) -> None:
        waited = self.member.state in (EpochState.STALE, EpochState.FATAL)
        assert self.member.polled() is waited

    @rule()
    def it_unsubscribes(self) -> None:
        self.member.leave()
        assert self.member.state is EpochState.LEAVING

    @precondition(lambda self: self.member.state is EpochState.LEAVING)
    @rule()
    def it_has_left(self) -> None:
        self.member.left()

    @invariant()
    def its_epoch_fits_its_state(self) -> None:
        member = self.member
        if member.state is EpochState.JOINING:
            assert (member.epoch, member.owned) == (0, None)
        elif member.state in MEMBERS:
            assert member.epoch > 0
        else:
            assert (member.epoch, member.owned) == (-1, None)

    @invariant()
    def it_is_stable_only_with_what_was_assigned(self) -> None:
        if self.member.state is EpochState.STABLE:
            assert self.member.owned == self.member.target
            assert not self.awaits_owned

    @invariant()
    def it_commits_only_with_an_epoch_of_the_group(self) -> None:
        assert (self.member.identity().generation_id > 0) is (self.member.state in MEMBERS)


TestAnyLife: Any = AnyLife.TestCase


def test_every_state_is_in_the_table() -> None:
    assert set(NEXT_STATES) == set(EpochState)
    assert set().union(*NEXT_STATES.values()) == set(EpochState)


def test_a_step_that_is_not_in_the_table_is_refused() -> None:
    with pytest.raises(IllegalStateError, match="cannot go to UNSUBSCRIBED while STABLE"):
        joined().left()


def test_a_member_joins_acknowledges_and_is_stable() -> None:
    member = new_member()
    assert member.join()
    told = member.begin_heartbeat(WISHES)
    assert (member.epoch, told.topics, told.owned) == (0, ("orders",), frozenset())
    member.answered(1, having(0, 1))
    assert member.state is EpochState.RECONCILING
    assert member.took(having(0, 1), member.membership)
    assert member.has_news(WISHES)
    assert member.begin_heartbeat(WISHES).owned == having(0, 1)
    member.answered(1, None)
    assert member.state is EpochState.STABLE
    assert not member.has_news(WISHES)
    assert member.begin_heartbeat(WISHES) == HeartbeatFields()


def test_a_member_without_partitions_takes_its_empty_assignment_over() -> None:
    """The listener hears of the first assignment, also when it is empty."""
    member = new_member()
    member.join()
    member.begin_heartbeat(WISHES)
    member.answered(1, frozenset())
    assert member.state is EpochState.RECONCILING


def test_a_partial_assignment_is_acknowledged_and_the_rest_is_kept() -> None:
    """Topics that the metadata does not know yet stay in the target."""
    member = joined(0)
    member.answered(2, having(0, 1))
    assert member.state is EpochState.RECONCILING
    member.took(having(0), member.membership)
    member.begin_heartbeat(WISHES)
    assert member.state is EpochState.RECONCILING
    assert member.target == having(0, 1)


def test_a_heartbeat_that_names_partitions_leaves_none_out_that_the_member_may_have() -> None:
    """The coordinator gives away what is left out; without a new target nothing more is said."""
    member = joined(0)
    member.answered(2, having(0, 1))
    assert member.begin_heartbeat(WISHES) == HeartbeatFields()
    member.takes(having(0, 1))
    member.answered(2, having(0, 2))
    assert not member.has_news(WISHES)
    member.heartbeat_failed()
    assert member.begin_heartbeat(WISHES).owned == having(0, 1, 2)
    member.took(having(0), member.membership)
    assert member.begin_heartbeat(WISHES).owned == having(0, 2)


def test_a_target_that_returns_while_it_is_reconciled_is_reconciled_anew() -> None:
    member = joined(0, 1)
    member.answered(2, having(0))
    assert member.state is EpochState.RECONCILING
    member.answered(3, having(0, 1))
    member.took(having(0), member.membership)
    member.begin_heartbeat(WISHES)
    assert member.state is EpochState.RECONCILING


@pytest.mark.parametrize("had", [(), (0,)])
def test_a_target_that_the_member_has_already_is_acknowledged(had: tuple[int, ...]) -> None:
    """The coordinator waits for partitions that it named meanwhile, though they never came."""
    member = joined(*had)
    member.answered(1, having(*had, 1))
    member.answered(1, having(*had))
    assert member.state is EpochState.RECONCILING
    assert member.has_new_target
    member.took(having(*had), member.membership)
    assert member.begin_heartbeat(WISHES) == HeartbeatFields(owned=having(*had))
    assert member.state is EpochState.STABLE
    assert not member.has_new_target


def test_an_assignment_that_is_told_again_is_not_acknowledged() -> None:
    member = joined(0)
    member.answered(2, having(0))
    assert member.state is EpochState.STABLE
    assert member.begin_heartbeat(WISHES) == HeartbeatFields()


def test_a_fenced_member_joins_with_the_same_id_and_epoch_0() -> None:
    member = joined(0)
    former = member.membership
    assert member.fence("the coordinator said so")
    assert member.state is EpochState.FENCED
    assert not member.took(having(0), former)
    assert "the coordinator said so" in str(member.commit_failed())
    member.told_lost()
    assert (member.state, member.epoch, member.member_id) == (EpochState.JOINING, 0, "m-1")
    assert member.begin_heartbeat(WISHES).owned == frozenset()


@pytest.mark.parametrize(
    ("instance_id", "operation", "epoch"),
    [
        (None, "default", -1),
        (None, "leave_group", -1),
        (None, "remain_in_group", None),
        ("static-1", "default", -2),
        ("static-1", "leave_group", -1),
        ("static-1", "remain_in_group", -2),
    ],
)
def test_kip_1092_a_member_leaves_with_an_epoch_that_says_whether_it_will_return(
    instance_id: str | None, operation: GroupMembershipOperation, epoch: int | None
) -> None:
    member = joined(0, instance_id=instance_id)
    assert member.tells_that_it_leaves(operation) is (epoch is not None)
    assert epoch in (None, member.leave_epoch(operation))
    assert member.leave()
    assert member.state is EpochState.LEAVING
    member.left()
    assert member.state is EpochState.UNSUBSCRIBED


def test_a_member_that_never_joined_has_nothing_to_leave() -> None:
    assert not new_member().leave()


def test_a_member_without_polls_joins_with_the_next_one() -> None:
    member = joined(0)
    assert member.leave_unpolled("no poll")
    assert not member.sends_heartbeats
    assert member.polled()
    member.told_lost()
    assert member.state is EpochState.JOINING


def test_an_error_is_seen_before_the_member_joins_again() -> None:
    member = joined(0)
    assert member.fail("UNSUPPORTED_ASSIGNOR")
    assert not member.sends_heartbeats
    assert not member.join()
    assert member.polled()
    assert not member.polled()


def test_commits_are_in_the_name_of_the_newest_epoch() -> None:
    member = new_member()
    assert member.identity() == ("g", -1, "", None)
    assert "has not joined" in str(member.commit_failed())
    member = joined(0)
    assert member.identity() == ("g", 1, "m-1", None)
    member.answered(7, None)
    assert member.identity() == ("g", 7, "m-1", None)
    member.fence()
    assert member.identity() == ("g", -1, "m-1", None)
    assert "session timeout" in str(member.commit_failed())


def test_its_name_tells_group_epoch_and_state() -> None:
    assert repr(joined()) == "<Member m-1 of 'g', client 'client', epoch 1, STABLE>"
