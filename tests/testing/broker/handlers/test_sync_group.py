"""SyncGroup: the leader's assignment, and who waits for it."""

import asyncio
from typing import Any

import pytest

from aiokafka_lite.errors import GroupLoadInProgressError
from aiokafka_lite.protocol.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from aiokafka_lite.schema.message import Response
from aiokafka_lite.testing.broker.handlers import sync_group
from aiokafka_lite.testing.fake_clock import settle
from tests.testing.broker.bench import Bench
from tests.testing.broker.state.groups.served_groups import join_request


def request_of(member_id: str, version: int, **fields: Any) -> SyncGroupRequest:
    names = {"protocol_type": "consumer", "protocol_name": "range"} if version >= 5 else {}
    return SyncGroupRequest(
        **{"group_id": "g", "generation_id": 1, "member_id": member_id, **names, **fields}
    )


def joined(bench: Bench) -> str:
    membership = bench.groups.find_or_create("g").membership
    membership.join(join_request(), lambda _: None)
    return list(membership.group.members)[-1]


@pytest.mark.parametrize("version", range(6))
def test_the_leader_brings_the_assignment(version: int) -> None:
    bench = Bench()
    leader = joined(bench)
    given = [SyncGroupRequestAssignment(member_id=leader, assignment=b"a")]
    request = request_of(leader, version, assignments=given)
    answer = bench.ask(sync_group.HANDLER, request, version)
    assert (answer.error_code, answer.assignment) == (0, b"a")
    assert answer.protocol_name == ("range" if version >= 5 else None)
    assert bench.groups.view("g").members[leader].assignment == b"a"


async def test_a_follower_waits_for_the_leader() -> None:
    bench = Bench()
    leader, membership = joined(bench), bench.groups.find_or_create("g").membership
    follower = joined(bench)
    membership.join(join_request(member_id=leader), lambda _: None)
    waiting = bench.serve(sync_group.HANDLER, request_of(follower, 5, generation_id=2), 5)
    assert waiting is not None
    assert not isinstance(waiting, Response)
    answer = asyncio.ensure_future(waiting())
    await settle()
    assert not answer.done()
    given = [SyncGroupRequestAssignment(member_id=follower, assignment=b"f")]
    request = request_of(leader, 5, generation_id=2, assignments=given)
    assert bench.ask(sync_group.HANDLER, request, 5).assignment == b""
    assert await answer == SyncGroupResponse(
        protocol_type="consumer", protocol_name="range", assignment=b"f"
    )


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"group_id": ""}, 24),
        ({"group_id": "unknown"}, 25),
        ({"member_id": "unknown"}, 25),
        ({"generation_id": 9}, 22),
        ({"protocol_name": "sticky"}, 23),
        ({"protocol_name": None}, 23),
        ({"protocol_type": None}, 23),
    ],
)
def test_what_is_refused(fields: dict[str, Any], code: int) -> None:
    """SyncGroup refuses what does not fit the group, such as another protocol (KIP-559)."""
    bench = Bench()
    request = request_of(joined(bench), 5, **{k: v for k, v in fields.items() if k != "member_id"})
    request.member_id = fields.get("member_id", request.member_id)
    answer = bench.ask(sync_group.HANDLER, request, 5)
    assert (answer.error_code, answer.assignment, answer.protocol_name) == (code, b"", None)


def test_another_node_and_a_fault() -> None:
    bench = Bench(2)
    bench.groups.nodes.move("g", 2)
    assert bench.ask(sync_group.HANDLER, request_of("m", 5), 5).error_code == 16
    bench.faults.fail(SyncGroupRequest, GroupLoadInProgressError)
    assert bench.ask(sync_group.HANDLER, request_of("m", 5), 5).error_code == 14
