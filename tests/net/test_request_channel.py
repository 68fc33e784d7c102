"""What goes over an open connection: requests without an answer, and deadlines."""

import asyncio

import pytest

from aiokafka_lite.errors import (
    KafkaConnectionError,
    RequestTimedOutError,
)
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.testing.fake_clock import FakeClock, settle
from tests.net.support.connections import (
    answered,
    ask,
    metadata_named,
    opened,
    unanswered_produce,
)
from tests.net.support.scripted_node import PRODUCE, ScriptedNode
from tests.support.patience import PATIENCE_S

# Without an answer (acks=0)…


async def test_a_request_without_answer_returns_once_written(node: ScriptedNode) -> None:
    async with opened(node) as (connection, peer):
        await unanswered_produce(connection, b"records")
        assert connection.in_flight == 0
        assert (await peer.read_request())[0] == PRODUCE
        call = ask(connection)
        _, version, correlation_id = await peer.read_request()
        assert correlation_id == 2
        peer.answer(metadata_named("next"), version, correlation_id)
        assert await answered(call) == "next"


async def test_a_request_without_answer_waits_until_all_bytes_have_left(
    node: ScriptedNode,
) -> None:
    async with opened(node) as (connection, peer):
        records = bytes(20_000_000)
        call = asyncio.ensure_future(unanswered_produce(connection, records))
        await settle()
        assert not call.done()
        assert records in await peer.read_frame()
        async with asyncio.timeout(PATIENCE_S):
            await call


async def test_a_stuck_request_without_answer_times_out_too(node: ScriptedNode) -> None:
    clock = FakeClock()
    async with opened(node, clock) as (connection, _):
        call = asyncio.ensure_future(unanswered_produce(connection, bytes(20_000_000)))
        await settle()
        await clock.advance(30)
        with pytest.raises(RequestTimedOutError, match="did not take all bytes of ProduceRequest"):
            await call
        assert not connection.is_open


# Deadlines…


async def test_a_timed_out_request_closes_the_connection_under_all_others(
    node: ScriptedNode,
) -> None:
    """A request that times out closes the connection under all other requests on it (2f-5)."""
    clock = FakeClock()
    async with opened(node, clock, max_in_flight=2) as (connection, _):
        slow = ask(connection, timeout_s=5)
        sent = ask(connection)
        queued = ask(connection)
        await clock.advance(4.9)
        assert connection.is_open
        await clock.advance(0.1)
        with pytest.raises(RequestTimedOutError, match="within 5,000 ms") as timed_out:
            await slow
        assert "node 1 at 127.0.0.1" in str(timed_out.value)
        assert "MetadataRequest (version 13, correlation id 1)" in str(timed_out.value)
        for call, state in ((sent, "correlation id 2"), (queued, "not sent yet")):
            with pytest.raises(KafkaConnectionError, match=state) as lost:
                await call
            assert lost.value.__cause__ is timed_out.value
        assert not connection.is_open
        with pytest.raises(KafkaConnectionError) as later:
            await connection.request(MetadataRequest(topics=[]))
        assert later.value.__cause__ is timed_out.value


async def test_a_request_that_was_never_sent_times_out_alone(node: ScriptedNode) -> None:
    clock = FakeClock()
    async with opened(node, clock, max_in_flight=1) as (connection, peer):
        long_poll = ask(connection, timeout_s=60)
        queued = ask(connection, timeout_s=5)
        await clock.advance(5)
        with pytest.raises(RequestTimedOutError, match=r"could not be sent .* 1 requests are un"):
            await queued
        assert (connection.is_open, connection.queued) == (True, 0)
        _, version, correlation_id = await peer.read_request()
        peer.answer(metadata_named("late"), version, correlation_id)
        assert await answered(long_poll) == "late"


async def test_one_timer_serves_all_requests(node: ScriptedNode) -> None:
    clock = FakeClock()
    async with opened(node, clock) as (connection, peer):
        calls = [ask(connection, timeout_s=timeout_s) for timeout_s in (30, 20, 40)]
        await settle()
        assert clock.pending_timers == 1
        assert clock.next_timer_at == 20
        for _ in calls:
            _, version, correlation_id = await peer.read_request()
            peer.answer(metadata_named("x"), version, correlation_id)
        for call in calls:
            await answered(call)
        assert clock.pending_timers == 1  # not touched by the answers
        late = ask(connection, timeout_s=25)
        await clock.advance(20)
        assert clock.next_timer_at == 25
        await clock.advance(5)
        with pytest.raises(RequestTimedOutError):
            await late


async def test_an_idle_connection_stays_open_when_its_timer_runs(node: ScriptedNode) -> None:
    clock = FakeClock()
    async with opened(node, clock) as (connection, peer):
        call = ask(connection)
        _, version, correlation_id = await peer.read_request()
        peer.answer(metadata_named("x"), version, correlation_id)
        await answered(call)
        await clock.advance(3600)
        assert clock.pending_timers == 0
        assert connection.is_open


async def test_the_default_timeout_is_request_timeout_ms(node: ScriptedNode) -> None:
    clock = FakeClock()
    async with opened(node, clock, request_timeout_ms=1234) as (connection, _):
        call = ask(connection)
        await clock.advance(1.234)
        with pytest.raises(RequestTimedOutError, match="within 1,234 ms"):
            await call


async def test_last_used_is_the_newest_send_or_answer(node: ScriptedNode) -> None:
    clock = FakeClock(start=100)
    async with opened(node, clock) as (connection, peer):
        assert connection.last_used_s == 100
        await clock.advance(5)
        call = ask(connection)
        _, version, correlation_id = await peer.read_request()
        assert connection.last_used_s == 105
        await clock.advance(2)
        peer.answer(metadata_named("x"), version, correlation_id)
        await answered(call)
        assert connection.last_used_s == 107
