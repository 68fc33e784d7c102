"""The actor of one connection, against a node that says what the test tells it to say."""

import asyncio
import logging
import socket

import pytest

from aiokafka_lite.errors import (
    CorrelationIdError,
    IllegalStateError,
    KafkaConnectionError,
    ProtocolDecodeError,
    RequestTimedOutError,
    TooManyInFlightRequests,
    UnsupportedVersionError,
)
from aiokafka_lite.net.node_connection import NodeConnection
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.testing.fake_clock import FakeClock, settle
from tests.net.connections import (
    answered,
    ask,
    connection_to,
    metadata_named,
    opened,
    produce_request,
    unanswered_produce,
)
from tests.net.scripted_node import METADATA, PRODUCE, ScriptedNode, answer_bytes, framed
from tests.support.patience import PATIENCE_S, eventually

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


async def test_an_answer_is_there_where_its_bytes_are_read(node: ScriptedNode) -> None:
    """The request has left, and the answer is there, without a turn of the loop in between."""
    async with opened(node) as (connection, peer):
        answer = connection.submit(MetadataRequest(), max_version=12)
        assert (connection.in_flight, connection.can_send) == (1, True)
        _, version, correlation_id = await peer.read_request()
        assert version == 12
        whole = answer_bytes(metadata_named("main"), version, correlation_id)
        connection.frame_received(memoryview(whole)[4:])
        response = answer.result()
        assert response is not None
        assert response.cluster_id == "main"


async def test_requests_without_a_task_get_the_error_of_a_lost_connection_too(
    node: ScriptedNode,
) -> None:
    async with opened(node, max_in_flight=1) as (connection, peer):
        answers = [connection.submit(MetadataRequest()) for _ in range(2)]
        assert (connection.in_flight, connection.queued) == (1, 1)
        await peer.read_request()
        peer.close()
        for answer in answers:
            with pytest.raises(KafkaConnectionError):
                await asyncio.wait_for(answer, PATIENCE_S)
        with pytest.raises(KafkaConnectionError):
            connection.submit(MetadataRequest())


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


# Dying…


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
        assert "closed the connection" in str(connection.cause)
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
    with caplog.at_level(logging.DEBUG, logger="aiokafka_lite.net.node_connection"):
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
