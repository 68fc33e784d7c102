"""The broker remembers the newest requests, within bounds."""

from typing import Any

from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.schema.message import Request
from aiokafka_lite.testing.broker.request_log import (
    MAX_REQUEST_BYTES,
    ReceivedRequest,
    RequestLog,
)


def received(request: Request[Any]) -> ReceivedRequest:
    return ReceivedRequest(1, request.api_key, 4, "me", request)


def test_requests_of_one_api_are_found_oldest_first() -> None:
    log = RequestLog(10)
    requests: list[Request[Any]] = [
        FetchRequest(min_bytes=1),
        MetadataRequest(),
        FetchRequest(min_bytes=2),
    ]
    for request in requests:
        log.append(received(request), 10)
    assert [request.min_bytes for request in log.of_type(FetchRequest)] == [1, 2]
    assert [entry.request for entry in log] == requests
    log.clear()
    assert len(log) == 0


def test_the_oldest_go_when_there_are_too_many() -> None:
    log = RequestLog(2)
    for i in range(5):
        log.append(received(FetchRequest(min_bytes=i)), 10)
    assert [request.min_bytes for request in log.of_type(FetchRequest)] == [3, 4]


def test_the_oldest_go_when_they_take_too_much_memory() -> None:
    log = RequestLog(100)
    for i in range(4):
        log.append(received(FetchRequest(min_bytes=i)), MAX_REQUEST_BYTES // 2)
    assert [request.min_bytes for request in log.of_type(FetchRequest)] == [2, 3]
    log.append(received(MetadataRequest()), MAX_REQUEST_BYTES + 1)
    assert len(log) == 0


def test_a_log_of_0_keeps_nothing() -> None:
    log = RequestLog(0)
    log.append(received(FetchRequest()), 10)
    assert len(log) == 0
