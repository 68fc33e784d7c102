"""What a connection knows of one request between its caller and its answer."""

import asyncio
import struct

import pytest

from aiokafka_lite.errors import KafkaConnectionError, ProtocolDecodeError
from aiokafka_lite.net.answer_callback import Answer
from aiokafka_lite.net.pending_request import PendingRequest
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.message_header import RequestHeader, decode_request_header
from aiokafka_lite.protocol.messages.list_groups import ListGroupsRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest, MetadataResponse
from aiokafka_lite.protocol.messages.sync_group import SyncGroupRequest
from aiokafka_lite.schema.message import Request, Response
from tests.net.support.connections import metadata_named
from tests.net.support.scripted_node import answer_bytes
from tests.protocol.frames import frame_of as joined


def waiting(now_s: float = 0.0, timeout_s: float = 30.0) -> PendingRequest:
    """A request whose caller waits in the running loop."""
    answer = asyncio.get_running_loop().create_future()
    return PendingRequest(MetadataRequest(topics=[]), 12, answer, now_s=now_s, timeout_s=timeout_s)


def answer_to(pending: PendingRequest) -> "asyncio.Future[object]":
    """Where the caller waits."""
    assert isinstance(pending.answer, asyncio.Future)
    return pending.answer


async def test_the_deadline_counts_from_the_call() -> None:
    """The timeout of a request counts from the call, not from its first byte (2f-5)."""
    pending = waiting(now_s=100.0, timeout_s=1.5)
    pending.correlation_id, pending.sent_at_s = 7, 101.0
    assert pending.deadline_s == 101.5


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
    response = await answer_to(pending)
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
    answer = asyncio.get_running_loop().create_future()
    pending = PendingRequest(request_, version, answer, now_s=0.0, timeout_s=1.0)
    pending.received(frame)
    assert isinstance(await answer, request_.response_type)
    assert said in str(pending.oddity)


async def test_a_null_array_that_no_error_explains_is_not_read() -> None:
    answer = asyncio.get_running_loop().create_future()
    pending = PendingRequest(MetadataRequest(), 7, answer, now_s=0.0, timeout_s=1.0)
    with pytest.raises(ProtocolDecodeError, match="partitions is null"):
        pending.received(metadata_response(error_code=0))
    with pytest.raises(ProtocolDecodeError):
        await answer


async def test_an_answer_that_cannot_be_read_is_the_callers_error_and_the_connections() -> None:
    pending = waiting()
    with pytest.raises(ProtocolDecodeError):
        pending.received(frame_of("answer")[:-3])
    with pytest.raises(ProtocolDecodeError):
        await answer_to(pending)


async def test_the_caller_gets_the_error_instead() -> None:
    pending = waiting()
    pending.fail(KafkaConnectionError("gone"))
    with pytest.raises(KafkaConnectionError, match="gone"):
        await answer_to(pending)


async def test_the_first_outcome_counts() -> None:
    """An answer that was just decoded stays an answer when the connection dies right after it."""
    pending = waiting()
    pending.received(frame_of("answer"))
    pending.fail(KafkaConnectionError("gone"))
    pending.has_left()
    assert await answer_to(pending) is not None


async def test_a_caller_that_has_gone_is_told_nothing() -> None:
    pending = waiting()
    answer_to(pending).cancel()
    pending.received(frame_of("answer"))
    pending.has_left()
    pending.fail(KafkaConnectionError("gone"))
    assert answer_to(pending).cancelled()


async def test_its_text_names_the_request_the_version_and_how_far_it_came() -> None:
    pending = waiting()
    assert str(pending) == "MetadataRequest (version 12, not sent yet)"
    pending.correlation_id = 7
    assert str(pending) == "MetadataRequest (version 12, correlation id 7)"


class Usual(Answer):
    """Has the body of a request in version 12."""

    def write_usual(self, version: int) -> list[bytes | bytearray | memoryview] | None:
        return [b"usual"] if version == 12 else None


def test_a_request_of_the_usual_form_is_not_encoded() -> None:
    request = MetadataRequest(topics=[])
    bodies = []
    for version in (12, 11):
        pending = PendingRequest(request, version, Usual(), now_s=0.0, timeout_s=1.0)
        frame = joined(pending.frame(7, "app"))
        header, body = decode_request_header(frame)
        assert header == RequestHeader(ApiKey.METADATA, version, 7, "app")
        bodies.append(bytes(body))
    assert bodies == [b"usual", b"".join(request.encode(11))]
