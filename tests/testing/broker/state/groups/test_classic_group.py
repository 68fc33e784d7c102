"""A group as data."""

from typing import Any

import pytest

from aiokafka_lite.errors import FencedInstanceIdError, IllegalStateError, UnknownMemberIdError
from aiokafka_lite.protocol.consumer_protocol import ConsumerProtocolMemberMetadata
from aiokafka_lite.testing.broker.state.groups.classic_group import (
    TRANSITIONS,
    ClassicGroup,
    GroupState,
)
from aiokafka_lite.testing.broker.state.groups.group_member import JoinedMember
from tests.testing.broker.state.groups.test_group_member import member


def group_of(*members: Any) -> ClassicGroup:
    group = ClassicGroup("g")
    for entry in members:
        group.add(entry)
    return group


def joining(*names: str, **fields: Any) -> ClassicGroup:
    """A group in its join phase whose members all wait."""
    group = group_of(*(member(member_id=name, **fields) for name in names))
    for entry in group.members.values():
        entry.await_join(lambda _: None)
    group.transition_to(GroupState.PREPARING_REBALANCE)
    return group


def test_states_have_kafkas_names() -> None:
    assert GroupState.PREPARING_REBALANCE == "PreparingRebalance"
    assert repr(ClassicGroup("g")) == "<ClassicGroup g Empty generation 0 0 members>"


def test_only_steps_of_the_table_are_taken() -> None:
    assert TRANSITIONS.keys() == set(GroupState)
    group = ClassicGroup("g")
    with pytest.raises(IllegalStateError, match="cannot become Stable while Empty"):
        group.transition_to(GroupState.STABLE)
    group.transition_to(GroupState.PREPARING_REBALANCE)
    assert group.previous_state is GroupState.EMPTY


def test_the_first_member_leads_and_sets_the_type() -> None:
    group = group_of(member(member_id="a", protocol_type="connect"), member(member_id="b"))
    assert (group.leader, group.protocol_type) == ("a", "connect")
    group.remove("a")
    assert group.leader == "b"
    group.remove("b")
    assert group.leader is None
    assert group.leader_or_empty() == ""


def test_an_id_given_out_is_used_up_by_joining_or_leaving() -> None:
    group = ClassicGroup("g")
    group.pending_members |= {"a", "b"}
    assert not group.has_all_joined
    group.remove("a")
    group.add(member(member_id="b"))
    assert group.pending_members == set()


def test_members_are_checked_by_id_and_by_name() -> None:
    group = group_of(member(), member(member_id="s", group_instance_id="one"))
    assert group.check_member("m", None).member_id == "m"
    assert group.check_member("s", "one").member_id == "s"
    with pytest.raises(UnknownMemberIdError):
        group.check_member("x", None)
    with pytest.raises(UnknownMemberIdError):
        group.check_member("m", "two")
    with pytest.raises(FencedInstanceIdError):
        group.check_member("m", "one")


def test_a_static_member_that_comes_back_keeps_its_place() -> None:
    """A static member that comes back keeps its place in the group (KIP-345)."""
    group = group_of(member(member_id="s", group_instance_id="one", assignment=b"kept"))
    old, new = group.replace_static("one", "t")
    assert (old.member_id, new.member_id, new.assignment) == ("s", "t", b"kept")
    assert (group.leader, group.static_member_id("one")) == ("t", "t")
    assert list(group.members) == ["t"]
    group.remove("t")
    assert group.static_member_id("one") is None


def test_protocols_must_have_something_in_common() -> None:
    group = ClassicGroup("g")
    assert group.supports("consumer", ["anything"])
    assert not group.supports("", ["anything"])
    assert not group.supports("consumer", [])
    group = joining("a")
    assert group.supports("consumer", ["other", "sticky"])
    assert not group.supports("consumer", ["other"])
    assert not group.supports("connect", ["sticky"])
    group.remove("a")
    assert group.supports("consumer", ["other"])
    assert not group.supports("consumer", [])


def test_most_votes_win_and_the_eldest_break_ties() -> None:
    prefers_sticky = {"sticky": b"", "range": b""}
    group = group_of(
        member(member_id="a"),
        member(member_id="b", protocols=prefers_sticky),
    )
    assert group.select_protocol() == "range"
    group.add(member(member_id="c", protocols={"only": b"", **prefers_sticky}))
    assert group.select_protocol() == "sticky"


def test_who_has_rejoined_may_lead() -> None:
    group = group_of(member(member_id="a"), member(member_id="b"))
    assert not group.elect_joined_leader()
    group.members["b"].await_join(lambda _: None)
    assert group.elect_joined_leader()
    assert group.leader == "b"
    assert group.elect_joined_leader()
    assert not ClassicGroup("g").elect_joined_leader()


def test_a_generation_has_a_protocol_or_no_members() -> None:
    group = joining("a", "b")
    group.pending_sync.add("old")
    group.start_generation()
    assert (group.generation_id, group.protocol_name) == (1, "range")
    assert (group.state, group.pending_sync) == (GroupState.COMPLETING_REBALANCE, set())
    assert group.joined_members() == [
        JoinedMember("a", None, b"r"),
        JoinedMember("b", None, b"r"),
    ]
    empty = joining()
    empty.start_generation()
    assert (empty.state, empty.generation_id, empty.protocol_name) == (GroupState.EMPTY, 1, None)


def test_the_longest_rebalance_timeout_counts() -> None:
    assert ClassicGroup("g").rebalance_timeout_ms == 0
    group = group_of(
        member(member_id="a", rebalance_timeout_ms=5), member(member_id="b", rebalance_timeout_ms=9)
    )
    assert group.rebalance_timeout_ms == 9


def test_what_a_log_keeps() -> None:
    group = joining("a", "b")
    group.leader = "b"
    group.start_generation()
    kept = group.persisted()
    assert (kept.state, kept.generation_id, kept.leader) == (GroupState.STABLE, 1, "b")
    assert (kept.protocol_type, kept.protocol_name) == ("consumer", "range")
    assert not kept.members["a"].is_awaiting_join
    kept.remove("a")
    assert list(group.members) == ["a", "b"]
    assert ClassicGroup("g").persisted().state is GroupState.EMPTY


def test_the_topics_that_consumers_subscribe_to() -> None:
    protocols = {"range": ConsumerProtocolMemberMetadata(0, ["t"], None).encode()}
    group = joining("a", protocols=protocols)
    group.start_generation()
    assert (group.subscribes_to("t"), group.subscribes_to("u")) == (True, False)
    unreadable = joining("a", protocols={"range": b"x"})
    unreadable.start_generation()
    assert unreadable.subscribes_to("u")
    others = joining("a", protocols=protocols, protocol_type="connect")
    others.start_generation()
    assert not others.is_of_consumers
    assert not others.subscribes_to("t")
    assert not ClassicGroup("g").subscribes_to("t")
