"""Heartbeat: errors of the coordinator, of the group, of faults."""

from typing import Any

import pytest

from aiokafka_lite.errors import GroupLoadInProgressError
from aiokafka_lite.protocol.messages.heartbeat import HeartbeatRequest
from aiokafka_lite.testing.broker.handlers import heartbeat
from tests.testing.broker.bench import Bench
from tests.testing.broker.state.groups.served_groups import join_request


def beat(bench: Bench, version: int = 4, node_id: int = 1, **fields: Any) -> int:
    request = HeartbeatRequest(**{"group_id": "g", "generation_id": 1, "member_id": "m", **fields})
    return bench.ask(heartbeat.HANDLER, request, version, node_id).error_code


@pytest.mark.parametrize("version", range(5))
def test_a_member_lives(version: int) -> None:
    bench = Bench()
    group = bench.groups.find_or_create("g")
    group.membership.join(join_request(), lambda _: None)
    (member_id,) = group.membership.group.members
    assert beat(bench, version, member_id=member_id) == 0
    assert beat(bench, version, member_id=member_id, generation_id=0) == 22


def test_what_is_refused() -> None:
    bench = Bench(2)
    bench.groups.nodes.move("g", 2)
    assert beat(bench) == 16
    assert beat(bench, node_id=2) == 25
    assert beat(bench, group_id="") == 24
    bench.groups.nodes.move("g", None)
    assert beat(bench) == 15
    bench.faults.fail(HeartbeatRequest, GroupLoadInProgressError)
    assert beat(bench) == 14
