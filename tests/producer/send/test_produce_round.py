import uuid
from collections.abc import Sequence
from typing import Any
from unittest import mock

import pytest

from aiokafka_lite.cluster.metadata.metadata_snapshot import (
    MetadataSnapshot,
    bootstrap_snapshot,
    merge_metadata,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.net import exchange as exchange_module
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch
from aiokafka_lite.producer.send.batches_request import ProduceTerms, topics_of
from aiokafka_lite.producer.send.produce_round import ProduceRound
from aiokafka_lite.protocol.message_header import encode_response
from aiokafka_lite.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from aiokafka_lite.protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from aiokafka_lite.schema.field_types import ZERO_UUID
from tests.producer.batches import make_batch

ORDERS_ID, BILLS_ID = uuid.UUID(int=11), uuid.UUID(int=12)


def snapshot(*, partitions: Sequence[int] = (0, 1), **topics: uuid.UUID) -> MetadataSnapshot:
    answer = MetadataResponse(
        brokers=[MetadataResponseBroker(node_id=1, host="h", port=1)],
        cluster_id="c",
        controller_id=1,
        topics=[
            MetadataResponseTopic(
                error_code=0,
                name=name,
                topic_id=topic_id,
                partitions=[
                    MetadataResponsePartition(
                        error_code=0,
                        partition_index=index,
                        leader_id=1,
                        leader_epoch=0,
                        replica_nodes=[1],
                        isr_nodes=[1],
                    )
                    for index in partitions
                ],
            )
            for name, topic_id in topics.items()
        ],
    )
    return merge_metadata(bootstrap_snapshot([]), answer, partial=False)


def exchange(batches: list[ProducerBatch], known: MetadataSnapshot) -> ProduceRound:
    return ProduceRound(
        ProduceTerms(None, -1, 30_000),
        topics_of(batches, known),
        batches,
        wires=[batch.wire() for batch in batches],
    )


def result(index: int, base_offset: int = 0) -> PartitionProduceResponse:
    return PartitionProduceResponse(index=index, error_code=0, base_offset=base_offset)


BATCHES = [
    make_batch(tp=TopicPartition("orders", 0)),
    make_batch(tp=TopicPartition("bills", 1)),
    make_batch(tp=TopicPartition("orders", 1)),
]


def test_batches_are_grouped_by_topic_with_name_and_id() -> None:
    request = exchange(BATCHES, snapshot(orders=ORDERS_ID, bills=BILLS_ID)).request
    assert isinstance(request, ProduceRequest)
    assert (request.acks, request.timeout_ms, request.transactional_id) == (-1, 30_000, None)
    assert [(topic.name, topic.topic_id) for topic in request.topic_data] == [
        ("orders", ORDERS_ID),
        ("bills", BILLS_ID),
    ]
    assert [data.index for data in request.topic_data[0].partition_data] == [0, 1]
    assert request.topic_data[1].partition_data[0].records == BATCHES[1].wire()


def test_names_are_used_unless_every_id_is_known() -> None:
    """Produce names topics unless every id is known, as version 13 has no names (KIP-516)."""
    assert exchange(BATCHES, snapshot(orders=ORDERS_ID, bills=BILLS_ID)).max_version is None
    partly = exchange(BATCHES, snapshot(orders=ORDERS_ID))
    assert partly.max_version == ProduceRequest.topic_ids_since - 1 == 12


def test_results_are_found_by_id_and_by_name() -> None:
    both = exchange(BATCHES, snapshot(orders=ORDERS_ID, bills=BILLS_ID))
    by_id = ProduceResponse(
        responses=[
            TopicProduceResponse(topic_id=BILLS_ID, partition_responses=[result(1, 5)]),
            TopicProduceResponse(topic_id=ORDERS_ID, partition_responses=[result(1, 7), result(0)]),
        ]
    )
    assert [(b, r and r.base_offset) for b, r in both.results(by_id)] == list(
        zip(BATCHES, [0, 5, 7], strict=True)
    )
    by_name = ProduceResponse(
        responses=[
            TopicProduceResponse(
                name="orders", topic_id=ZERO_UUID, partition_responses=[result(0, 3)]
            )
        ]
    )
    assert [r and r.base_offset for _, r in both.results(by_name)] == [3, None, None]


def test_a_transaction_is_named_and_may_bound_the_version() -> None:
    """A transactional Produce names its id, and V1 transactions cap it at version 11 (2d'-7)."""
    known, unknown = snapshot(orders=ORDERS_ID, bills=BILLS_ID), snapshot()
    for topics, bound, expected in (
        (known, None, None),
        (known, 11, 11),
        (unknown, None, ProduceRequest.topic_ids_since - 1),
        (unknown, 11, 11),
    ):
        asking = ProduceRound(
            ProduceTerms("t", -1, 30_000),
            topics_of(BATCHES, topics),
            BATCHES,
            wires=[batch.wire() for batch in BATCHES],
            max_version=bound,
        )
        assert asking.request.transactional_id == "t"
        assert asking.max_version == expected


def test_ids_are_looked_at_once_a_topic_not_once_a_batch() -> None:
    """What an answer costs is Python, and an id's hash is a call of it."""
    ids = snapshot(orders=ORDERS_ID, bills=BILLS_ID)
    batches = [make_batch(tp=TopicPartition("orders", number)) for number in range(20)]
    one_topic = exchange(batches, ids)
    topic = TopicProduceResponse(
        topic_id=ORDERS_ID, partition_responses=[result(number, number) for number in range(20)]
    )
    with mock.patch.object(uuid.UUID, "__hash__", autospec=True, return_value=1) as hashes:
        results = list(one_topic.results(ProduceResponse(responses=[topic])))
    assert [r and r.base_offset for _, r in results] == list(range(20))
    assert hashes.call_count == 2


ONE_TOPIC = [make_batch(tp=TopicPartition("orders", number)) for number in (3, 0, 200)]
WRITTEN = [
    PartitionProduceResponse(
        index=batch.topic_partition.partition,
        error_code=0,
        base_offset=10 + number,
        log_append_time_ms=20 + number,
        log_start_offset=30 + number,
    )
    for number, batch in enumerate(ONE_TOPIC)
]


def one_topic() -> ProduceRound:
    return exchange(ONE_TOPIC, snapshot(partitions=(0, 3, 200), orders=ORDERS_ID))


def frame_of(
    results: Sequence[PartitionProduceResponse],
    version: int,
    *more: TopicProduceResponse,
    name: str = "orders",
    topic_id: uuid.UUID = ORDERS_ID,
    **fields: Any,
) -> memoryview:
    topic = TopicProduceResponse(name=name, topic_id=topic_id, partition_responses=list(results))
    response = ProduceResponse(responses=[topic, *more], **fields)
    return memoryview(b"".join(encode_response(response, version=version, correlation_id=7)))[4:]


@pytest.mark.parametrize("version", range(9, 14))
def test_a_response_that_all_batches_are_written_is_read_in_one_go(version: int) -> None:
    assert one_topic().read(frame_of(WRITTEN, version), version) == [
        (batch, 10 + number, 20 + number, 30 + number) for number, batch in enumerate(ONE_TOPIC)
    ]


@pytest.mark.parametrize("version", range(3, 14))
def test_any_other_response_is_left_to_the_message(version: int) -> None:
    asked = one_topic()
    refused = PartitionProduceResponse(index=3, error_code=6, base_offset=-1)
    blamed, told = result(3), result(3)
    blamed.record_errors = [BatchIndexAndErrorMessage(batch_index=1)]
    told.error_message = "why"
    others: list[memoryview] = [
        frame_of([refused, *WRITTEN[1:]], version),
        frame_of([WRITTEN[1], WRITTEN[0], WRITTEN[1]], version),
        frame_of(WRITTEN[:2], version),
        frame_of([*WRITTEN, WRITTEN[0]], version),
        frame_of(WRITTEN, version, throttle_time_ms=5),
        frame_of(WRITTEN, version, TopicProduceResponse(name="x", topic_id=BILLS_ID)),
        frame_of(WRITTEN, version, name="borders", topic_id=BILLS_ID),
        frame_of([], version),
        memoryview(b"\0\0\0\7"),
    ]
    if version >= 8:
        others += [frame_of([one, *WRITTEN[1:]], version) for one in (blamed, told)]
    if version < 9:
        others.append(frame_of(WRITTEN, version))
    assert [read_in_one_go(asked, other, version) for other in others] == [None] * len(others)
    whole = frame_of(WRITTEN, version)
    assert all(read_in_one_go(asked, whole[:size], version) is None for size in range(len(whole)))


def read_in_one_go(asked: ProduceRound, frame: memoryview, version: int) -> Any:
    """What a response says; None if it is left to the message."""
    with mock.patch.object(exchange_module, "read_response", return_value=(None, None)):
        return asked.read(frame, version)


@pytest.mark.parametrize("version", range(9, 14))
def test_a_response_of_several_topics_is_read_in_any_order(version: int) -> None:
    """The order of the response is the broker's choice."""
    asked = exchange(BATCHES, snapshot(orders=ORDERS_ID, bills=BILLS_ID))
    bills = TopicProduceResponse(
        name="bills", topic_id=BILLS_ID, partition_responses=[result(1, 9)]
    )
    orders = [result(0, 7), result(1, 8)]
    frame = frame_of(orders, version, bills)
    bases = {("orders", 0): 7, ("orders", 1): 8, ("bills", 1): 9}
    expected = [(batch, bases[batch.topic_partition], -1, -1) for batch in BATCHES]
    assert asked.read(frame, version) == expected
    assert all(read_in_one_go(asked, frame[:size], version) is None for size in range(len(frame)))
    assert read_in_one_go(asked, memoryview(bytes(frame) + b"\0"), version) is None
    swapped = ProduceResponse(
        responses=[
            bills,
            TopicProduceResponse(
                name="orders", topic_id=ORDERS_ID, partition_responses=orders[::-1]
            ),
        ]
    )
    parts = encode_response(swapped, version=version, correlation_id=7)
    assert asked.read(memoryview(b"".join(parts))[4:], version) == expected


def test_a_long_name_is_told_like_any_other() -> None:
    name = "n" * 249
    topics: dict[str, Any] = {name: ORDERS_ID}
    long = exchange([make_batch(tp=TopicPartition(name, 0))], snapshot(**topics))
    told = [PartitionProduceResponse(index=0, error_code=0, base_offset=1)]
    for version in (12, 13):
        assert long.read(frame_of(told, version, name=name), version) is not None


def test_a_hundred_and_twenty_seven_partitions_are_left_to_the_message() -> None:
    """Their count takes two bytes."""
    for count, is_read in ((126, True), (127, False)):
        numbers = range(count)
        batches = [make_batch(tp=TopicPartition("orders", number)) for number in numbers]
        asked = exchange(batches, snapshot(partitions=numbers, orders=ORDERS_ID))
        frame = frame_of([result(number) for number in numbers], 13)
        assert (read_in_one_go(asked, frame, 13) is not None) is is_read
