"""A member goes through the states of 2e-1 and no other way; its ids survive what they should."""

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from aiokafka_lite.consumer.group.classic.member import (
    NO_GENERATION,
    Generation,
    Member,
    MemberState,
)
from aiokafka_lite.errors import (
    CommitFailedError,
    IllegalStateError,
    RebalanceInProgressError,
)

UNJOINED = MemberState.UNJOINED
PREPARING = MemberState.PREPARING_REBALANCE
COMPLETING = MemberState.COMPLETING_REBALANCE
STABLE = MemberState.STABLE

JOINED = Generation(5, "m-1", "range")

ids = st.sampled_from(["m-1", "m-2"])
reasons = st.sampled_from(["first", "second", "third"])


class AnyLife(RuleBasedStateMachine):
    """Any sequence of calls that the table 2e-1 allows, beside a model of what must come of it."""

    def __init__(self) -> None:
        super().__init__()
        self.member = Member("g", None)
        self.state = UNJOINED
        self.member_id = ""
        self.generation_id = -1
        self.reason: str | None = None

    @rule(reason=reasons)
    def a_rejoin_is_wanted(self, reason: str) -> None:
        self.member.request_rejoin(reason)
        self.reason = self.reason or reason

    @rule()
    def join_group_is_sent(self) -> None:
        assert self.member.begin_join() == (self.reason or "")
        self.state, self.reason = PREPARING, None

    @precondition(lambda self: self.state is PREPARING)
    @rule(member_id=ids)
    def member_id_required(self, member_id: str) -> None:
        self.member.take_member_id(member_id)
        self.state, self.member_id, self.generation_id = UNJOINED, member_id, -1

    @precondition(lambda self: self.state is PREPARING)
    @rule(member_id=ids, generation_id=st.integers(0, 9))
    def the_generation_forms(self, member_id: str, generation_id: int) -> None:
        self.member.joined(Generation(generation_id, member_id, "range"))
        self.state, self.member_id, self.generation_id = COMPLETING, member_id, generation_id

    @precondition(lambda self: self.state is COMPLETING)
    @rule()
    def the_assignment_comes(self) -> None:
        self.member.synced()
        self.state = STABLE

    @rule()
    def the_attempt_fails(self) -> None:
        self.member.join_failed()
        if self.state is not STABLE:
            self.state = UNJOINED

    @rule()
    def illegal_generation(self) -> None:
        self.member.lose_generation()
        self.state, self.generation_id = UNJOINED, -1

    @rule()
    def unknown_member_id(self) -> None:
        self.member.lose_membership()
        self.state, self.member_id, self.generation_id = UNJOINED, "", -1

    @precondition(lambda self: self.state is not PREPARING)
    @rule()
    def joining_without_a_request_is_refused_and_changes_nothing(self) -> None:
        with pytest.raises(IllegalStateError, match=f"while {self.state.name}"):
            self.member.joined(Generation(99, "stranger", "range"))

    @precondition(lambda self: self.state is not COMPLETING)
    @rule()
    def an_assignment_without_a_generation_is_refused(self) -> None:
        with pytest.raises(IllegalStateError, match=f"cannot go to STABLE while {self.state.name}"):
            self.member.synced()

    @invariant()
    def the_member_is_what_the_model_says(self) -> None:
        member = self.member
        assert member.state is self.state
        assert member.generation.member_id == self.member_id
        assert member.generation.generation_id == self.generation_id
        assert member.rejoin_reason == self.reason

    @invariant()
    def who_sends_heartbeats_has_a_generation(self) -> None:
        """A member that sends heartbeats has a generation (2e-4)."""
        member = self.member
        assert member.sends_heartbeats == (self.state in (COMPLETING, STABLE))
        assert member.generation.is_joined or not member.sends_heartbeats

    @invariant()
    def rebalancing_is_between_two_assignments(self) -> None:
        assert self.member.is_rebalancing == (self.state in (PREPARING, COMPLETING))


TestAnyLife = AnyLife.TestCase


def in_state(state: MemberState) -> Member:
    member = Member("g", None, "app")
    if state is not UNJOINED:
        member.begin_join()
    if state in (COMPLETING, STABLE):
        member.joined(JOINED)
    if state is STABLE:
        member.synced()
    return member


# From each state, the calls that lead somewhere and where (2e-1).
STEPS: dict[str, tuple[Any, dict[MemberState, MemberState]]] = {
    "begin_join": (Member.begin_join, dict.fromkeys(MemberState, PREPARING)),
    "joined": (lambda member: member.joined(JOINED), {PREPARING: COMPLETING}),
    "synced": (Member.synced, {COMPLETING: STABLE}),
    "join_failed": (
        Member.join_failed,
        {UNJOINED: UNJOINED, PREPARING: UNJOINED, COMPLETING: UNJOINED, STABLE: STABLE},
    ),
    "lose_generation": (Member.lose_generation, dict.fromkeys(MemberState, UNJOINED)),
    "lose_membership": (Member.lose_membership, dict.fromkeys(MemberState, UNJOINED)),
}


@pytest.mark.parametrize("state", MemberState, ids=lambda state: state.name)
@pytest.mark.parametrize("step", STEPS)
def test_2e_1_each_state_takes_each_step_or_refuses_it(state: MemberState, step: str) -> None:
    member = in_state(state)
    act, leads_to = STEPS[step]
    if state in leads_to:
        act(member)
        assert member.state is leads_to[state]
    else:
        before = member.generation
        with pytest.raises(IllegalStateError, match=f"while {state.name}"):
            act(member)
        assert member.state is state
        assert member.generation is before


def test_a_member_begins_without_id_and_generation() -> None:
    member = Member("g", None)
    assert member.generation is NO_GENERATION
    assert not member.generation.is_joined
    assert repr(member) == "<Member (no id) of 'g', client '', generation -1, UNJOINED>"


def test_a_member_in_a_generation_says_so() -> None:
    assert repr(in_state(STABLE)) == "<Member m-1 of 'g', client 'app', generation 5, STABLE>"


@pytest.mark.parametrize(("instance_id", "is_static"), [(None, False), ("i-1", True)])
def test_a_member_with_an_instance_id_is_static(instance_id: str | None, is_static: bool) -> None:
    """A member with an instance id is static (KIP-345)."""
    assert Member("g", instance_id).is_static is is_static


def test_2e_3_an_illegal_generation_keeps_the_member_id() -> None:
    member = in_state(STABLE)
    member.lose_generation()
    assert member.generation == Generation(-1, "m-1", None)


def test_2e_3_an_unknown_member_id_leaves_nothing() -> None:
    member = in_state(STABLE)
    member.lose_membership()
    assert member.generation is NO_GENERATION


def test_2e_3_a_failed_attempt_keeps_ids_and_generation() -> None:
    """LOAD_IN_PROGRESS and their like: "ids and generation are good"."""
    member = in_state(COMPLETING)
    member.join_failed()
    assert member.generation is JOINED


def test_kip_394_the_id_given_before_joining_is_kept_for_the_next_attempt() -> None:
    member = in_state(PREPARING)
    member.take_member_id("m-9")
    assert member.generation == Generation(-1, "m-9", None)
    member.begin_join()
    assert member.generation.member_id == "m-9"


def test_kip_800_the_first_reason_to_rejoin_is_told_once() -> None:
    member = Member("g", None)
    member.request_rejoin("topics changed")
    member.request_rejoin("the group rebalances")
    assert member.begin_join() == "topics changed"
    assert member.rejoin_reason is None


def test_a_reason_that_comes_while_joining_asks_for_another_join() -> None:
    member = in_state(PREPARING)
    member.request_rejoin("topics changed")
    member.joined(JOINED)
    member.synced()
    assert member.rejoin_reason == "topics changed"


# In whose name it commits…


def test_2e_12_a_commit_is_refused_without_a_generation_and_between_two_assignments() -> None:
    member = Member("g", None)
    for commits_from in (UNJOINED, PREPARING, COMPLETING, STABLE):
        member = in_state(commits_from)
        if commits_from is STABLE:
            member.check_may_commit()
            continue
        error = CommitFailedError if commits_from is UNJOINED else RebalanceInProgressError
        with pytest.raises(error, match="group 'g'"):
            member.check_may_commit()


def test_a_failed_commit_says_why_the_membership_was_lost_as_far_as_that_is_known() -> None:
    member = Member("g", None)
    assert "has not joined group 'g' yet" in str(member.commit_failed())
    member.begin_join()
    member.joined(Generation(1, "m-1", "range"))
    member.lose_membership()
    assert "after session_timeout_ms without a heartbeat" in str(member.commit_failed())
    member.why_lost = "it slept"
    assert str(member.commit_failed()).endswith("no longer owns the partitions: it slept")


def test_a_member_that_was_lost_commits_with_its_former_id_which_a_coordinator_refuses() -> None:
    member = in_state(STABLE)
    assert member.identity() == ("g", 5, "m-1", None)
    member.lose_membership()
    assert member.identity() == ("g", -1, "m-1", None)
