"""Both twins write the same requests, and read the same of damaged responses."""

import uuid
from collections.abc import Sequence
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.message_header import encode_response
from aiokafka_lite.protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from tests.producer.batches import make_batch
from tests.producer.twins import producer_twin

TOPICS = {"a": uuid.UUID(int=1), "b": uuid.UUID(int=2)}
TOLD = {topic: topic_id.bytes for topic, topic_id in TOPICS.items()}
PLACES = [TopicPartition("a", 0), TopicPartition("b", 2**31 - 1), TopicPartition("a", 2**30)]


@pytest.fixture(scope="module")
def twins() -> list[SimpleNamespace]:
    return [producer_twin(kind) for kind in ("pure", "native")]


def frame_of(results: dict[str, list[PartitionProduceResponse]]) -> bytes:
    response = ProduceResponse(
        responses=[
            TopicProduceResponse(topic_id=TOPICS[topic], partition_responses=each)
            for topic, each in results.items()
        ]
    )
    return b"".join(encode_response(response, version=13, correlation_id=9))[4:]


def result_of(number: int) -> PartitionProduceResponse:
    return PartitionProduceResponse(
        index=PLACES[number].partition,
        error_code=0,
        base_offset=2**62 + number,
        log_append_time_ms=2**41,
        log_start_offset=number - 1,
    )


def frame_in_order(topics: Sequence[str], numbers: Sequence[int]) -> bytes:
    return frame_of(
        {
            topic: [result_of(number) for number in numbers if PLACES[number].topic == topic]
            for topic in topics
        }
    )


FRAME = frame_in_order("ab", range(3))
WRITTEN = [(place, 2**62 + number, 2**41, number - 1) for number, place in enumerate(PLACES)]


def places_read(twin: SimpleNamespace, frame: bytes) -> list[object] | None:
    """What is read of a frame, with the places of the batches instead of them."""
    batches = [make_batch(tp=place, twin=twin) for place in PLACES]
    written = twin.read_written(memoryview(frame), TOLD, batches)
    return written and [(entry[0].topic_partition, *entry[1:]) for entry in written]


@given(
    at=st.integers(0, len(FRAME) - 1),
    changed=st.binary(max_size=4),
    cut=st.sampled_from([0, 1, 3, 33]),
)
def test_both_read_the_same_of_a_damaged_response(
    twins: list[SimpleNamespace], at: int, changed: bytes, cut: int
) -> None:
    damaged = FRAME[:at] + changed + FRAME[at + cut :]
    read = [places_read(twin, damaged) for twin in twins]
    assert read[0] == read[1]


def test_the_undamaged_response_is_read(twins: list[SimpleNamespace]) -> None:
    assert [places_read(twin, FRAME) for twin in twins] == [WRITTEN, WRITTEN]
    for rest in (b"\0", b"\0\0\0\0\0\0"):
        assert [places_read(twin, FRAME + rest) for twin in twins] == [None, None]


@given(topics=st.permutations("ab"), numbers=st.permutations(range(3)))
def test_a_response_in_any_order_is_read(
    twins: list[SimpleNamespace], topics: list[str], numbers: list[int]
) -> None:
    """A broker answers for the partitions of a request in the order of its own hash table."""
    frame = frame_in_order(topics, numbers)
    assert [places_read(twin, frame) for twin in twins] == [WRITTEN, WRITTEN]


def test_a_response_that_leaves_out_a_partition_is_not_read(twins: list[SimpleNamespace]) -> None:
    for numbers in ((0, 1, 0), (1, 2, 2), (0, 1)):
        frame = frame_in_order("ab", numbers)
        assert [places_read(twin, frame) for twin in twins] == [None, None]


@given(
    sizes=st.lists(st.sampled_from([0, 1, 126, 127, 128, 16_383, 16_384]), min_size=3, max_size=3)
)
def test_both_write_the_same_request(twins: list[SimpleNamespace], sizes: list[int]) -> None:
    wires = [memoryview(bytes(size)) for size in sizes]
    told = []
    for twin in twins:
        batches = [make_batch(tp=place, twin=twin) for place in PLACES]
        parts = twin.request_parts(b"head", TOLD, batches, wires)
        assert [part for part in parts if isinstance(part, memoryview)] == [
            wires[0],
            wires[2],
            wires[1],
        ]
        told.append(b"".join(parts))
    assert told[0] == told[1]
