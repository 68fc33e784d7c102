"""ConsumerGroupHeartbeat: what the request's form decides, and where there are no such groups."""

from typing import Any

import pytest

from aiokafka_lite.errors import NotCoordinatorForGroupError
from aiokafka_lite.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from aiokafka_lite.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from aiokafka_lite.testing.broker.handlers import consumer_group_describe, consumer_group_heartbeat
from tests.testing.broker.bench import Bench


def beat(bench: Bench, version: int = 1, **fields: Any) -> ConsumerGroupHeartbeatResponse:
    whole: dict[str, Any] = {
        "group_id": "g",
        "member_id": "a",
        "member_epoch": 0,
        "rebalance_timeout_ms": 9000,
        "subscribed_topic_names": ["t", "u"],
        "topic_partitions": [],
    }
    request = ConsumerGroupHeartbeatRequest(**{**whole, **fields})
    return bench.ask(consumer_group_heartbeat.HANDLER, request, version)


def test_the_assignment_is_told_by_topic_ids() -> None:
    bench = Bench(group_consumer_heartbeat_interval_ms=70)
    topics = {bench.topic("t", 2).topic_id: [0, 1], bench.topic("u").topic_id: [0]}
    answer = beat(bench)
    assert (answer.error_code, answer.member_epoch, answer.heartbeat_interval_ms) == (0, 2, 70)
    assert answer.assignment is not None
    told = {each.topic_id: each.partitions for each in answer.assignment.topic_partitions}
    assert told == topics


@pytest.mark.parametrize(
    "options", [{"group_version": 0}, {"group_coordinator_rebalance_protocols": ["classic"]}]
)
def test_a_cluster_without_the_protocol_says_so(options: dict[str, Any]) -> None:
    bench = Bench(**options)
    assert beat(bench).error_code == 35
    asked = ConsumerGroupDescribeRequest(group_ids=["g"])
    assert bench.ask(consumer_group_describe.HANDLER, asked, 1).groups[0].error_code == 35


def test_another_node_coordinates() -> None:
    bench = Bench()
    bench.faults.fail(ConsumerGroupHeartbeatRequest, NotCoordinatorForGroupError)
    assert beat(bench).error_code == 16


@pytest.mark.parametrize(("version", "error"), [(0, 0), (1, 42)])
def test_only_the_first_version_lets_the_broker_make_the_id(version: int, error: int) -> None:
    answer = beat(Bench(), version, member_id="")
    assert (answer.error_code, bool(answer.member_id)) == (error, not error)
