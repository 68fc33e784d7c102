"""ShareFetch: waiting, leaders, bounds of a request, and injected errors."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest

from aiokafka_lite.errors import (
    InvalidRecordStateError,
    NotLeaderForPartitionError,
    ShareSessionNotFoundError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.share_fetch import ShareFetchRequest, ShareFetchResponse
from aiokafka_lite.testing.broker.handlers import share_fetch
from tests.testing.broker.bench import batch
from tests.testing.broker.share_bench import ACCEPT, RELEASE, ShareBench, acquired


async def waiting(bench: ShareBench, **fields: Any) -> "asyncio.Task[ShareFetchResponse]":
    """A fetch of "a" that has begun to wait."""
    later = bench.serve(share_fetch.HANDLER, bench.request(max_wait_ms=500, **fields), 2)
    assert callable(later)

    async def answer() -> ShareFetchResponse:
        response: Awaitable[Any] = later()
        found = await response
        assert isinstance(found, ShareFetchResponse)
        return found

    task = asyncio.create_task(answer())
    await asyncio.sleep(0)
    assert not task.done()
    bench.epochs["a"] = bench.epochs.get("a", 0) + 1
    return task


async def test_new_records_end_the_wait() -> None:
    bench = ShareBench(records=0)
    task = await waiting(bench)
    bench.read.partitions[0].append(batch(b"1", b"2"))
    assert acquired(await task) == {0: [(0, 1, 1)]}


async def test_released_records_end_the_wait() -> None:
    bench = ShareBench()
    bench.acquire("b")
    task = await waiting(bench)
    bench.acknowledge((1, 1, RELEASE), member_id="b")
    assert acquired(await task) == {0: [(1, 1, 2)]}


async def test_the_time_of_a_fetch_ends_the_wait() -> None:
    bench = ShareBench(records=0)
    task = await waiting(bench)
    await bench.clock.advance(0.5)
    answer = await task
    assert (answer.error_code, acquired(answer)) == (0, {})
    assert [len(topic.partitions) for topic in answer.responses] == [1]


async def test_a_fetch_waits_for_enough_bytes() -> None:
    bench = ShareBench(records=1)
    task = await waiting(bench, min_bytes=100)
    bench.read.partitions[0].append(batch(b"x" * 100))
    assert acquired(await task) == {0: [(0, 1, 1)]}


async def test_a_cancelled_wait_leaves_nothing_behind() -> None:
    bench = ShareBench(records=0)
    task = await waiting(bench)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    bench.read.partitions[0].append(batch(b"1"))
    assert bench.acquire("b") == {0: [(0, 0, 1)]}


async def test_a_leader_that_moves_ends_the_wait_and_is_named() -> None:
    bench = ShareBench(records=0, nodes=2)
    task = await waiting(bench)
    bench.cluster.move_leader(TopicPartition("t", 0), 2)
    answer = await task
    (data,) = answer.responses[0].partitions
    assert data.error_code == 6
    assert (data.current_leader.leader_id, data.current_leader.leader_epoch) == (2, 1)
    assert [(each.node_id, each.port) for each in answer.node_endpoints] == [(2, 9002)]


def test_what_was_acquired_is_released_when_the_leader_moves() -> None:
    bench = ShareBench(nodes=2)
    assert bench.acquire() == {0: [(0, 2, 1)]}
    bench.cluster.move_leader(TopicPartition("t", 0), 2)
    answer = bench.ask(share_fetch.HANDLER, bench.request("b"), 2, 2)
    assert acquired(answer) == {0: [(0, 2, 1)]}


@pytest.mark.parametrize(
    ("error", "codes"),
    [
        (ShareSessionNotFoundError, (122, None)),
        (NotLeaderForPartitionError, (0, (6, 6))),
        (InvalidRecordStateError, (0, (0, 121))),
    ],
)
def test_injected_errors_stand_where_kafka_has_them(error: Any, codes: Any) -> None:
    bench = ShareBench()
    bench.acquire()
    bench.faults.fail(ShareFetchRequest, error)
    answer = bench.fetch(acks={0: [(0, 0, [ACCEPT])]})
    told = [
        (data.error_code, data.acknowledge_error_code)
        for topic in answer.responses
        for data in topic.partitions
    ]
    assert (answer.error_code, told[0] if told else None) == codes


def test_an_error_of_acknowledgements_waits_for_one() -> None:
    bench = ShareBench()
    bench.faults.fail(ShareFetchRequest, InvalidRecordStateError)
    assert bench.acquire() == {0: [(0, 2, 1)]}
    (topic,) = bench.fetch(acks={0: [(0, 0, [ACCEPT])]}).responses
    assert topic.partitions[0].acknowledge_error_code == 121


def test_records_are_damaged_on_request() -> None:
    bench = ShareBench()

    bench.faults.corrupt(("t", 0), api="ShareFetch")
    (topic,) = bench.fetch().responses
    stored = b"".join(each.data for each in bench.read.partitions[0].log.batches())
    assert bytes(topic.partitions[0].records or b"") != stored


def test_a_node_has_a_limit_of_sessions() -> None:
    bench = ShareBench()
    bench.nodes[1].share_sessions._slots = 1
    bench.acquire()
    assert bench.fetch("b").error_code == 133
    bench.epochs["a"] = 0
    assert bench.fetch("a").error_code == 0
