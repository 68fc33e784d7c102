"""Fetch sessions with a broker: D1 to D5, asserted on what the broker received."""

import asyncio

import pytest

from aiokafka_lite.errors import (
    BrokerResponseError,
    FetchSessionIdNotFound,
    FetchSessionTopicIdError,
    InvalidFetchSessionEpoch,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.schema.field_types import ZERO_UUID
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import tps
from tests.scenarios.consuming import (
    answers_are_there,
    consumer_of,
    embedded,
    fill,
    offsets,
    read,
)

P0, P1 = tps(0, 1)
FETCH = FetchRequest.api_key


def named(request: FetchRequest) -> int:
    return sum(len(topic.partitions) for topic in request.topics)


async def test_d2_with_500_partitions_requests_shrink_to_nothing_while_nothing_changes() -> None:
    async with (
        embedded({"t": 500}) as broker,
        consumer_of(broker, "t", fetch_max_wait_ms=5) as consumer,
    ):
        poll = asyncio.create_task(consumer.getmany(timeout_ms=60_000))
        await broker.wait_until(lambda: len(broker.requests_of(FetchRequest)) > 3, timeout_s=30)
        requests = broker.requests_of(FetchRequest)
        first, *others = requests
        assert (first.session_id, first.session_epoch, named(first)) == (0, 0, 500)
        session_id = others[0].session_id
        assert session_id != 0
        for epoch, request in enumerate(others, 1):
            assert (request.session_id, request.session_epoch) == (session_id, epoch)
            assert request.topics == []
            assert request.forgotten_topics_data == []
        broker.forget_requests()
        fill(broker, TopicPartition("t", 77), 3)
        assert offsets(await poll) == {77: [0, 1, 2]}
        await consumer.getmany(timeout_ms=20)
        assert all(named(request) <= 1 for request in broker.requests_of(FetchRequest))


@pytest.mark.parametrize(
    "error", [FetchSessionIdNotFound, InvalidFetchSessionEpoch, FetchSessionTopicIdError]
)
async def test_2a_7_after_a_session_error_reading_goes_on_with_a_full_fetch(
    error: type[BrokerResponseError],
) -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 2)
        await read(consumer, 2)
        await answers_are_there(consumer)
        broker.faults.fail(FetchRequest, error)
        fill(broker, P0, 2)
        assert await read(consumer, 2) == {P0: [2, 3]}
        full = [
            request for request in broker.requests_of(FetchRequest) if request.session_epoch == 0
        ]
        assert len(full) == 2
        kept = error is not FetchSessionIdNotFound
        assert (full[1].session_id != 0) is kept


async def test_2a_10_after_a_lost_answer_reading_goes_on_with_a_full_fetch() -> None:
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(broker, "t", retry_backoff_ms=1, reconnect_backoff_ms=1) as consumer,
    ):
        fill(broker, P0, 2)
        await read(consumer, 2)
        await answers_are_there(consumer)
        broker.forget_requests()
        broker.faults.cut(FetchRequest, after_bytes=3)
        fill(broker, P0, 2)
        assert await read(consumer, 2) == {P0: [2, 3]}
        lost, following = broker.requests_of(FetchRequest)[:2]
        assert lost.session_epoch > 0
        assert (following.session_id, following.session_epoch) == (lost.session_id, 0)
        assert named(following) == 1


async def test_a_broker_without_sessions_gets_full_fetches() -> None:
    async with (
        embedded({"t": 1}, fetch_session_slots=0) as broker,
        consumer_of(broker, "t") as consumer,
    ):
        fill(broker, P0, 2, 2)
        await read(consumer, 4)
        assert all(request.session_epoch == 0 for request in broker.requests_of(FetchRequest))


@pytest.mark.parametrize("version", [4, 6, 7, 12, 13, 18])
async def test_old_and_new_brokers_are_read_with_or_without_sessions_and_topic_ids(
    version: int,
) -> None:
    async with (
        embedded({"t": 2}, max_versions={FETCH: version}) as broker,
        consumer_of(broker, "t", max_poll_records=2) as consumer,
    ):
        fill(broker, P0, 3, 3)
        fill(broker, P1, 2)
        assert await read(consumer, 8) == {P0: list(range(6)), P1: [0, 1]}
        received = [r for r in broker.requests if isinstance(r.request, FetchRequest)]
        assert {request.api_version for request in received} == {version}
        topics = [
            t for r in received if isinstance(r.request, FetchRequest) for t in r.request.topics
        ]
        assert all((topic.topic_id != ZERO_UUID) == (version >= 13) for topic in topics)


async def test_d3_a_topic_created_anew_is_replaced_in_the_session() -> None:
    async with (
        embedded({"t": 1, "u": 1}) as broker,
        consumer_of(broker, "t", "u", retry_backoff_ms=1) as consumer,
    ):
        u0 = TopicPartition("u", 0)
        fill(broker, P0, 3)
        await read(consumer, 3)
        await answers_are_there(consumer)
        broker.delete_topic("t")
        broker.create_topic("t", 1)
        fill(broker, P0, 2)
        fill(broker, u0, 1)
        # The old position is beyond the new log: the policy takes over.
        assert await read(consumer, 3) == {u0: [0], P0: [0, 1]}


@pytest.mark.parametrize("wait_ms", [1, 20_000], ids=["idle", "in the long poll"])
async def test_d5_stop_closes_the_session_of_each_node(wait_ms: int) -> None:
    async with embedded({"t": 2}, nodes=2) as broker:
        consumer = consumer_of(broker, "t", fetch_max_wait_ms=wait_ms)
        async with consumer:
            fill(broker, P0, 1)
            fill(broker, P1, 1)
            await read(consumer, 2)
            if wait_ms == 1:
                await answers_are_there(consumer)
        closing = [
            (received.node_id, received.request)
            for received in broker.requests
            if isinstance(received.request, FetchRequest) and received.request.session_epoch == -1
        ]
        assert sorted(node for node, _ in closing) == [1, 2]
        assert all(request.session_id and not request.topics for _, request in closing)


async def test_2a_11_closing_sessions_is_not_worth_more_than_a_second() -> None:
    async with embedded({"t": 1}) as broker:
        clock = FakeClock(autojump_threshold_s=0.1)
        consumer = consumer_of(broker, "t", clock=clock)
        async with consumer:
            fill(broker, P0, 1)
            await read(consumer, 1)
            await answers_are_there(consumer)
            broker.faults.drop(FetchRequest, times=None)
            before = clock.monotonic()
        assert clock.monotonic() - before <= 1.5


async def test_2a_11_a_session_is_closed_past_a_long_poll_not_behind_it() -> None:
    """The clock stands still, so that nothing is ended by a bound."""
    async with embedded({"t": 1}) as broker:
        consumer = consumer_of(broker, "t", clock=FakeClock(), fetch_max_wait_ms=20_000)
        await consumer.start()
        fill(broker, P0, 1)
        await consumer.getone()
        await broker.wait_until(lambda: len(broker.requests_of(FetchRequest)) == 2)
        async with asyncio.timeout(15):
            await consumer.stop()
        assert broker.requests_of(FetchRequest)[-1].session_epoch == -1


async def test_2a_11_the_session_of_a_node_that_is_gone_is_left_to_it() -> None:
    """The clock stands still, so that nothing is ended by a bound."""
    async with embedded({"t": 1}) as broker:
        consumer = consumer_of(broker, "t", clock=FakeClock(), reconnect_backoff_ms=1000)
        await consumer.start()
        fill(broker, P0, 1)
        await consumer.getone()
        await answers_are_there(consumer)
        broker.stop_node(1)
        await consumer.getmany()  # its fetch fails
        await answers_are_there(consumer)
        async with asyncio.timeout(30):
            await consumer.stop()
