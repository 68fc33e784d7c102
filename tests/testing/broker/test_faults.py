"""Faults: which request they hit, how often, and how to end them."""

import asyncio

import pytest

from aiokafka_lite.errors import (
    BrokerResponseError,
    KafkaStorageError,
    NotLeaderForPartitionError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.testing.broker.faults import FaultPlan, Faults, InjectedErrors

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)


def error_in(injected: InjectedErrors, where: TopicPartition | None = None) -> int:
    try:
        injected.raise_for(where)
    except BrokerResponseError as error:
        return error.errno
    return 0


def plan(faults: Faults, api: int = ApiKey.FETCH, node_id: int = 1) -> FaultPlan:
    found = faults.plan(api, node_id)
    return FaultPlan(InjectedErrors([])) if found is None else found


def fetch_error(faults: Faults, where: TopicPartition | None = None, node_id: int = 1) -> int:
    return error_in(plan(faults, node_id=node_id).injected, where)


def test_without_faults_there_is_no_plan() -> None:
    assert Faults().plan(ApiKey.FETCH, 1) is None


def test_a_failure_hits_its_api_so_many_times() -> None:
    faults = Faults()
    faults.fail(FetchRequest, NotLeaderForPartitionError, times=2)
    assert plan(faults, ApiKey.PRODUCE).injected is not None
    assert [fetch_error(faults) for _ in range(3)] == [6, 6, 0]


def test_apis_and_errors_are_given_by_type_or_by_number() -> None:
    faults = Faults()
    faults.fail(ApiKey.FETCH, 6)
    faults.fail(FetchRequest, KafkaStorageError)
    assert [fetch_error(faults) for _ in range(3)] == [6, 56, 0]


def test_one_request_uses_a_failure_once_for_all_its_partitions() -> None:
    faults = Faults()
    faults.fail(FetchRequest, 6)
    injected = plan(faults).injected
    assert [error_in(injected, where) for where in (P0, P1, None)] == [6, 6, 6]
    assert fetch_error(faults, P0) == 0


def test_a_failure_of_a_partition_waits_for_that_partition() -> None:
    faults = Faults()
    faults.fail(FetchRequest, 6, topic_partition=("t", 1))
    assert [fetch_error(faults, where) for where in (P0, None, P1, P1)] == [0, 0, 6, 0]


def test_a_failure_of_a_node_spares_the_others() -> None:
    faults = Faults()
    faults.fail(FetchRequest, 6, node_id=2)
    assert [fetch_error(faults, node_id=node) for node in (1, 2, 2)] == [0, 6, 0]


def test_a_failure_without_an_end_lasts_until_clear() -> None:
    faults = Faults()
    faults.fail(FetchRequest, 6, times=None)
    assert [fetch_error(faults) for _ in range(50)] == [6] * 50
    faults.clear()
    assert fetch_error(faults) == 0


def test_two_requests_at_once_do_not_share_the_last_failure() -> None:
    faults = Faults()
    faults.fail(FetchRequest, 6)
    first, second = plan(faults).injected, plan(faults).injected
    assert [error_in(first), error_in(second), error_in(first)] == [6, 0, 6]


def test_among_leaves_other_failures_for_another_place() -> None:
    faults = Faults()
    faults.fail(FetchRequest, 6)
    injected = plan(faults).injected
    injected.raise_for(among=(70,))
    assert error_in(injected) == 6


def test_each_kind_of_trouble_is_planned_once_per_request() -> None:
    faults = Faults()
    faults.cut(FetchRequest, after_bytes=7, times=2)
    faults.cut(FetchRequest, after_bytes=9)
    faults.delay(FetchRequest, 1.5)
    faults.throttle(FetchRequest, 250)
    faults.drop(FetchRequest)
    first, second, third, fourth = (plan(faults) for _ in range(4))
    assert (first.cut_after_bytes, first.delay_s, first.throttle_time_ms) == (7, 1.5, 250)
    assert first.is_silent
    assert (second.cut_after_bytes, second.delay_s, second.is_silent) == (7, 0.0, False)
    assert third.cut_after_bytes == 9
    assert fourth.cut_after_bytes is None


def test_corruption_waits_for_its_partition() -> None:
    faults = Faults()
    faults.corrupt(("t", 1))
    assert not plan(faults).injected.corrupts(P0)
    assert plan(faults).injected.corrupts(P1)
    assert not plan(faults).injected.corrupts(P1)


async def test_stalled_requests_go_on_after_release_and_later_ones_are_not_stalled() -> None:
    faults = Faults()
    faults.stall(FetchRequest, times=2)
    held = [plan(faults).stall, plan(faults).stall]
    assert plan(faults).stall is None
    faults.stall(ProduceRequest)
    assert [event is not None and event.is_set() for event in held] == [False, False]
    faults.release()
    for event in held:
        assert event is not None
        await asyncio.wait_for(event.wait(), 30)
    assert plan(faults, ApiKey.PRODUCE).stall is None


def test_release_runs_where_it_is_told_to() -> None:
    faults = Faults()
    ran: list[object] = []
    faults.run_in(ran.append)
    faults.release()
    assert len(ran) == 1


def test_impossible_values_are_refused() -> None:
    faults = Faults()
    with pytest.raises(ValueError, match=r"times must be 1 or more, or None.*got 0"):
        faults.fail(FetchRequest, 6, times=0)
    with pytest.raises(ValueError, match="after_bytes must be 0 or more, got -1"):
        faults.cut(FetchRequest, after_bytes=-1)
    with pytest.raises(ValueError, match="seconds must be 0 or more, got -1"):
        faults.delay(FetchRequest, -1)
