"""The bytes of a planned fetch are those of its message, whichever of the two writes them."""

from dataclasses import replace
from typing import Any
from unittest import mock
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.fetch.fetch_round import USUAL_VERSIONS, FetchRound, FetchTerms
from aiokafka_lite.consumer.fetch.fetch_session import (
    FetchSessionRequest,
    ForgottenPartition,
    SessionPartition,
)
from aiokafka_lite.errors import ProtocolDecodeError, UnsupportedVersionError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.schema.field_types import ZERO_UUID

int32s = st.integers(0, 2**31 - 1)
places = st.builds(TopicPartition, st.sampled_from(["t", "u"]), st.integers(0, 9))
ids = st.sampled_from([ZERO_UUID, UUID(int=1), UUID(int=2**127)])
asked = st.dictionaries(
    places, st.builds(SessionPartition, ids, st.integers(0, 2**63 - 1), int32s, int32s), max_size=3
)
forgotten = st.lists(st.builds(ForgottenPartition, places, ids), max_size=2).map(tuple)
AT = SessionPartition(UUID(int=9), 7, 1 << 20, 3)
P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)


def planned(
    to_send: dict[TopicPartition, SessionPartition],
    gone: tuple[ForgottenPartition, ...] = (),
    *,
    session: tuple[int, int] = (11, 2),
    max_wait_ms: int = 500,
    **options: Any,
) -> FetchRound:
    terms = FetchTerms(replace(ConsumerConfig(), **options))
    request = FetchSessionRequest(*session, to_send, gone, (), True)
    return FetchRound(1, terms, request, max_wait_ms, gone)


@given(
    to_send=asked,
    gone=st.one_of(st.just(()), forgotten),
    session=st.tuples(int32s, st.integers(-1, 2**31 - 1)),
    max_wait_ms=int32s,
    rack=st.none() | st.text(max_size=140),
    limits=st.tuples(st.integers(0, 2**31 - 1), st.integers(1, 2**31 - 1)),
    level=st.sampled_from(["read_uncommitted", "read_committed"]),
    version=st.integers(12, 18),
)
@example({}, (), (11, 2), 500, "r" * 126, (1, 2), "read_committed", 18)
@example({P0: AT}, (), (0, 0), 500, "r" * 127, (1, 2), "read_committed", 18)
def test_the_usual_form_is_what_the_message_encodes(
    to_send: dict[TopicPartition, SessionPartition],
    gone: tuple[ForgottenPartition, ...],
    session: tuple[int, int],
    max_wait_ms: int,
    rack: str | None,
    limits: tuple[int, int],
    level: str,
    version: int,
) -> None:
    fetch = planned(
        to_send,
        gone,
        session=session,
        max_wait_ms=max_wait_ms,
        client_rack=rack,
        fetch_min_bytes=limits[0],
        fetch_max_bytes=limits[1],
        isolation_level=level,
    )
    is_usual = len(to_send) < 2 and not gone and version in USUAL_VERSIONS
    assert is_written_without_message(fetch, version) is (
        is_usual and len((rack or "").encode()) < 127
    )
    assert b"".join(fetch.write(version)) == b"".join(fetch.request.encode(version))


def is_written_without_message(fetch: FetchRound, version: int) -> bool:
    with mock.patch.object(FetchRequest, "encode", return_value=[b"message"]):
        return fetch.write(version) != [b"message"]


def test_the_usual_versions_are_those_in_which_a_consumer_names_no_replica() -> None:
    assert sorted(USUAL_VERSIONS) == [15, 16, 17, 18]
    for version in range(4, 19):
        is_usual = is_written_without_message(planned({P0: AT}), version)
        assert is_usual is (version in USUAL_VERSIONS)
        with pytest.raises(ProtocolDecodeError):  # of the message
            planned({P0: AT}).read(memoryview(b""), version)


def test_a_number_that_does_not_fit_its_field_is_left_to_the_message_which_refuses_it() -> None:
    fetch = planned({P0: AT._replace(fetch_offset=2**63)})
    assert not is_written_without_message(fetch, 18)
    with pytest.raises(ValueError, match="fetch_offset"):
        fetch.request.encode(18)


def test_the_fields_of_the_request_are_made_when_they_are_asked_for() -> None:
    gone = (ForgottenPartition(P1, AT.topic_id), ForgottenPartition(P0, UUID(int=3)))
    request = planned({P0: AT, P1: AT}, gone, client_rack="a").request
    assert isinstance(request, FetchRequest)
    assert type(request).__name__ == "FetchRequest"
    assert request.rack_id == "a"
    assert (request.session_id, request.session_epoch, request.max_wait_ms) == (11, 2, 500)
    (topic,) = request.topics
    assert [each.partition for each in topic.partitions] == [0, 1]
    assert [(each.topic_id, each.partitions) for each in request.forgotten_topics_data] == [
        (AT.topic_id, [1]),
        (UUID(int=3), [0]),
    ]
    with pytest.raises(AttributeError, match="no attribute 'acks'"):
        _ = request.acks  # type: ignore[attr-defined]
    with pytest.raises(UnsupportedVersionError):
        request.encode(99)


class Files:
    """In the place of a fetcher."""

    def __init__(self, fault: Exception | None) -> None:
        self.filed: list[object] = []
        self.fault = fault

    def round_is_over(self, *outcome: object) -> Exception | None:
        self.filed.append(outcome)
        return self.fault


async def test_a_round_without_a_fetcher_gives_its_response_to_whoever_awaits_it() -> None:
    fetch = planned({P0: AT})
    fetch.ended("response", None)
    assert await fetch == "response"


@pytest.mark.parametrize("fault", [None, ZeroDivisionError("of ours")])
async def test_a_round_is_filed_first_and_raises_what_went_wrong_in_that(
    fault: Exception | None,
) -> None:
    fetch = planned({P0: AT})
    fetch.fetcher = files = Files(fault)
    fetch.ended("response", None)
    assert files.filed == [(fetch, "response", None)]
    if fault is None:
        assert await fetch is None
    else:
        with pytest.raises(ZeroDivisionError):
            await fetch
