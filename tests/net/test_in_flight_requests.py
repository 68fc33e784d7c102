"""Correlation ids and the order of answers (2f-1)."""

import pytest

from aiokafka_lite.errors import CorrelationIdError, KafkaProtocolError
from aiokafka_lite.net.in_flight_requests import MAX_CORRELATION_ID, InFlightRequests


def sent(*names: str, **options: int) -> tuple[InFlightRequests, list[int]]:
    in_flight = InFlightRequests(**options)
    ids = []
    for name in names:
        ids.append(in_flight.new_correlation_id())
        in_flight.add(ids[-1], name)
    return in_flight, ids


def test_answers_belong_to_the_requests_in_the_order_of_sending() -> None:
    in_flight, ids = sent("first", "second", "third")
    assert ids == [0, 1, 2]
    assert [in_flight.complete(correlation_id) for correlation_id in ids] == [
        "first",
        "second",
        "third",
    ]
    assert len(in_flight) == 0


def test_at_most_five_requests_are_in_flight() -> None:
    in_flight, _ = sent("a", "b", "c", "d")
    assert not in_flight.has_most()
    in_flight.add(in_flight.new_correlation_id(), "e")
    assert in_flight.has_most()
    in_flight.complete(0)
    assert not in_flight.has_most()


def test_an_answer_out_of_order_is_a_protocol_error_naming_both_ids() -> None:
    in_flight, _ = sent("first", "second")
    with pytest.raises(CorrelationIdError, match="id 1, the oldest waiting request has 0") as error:
        in_flight.complete(1)
    assert isinstance(error.value, KafkaProtocolError)
    assert list(in_flight) == ["first", "second"]


def test_an_answer_nobody_waits_for_is_a_protocol_error() -> None:
    in_flight, _ = sent()
    with pytest.raises(CorrelationIdError, match="id 7 came while no request was waiting"):
        in_flight.complete(7)


def test_correlation_ids_wrap_from_the_largest_int32_to_zero() -> None:
    in_flight, ids = sent("a", "b", "c", first_correlation_id=MAX_CORRELATION_ID - 1)
    assert ids == [2**31 - 2, 2**31 - 1, 0]
    assert [in_flight.complete(correlation_id) for correlation_id in ids] == ["a", "b", "c"]


def test_an_unused_id_leaves_no_gap_in_the_order() -> None:
    in_flight, _ = sent("a")
    in_flight.new_correlation_id()  # a request without an answer
    in_flight.add(in_flight.new_correlation_id(), "b")
    assert in_flight.complete(0) == "a"
    assert in_flight.complete(2) == "b"


def test_draining_gives_all_of_them_back_once() -> None:
    in_flight, _ = sent("a", "b")
    assert in_flight.drain() == ["a", "b"]
    assert in_flight.drain() == []
