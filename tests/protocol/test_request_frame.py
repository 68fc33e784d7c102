"""A request becomes a whole frame, and large records stay where they are."""

import pytest

from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.message_header import (
    RequestHeader,
    decode_request_header,
)
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from aiokafka_lite.protocol.request_frame import RequestHead, encode_request
from tests.protocol.frames import frame_of


@pytest.mark.parametrize("client_id", ["app", "", None, "größe"])
@pytest.mark.parametrize("version", [1, 8, 9, 13])
def test_request_header_comes_back_in_old_and_flexible_versions(
    version: int, client_id: str | None
) -> None:
    request = MetadataRequest(topics=[])
    parts = encode_request(request, version=version, correlation_id=-7, client_id=client_id)
    header, body = decode_request_header(frame_of(parts))
    assert header == RequestHeader(ApiKey.METADATA, version, -7, client_id)
    assert MetadataRequest.decode(body, version) == request


def test_client_id_keeps_its_two_byte_length_in_flexible_headers() -> None:
    """A flexible header holds the client id with a length of two bytes (2g-4)."""
    frame = frame_of(
        encode_request(ApiVersionsRequest(), version=3, correlation_id=1, client_id="id")
    )
    assert frame[:13].hex(" ") == "00 12 00 03 00 00 00 01 00 02 69 64 00"


def test_large_records_stay_parts_of_their_own() -> None:
    records = memoryview(bytes(5000))
    request = ProduceRequest(
        topic_data=[
            TopicProduceData(
                name="t", partition_data=[PartitionProduceData(index=0, records=records)]
            )
        ]
    )
    parts = encode_request(request, version=9, correlation_id=1, client_id="c")
    assert [len(part) for part in parts][1] == 5000
    assert parts[1].obj is records.obj  # type: ignore[union-attr]  # the same memory
    header, body = decode_request_header(frame_of(parts))
    assert ProduceRequest.decode(body, header.api_version) == request


@pytest.mark.parametrize(
    ("correlation_id", "client_id"), [(2**31, "app"), (1, "x" * 40_000)], ids=["id", "client"]
)
def test_a_header_value_that_does_not_fit_is_refused(correlation_id: int, client_id: str) -> None:
    with pytest.raises(ValueError, match="bytes do not fit a request header"):
        encode_request(
            MetadataRequest(), version=9, correlation_id=correlation_id, client_id=client_id
        )


@pytest.mark.parametrize("version", [1, 9])
def test_one_head_serves_all_requests_of_a_version(version: int) -> None:
    head = RequestHead(MetadataRequest, version, "app")
    for correlation_id, topics in ((7, []), (2**31 - 1, None)):
        request = MetadataRequest(topics=topics)
        framed = head.frame(request.encode(version), correlation_id)
        assert frame_of(framed) == frame_of(encode_request(request, version, correlation_id, "app"))
