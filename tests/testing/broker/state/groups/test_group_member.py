"""A member, and its answers."""

from typing import Any

from aiokafka_lite.testing.broker.state.groups.group_member import (
    GroupMember,
    JoinResult,
    SyncResult,
)
from tests.testing.broker.state.groups.served_groups import join_request


def member(**fields: Any) -> GroupMember:
    return GroupMember(
        **{
            "member_id": "m",
            "group_instance_id": None,
            "client_id": "c",
            "protocol_type": "consumer",
            "protocols": {"range": b"r", "sticky": b"s"},
            "session_timeout_ms": 1,
            "rebalance_timeout_ms": 2,
            **fields,
        }
    )


def test_an_answer_is_given_once() -> None:
    answers: list[JoinResult | SyncResult] = []
    waiting = member()
    waiting.await_join(answers.append)
    waiting.await_sync(answers.append)
    assert waiting.is_awaiting_join
    assert waiting.is_awaiting_sync
    assert waiting.answer_join(JoinResult("m"))
    assert waiting.answer_sync(SyncResult())
    assert answers == [JoinResult("m"), SyncResult()]
    assert not waiting.answer_join(JoinResult("m"))
    assert not waiting.answer_sync(SyncResult())
    assert len(answers) == 2


def test_who_waits_for_the_group_lives_unless_it_is_new() -> None:
    waiting = member(is_new=True)
    assert not waiting.has_satisfied_heartbeat
    waiting.await_join(lambda _: None)
    assert not waiting.has_satisfied_heartbeat
    waiting.is_new = False
    assert waiting.has_satisfied_heartbeat
    waiting.answer_join(JoinResult("m"))
    assert not waiting.has_satisfied_heartbeat


def test_the_order_of_protocols_is_part_of_them() -> None:
    assert member().matches({"range": b"r", "sticky": b"s"})
    assert not member().matches({"sticky": b"s", "range": b"r"})
    assert not member().matches({"range": b"r", "sticky": b"new"})


def test_a_vote_goes_to_the_first_candidate() -> None:
    assert member().vote({"sticky", "range"}) == "range"
    assert member().vote({"sticky", "other"}) == "sticky"


def test_a_rejoin_replaces_what_was_said_and_who_waits() -> None:
    first: list[JoinResult] = []
    second: list[JoinResult] = []
    rejoining = member()
    rejoining.await_join(first.append)
    request = join_request(protocols={"new": b""}, session_timeout_ms=7, rebalance_timeout_ms=8)
    rejoining.update(request, second.append)
    assert (rejoining.protocols, rejoining.session_timeout_ms) == ({"new": b""}, 7)
    assert rejoining.rebalance_timeout_ms == 8
    rejoining.answer_join(JoinResult("m"))
    assert (first, second) == ([], [JoinResult("m")])


def test_a_renamed_member_waits_for_nothing() -> None:
    old = member(group_instance_id="one", assignment=b"kept", is_new=True)
    old.await_join(lambda _: None)
    new = old.renamed("n")
    assert (new.member_id, new.assignment, new.is_static) == ("n", b"kept", True)
    assert not new.is_awaiting_join
    assert not new.is_new
    assert old.is_awaiting_join


def test_a_log_keeps_the_protocol_in_use_only() -> None:
    assert member().persisted("sticky").protocols == {"sticky": b"s"}
    assert member().persisted(None).protocols == {}
