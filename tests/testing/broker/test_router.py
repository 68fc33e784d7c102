"""The router: versions, refusals, what is recorded, and faults around a handler."""

import asyncio
from typing import Any

import pytest

from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.message_header import decode_response
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from aiokafka_lite.protocol.messages.metadata import MetadataRequest, MetadataResponse
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.protocol.request_frame import encode_request
from aiokafka_lite.schema.message import Request
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import CloseConnectionError, Handler
from aiokafka_lite.testing.broker.request_log import ReceivedRequest
from aiokafka_lite.testing.broker.router import HANDLERS, LaterReply, Reply, Router
from aiokafka_lite.testing.broker.security.session import Session
from aiokafka_lite.testing.fake_clock import settle
from tests.testing.broker.bench import Bench
from tests.testing.broker.handlers.test_sasl_handshake import new_session


def frame(request: Request[Any], version: int, correlation_id: int = 5) -> bytes:
    parts = encode_request(request, version=version, correlation_id=correlation_id, client_id="me")
    return b"".join(parts)[4:]


class Routed:
    """A router over a bench, and what it recorded."""

    def __init__(self, **max_versions: int | None) -> None:
        self.bench = Bench()
        self.seen: list[ReceivedRequest] = []
        self.router = Router(
            self.bench.faults,
            lambda received, _: self.seen.append(received),
            max_versions={ApiKey[name]: highest for name, highest in max_versions.items()},
        )

    def serve(self, request: Request[Any], version: int) -> Reply | LaterReply:
        return self.router.serve(frame(request, version), self.bench.nodes[1])

    def later(self, request: Request[Any], version: int) -> LaterReply:
        answer = self.serve(request, version)
        assert not isinstance(answer, Reply)
        return answer


def body(reply: Reply | LaterReply) -> bytes:
    assert isinstance(reply, Reply)
    return b"".join(reply.parts)[4:]


def test_a_request_is_answered_at_once_and_recorded() -> None:
    routed = Routed()
    reply = routed.serve(MetadataRequest(topics=[]), 12)
    correlation_id, answer = decode_response(MetadataResponse, body(reply), 12)
    assert (correlation_id, answer.controller_id) == (5, 1)
    assert routed.seen == [
        ReceivedRequest(1, ApiKey.METADATA, 12, "me", MetadataRequest(topics=[]))
    ]


@pytest.mark.parametrize("version", [4, 5, 99])
def test_api_versions_in_a_version_not_served_is_answered_as_version_0_with_its_range(
    version: int,
) -> None:
    """ApiVersions in an unknown version is answered in version 0 with its range (2f-6, KIP-511)."""
    routed = Routed(API_VERSIONS=3)
    data = bytearray(frame(ApiVersionsRequest(), 4))
    data[2:4] = version.to_bytes(2, "big")
    reply = routed.router.serve(bytes(data), routed.bench.nodes[1])
    correlation_id, answer = decode_response(ApiVersionsResponse, body(reply), 0)
    assert (correlation_id, answer.error_code) == (5, 35)
    assert [(k.api_key, k.min_version, k.max_version) for k in answer.api_keys] == [(18, 0, 3)]


def test_a_version_not_served_closes_the_connection() -> None:
    with pytest.raises(
        CloseConnectionError, match="Metadata version 12 is not served here, only 1-9"
    ):
        Routed(METADATA=9).serve(MetadataRequest(), 12)


def test_an_api_not_served_closes_the_connection() -> None:
    with pytest.raises(CloseConnectionError, match=r"Metadata \(API key 3\) is not served"):
        Routed(METADATA=None).serve(MetadataRequest(), 12)
    data = bytes.fromhex("03e7 0000 00000001 ffff")  # API 999, version 0, no client id
    routed = Routed()
    with pytest.raises(CloseConnectionError, match="API 999"):
        routed.router.serve(data, routed.bench.nodes[1])


def test_produce_versions_0_to_2_are_advertised_but_not_served() -> None:
    """Produce 0 to 2 are advertised for old librdkafka, but not served (KAFKA-18659)."""
    routed = Routed()
    assert routed.router.advertised_versions()[ApiKey.PRODUCE] == VersionRange(0, 13)
    data = bytes.fromhex("0000 0002 00000001 ffff")
    with pytest.raises(CloseConnectionError, match="Produce version 2"):
        routed.router.serve(data, routed.bench.nodes[1])


def test_lowered_versions_are_advertised() -> None:
    advertised = Routed(FETCH=12, PRODUCE=8, DESCRIBE_CLUSTER=None).router.advertised_versions()
    assert advertised[ApiKey.FETCH] == VersionRange(4, 12)
    assert advertised[ApiKey.PRODUCE] == VersionRange(0, 8)
    assert ApiKey.DESCRIBE_CLUSTER not in advertised
    named = [each for each in HANDLERS if not each.is_for_telemetry]
    assert len(advertised) == len(named) - 1


def test_impossible_limits_are_refused() -> None:
    with pytest.raises(ValueError, match=r"max_versions\[Fetch\] is 19; this broker serves 4-18"):
        Routed(FETCH=19)
    with pytest.raises(ValueError, match="names UpdateRaftVoter, which is not served"):
        Routed(UPDATE_RAFT_VOTER=1)


@pytest.mark.parametrize("data", [b"", b"\0\3", b"\0\3\0\x0c\0\0\0\1\0\x02me\0\xff"])
def test_bytes_that_are_no_request_are_an_error(data: bytes) -> None:
    routed = Routed()
    with pytest.raises(ProtocolDecodeError):
        routed.router.serve(data, routed.bench.nodes[1])


def test_bytes_after_a_request_are_stepped_over() -> None:
    routed = Routed()
    data = frame(MetadataRequest(topics=None), 13) + bytes(3)
    reply = routed.router.serve(data, routed.bench.nodes[1])
    assert decode_response(MetadataResponse, body(reply), 13)[1].error_code == 0
    assert routed.seen[-1].request == MetadataRequest(topics=None)


async def test_an_acks_0_request_has_an_empty_reply() -> None:
    reply = Routed().serve(ProduceRequest(acks=0), 9)
    assert isinstance(reply, Reply)
    assert reply.parts == []


async def test_a_later_answer_closes_the_connection_of_a_refused_client_too() -> None:
    bench, sasl = Bench(), new_session()

    async def later() -> MetadataResponse:
        sasl.fail()
        return MetadataResponse()

    sasl.choose("PLAIN", has_headers=True)
    sasl.take(b"\0alice\0secret")
    handler = Handler(MetadataRequest, lambda *_: later, VersionRange(12, 12))
    router = Router(bench.faults, lambda *_: None, max_versions={}, handlers=[handler])
    answer = router.serve(frame(MetadataRequest(topics=[]), 12), bench.nodes[1], Session(sasl=sasl))
    assert not isinstance(answer, Reply)
    assert (await answer()).closes


# Faults…


async def test_a_delayed_answer_comes_by_the_brokers_clock_and_the_work_before_it() -> None:
    routed = Routed()
    routed.bench.faults.delay(MetadataRequest, 2.0)
    request = MetadataRequest()
    request.topics = []
    waiter = asyncio.ensure_future(routed.later(request, 12)())
    await routed.bench.clock.advance(1.9)
    assert not waiter.done()
    await routed.bench.clock.advance(0.1)
    assert (await waiter).parts


async def test_a_stalled_request_is_not_worked_on_until_released() -> None:
    routed = Routed()
    routed.bench.topic("old")
    routed.bench.faults.stall(MetadataRequest)
    waiter = asyncio.ensure_future(routed.later(MetadataRequest(topics=None), 12)())
    await settle()
    routed.bench.topic("new")
    assert not waiter.done()
    routed.bench.faults.release()
    _, answer = decode_response(MetadataResponse, body(await waiter), 12)
    assert [topic.name for topic in answer.topics] == ["old", "new"]


async def test_cut_silence_and_throttle_travel_with_the_reply() -> None:
    routed = Routed()
    routed.bench.faults.cut(MetadataRequest, 3)
    routed.bench.faults.drop(MetadataRequest)
    routed.bench.faults.throttle(MetadataRequest, 77)
    reply = await routed.later(MetadataRequest(topics=[]), 12)()
    assert (reply.cut_after_bytes, reply.is_silent) == (3, True)
    _, answer = decode_response(MetadataResponse, body(reply), 12)
    assert answer.throttle_time_ms == 77
