"""Both twins write what the message writes, and read what it reads, or nothing."""

import uuid
from types import ModuleType
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aiokafka_lite.consumer.fetch import _fetch_bytes_py
from aiokafka_lite.consumer.fetch.fetch_round import USUAL_VERSIONS
from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.protocol.message_header import decode_response, encode_response
from aiokafka_lite.protocol.messages._leader import LeaderIdAndEpoch, NodeEndpoint
from aiokafka_lite.protocol.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
    SnapshotId,
)
from tests.support.twins import native_twin

VERSIONS = sorted(USUAL_VERSIONS)
ID_A, ID_B = uuid.UUID(int=1), uuid.UUID(int=2**127 + 7)
FIELDS = ("partition_index", "high_watermark", "last_stable_offset", "log_start_offset")

int32s = st.integers(-(2**31), 2**31 - 1)
int64s = st.integers(-(2**63), 2**63 - 1)
rarely = st.sampled_from([False] * 9 + [True])


def but_rarely(usual: Any, other: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """One value nine times out of ten."""
    return rarely.flatmap(lambda is_rare: other if is_rare else st.just(usual))


partitions = st.builds(
    PartitionData,
    partition_index=int32s,
    error_code=but_rarely(0, st.integers(-1, 100)),
    high_watermark=int64s,
    last_stable_offset=int64s,
    log_start_offset=int64s,
    diverging_epoch=but_rarely(EpochEndOffset(), st.builds(EpochEndOffset, epoch=int32s)),
    current_leader=but_rarely(LeaderIdAndEpoch(), st.builds(LeaderIdAndEpoch, leader_id=int32s)),
    snapshot_id=but_rarely(SnapshotId(), st.builds(SnapshotId, epoch=int32s)),
    aborted_transactions=st.one_of(
        st.none(),
        st.just([]),
        but_rarely(None, st.just([AbortedTransaction(producer_id=1, first_offset=2)])),
    ),
    preferred_read_replica=but_rarely(-1, int32s),
    records=st.one_of(
        st.binary(max_size=300),
        but_rarely(b"x" * 127, st.one_of(st.none(), st.just(b"y" * 20_000))),
    ),
)
topics = st.builds(
    FetchableTopicResponse,
    topic_id=st.sampled_from([ID_A, ID_B]),
    partitions=but_rarely(1, st.sampled_from([0, 2])).flatmap(
        lambda count: st.lists(partitions, min_size=count, max_size=count)
    ),
)
responses = st.builds(
    FetchResponse,
    throttle_time_ms=but_rarely(0, int32s),
    error_code=but_rarely(0, st.integers(-1, 100)),
    session_id=int32s,
    responses=but_rarely(1, st.sampled_from([0, 2])).flatmap(
        lambda count: st.lists(topics, min_size=count, max_size=count)
    ),
    node_endpoints=but_rarely([], st.just([NodeEndpoint(node_id=1, host="h", port=9)])),
)
LONE = FetchResponse(
    session_id=7,
    responses=[
        FetchableTopicResponse(
            topic_id=ID_B,
            partitions=[
                PartitionData(
                    partition_index=3,
                    error_code=0,
                    high_watermark=2**40,
                    last_stable_offset=2**40 - 1,
                    log_start_offset=5,
                    aborted_transactions=None,
                    records=b"r" * 200,
                )
            ],
        )
    ],
)


@pytest.fixture(scope="module")
def twins() -> list[ModuleType]:
    return [_fetch_bytes_py, native_twin("aiokafka_lite.consumer.fetch._fetch_bytes")]


def frame_of(response: FetchResponse, version: int) -> bytes:
    if version < FetchRequest.leader_hints_since:
        response.node_endpoints = []
    return b"".join(encode_response(response, version=version, correlation_id=9))[4:]


def read(twins: list[ModuleType], frame: bytes) -> dict[str, Any] | None:
    """What both twins read, which is the same."""
    found = []
    for twin in twins:
        lone = twin.read_lone_answer(memoryview(frame))
        names = (*FIELDS, "session_id", "topic_id_bytes")
        found.append(
            lone and {"records": bytes(lone.records), **{n: getattr(lone, n) for n in names}}
        )
    assert found[0] == found[1]
    return found[0]


def said(response: FetchResponse) -> dict[str, Any] | None:
    """What a decoded message says, if it is of the usual form."""
    if response.throttle_time_ms or response.error_code or response.node_endpoints:
        return None
    if [len(topic.partitions) for topic in response.responses] != [1]:
        return None
    (topic,) = response.responses
    (data,) = topic.partitions
    if data.error_code or data.aborted_transactions or data.preferred_read_replica != -1:
        return None
    if not data.records:
        return None
    if (data.diverging_epoch, data.current_leader, data.snapshot_id) != (
        EpochEndOffset(),
        LeaderIdAndEpoch(),
        SnapshotId(),
    ):
        return None
    return {
        "records": bytes(data.records),
        "session_id": response.session_id,
        "topic_id_bytes": topic.topic_id.bytes,
        **{name: getattr(data, name) for name in FIELDS},
    }


@given(response=responses, version=st.sampled_from(VERSIONS))
@example(response=LONE, version=VERSIONS[-1])
def test_a_response_is_read_if_it_is_of_the_usual_form_and_as_the_message_says(
    twins: list[ModuleType], response: FetchResponse, version: int
) -> None:
    frame = frame_of(response, version)
    _, message = decode_response(FetchResponse, memoryview(frame), version)
    assert read(twins, frame) == said(message)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_response_that_is_cut_off_or_too_long_is_not_read(
    twins: list[ModuleType], version: int
) -> None:
    frame = frame_of(LONE, version)
    assert read(twins, frame) is not None
    assert [read(twins, frame[:size]) for size in range(len(frame))] == [None] * len(frame)
    assert read(twins, frame + b"\0") is None


@given(
    at=st.integers(0, 80),
    from_end=st.booleans(),
    changed=st.binary(max_size=4),
    cut=st.integers(0, 4),
)
@example(at=68, from_end=False, changed=b"\xc9\x81\x00", cut=2)  # a size of one byte too many
@example(at=68, from_end=False, changed=b"\xcd\x81\x80\x80\x80\x00", cut=2)
@example(at=4, from_end=False, changed=b"\1\x09\0", cut=1)  # a tag in the header
def test_what_is_read_of_a_damaged_response_is_what_the_message_would_say(
    twins: list[ModuleType], at: int, from_end: bool, changed: bytes, cut: int
) -> None:
    whole = frame_of(LONE, VERSIONS[-1])
    at = len(whole) - at if from_end else at
    damaged = whole[:at] + changed + whole[at + cut :]
    found = read(twins, damaged)
    if found is None:
        return
    _, message = decode_response(FetchResponse, memoryview(damaged), VERSIONS[-1])
    assert found == said(message)


def test_a_size_of_the_records_that_does_not_end_is_not_read(twins: list[ModuleType]) -> None:
    """The message takes sizes of five bytes at most."""
    whole = frame_of(LONE, VERSIONS[-1])
    damaged = whole[:68] + b"\xc9\x81\x80\x80\x80" + whole[70:]
    with pytest.raises(ProtocolDecodeError):
        decode_response(FetchResponse, memoryview(damaged), VERSIONS[-1])
    assert read(twins, damaged) is None


LIMITS = b"123456789"
ASKED = (bytes(16), 1, 2, 3, 4)


def test_a_number_that_does_not_fit_its_field_is_not_written(twins: list[ModuleType]) -> None:
    """The message names it in its error."""
    fit: list[Any] = [500, LIMITS, 1, 2, ASKED, b"tail"]
    for twin in twins:
        assert twin.request_bytes(*fit)
        for at in (0, 2, 3):
            for number in (2**31, -(2**31) - 1):
                assert twin.request_bytes(*fit[:at], number, *fit[at + 1 :]) is None
        for at, number in ((1, 2**31), (2, 2**31), (3, 2**63), (4, 2**31)):
            for each in (number, -number - 1):
                asked = (*ASKED[:at], each, *ASKED[at + 1 :])
                assert twin.request_bytes(*fit[:4], asked, b"tail") is None


@given(
    max_wait_ms=int32s,
    session_id=int32s,
    epoch=int32s,
    asked=st.none()
    | st.tuples(st.binary(min_size=16, max_size=16), int32s, int32s, int64s, int32s),
)
def test_both_write_the_same(
    twins: list[ModuleType], max_wait_ms: int, session_id: int, epoch: int, asked: Any
) -> None:
    given = (max_wait_ms, LIMITS, session_id, epoch, asked, b"tail")
    pure, native = [twin.request_bytes(*given) for twin in twins]
    assert pure == native
    assert len(pure) == 21 + 4 + (1 if asked is None else 52)
