"""The fetches on their way: planned without waiting, one per node, awaited by their own loop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.concurrency.task_owner import OwnerState
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.fetch.fetch_buffer import FetchBuffer
from aiokafka_lite.consumer.fetch.fetcher import Fetcher
from aiokafka_lite.consumer.fetch.node_fetcher import close_fetches
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.consumer.position.subscription_state import SubscriptionState
from aiokafka_lite.errors import InvalidFetchSessionEpoch, KafkaError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.fetch import FetchRequest, FetchResponse
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock, settle
from tests.consumer.batches import tps
from tests.scenarios.consuming import embedded, fill
from tests.support.patience import eventually

P0, P1 = tps(0, 1)


class Bench:
    """A fetcher over a running client; partitions stand at offset 0."""

    def __init__(self, broker: EmbeddedBroker, *partitions: TopicPartition, **options: Any) -> None:
        clock = options.pop("clock", None)
        config = ConsumerConfig(
            bootstrap_servers=broker.bootstrap_servers, **{"fetch_max_wait_ms": 100, **options}
        )
        self.client = KafkaClient(config, **({"clock": clock} if clock else {}))
        self.client.metadata.set_topics({tp.topic for tp in partitions})
        self.subscription = SubscriptionState(None)
        self.subscription.assign_from_user(partitions)
        for tp in partitions:
            self.subscription.seek(tp, 0)
        self.buffer = FetchBuffer(self.subscription.revision)
        self.signal = PollSignal(self.client.clock)
        self.fetcher = Fetcher(config, self.client, self.subscription, self.buffer, self.signal)

    async def news(self) -> None:
        await asyncio.wait_for(self.signal.wait(), 30)

    async def close(self) -> None:
        nodes, ends = self.fetcher.stop()
        await close_fetches(nodes, ends, self.client, 1.0)


@asynccontextmanager
async def fetching(
    broker: EmbeddedBroker, *partitions: TopicPartition, **options: Any
) -> AsyncIterator[Bench]:
    bench = Bench(broker, *partitions, **options)
    await bench.client.start()
    try:
        yield bench
    finally:
        await bench.close()
        await bench.client.close()


async def test_a10_a_node_gets_one_fetch_at_a_time_however_often_it_is_allowed() -> None:
    async with embedded({"t": 1}) as broker, fetching(broker, P0) as bench:
        fill(broker, P0, 1)
        for _ in range(3):
            bench.fetcher.start_fetches()
        assert len(bench.fetcher.pending_fetches) == 1
        await bench.news()
        assert len(broker.requests_of(FetchRequest)) == 1
        assert [fetch.topic_partition for fetch in bench.buffer] == [P0]


async def test_a1_a_loop_starts_no_round_by_itself() -> None:
    async with embedded({"t": 1}) as broker, fetching(broker, P0, fetch_max_wait_ms=1) as bench:
        bench.fetcher.start_fetches()
        await bench.news()
        await settle()
        assert bench.fetcher.pending_fetches == frozenset()
        assert len(broker.requests_of(FetchRequest)) == 1


async def test_a2_the_round_is_planned_at_once_with_the_offset_of_that_moment() -> None:
    async with embedded({"t": 1}) as broker, fetching(broker, P0) as bench:
        bench.fetcher.start_fetches()
        (planned,) = bench.fetcher.pending_fetches
        assert planned.request.topics[0].partitions[0].fetch_offset == 0
        assert broker.requests_of(FetchRequest) == []


async def test_a2_over_a_connection_that_is_there_a_fetch_leaves_in_the_call_that_plans_it() -> (
    None
):
    """What the poll planned is sent as it stands (A2)."""
    async with embedded({"t": 1}) as broker, fetching(broker, P0) as bench:
        fill(broker, P0, 1, 1)
        bench.fetcher.start_fetches()
        await bench.news()
        (fetch,) = bench.buffer
        fetch.take(1)
        bench.buffer.remove(fetch)
        bench.subscription.seek(P0, 1)
        connection = bench.client.network._pool.connected(1, Lane.FETCH)
        assert connection is not None
        assert connection.in_flight == 0
        bench.fetcher.start_fetches()
        assert connection.in_flight == 1
        bench.subscription.seek(P0, 0)
        bench.subscription.seek(P0, 1)
        await bench.news()
        assert [fetch.fetch_offset for fetch in bench.buffer] == [1]


async def test_a_lone_record_crosses_without_an_object_for_each_part_of_a_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The second request still names both partitions, which the first one has moved."""
    async with embedded({"t": 2}) as broker, fetching(broker, P0, P1) as bench:
        fill(broker, P0, 1)
        fill(broker, P1, 1)

        async def take_one() -> int:
            bench.fetcher.start_fetches()
            await bench.news()
            for fetch in list(bench.buffer):
                (record,) = fetch.take(9)
                bench.buffer.remove(fetch)
                bench.subscription.seek(fetch.topic_partition, record.offset + 1)
            return record.offset

        await take_one()
        fill(broker, P1, 1)
        await take_one()
        with monkeypatch.context() as patched:
            patched.setattr(FetchRequest, "encode", refused)
            patched.setattr(FetchResponse, "decode", refused)
            for offset in range(2, 5):
                fill(broker, P1, 1)
                assert await take_one() == offset


def refused(*_: object) -> None:
    raise AssertionError("a message was made")


class Broken:
    """In the place of the part that takes responses in."""

    def handle(self, *_: object) -> None:
        raise ZeroDivisionError


@pytest.mark.parametrize("is_connected", [False, True])
async def test_a_bug_in_the_use_of_an_answer_ends_the_client_and_not_the_connection(
    is_connected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with embedded({"t": 1}) as broker, fetching(broker, P0) as bench:
        failed = asyncio.Event()
        bench.client.owner.add_failure_callback(lambda *_: failed.set())
        if is_connected:
            bench.fetcher.start_fetches()
            await bench.news()
        monkeypatch.setattr(bench.fetcher, "_handler", Broken())
        bench.fetcher.start_fetches()
        async with asyncio.timeout(30):
            await failed.wait()
        with pytest.raises(KafkaError) as caught:
            bench.client.check()
        assert isinstance(caught.value.__cause__, ZeroDivisionError)


async def test_an_error_that_is_none_of_kafkas_ends_the_client() -> None:
    async with embedded({"t": 1}) as broker, fetching(broker, P0) as bench:
        bench.fetcher.start_fetches()
        (fetch,) = bench.fetcher.pending_fetches
        fetch.fail(RuntimeError("a bug of ours"))
        async with asyncio.timeout(30):
            while bench.client.owner.state is OwnerState.RUNNING:
                await asyncio.sleep(0)
        with pytest.raises(KafkaError) as caught:
            bench.client.check()
        assert isinstance(caught.value.__cause__, RuntimeError)


async def test_each_round_is_awaited_by_the_task_of_its_node() -> None:
    """It is there between rounds, and a round that is over has ended it with no error."""
    async with embedded({"t": 1}) as broker, fetching(broker, P0) as bench:
        for number in range(3):
            fill(broker, P0, 1)
            bench.fetcher.start_fetches()
            (fetch,) = bench.fetcher.pending_fetches
            await bench.news()
            await settle()
            assert fetch.is_over
            assert [c.name for c in bench.client.owner.children].count("fetch[1]") == 1
            bench.buffer.discard(lambda _tp: True)
            bench.subscription.seek(P0, number + 1)


async def test_an_answer_that_comes_after_the_end_is_dropped() -> None:
    async with embedded({"t": 1}) as broker, fetching(broker, P0) as bench:
        bench.fetcher.start_fetches()
        await bench.news()
        bench.fetcher.start_fetches()
        await bench.close()
        fill(broker, P0, 1)
        connection = bench.client.network._pool.connected(1, Lane.FETCH)
        assert connection is not None
        await eventually(lambda: not connection.in_flight)
        assert len(bench.buffer) == 0


async def test_looking_again_without_a_change_plans_nothing_anew() -> None:
    async with embedded({"t": 1}) as broker, fetching(broker, P0) as bench:
        fill(broker, P0, 1)
        bench.fetcher.start_fetches()
        await bench.news()
        for _ in range(3):
            bench.fetcher.start_fetches()
            assert bench.fetcher.pending_fetches == frozenset()
        bench.subscription.seek(P0, 1)
        bench.buffer.discard(lambda _tp: True)
        bench.fetcher.start_fetches()
        assert len(bench.fetcher.pending_fetches) == 1


async def test_a_refused_answer_is_asked_again_at_once_and_only_then_with_backoff() -> None:
    async with embedded({"t": 1}) as broker:
        clock = FakeClock()
        async with fetching(broker, P0, clock=clock) as bench:
            broker.faults.fail(FetchRequest, InvalidFetchSessionEpoch, times=None)
            for expected_delay_s in (0.0, 0.1, 0.2):
                assert bench.fetcher.start_fetches() is None
                await bench.news()
                delay_s = bench.fetcher.fetch_delay(1)
                assert delay_s is not None
                assert 0.79 * expected_delay_s <= delay_s <= 1.21 * expected_delay_s
                await clock.advance(delay_s)
            broker.faults.clear()


async def test_2b_8_a_fetch_that_failed_is_over_and_repeated_after_a_growing_backoff() -> None:
    async with embedded({"t": 1}) as broker:
        clock = FakeClock()
        async with fetching(broker, P0, clock=clock, reconnect_backoff_ms=1) as bench:
            for answer, expected_delay_s in (
                *(("lost", 0.1), ("lost", 0.2), ("lost", 0.4)),
                *(("good", 0.0), ("lost", 0.1)),
            ):
                if answer == "lost":
                    broker.faults.cut(FetchRequest)
                else:
                    fill(broker, P0, 1)
                bench.fetcher.start_fetches()
                await bench.news()
                assert bench.fetcher.pending_fetches == frozenset()
                delay_s = bench.fetcher.fetch_delay(1)
                assert delay_s is not None
                assert 0.79 * expected_delay_s <= delay_s <= 1.21 * expected_delay_s
                bench.buffer.discard(lambda _tp: True)
                await clock.advance(delay_s)


async def test_a_partition_without_a_leader_asks_for_metadata() -> None:
    async with embedded({"t": 1}) as broker, fetching(broker, P0, P1) as bench:
        known = len(broker.requests_of(MetadataRequest))
        bench.fetcher.start_fetches()
        assert bench.fetcher.leaderless == (P1,)
        await broker.wait_until(lambda: len(broker.requests_of(MetadataRequest)) > known)


async def test_closing_ends_the_tasks_of_fetches_that_wait_for_a_connection() -> None:
    async with (
        embedded({"t": 1}) as broker,
        fetching(broker, P0, fetch_max_wait_ms=20_000) as bench,
    ):
        bench.fetcher.start_fetches()
        await broker.wait_until(lambda: bool(broker.requests_of(FetchRequest)))
        async with asyncio.timeout(15):
            await bench.close()
            await bench.close()
        assert not any("fetch[" in child.name for child in bench.client.owner.children)
        assert bench.fetcher.start_fetches() is None
