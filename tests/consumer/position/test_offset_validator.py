"""Positions follow the metadata: new leaders validate them (KIP-320), new topics void them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aiokafka_lite.consumer.position.subscription_state import FetchState, PartitionState
from aiokafka_lite.errors import (
    KafkaError,
    LogTruncationError,
    NotLeaderForPartitionError,
    OffsetOutOfRangeError,
    TopicAuthorizationFailedError,
)
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.protocol.messages.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import tps
from tests.consumer.position.test_offset_fetcher import Bench, asking
from tests.scenarios.consuming import embedded, fill
from tests.support.patience import PATIENCE_S, eventually

P0, P1 = tps(0, 1)
API = 23  # OffsetForLeaderEpoch


def questions(broker: EmbeddedBroker) -> list[tuple[int, int, int]]:
    """(partition, epoch asked about, leader epoch) of every question so far."""
    return [
        (partition.partition, partition.leader_epoch, partition.current_leader_epoch)
        for request in broker.requests_of(OffsetForLeaderEpochRequest)
        for topic in request.topics
        for partition in topic.partitions
    ]


@asynccontextmanager
async def reading(
    *, epoch: int = 0, offset: int = 6, **options: Any
) -> AsyncIterator[tuple[EmbeddedBroker, Bench, PartitionState]]:
    """P0 has six records of epoch 0, was read to `offset`, and is followed at its first leader."""
    broker_options = options.pop("broker", {})
    async with embedded({"t": 2}, nodes=2, **broker_options) as broker:
        fill(broker, P0, 2, 2, 2)
        async with asking(broker, P0, **options) as bench:
            await bench.client.metadata.wait_for_topic("t", 5)
            bench.subscription.seek(P0, offset)
            state = bench.subscription.assigned(P0)
            bench.fetcher.update_positions()
            state.offset_epoch = epoch  # as records of that epoch were returned
            yield broker, bench, state


async def move(broker: EmbeddedBroker, bench: Bench, *, truncate_to: int | None = None) -> None:
    """Let the other node lead P0, and let the client hear of it."""
    if truncate_to is not None:
        broker.cluster.partition(P0).truncate(truncate_to)
    broker.move_leader(P0, 3 - broker.leader(P0))
    await bench.client.metadata.refresh()


async def until(bench: Bench, condition: Callable[[], object]) -> None:
    """Look at the positions, as polls do, until `condition()`; fake time goes on meanwhile."""
    clock = bench.client.clock
    async with asyncio.timeout(PATIENCE_S):
        while True:
            bench.fetcher.update_positions()
            if condition():
                return
            await (clock.advance(0.05) if isinstance(clock, FakeClock) else asyncio.sleep(0))


async def error_of(bench: Bench) -> KafkaError:
    errors: list[KafkaError] = []

    def look() -> bool:
        if (error := bench.fetcher.take_error()) is not None:
            errors.append(error)
        return bool(errors)

    await until(bench, look)
    return errors[0]


async def test_2c_2_another_leader_is_asked_where_the_epoch_ended_before_fetching_goes_on() -> None:
    async with reading() as (broker, bench, state):
        await move(broker, bench)
        bench.fetcher.update_positions()
        assert state.fetch_state is FetchState.AWAIT_VALIDATION
        assert not bench.subscription.has_all_fetch_positions()
        await until(bench, lambda: state.position == 6)
        assert questions(broker) == [(0, 0, 1)]
        assert broker.requests_of(OffsetForLeaderEpochRequest)[0].replica_id == -1
        bench.fetcher.update_positions()
        assert len(questions(broker)) == 1


async def test_2c_2_without_news_nothing_is_validated() -> None:
    async with reading() as (broker, bench, state):
        await bench.client.metadata.refresh()
        bench.fetcher.update_positions()
        assert state.position == 6
        assert questions(broker) == []


async def test_2c_2_a_position_whose_epoch_is_not_known_goes_on_unasked() -> None:
    async with reading(epoch=-1) as (broker, bench, state):
        await move(broker, bench)
        assert bench.fetcher.update_positions() is None
        assert state.position == 6
        assert questions(broker) == []


@pytest.mark.parametrize("highest", [2, None])
async def test_2c_2_a_broker_that_cannot_compare_epochs_is_not_asked(highest: int | None) -> None:
    async with reading(broker={"max_versions": {API: highest}}) as (broker, bench, state):
        await bench.client.network.request(3 - broker.leader(P0), MetadataRequest(topics=[]))
        await move(broker, bench)
        await until(bench, lambda: state.position == 6)
        assert questions(broker) == []


async def test_2c_3_a_truncated_log_takes_the_position_back_to_where_it_parted() -> None:
    async with reading() as (broker, bench, state):
        await move(broker, bench, truncate_to=4)
        await until(bench, lambda: state.position == 4)
        assert state.offset_epoch == 0
        assert bench.fetcher.take_error() is None
        assert len(questions(broker)) == 1


async def test_2c_3_an_epoch_no_leader_ever_has_is_reset_by_policy() -> None:
    """It may come out of another cluster: waiting for its leader has an end."""
    clock = FakeClock()
    async with reading(epoch=7, clock=clock) as (broker, bench, state):
        await move(broker, bench)
        asked, began_s = len(broker.requests_of(MetadataRequest)), clock.monotonic()
        await until(bench, lambda: state.position == 0)
        assert questions(broker) == [(0, 7, 1)]
        assert 1.0 < clock.monotonic() - began_s < 10.0
        assert len(broker.requests_of(MetadataRequest)) > asked


async def test_2c_4_a_leader_of_an_earlier_epoch_is_not_asked_about_a_newer_one() -> None:
    async with reading(offset=0, epoch=-1) as (broker, bench, state):
        fill(broker, P0, 1)
        bench.client.metadata.note_leader_epoch = lambda *_: None  # type: ignore[method-assign] # lags
        broker.move_leader(P0, 3 - broker.leader(P0))
        bench.subscription.seek(P0, 7, offset_epoch=1)
        bench.fetcher.update_positions()
        assert questions(broker) == []
        await until(bench, lambda: state.position == 7)
        assert questions(broker) == [(0, 1, 1)]


@pytest.mark.parametrize(
    ("epoch", "divergent", "text"),
    [(0, 4, "from offset 4 of leader epoch 0"), (7, None, "the logs differ is not known")],
)
async def test_2c_3_without_a_policy_a_truncated_log_is_an_error_until_the_user_seeks(
    epoch: int, divergent: int | None, text: str
) -> None:
    clock = FakeClock()
    async with reading(epoch=epoch, clock=clock) as (broker, bench, state):
        bench.subscription.default_reset = None
        await move(broker, bench, truncate_to=4)
        for _ in range(2):
            error = await error_of(bench)
            assert isinstance(error, LogTruncationError)
            assert isinstance(error, OffsetOutOfRangeError)
            assert (error.topic_partition, error.fetch_offset) == (P0, 6)
            assert error.divergent_offset == divergent
            assert text in str(error)
            assert state.fetch_state is FetchState.AWAIT_VALIDATION
        bench.subscription.seek(P0, 4)
        bench.fetcher.update_positions()
        assert state.position == 4
        assert bench.fetcher.take_error() is None


async def test_2c_3_an_answer_about_another_position_is_ignored() -> None:
    async with reading() as (broker, bench, state):
        broker.faults.stall(OffsetForLeaderEpochRequest)
        await move(broker, bench, truncate_to=4)
        bench.fetcher.update_positions()
        await broker.wait_until(lambda: bool(questions(broker)))
        bench.subscription.seek(P0, 5, offset_epoch=0)
        broker.faults.release()
        bench.fetcher.update_positions()
        await until(bench, lambda: len(questions(broker)) == 2)
        await until(bench, lambda: state.position == 4)


async def test_2c_7_errors_are_asked_again_after_the_backoff_with_newer_metadata() -> None:
    clock = FakeClock()
    async with reading(clock=clock) as (broker, bench, state):
        broker.faults.fail(OffsetForLeaderEpochRequest, NotLeaderForPartitionError)
        await move(broker, bench)
        asked = len(broker.requests_of(MetadataRequest))
        bench.fetcher.update_positions()
        await eventually(lambda: state.failures)
        due_at_s = bench.fetcher.update_positions()
        assert due_at_s is not None
        assert 0.08 <= due_at_s - clock.monotonic() <= 0.12
        await eventually(lambda: len(broker.requests_of(MetadataRequest)) > asked)
        await clock.advance(0.13)
        await until(bench, lambda: state.position == 6)


async def test_2c_7_a_question_that_is_not_answered_is_repeated() -> None:
    clock = FakeClock()
    async with reading(clock=clock, request_timeout_ms=5000) as (broker, bench, state):
        broker.faults.drop(OffsetForLeaderEpochRequest)
        await move(broker, bench)
        assert bench.fetcher.update_positions() is None
        await broker.wait_until(lambda: bool(questions(broker)))
        assert bench.fetcher.update_positions() == pytest.approx(clock.monotonic() + 5.0)
        await clock.advance(5.2)
        await clock.advance(0.2)
        await until(bench, lambda: state.position == 6)


async def test_2c_7_a_refusal_reaches_the_user_unless_the_partition_was_let_go() -> None:
    clock = FakeClock()
    async with reading(clock=clock) as (broker, bench, state):
        broker.faults.fail(OffsetForLeaderEpochRequest, TopicAuthorizationFailedError, times=2)
        await move(broker, bench)
        bench.fetcher.update_positions()
        await eventually(lambda: state.failures == 1)
        assert isinstance(bench.fetcher.take_error(), TopicAuthorizationFailedError)
        await clock.advance(0.2)
        bench.fetcher.update_positions()
        await eventually(lambda: state.failures == 2)
        bench.subscription.assign_from_user([])
        assert bench.fetcher.take_error() is None


async def test_2c_2_a_lost_connection_is_asked_again() -> None:
    async with reading() as (broker, bench, state):
        broker.faults.cut(OffsetForLeaderEpochRequest)
        await move(broker, bench)
        await until(bench, lambda: state.position == 6)
        assert len(questions(broker)) == 2


async def test_2c_4_a_seek_with_an_epoch_is_validated_even_if_the_leader_is_not_known_yet() -> None:
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 2)
        async with asking(broker, P0) as bench:
            state = bench.subscription.assigned(P0)
            bench.subscription.seek(P0, 2, offset_epoch=0)
            bench.client.metadata.set_topics(())
            await bench.client.metadata.refresh()
            bench.fetcher.update_positions()
            assert bench.fetcher.leaderless == (P0,)
            bench.client.metadata.set_topics(["t"])
            await until(bench, lambda: state.position == 2)
            assert questions(broker) == [(0, 0, 0)]


async def test_the_position_in_a_topic_created_anew_is_reset_by_policy(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with reading() as (broker, bench, state):
        broker.delete_topic("t")
        broker.create_topic("t", 2)
        fill(broker, P0, 1)
        await bench.client.metadata.refresh()
        await until(bench, lambda: state.position == 0)
        assert state.incarnation == 1
        assert "t-0: the topic was deleted and created again" in caplog.text
        await bench.client.metadata.refresh()
        bench.fetcher.update_positions()
        assert state.position == 0


async def test_without_a_policy_the_position_in_a_topic_created_anew_is_an_error() -> None:
    async with reading() as (broker, bench, _):
        bench.subscription.default_reset = None
        broker.delete_topic("t")
        broker.create_topic("t", 2)
        await bench.client.metadata.refresh()
        for _ in range(2):
            bench.fetcher.update_positions()
            with pytest.raises(OffsetOutOfRangeError, match="t-0 belongs to a topic that was"):
                bench.fetcher.raise_for_missing_positions()


async def test_while_a_topic_is_gone_its_position_is_kept() -> None:
    async with reading(broker={"auto_create_topics": False}) as (broker, bench, state):
        broker.delete_topic("t")
        await bench.client.metadata.refresh()
        bench.fetcher.update_positions()
        assert (state.position, state.incarnation) == (6, 0)
