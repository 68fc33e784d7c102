"""What a connection knows of one request between its caller and its answer."""

import asyncio
import struct
from typing import Any

import pytest

from aiokafka_lite.errors import KafkaConnectionError, ProtocolDecodeError
from aiokafka_lite.net.exchange import Exchange, FrameExchange
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.message_header import RequestHeader, decode_request_header
from aiokafka_lite.protocol.messages.list_groups import ListGroupsRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest, MetadataResponse
from aiokafka_lite.protocol.messages.sync_group import SyncGroupRequest
from aiokafka_lite.protocol.request_frame import RequestHead
from aiokafka_lite.schema.message import Request, Response
from tests.net.support.connections import metadata_named
from tests.net.support.scripted_node import answer_bytes
from tests.protocol.frames import frame_of as joined


def begun(request: Request[Any], version: int, *, kind: type[Exchange] = Exchange) -> Exchange:
    """An exchange that a connection has taken."""
    exchange = kind(request, timeout_s=30.0)
    exchange.begin(RequestHead(type(request), version, "app"), 0.0, 9.0)
    return exchange


def waiting() -> Exchange:
    return begun(MetadataRequest(topics=[]), 12)


async def test_the_deadline_counts_from_the_call() -> None:
    """The timeout of a request counts from the call, not from its first byte (2f-5)."""
    head = RequestHead(MetadataRequest, 12, "app")
    pending, usual = Exchange(MetadataRequest(), timeout_s=1.5), Exchange(MetadataRequest())
    for exchange in (pending, usual):
        exchange.begin(head, 100.0, 30.0)
        exchange.correlation_id, exchange.sent_at_s = 7, 101.0
    assert (pending.deadline_s, usual.deadline_s) == (101.5, 130.0)


async def test_it_counts_as_sent_from_the_correlation_id_on() -> None:
    pending = waiting()
    assert not pending.was_sent
    pending.correlation_id = 0  # the first id of a connection
    assert pending.was_sent


def frame_of(cluster_id: str) -> memoryview:
    """The frame of a response to `waiting`."""
    return memoryview(answer_bytes(metadata_named(cluster_id), 12, 0))[4:]


async def test_the_caller_gets_the_answer() -> None:
    pending = waiting()
    pending.received(frame_of("answer"))
    response = await pending
    assert isinstance(response, MetadataResponse)
    assert response.cluster_id == "answer"


def sync_response(error_code: int, *, assignment: bytes | None, tail: bytes = b"") -> memoryview:
    """The frame of a response to SyncGroup 3, which allows no null."""
    length = -1 if assignment is None else len(assignment)
    head = struct.pack(">iihi", 0, 0, error_code, length)
    return memoryview(head + (assignment or b"") + tail)


def metadata_response(error_code: int) -> memoryview:
    """The frame of a response to Metadata 7 with null partitions, which no version allows."""
    head = struct.pack(">iihii", 0, 0, -1, -1, 1)
    return memoryview(
        struct.pack(">i", 0) + head + struct.pack(">hh1sbi", error_code, 1, b"t", 0, -1)
    )


NOT_UTF_8 = memoryview(struct.pack(">iihih1sh", 0, 0, 0, 1, 1, b"\xff", 0))
"""A response to ListGroups 1 with the name of one group."""


@pytest.mark.parametrize(
    ("frame", "version", "request_", "said"),
    [
        (sync_response(27, assignment=None), 3, SyncGroupRequest(), "assignment is null"),
        (sync_response(0, assignment=None), 3, SyncGroupRequest(), "assignment is null"),
        (sync_response(0, assignment=b"a", tail=b"xy"), 3, SyncGroupRequest(), "2 bytes are left"),
        (metadata_response(error_code=3), 7, MetadataRequest(), "partitions is null"),
        (NOT_UTF_8, 1, ListGroupsRequest(), "not UTF-8"),
    ],
)
async def test_what_java_or_librdkafka_read_is_read_and_noted(
    frame: memoryview, version: int, request_: Request[Response], said: str
) -> None:
    pending = begun(request_, version)
    pending.received(frame)
    assert isinstance(await pending, request_.response_type)
    assert said in str(pending.oddity)


async def test_a_null_array_that_no_error_explains_is_not_read() -> None:
    pending = begun(MetadataRequest(), 7)
    with pytest.raises(ProtocolDecodeError, match="partitions is null"):
        pending.received(metadata_response(error_code=0))
    with pytest.raises(ProtocolDecodeError):
        await pending


async def test_an_answer_that_cannot_be_read_is_the_callers_error_and_the_connections() -> None:
    pending = waiting()
    with pytest.raises(ProtocolDecodeError):
        pending.received(frame_of("answer")[:-3])
    with pytest.raises(ProtocolDecodeError):
        await pending


async def test_the_caller_gets_the_error_instead() -> None:
    pending = waiting()
    pending.fail(KafkaConnectionError("gone"))
    with pytest.raises(KafkaConnectionError, match="gone"):
        await pending


async def test_the_first_outcome_counts() -> None:
    """An answer that was just decoded stays an answer when the connection dies right after it."""
    pending = waiting()
    pending.received(frame_of("answer"))
    pending.fail(KafkaConnectionError("gone"))
    pending.has_left()
    assert await pending is not None


async def test_a_caller_that_has_gone_is_told_nothing() -> None:
    pending = waiting()
    caller = asyncio.ensure_future(pending)
    await asyncio.sleep(0)
    assert pending.is_wanted()
    caller.cancel()
    assert not pending.is_wanted()
    pending.received(frame_of("answer")[:-3])  # which nobody could read
    pending.has_left()
    pending.fail(KafkaConnectionError("gone"))
    with pytest.raises(asyncio.CancelledError):
        await caller


class Told(Exchange):
    """Keeps its outcome."""

    def __init__(self, request: Request[Any], **options: Any) -> None:
        super().__init__(request, **options)
        self.outcomes: list[Any] = []

    def ended(self, response: Any, error: BaseException | None) -> None:
        self.outcomes.append((response, error))


async def test_a_response_is_taken_in_the_readers_call() -> None:
    pending = begun(MetadataRequest(topics=[]), 12, kind=Told)
    assert isinstance(pending, Told)
    pending.received(frame_of("answer"))
    ((response, error),) = pending.outcomes
    assert (response.cluster_id, error) == ("answer", None)


async def test_everything_else_is_told_in_the_next_turn_and_counts_at_once() -> None:
    """Else an error could come while the request is being sent, and a second one behind it."""
    failed, left = Told(MetadataRequest()), Told(MetadataRequest(), expects_response=False)
    error = KafkaConnectionError("gone")
    failed.fail(error)
    left.has_left()
    assert failed.is_over
    assert left.is_over
    assert (failed.outcomes, left.outcomes) == ([], [])
    await asyncio.sleep(0)
    assert (failed.outcomes, left.outcomes) == ([(None, error)], [(None, None)])


async def test_the_steps_of_an_authentication_read_their_frames_themselves() -> None:
    pending = begun(MetadataRequest(topics=[]), 12, kind=FrameExchange)
    pending.received(frame_of("answer"))
    assert bytes(await pending) == bytes(frame_of("answer"))


async def test_its_text_names_the_request_the_version_and_how_far_it_came() -> None:
    pending = waiting()
    assert str(pending) == "MetadataRequest (version 12, not sent yet)"
    pending.correlation_id = 7
    assert str(pending) == "MetadataRequest (version 12, correlation id 7)"


class Usual(Exchange):
    """Has a form of its own in version 12."""

    def write(self, version: int) -> list[bytes | bytearray | memoryview]:
        return [b"usual"] if version == 12 else super().write(version)


def test_a_request_may_write_its_usual_form_without_its_message() -> None:
    request = MetadataRequest(topics=[])
    bodies = []
    for version in (12, 11):
        frame = joined(begun(request, version, kind=Usual).frame(7))
        header, body = decode_request_header(frame)
        assert header == RequestHeader(ApiKey.METADATA, version, 7, "app")
        bodies.append(bytes(body))
    assert bodies == [b"usual", b"".join(request.encode(11))]
