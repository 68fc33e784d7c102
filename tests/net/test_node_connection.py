"""The actor of one connection, against a node that says what the test tells it to say."""

import asyncio
import logging
import socket
from typing import Any

import pytest

from aiokafka_lite.errors import (
    CorrelationIdError,
    IllegalArgumentError,
    IllegalStateError,
    KafkaConnectionError,
    ProtocolDecodeError,
    RequestTimedOutError,
    TooManyInFlightRequests,
    UnsupportedVersionError,
)
from aiokafka_lite.net.exchange import Exchange
from aiokafka_lite.net.node_connection import NodeConnection
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.schema.message import Request
from aiokafka_lite.testing.fake_clock import FakeClock, settle
from tests.net.support.connections import (
    answered,
    ask,
    connection_to,
    metadata_named,
    opened,
    produce_request,
)
from tests.net.support.scripted_node import METADATA, ScriptedNode, answer_bytes, framed
from tests.support.patience import eventually

# Asking and answering…


async def test_a_request_returns_its_decoded_answer(node: ScriptedNode) -> None:
    async with opened(node) as (connection, peer):
        call = ask(connection)
        api_key, version, correlation_id = await peer.read_request()
        assert (api_key, version) == (METADATA, 13)
        peer.answer(metadata_named("main"), version, correlation_id)
        assert await answered(call) == "main"
        assert connection.in_flight == 0


async def test_answers_go_to_their_requests_in_the_order_of_the_calls(node: ScriptedNode) -> None:
    async with opened(node) as (connection, peer):
        calls = [ask(connection) for _ in range(3)]
        ids = [(await peer.read_request())[2] for _ in calls]
        assert ids == sorted(ids)
        peer.send(b"".join(answer_bytes(metadata_named(f"answer {i}"), 13, i) for i in ids))
        assert [await answered(call) for call in calls] == [f"answer {i}" for i in ids]


class Noted(Exchange):
    """Keeps its outcome, as a request that no task awaits."""

    def __init__(self, outcomes: list[Any], request: Request[Any], **options: Any) -> None:
        super().__init__(request, **options)
        self.outcomes = outcomes

    def ended(self, response: Any, error: BaseException | None) -> None:
        self.outcomes.append((response, error))


async def test_an_answer_is_there_where_its_bytes_are_read(node: ScriptedNode) -> None:
    """The request has left, and the answer is there, without a turn of the loop in between."""
    async with opened(node) as (connection, peer):
        outcomes: list[Any] = []
        connection.submit(Noted(outcomes, MetadataRequest(), max_version=12))
        assert (connection.in_flight, connection.can_send) == (1, True)
        _, version, correlation_id = await peer.read_request()
        assert version == 12
        whole = answer_bytes(metadata_named("main"), version, correlation_id)
        connection.frame_received(memoryview(whole)[4:])
        ((response, error),) = outcomes
        assert (response.cluster_id, error) == ("main", None)


async def test_requests_without_a_task_get_the_error_of_a_lost_connection_too(
    node: ScriptedNode,
) -> None:
    async with opened(node, max_in_flight=1) as (connection, peer):
        outcomes: list[Any] = []
        for _ in range(2):
            connection.submit(Noted(outcomes, MetadataRequest()))
        assert (connection.in_flight, connection.queued) == (1, 1)
        await peer.read_request()
        peer.close()
        await eventually(lambda: len(outcomes) == 2)
        for response, error in outcomes:
            assert response is None
            assert isinstance(error, KafkaConnectionError)
        with pytest.raises(KafkaConnectionError):
            connection.submit(Noted(outcomes, MetadataRequest()))


@pytest.mark.parametrize("expects_response", [True, False])
async def test_nothing_is_told_within_the_call_that_sends(
    node: ScriptedNode, expects_response: bool
) -> None:
    """Who sends in a loop is not called back inside it: not for an error, nor for bytes that have
    left."""
    async with opened(node) as (connection, _):
        outcomes: list[Any] = []
        request = MetadataRequest()
        if expects_response:
            request.topics = [1]  # type: ignore[list-item]  # cannot be sent
        connection.submit(Noted(outcomes, request, expects_response=expects_response))
        assert outcomes == []
        await asyncio.sleep(0)
        ((response, error),) = outcomes
        assert response is None
        assert isinstance(error, IllegalArgumentError) is expects_response


async def test_at_most_max_in_flight_requests_are_unanswered(node: ScriptedNode) -> None:
    """A connection has at most `max_in_flight` unanswered requests (2f-1)."""
    async with opened(node, max_in_flight=2) as (connection, peer):
        calls = [ask(connection) for _ in range(4)]
        await asyncio.sleep(0)
        assert (connection.in_flight, connection.queued, connection.can_send) == (2, 2, False)
        first, second = [(await peer.read_request())[2] for _ in range(2)]
        peer.answer(metadata_named("1"), 13, first)
        assert await answered(calls[0]) == "1"
        assert (connection.in_flight, connection.queued) == (2, 1)
        third = (await peer.read_request())[2]
        for number, correlation_id in (("2", second), ("3", third)):
            peer.answer(metadata_named(number), 13, correlation_id)
        fourth = (await peer.read_request())[2]
        peer.answer(metadata_named("4"), 13, fourth)
        assert [await answered(call) for call in calls] == ["1", "2", "3", "4"]
        assert connection.can_send


async def test_a_full_mailbox_refuses_with_both_numbers(node: ScriptedNode) -> None:
    async with opened(node, max_in_flight=1, max_queued=2) as (connection, _):
        calls = [ask(connection) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(TooManyInFlightRequests, match="1 requests in flight and 2 waiting"):
            await connection.request(MetadataRequest(topics=[]))
        connection.close()
        await asyncio.gather(*calls, return_exceptions=True)


async def test_the_newest_version_both_sides_know_is_used(node: ScriptedNode) -> None:
    """A request is sent in the newest version that both sides know (2f-6)."""
    async with opened(node, ranges={METADATA: (4, 9)}) as (connection, peer):
        for options, expected in (({}, 9), ({"max_version": 7}, 7), ({"max_version": 12}, 9)):
            call = ask(connection, **options)
            _, version, correlation_id = await peer.read_request()
            assert version == expected
            peer.answer(metadata_named("x"), version, correlation_id)
            await answered(call)


async def test_an_unusable_version_is_refused_without_sending(node: ScriptedNode) -> None:
    """A request without a version that both sides know is refused without being sent (2f-6)."""
    async with opened(node, ranges={METADATA: (0, 13)}) as (connection, peer):
        with pytest.raises(UnsupportedVersionError, match="Fetch"):
            await connection.request(FetchRequest())
        with pytest.raises(UnsupportedVersionError, match="Metadata"):
            await connection.request(MetadataRequest(topics=[]), max_version=0)
        connection.close()
        assert await peer.read_to_end() == b""


async def test_a_request_that_cannot_be_encoded_fails_alone(node: ScriptedNode) -> None:
    async with opened(node) as (connection, peer):
        broken = MetadataRequest(topics=[], include_topic_authorized_operations="no")  # type: ignore[arg-type]
        broken.topics = 7  # type: ignore[assignment]
        with pytest.raises(Exception, match=r"."):
            await connection.request(broken)
        assert connection.is_open
        assert connection.in_flight == 0
        call = ask(connection)
        _, version, correlation_id = await peer.read_request()
        peer.answer(metadata_named("fine"), version, correlation_id)
        assert await answered(call) == "fine"


async def test_a_request_is_sent_whole_before_the_next_one(node: ScriptedNode) -> None:
    """A request leaves whole before the next one begins (2f-1)."""
    async with opened(node) as (connection, peer):
        records = bytes(range(256)) * 80_000  # 20 MB: more than any socket buffer takes at once
        large = asyncio.ensure_future(connection.request(produce_request(records)))
        small = ask(connection)
        await settle()
        assert (connection.in_flight, connection.queued) == (1, 1)
        assert not connection.can_send
        frame = await peer.read_frame()
        assert records in frame
        assert (await peer.read_request())[0] == METADATA
        assert (connection.in_flight, connection.queued) == (2, 0)
        connection.close()
        await asyncio.gather(large, small, return_exceptions=True)


# Dying…


async def test_after_an_answer_the_end_of_a_connection_says_nothing_of_sasl(
    node: ScriptedNode,
) -> None:
    async with opened(node) as (connection, peer):
        first = ask(connection)
        _, version, correlation_id = await peer.read_request()
        peer.answer(metadata_named("main"), version, correlation_id)
        await first
        second = ask(connection)
        await peer.read_request()
        peer.close()
        with pytest.raises(KafkaConnectionError) as lost:
            await second
        assert "closed the connection" in str(lost.value)
        assert "SASL" not in str(lost.value)


async def test_a_dead_connection_gives_everybody_the_first_cause(node: ScriptedNode) -> None:
    closed: list[NodeConnection] = []
    async with opened(node, max_in_flight=2) as (connection, peer):
        connection.on_close = closed.append
        calls = [ask(connection) for _ in range(3)]
        await peer.read_request()
        peer.close()
        results = await asyncio.gather(*calls, return_exceptions=True)
        assert all(type(result) is KafkaConnectionError for result in results)
        assert len({id(result) for result in results}) == 3
        causes = {result.__cause__ for result in results if isinstance(result, Exception)}
        assert causes == {connection.cause}
        assert "closed the connection at the first request; if its listener has SASL, set" in str(
            connection.cause
        )
        with pytest.raises(KafkaConnectionError, match="closed the connection") as later:
            await connection.request(MetadataRequest(topics=[]))
        assert later.value.__cause__ is connection.cause
        assert closed == [connection]
        connection.close(RequestTimedOutError("a second cause"))
        assert closed == [connection]
        assert not isinstance(connection.cause, RequestTimedOutError)


async def test_a_reset_connection_names_the_system_error(node: ScriptedNode) -> None:
    async with opened(node) as (connection, peer):
        call = ask(connection)
        await peer.read_request()
        linger = peer.writer.get_extra_info("socket")
        linger.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        peer.reset()
        with pytest.raises(KafkaConnectionError) as lost:
            await call
        assert isinstance(lost.value.__cause__, KafkaConnectionError)
        assert isinstance(lost.value.__cause__.__cause__, ConnectionError)


async def test_an_answer_out_of_order_closes_the_connection(node: ScriptedNode) -> None:
    """An answer out of order closes the connection (2f-1)."""
    async with opened(node) as (connection, peer):
        calls = [ask(connection), ask(connection)]
        ids = [(await peer.read_request())[2] for _ in calls]
        peer.answer(metadata_named("second"), 13, ids[1])
        for call in calls:
            with pytest.raises(KafkaConnectionError) as lost:
                await call
            assert isinstance(lost.value.__cause__, CorrelationIdError)
        assert not connection.is_open


@pytest.mark.parametrize("unasked", [framed(b"\0\0\0\7rest"), framed(b"\0\0"), framed(b"")])
async def test_bytes_nobody_asked_for_close_the_connection(
    node: ScriptedNode, unasked: bytes
) -> None:
    async with opened(node) as (connection, peer):
        peer.send(unasked)
        await eventually(lambda: not connection.is_open)
        assert isinstance(connection.cause, CorrelationIdError | ProtocolDecodeError)


async def test_an_answer_that_cannot_be_read_fails_its_caller_and_the_connection(
    node: ScriptedNode,
) -> None:
    async with opened(node) as (connection, peer):
        broken, other = ask(connection), ask(connection)
        _, _, correlation_id = await peer.read_request()
        peer.send(framed(correlation_id.to_bytes(4, "big") + b"\0\0\0\0\0\xff\xff\xff"))
        with pytest.raises(ProtocolDecodeError):
            await broken
        with pytest.raises(KafkaConnectionError) as lost:
            await other
        assert isinstance(lost.value.__cause__, ProtocolDecodeError)


async def test_a_closed_connection_answers_pending_requests_at_once(node: ScriptedNode) -> None:
    async with opened(node, max_in_flight=1) as (connection, peer):
        calls = [ask(connection), ask(connection)]
        await peer.read_request()
        connection.close()
        connection.close()
        for call in calls:
            with pytest.raises(KafkaConnectionError, match="this client closed the connection"):
                await call
        await connection.wait_closed()
        await connection.wait_closed()
        assert await peer.read_to_end() == b""
        assert repr(connection).endswith("CLOSED in_flight=0 queued=0>")


async def test_a_write_that_fails_at_once_leaves_no_timer(
    node: ScriptedNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write to a transport that uvloop has just closed fails and leaves no timer (H1)."""
    clock = FakeClock()
    async with opened(node, clock) as (connection, _):
        transport = connection._transport
        assert transport is not None

        def fail(parts: object) -> None:
            transport._fail(KafkaConnectionError("just closed"))

        monkeypatch.setattr(transport, "write", fail)
        with pytest.raises(KafkaConnectionError, match="just closed"):
            await connection.request(MetadataRequest(topics=[]))
        assert clock.pending_timers == 0
        assert not connection.is_open


async def test_closing_from_within_on_close_and_callbacks_is_harmless(node: ScriptedNode) -> None:
    async with opened(node) as (connection, peer):
        connection.on_close = lambda same: same.close(RequestTimedOutError("again"))
        call = ask(connection)
        call.add_done_callback(lambda _: connection.close())
        await peer.read_request()
        peer.close()
        with pytest.raises(KafkaConnectionError):
            await call
        assert isinstance(connection.cause, KafkaConnectionError)


async def test_a_connection_is_opened_once(node: ScriptedNode) -> None:
    async with opened(node) as (connection, _):
        with pytest.raises(IllegalStateError, match="cannot open while READY"):
            await connection.open()
        assert connection.is_open


async def test_requests_need_an_open_connection(node: ScriptedNode) -> None:
    connection = connection_to(node)
    with pytest.raises(IllegalStateError, match="while NEW"):
        await connection.request(MetadataRequest(topics=[]))
    with pytest.raises(IllegalStateError, match="open"):
        _ = connection.api_versions
    connection.close()
    await connection.wait_closed()
    with pytest.raises(KafkaConnectionError, match="this client closed"):
        await connection.request(MetadataRequest(topics=[]))
    with pytest.raises(IllegalStateError, match="cannot open while CLOSED"):
        await connection.open()


# Telling…


async def test_requests_are_narrated_at_debug_level_without_payloads(
    node: ScriptedNode, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, logger="aiokafka_lite.net"):
        async with opened(node) as (connection, peer):
            call = ask(connection)
            _, version, correlation_id = await peer.read_request()
            answer = answer_bytes(metadata_named("secret"), version, correlation_id)
            peer.send(answer)
            await answered(call)
    told = [record.getMessage() for record in caplog.records]
    name = f"node 1 at {connection.endpoint}"
    assert f"{name}: connected and ready" in told
    assert any(
        line.startswith(f"{name}: -> MetadataRequest (version 13, correlation id 1), ")
        and line.endswith(" bytes")
        for line in told
    )
    assert any(
        line.startswith(
            f"{name}: <- MetadataRequest (version 13, correlation id 1), {len(answer) - 4} bytes, "
        )
        and line.endswith(" ms")
        for line in told
    )
    assert "secret" not in caplog.text


async def test_repr_shows_the_state_in_words(node: ScriptedNode) -> None:
    fresh = connection_to(node)
    assert repr(fresh) == f"<NodeConnection node 1 at {node.endpoint} NEW in_flight=0 queued=0>"
    async with opened(node, max_in_flight=1) as (connection, _):
        calls = [ask(connection), ask(connection)]
        await asyncio.sleep(0)
        assert repr(connection).endswith(" READY in_flight=1 queued=1>")
        connection.close()
        await asyncio.gather(*calls, return_exceptions=True)
