"""JoinGroup: what is answered at once, and what waits."""

import asyncio
from typing import Any

import pytest

from aiokafka_lite.errors import GroupAuthorizationFailedError
from aiokafka_lite.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from aiokafka_lite.schema.message import Response
from aiokafka_lite.testing.broker.handler import Later
from aiokafka_lite.testing.broker.handlers import join_group
from aiokafka_lite.testing.fake_clock import settle
from tests.testing.broker.bench import Bench


def request_of(version: int, **fields: Any) -> JoinGroupRequest:
    return JoinGroupRequest(
        **{
            "group_id": "g",
            "rebalance_timeout_ms": 60_000 if version >= 1 else -1,
            "session_timeout_ms": 10_000,
            "member_id": "",
            "protocol_type": "consumer",
            "protocols": [
                JoinGroupRequestProtocol(name="range", metadata=b"r"),
                JoinGroupRequestProtocol(name="sticky", metadata=b"s"),
            ],
            **fields,
        }
    )


def join(bench: Bench, version: int = 3, **fields: Any) -> JoinGroupResponse:
    return bench.ask(join_group.HANDLER, request_of(version, **fields), version)


def join_later(bench: Bench, version: int = 3, **fields: Any) -> Later:
    answer = bench.serve(join_group.HANDLER, request_of(version, **fields), version)
    assert answer is not None
    assert not isinstance(answer, Response)
    return answer


@pytest.mark.parametrize("version", range(10))
def test_a_member_joins_in_each_version(version: int) -> None:
    bench = Bench()
    answer = join(bench, version)
    if version >= 4:
        assert (answer.error_code, answer.generation_id) == (79, -1)
        assert answer.protocol_name == (None if version >= 7 else "")
        answer = join(bench, version, member_id=answer.member_id)
    assert (answer.error_code, answer.generation_id, answer.protocol_name) == (0, 1, "range")
    assert answer.leader == answer.member_id
    assert answer.member_id.startswith("me-")
    assert answer.protocol_type == ("consumer" if version >= 7 else None)
    assert [(m.member_id, m.metadata) for m in answer.members] == [(answer.member_id, b"r")]


async def test_an_answer_comes_when_the_group_has_joined() -> None:
    bench = Bench()
    first = join(bench).member_id
    second = asyncio.ensure_future(join_later(bench)())
    await settle()
    assert not second.done()
    answer = join(bench, member_id=first)
    assert (answer.generation_id, len(answer.members)) == (2, 2)
    late = await second
    assert isinstance(late, JoinGroupResponse)
    assert (late.generation_id, late.leader, late.members) == (2, first, [])


async def test_who_has_gone_while_it_waited_stays_a_member_until_its_session_ends() -> None:
    """As in Apache Kafka, which does not see the connection go."""
    bench = Bench()
    first = join(bench).member_id
    waiter = asyncio.ensure_future(join_later(bench)())
    await settle()
    waiter.cancel()
    await asyncio.wait([waiter])
    assert len(bench.groups.view("g").members) == 2
    assert join(bench, member_id=first).generation_id == 2
    await bench.clock.advance(10)
    assert bench.groups.view("g").members == {}


async def test_the_rebalance_timeout_of_version_0_is_the_sessions() -> None:
    bench = Bench()
    join(bench, 0)
    second = asyncio.ensure_future(join_later(bench, 0)())
    await bench.clock.advance(10)
    late = await second
    assert isinstance(late, JoinGroupResponse)
    assert late.leader == late.member_id


def test_a_static_leader_that_comes_back_may_skip_the_assignment_from_version_9_on() -> None:
    """From version 9 a static leader that comes back is told to skip the assignment (KIP-814)."""
    for version, skips in ((8, False), (9, True)):
        bench = Bench()
        first = join(bench, version, group_instance_id="one").member_id
        membership = bench.groups.find_or_create("g").membership
        membership.sync(first, "one", 1, {}, lambda _: None)
        answer = join(bench, version, group_instance_id="one")
        assert (answer.error_code, answer.skip_assignment, len(answer.members)) == (0, skips, skips)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"group_id": ""}, 24),
        ({"session_timeout_ms": 5_999}, 26),
        ({"member_id": "unknown"}, 25),
        ({"protocols": []}, 23),
    ],
)
def test_what_is_refused_at_once(fields: dict[str, Any], code: int) -> None:
    answer = join(Bench(), 9, **fields)
    assert (answer.error_code, answer.member_id) == (code, fields.get("member_id", ""))
    assert (answer.protocol_name, answer.leader, answer.members) == (None, "", [])


def test_a_join_that_is_refused_makes_no_group() -> None:
    bench = Bench(group_min_session_timeout_ms=20_000)
    assert join(bench).error_code == 26
    assert bench.groups.view("g").state == "Dead"


def test_another_node_and_a_fault() -> None:
    bench = Bench(2)
    bench.groups.nodes.move("g", 2)
    assert join(bench).error_code == 16
    bench.groups.nodes.move("g", 1)
    bench.faults.fail(JoinGroupRequest, GroupAuthorizationFailedError)
    assert join(bench, member_id="m").error_code == 30
    assert join(bench).error_code == 0
