"""Whole frames: headers of both kinds, and what a broker can read of a request it does not know."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.protocol.api_registry import API_BY_KEY, Api
from aiokafka_lite.protocol.message_header import (
    RequestHeader,
    decode_request_header,
    decode_response,
    encode_response,
    response_correlation_id,
)
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsResponse
from aiokafka_lite.protocol.messages.metadata import MetadataRequest, MetadataResponse
from aiokafka_lite.protocol.request_frame import encode_request
from tests.protocol.frames import frame_of


@pytest.mark.parametrize("api", API_BY_KEY.values(), ids=lambda api: api.name)
def test_response_comes_back_in_every_version(api: Api) -> None:
    for version in range(api.versions.min, api.versions.max + 1):
        parts = encode_response(api.response(), version=version, correlation_id=2**31 - 1)
        frame = frame_of(parts)
        assert response_correlation_id(frame) == 2**31 - 1
        assert decode_response(api.response, frame, version) == (2**31 - 1, api.response())


def test_api_versions_answers_with_the_old_header_in_every_version() -> None:
    """Every version of ApiVersions is answered with the old header (KIP-511, 2f-6)."""
    answer = ApiVersionsResponse(error_code=35)
    for version in range(5):
        frame = frame_of(encode_response(answer, version=version, correlation_id=5))
        assert frame[4:6] == b"\x00\x23"
    metadata = frame_of(encode_response(MetadataResponse(), version=9, correlation_id=5))
    assert metadata[4:5] == b"\x00"


def test_tagged_fields_in_headers_are_skipped() -> None:
    request = frame_of(encode_request(MetadataRequest(), version=9, correlation_id=1, client_id=""))
    tagged = request[:10] + b"\x01\x00\x02ab" + request[11:]
    header, body = decode_request_header(tagged)
    assert MetadataRequest.decode(body, header.api_version) == MetadataRequest()
    response = frame_of(encode_response(MetadataResponse(), version=9, correlation_id=1))
    tagged = response[:4] + b"\x01\x00\x02ab" + response[5:]
    assert decode_response(MetadataResponse, tagged, 9) == (1, MetadataResponse())


def test_unknown_api_and_unknown_version_still_have_a_header() -> None:
    """A broker answers a newer ApiVersions with UNSUPPORTED_VERSION in v0, so it must read this."""
    newer = bytes.fromhex("0012 7fff 00000009 0002 6964 00 deadbeef")
    header, body = decode_request_header(newer)
    assert header == RequestHeader(18, 32767, 9, "id")
    assert bytes(body) == b"\xde\xad\xbe\xef"
    unknown = bytes.fromhex("7fff 0000 00000009 ffff ab")
    header, body = decode_request_header(unknown)
    assert header == RequestHeader(32767, 0, 9, None)
    assert bytes(body) == b"\xab"


@given(st.binary(max_size=40))
def test_garbage_is_a_header_or_a_protocol_error(raw: bytes) -> None:
    with contextlib.suppress(ProtocolDecodeError):
        decode_request_header(raw)
    with contextlib.suppress(ProtocolDecodeError):
        decode_response(MetadataResponse, raw, 12)


def test_a_response_without_a_correlation_id_is_refused() -> None:
    with pytest.raises(ProtocolDecodeError, match="4 bytes are needed"):
        response_correlation_id(b"\x00\x00")
