"""Asking the leaders: resets that outlive the polls that start them, offsets for the user."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.offset_reset import AtTimestamp, ByDuration, OffsetResetStrategy
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.consumer.position.offset_fetcher import OffsetFetcher
from aiokafka_lite.consumer.position.offset_lister import OffsetLister
from aiokafka_lite.consumer.position.offset_questions import ListedOffset, ListOffsetsOutcome
from aiokafka_lite.consumer.position.subscription_state import SubscriptionState
from aiokafka_lite.errors import (
    LeaderNotAvailableError,
    TopicAuthorizationFailedError,
    UnsupportedForMessageFormatError,
    UnsupportedVersionError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.list_offsets import ListOffsetsRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.record.batch_builder import RecordBatchBuilder
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import tps
from tests.scenarios.consuming import embedded, fill

P0, P1 = tps(0, 1)
EARLIEST, LATEST = OffsetResetStrategy.EARLIEST, OffsetResetStrategy.LATEST


class Bench:
    def __init__(self, broker: EmbeddedBroker, *partitions: TopicPartition, **options: Any) -> None:
        clock = options.pop("clock", None)
        self.config = ConsumerConfig(bootstrap_servers=broker.bootstrap_servers, **options)
        self.client = KafkaClient(self.config, **({"clock": clock} if clock else {}))
        self.client.metadata.set_topics({tp.topic for tp in partitions})
        self.subscription = SubscriptionState(EARLIEST)
        self.subscription.assign_from_user(partitions)
        self.signal = PollSignal(self.client.clock)
        self.client.metadata.add_listener(lambda _snapshot: self.signal.notify())
        self.fetcher = OffsetFetcher(self.config, self.client, self.subscription, self.signal)

    async def news(self) -> None:
        async with asyncio.timeout(30):  # `wait_for` would begin to wait a turn of the loop later
            await self.signal.wait()


def lister_of(bench: Bench) -> OffsetLister:
    return OffsetLister(bench.config, bench.client, bench.signal)


@asynccontextmanager
async def asking(
    broker: EmbeddedBroker, *partitions: TopicPartition, **options: Any
) -> AsyncIterator[Bench]:
    bench = Bench(broker, *partitions, **options)
    await bench.client.start()
    try:
        yield bench
    finally:
        await bench.client.close()


async def test_b4_a_reset_is_asked_for_once_and_applied_when_the_answer_comes() -> None:
    async with embedded({"t": 1}) as broker, asking(broker, P0) as bench:
        fill(broker, P0, 3)
        bench.subscription.await_reset(P0, LATEST)
        for _ in range(3):
            bench.fetcher.update_positions()
        await bench.news()
        assert bench.subscription.assigned(P0).position == 3
        assert len(broker.requests_of(ListOffsetsRequest)) == 1


async def test_b8_with_all_positions_nobody_is_asked() -> None:
    async with embedded({"t": 1}) as broker, asking(broker, P0) as bench:
        bench.subscription.seek(P0, 0)
        assert bench.fetcher.update_positions() is None
        assert broker.requests_of(ListOffsetsRequest) == []


async def test_2c_6_an_unanswered_reset_is_repeated_after_the_request_timeout() -> None:
    async with embedded({"t": 1}) as broker:
        clock = FakeClock()
        async with asking(broker, P0, clock=clock, request_timeout_ms=5000) as bench:
            broker.faults.drop(ListOffsetsRequest)
            bench.fetcher.update_positions()
            await broker.wait_until(lambda: bool(broker.requests_of(ListOffsetsRequest)))
            assert bench.fetcher.update_positions() == pytest.approx(5.0)
            await clock.advance(4.9)
            bench.fetcher.update_positions()
            assert len(broker.requests_of(ListOffsetsRequest)) == 1


async def test_2c_7_after_an_error_a_reset_waits_for_its_backoff() -> None:
    async with embedded({"t": 1}) as broker:
        clock = FakeClock()
        async with asking(broker, P0, clock=clock) as bench:
            broker.faults.fail(ListOffsetsRequest, LeaderNotAvailableError)
            bench.fetcher.update_positions()
            while not bench.subscription.assigned(P0).failures:
                await bench.news()
            due_at_s = bench.fetcher.update_positions()
            assert due_at_s is not None
            assert 0.08 <= due_at_s - clock.monotonic() <= 0.12
            await clock.advance(0.13)
            bench.fetcher.update_positions()
            while bench.subscription.assigned(P0).position is None:
                await bench.news()


async def test_2c_6_an_answer_without_an_offset_is_no_position_and_is_asked_for_again() -> None:
    async with embedded({"t": 1}) as broker, asking(broker, P0) as bench:
        bench.subscription.await_reset(P0, EARLIEST)
        outcome = ListOffsetsOutcome(offsets={P0: ListedOffset(-1, -1, -1)})
        bench.fetcher._apply(outcome, {P0: EARLIEST})
        state = bench.subscription.assigned(P0)
        assert (state.position, state.reset_strategy, state.failures) == (None, EARLIEST, 1)


async def test_2c_7_a_reset_that_has_to_be_retried_asks_for_metadata() -> None:
    async with embedded({"t": 1}) as broker, asking(broker, P0) as bench:
        known = len(broker.requests_of(MetadataRequest))
        broker.faults.fail(ListOffsetsRequest, LeaderNotAvailableError)
        bench.fetcher.update_positions()
        await broker.wait_until(lambda: len(broker.requests_of(MetadataRequest)) > known)


async def test_2c_7_a_reset_without_a_leader_to_ask_asks_for_metadata() -> None:
    async with embedded({"t": 1}) as broker, asking(broker, P1) as bench:
        known = len(broker.requests_of(MetadataRequest))
        bench.fetcher.update_positions()
        assert bench.fetcher.leaderless == (P1,)
        await broker.wait_until(lambda: len(broker.requests_of(MetadataRequest)) > known)


async def test_b5_a_failure_of_an_older_reset_does_not_hold_up_a_newer_one() -> None:
    async with embedded({"t": 1}) as broker, asking(broker, P0) as bench:
        bench.subscription.await_reset(P0, LATEST)
        bench.fetcher._retry_later({P0: EARLIEST})
        assert bench.subscription.assigned(P0).failures == 0
        bench.fetcher._retry_later({P0: LATEST})
        assert bench.subscription.assigned(P0).failures == 1


async def test_2c_7_an_error_for_the_user_is_kept_for_the_next_call_once() -> None:
    async with embedded({"t": 1}) as broker, asking(broker, P0) as bench:
        broker.faults.fail(ListOffsetsRequest, TopicAuthorizationFailedError)
        bench.fetcher.update_positions()
        await bench.news()
        assert isinstance(bench.fetcher.take_error(), TopicAuthorizationFailedError)
        assert bench.fetcher.take_error() is None


async def test_a_broker_that_cannot_be_asked_is_said_to_the_user() -> None:
    async with (
        embedded({"t": 1}, max_versions={ListOffsetsRequest.api_key: None}) as broker,
        asking(broker, P0) as bench,
    ):
        bench.fetcher.update_positions()
        await bench.news()
        assert isinstance(bench.fetcher.take_error(), UnsupportedVersionError)
        with pytest.raises(UnsupportedVersionError):
            await lister_of(bench).list_offsets({P0: -1}, 5.0)


@pytest.mark.parametrize("strategy", [ByDuration(1000), AtTimestamp(5)])
async def test_2c_6_a_time_in_a_log_too_old_for_timestamps_is_its_end(
    strategy: ByDuration | AtTimestamp, caplog: pytest.LogCaptureFixture
) -> None:
    async with embedded({"t": 1}) as broker, asking(broker, P0) as bench:
        fill(broker, P0, 3)
        broker.faults.fail(ListOffsetsRequest, UnsupportedForMessageFormatError)
        bench.subscription.await_reset(P0, strategy)
        for _ in range(2):
            bench.fetcher.update_positions()
            await bench.news()
        assert bench.subscription.assigned(P0).position == 3
        assert "t-0: its records have no timestamps" in caplog.text


@pytest.mark.parametrize(("duration_ms", "expected"), [(3_000, 2), (400, 5), (10**15, 0)])
async def test_2c_6_a_duration_is_asked_for_as_a_time_and_none_so_young_is_the_end(
    duration_ms: int, expected: int
) -> None:
    clock = FakeClock()
    now_ms = int(clock.time() * 1000)
    values = RecordBatchBuilder(bytearray(4096))
    for age_ms in (4500, 3500, 2500, 1500, 500):
        assert values.append(now_ms - age_ms, None, b"v") is not None
    values.seal()
    async with embedded({"t": 1}) as broker, asking(broker, P0, clock=clock) as bench:
        broker.append(P0, bytes(values.wire()))
        bench.subscription.await_reset(P0, ByDuration(duration_ms))
        while bench.subscription.assigned(P0).position is None:
            bench.fetcher.update_positions()
            await asyncio.sleep(0)
        assert bench.subscription.assigned(P0).position == expected


@pytest.mark.parametrize("change", ["let go", "sought"])
async def test_2c_7_a_refused_reset_is_no_news_once_nobody_waits_for_it(change: str) -> None:
    async with embedded({"t": 1}) as broker, asking(broker, P0) as bench:
        broker.faults.fail(ListOffsetsRequest, TopicAuthorizationFailedError)
        state = bench.subscription.assigned(P0)
        bench.fetcher.update_positions()
        while not state.failures:
            await asyncio.sleep(0)
        if change == "let go":
            bench.subscription.assign_from_user([])
        else:
            bench.subscription.seek(P0, 0)
        assert bench.fetcher.take_error() is None


async def test_2c_6_the_leader_epoch_of_an_answer_is_news_for_the_metadata() -> None:
    async with embedded({"t": 1}, nodes=2) as broker, asking(broker, P0) as bench:
        fill(broker, P0, 3)
        await bench.client.metadata.wait_for_topic("t", 5)
        noted: list[tuple[TopicPartition, int]] = []
        bench.client.metadata.note_leader_epoch = lambda *news: noted.append(news)  # type: ignore[method-assign]
        await lister_of(bench).list_offsets({P0: -1}, 5)
        bench.fetcher.update_positions()
        while bench.subscription.assigned(P0).position is None:
            await asyncio.sleep(0)
        assert noted == [(P0, 0), (P0, 0)]
