"""What a cancelled caller leaves behind: its place in flight, and nothing else (2f-14)."""

import asyncio
from typing import Any

import pytest

from aiokafka_lite.errors import KafkaConnectionError, RequestTimedOutError
from aiokafka_lite.net.node_connection import NodeConnection
from aiokafka_lite.testing.fake_clock import FakeClock, settle
from tests.net.support.connections import (
    answered,
    ask,
    metadata_named,
    opened,
    produce_request,
    unanswered_produce,
)
from tests.net.support.scripted_node import METADATA, PRODUCE, ScriptedNode, ScriptedPeer
from tests.support.leftovers import nothing_left_behind
from tests.support.patience import eventually

LARGE = bytes(range(256)) * 80_000  # 20 MB: more than the sockets between us take at once


async def cancelled(call: "asyncio.Future[Any]") -> None:
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


async def one_exchange(connection: NodeConnection, peer: ScriptedPeer, name: str) -> None:
    """The connection still works."""
    call = ask(connection)
    api_key, version, correlation_id = await peer.read_request()
    assert api_key == METADATA
    peer.answer(metadata_named(name), version, correlation_id)
    assert await answered(call) == name


async def test_the_answer_to_a_cancelled_request_is_dropped() -> None:
    async with nothing_left_behind(), ScriptedNode() as node, opened(node) as (connection, peer):
        call, other = ask(connection), ask(connection)
        ids = [(await peer.read_request())[2] for _ in range(2)]
        await cancelled(call)
        assert connection.in_flight == 2
        peer.answer(metadata_named("nobody's"), 13, ids[0])
        peer.answer(metadata_named("the other's"), 13, ids[1])
        assert await answered(other) == "the other's"
        assert connection.in_flight == 0
        await one_exchange(connection, peer, "afterwards")


async def test_an_unreadable_answer_to_a_cancelled_request_harms_nobody() -> None:
    async with nothing_left_behind(), ScriptedNode() as node, opened(node) as (connection, peer):
        call = ask(connection)
        _, _, correlation_id = await peer.read_request()
        await cancelled(call)
        peer.send(b"\0\0\0\5" + correlation_id.to_bytes(4, "big") + b"\xff")
        await eventually(lambda: connection.in_flight == 0)
        await one_exchange(connection, peer, "afterwards")


async def test_a_cancelled_request_holds_its_place_in_flight() -> None:
    async with (
        nothing_left_behind(),
        ScriptedNode() as node,
        opened(node, max_in_flight=1) as (connection, peer),
    ):
        call, queued = ask(connection), ask(connection)
        _, version, correlation_id = await peer.read_request()
        await cancelled(call)
        await settle()
        assert (connection.in_flight, connection.queued) == (1, 1)
        peer.answer(metadata_named("dropped"), version, correlation_id)
        _, version, correlation_id = await peer.read_request()
        peer.answer(metadata_named("queued"), version, correlation_id)
        assert await answered(queued) == "queued"


async def test_a_request_cancelled_in_the_mailbox_is_never_sent() -> None:
    async with (
        nothing_left_behind(),
        ScriptedNode() as node,
        opened(node, max_in_flight=1) as (connection, peer),
    ):
        first, second, third = ask(connection), ask(connection), ask(connection)
        _, version, correlation_id = await peer.read_request()
        await cancelled(second)
        assert connection.queued == 1
        peer.answer(metadata_named("first"), version, correlation_id)
        assert await answered(first) == "first"
        _, version, following = await peer.read_request()
        assert following == correlation_id + 1
        peer.answer(metadata_named("third"), version, following)
        assert await answered(third) == "third"


async def test_a_request_cancelled_while_it_is_written_leaves_whole() -> None:
    async with nothing_left_behind(), ScriptedNode() as node, opened(node) as (connection, peer):
        call = asyncio.ensure_future(connection.request(produce_request(LARGE)))
        await settle()
        assert not connection.can_send  # a part of it is still here
        await cancelled(call)
        next_call = ask(connection)
        assert LARGE in await peer.read_frame()
        assert (await peer.read_request())[0] == METADATA
        assert not next_call.done()
        assert connection.in_flight == 2
        connection.close()
        with pytest.raises(KafkaConnectionError):
            await next_call


async def test_a_request_without_answer_cancelled_while_it_is_written_leaves_whole() -> None:
    async with nothing_left_behind(), ScriptedNode() as node, opened(node) as (connection, peer):
        call = asyncio.ensure_future(unanswered_produce(connection, LARGE))
        await settle()
        await cancelled(call)
        frame = await peer.read_frame()
        assert LARGE in frame
        assert frame[:2] == PRODUCE.to_bytes(2, "big")
        await one_exchange(connection, peer, "afterwards")


@pytest.mark.parametrize("passes", range(6))
async def test_a_request_may_be_cancelled_at_any_moment(passes: int) -> None:
    """Before, while and after the answer arrives: the next exchange is not disturbed."""
    clock = FakeClock()
    async with (
        nothing_left_behind(),
        ScriptedNode() as node,
        opened(node, clock) as (connection, peer),
    ):
        call = ask(connection)
        _, version, correlation_id = await peer.read_request()
        peer.answer(metadata_named("maybe"), version, correlation_id)
        for _ in range(passes):
            await asyncio.sleep(0)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        await eventually(lambda: connection.in_flight == 0)
        await one_exchange(connection, peer, "afterwards")


async def test_a_cancelled_request_that_is_never_answered_still_closes_the_connection() -> None:
    """Its place in flight would be taken for ever: the node is stuck."""
    clock = FakeClock()
    async with (
        nothing_left_behind(),
        ScriptedNode() as node,
        opened(node, clock) as (connection, _),
    ):
        call = ask(connection, timeout_s=5)
        await settle()
        await cancelled(call)
        await clock.advance(5)
        assert not connection.is_open
        assert isinstance(connection.cause, RequestTimedOutError)


async def test_a_caller_cancelled_as_the_connection_dies_hears_of_its_cancellation() -> None:
    async with nothing_left_behind(), ScriptedNode() as node, opened(node) as (connection, _):
        call = ask(connection)
        await settle()
        call.cancel()
        connection.close()
        with pytest.raises(asyncio.CancelledError):
            await call


async def test_a_wait_for_around_a_request_leaves_the_connection_usable() -> None:
    async with nothing_left_behind(), ScriptedNode() as node, opened(node) as (connection, peer):
        call = ask(connection)
        _, version, correlation_id = await peer.read_request()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(call, timeout=0.001)
        peer.answer(metadata_named("late"), version, correlation_id)
        await one_exchange(connection, peer, "afterwards")
