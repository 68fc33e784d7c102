"""The request that is written from its batches has the bytes of the message."""

import uuid
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.errors import UnsupportedVersionError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.send.batches_request import BatchesRequest, ProducedTopics, ProduceTerms
from aiokafka_lite.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from aiokafka_lite.record.batch_builder import RecordBatchBuilder
from tests.producer.batches import make_batch

VERSIONS = range(3, 14)


def both(
    partitions: list[tuple[str, int]],
    wires: list[bytes],
    *,
    transactional_id: str | None = None,
    acks: int = -1,
    timeout_ms: int = 30_000,
) -> tuple[ProduceRequest, ProduceRequest]:
    """The request of batches, and the message with the same fields."""
    batches = [make_batch(tp=TopicPartition(*each)) for each in partitions]
    ids = {topic: uuid.UUID(int=place + 1) for place, (topic, _) in enumerate(partitions)}
    views = [memoryview(wire) for wire in wires]
    terms = ProduceTerms(transactional_id, acks, timeout_ms)
    quick = BatchesRequest(terms, ProducedTopics(ids), batches, views)
    return quick, message(partitions, views, ids, transactional_id, acks, timeout_ms)


def message(
    partitions: list[tuple[str, int]],
    views: list[memoryview],
    ids: Mapping[str, uuid.UUID],
    transactional_id: str | None,
    acks: int,
    timeout_ms: int,
) -> ProduceRequest:
    topics = {
        topic: TopicProduceData(name=topic, topic_id=topic_id, partition_data=[])
        for topic, topic_id in ids.items()
    }
    for (topic, partition), view in zip(partitions, views, strict=True):
        data = PartitionProduceData(index=partition, records=view)
        topics[topic].partition_data.append(data)
    return ProduceRequest(
        transactional_id=transactional_id,
        acks=acks,
        timeout_ms=timeout_ms,
        topic_data=list(topics.values()),
    )


@given(
    partitions=st.lists(
        st.tuples(st.sampled_from(["a", "b", "ü" * 90, "c" * 249]), st.integers(0, 2**31 - 1)),
        min_size=1,
        max_size=8,
        unique=True,
    ),
    size=st.sampled_from([0, 1, 126, 127, 16_382, 16_383, 70_000, 2_100_000]),
    transactional_id=st.sampled_from([None, "t", "ö" * 100]),
    acks=st.sampled_from([-1, 1]),
    version=st.sampled_from(VERSIONS),
)
def test_the_bytes_are_those_of_the_message(
    partitions: list[tuple[str, int]],
    size: int,
    transactional_id: str | None,
    acks: int,
    version: int,
) -> None:
    wires = [bytes((place,)) * (size + place) for place in range(len(partitions))]
    quick, slow = both(partitions, wires, transactional_id=transactional_id, acks=acks)
    assert b"".join(quick.encode(version)) == b"".join(slow.encode(version))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_batch_that_refers_to_its_values_is_sent_in_every_version(version: int) -> None:
    builder = RecordBatchBuilder(bytearray(10_000))
    for number in range(9):
        builder.append(number, None, bytes([number]) * 900)
    topics = ProducedTopics({"a": uuid.UUID(int=1)})
    batches = [make_batch(tp=TopicPartition("a", 0))]
    terms = ProduceTerms(None, -1, 30_000)
    referring = BatchesRequest(terms, topics, batches, [builder.part()])
    joined = BatchesRequest(terms, topics, batches, [builder.wire()])
    assert b"".join(referring.encode(version)) == b"".join(joined.encode(version))
    assert bytes(referring.topic_data[0].partition_data[0].records or b"") == builder.wire()


def test_it_is_the_message_to_whoever_looks_at_it() -> None:
    quick, slow = both([("a", 0), ("b", 1), ("a", 2)], [b"x", b"y", b"z"])
    assert quick.acks == slow.acks
    assert repr(quick) == repr(slow)
    assert quick == slow
    assert type(quick).__name__ == "ProduceRequest"
    assert quick.response_type is slow.response_type
    name = "acknowledgements"
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
        getattr(quick, name)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_value_that_does_not_fit_is_named(version: int) -> None:
    for field, requests in {
        "acks": both([("a", 0)], [b"x"], acks=2**15),
        "timeout_ms": both([("a", 0)], [b"x"], timeout_ms=2**31),
    }.items():
        for request in requests:
            with pytest.raises(ValueError, match=field):
                request.encode(version)


def test_a_version_that_is_not_spoken_is_refused() -> None:
    for request in both([("a", 0)], [b"x"]):
        for version in (2, 14):
            with pytest.raises(UnsupportedVersionError):
                request.encode(version)
