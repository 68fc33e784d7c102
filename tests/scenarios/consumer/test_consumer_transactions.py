"""Transactions seen by a consumer: E1 to E4, batches and markers written straight to the log."""

import asyncio

import pytest

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.protocol.messages.list_offsets import ListOffsetsRequest
from aiokafka_lite.record.batch_builder import RecordBatchBuilder
from aiokafka_lite.record.control_record import ControlRecordType, build_control_batch
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.consumer.batches import batches, tps
from tests.scenarios.consuming import consumer_of, embedded, fill, read

(P0,) = tps(0)


def transactional(broker: EmbeddedBroker, tp: TopicPartition, producer_id: int, count: int) -> None:
    """Append records of an open transaction."""
    builder = RecordBatchBuilder(bytearray(1 << 16), is_transactional=True)
    for number in range(count):
        builder.append(1000, None, b"%d of %d" % (number, producer_id))
    builder.seal()
    builder.stamp(producer_id, 0, 0)
    broker.append(tp, builder.wire())


def end(
    broker: EmbeddedBroker, tp: TopicPartition, producer_id: int, control: ControlRecordType
) -> None:
    """Append the marker that ends the producer's transaction."""
    marker = build_control_batch(
        control, base_offset=0, producer_id=producer_id, producer_epoch=0, timestamp_ms=1000
    )
    broker.append(tp, marker)


ABORT, COMMIT = ControlRecordType.ABORT, ControlRecordType.COMMIT


def interleaved(broker: EmbeddedBroker) -> None:
    """0-1 aborted, 2-3 committed, 4 plain, 5 marker, 6-7 aborted, 8, 9 markers, 10 plain."""
    transactional(broker, P0, 1, 2)
    transactional(broker, P0, 2, 2)
    fill(broker, P0, 1)
    end(broker, P0, 1, ABORT)
    transactional(broker, P0, 1, 2)
    end(broker, P0, 2, COMMIT)
    end(broker, P0, 1, ABORT)
    fill(broker, P0, 1)


@pytest.mark.parametrize(
    ("isolation_level", "expected"),
    [
        ("read_committed", [2, 3, 4, 10]),
        ("read_uncommitted", [0, 1, 2, 3, 4, 6, 7, 10]),
    ],
)
@pytest.mark.parametrize("max_poll_records", [1, 500])
async def test_e3_e4_aborted_records_and_markers_are_skipped(
    isolation_level: str, expected: list[int], max_poll_records: int
) -> None:
    async with embedded({"t": 1}) as broker:
        interleaved(broker)
        async with consumer_of(
            broker, "t", isolation_level=isolation_level, max_poll_records=max_poll_records
        ) as consumer:
            assert await read(consumer, len(expected)) == {P0: expected}
            assert await consumer.position(P0) == 11


@pytest.mark.parametrize("control", [ABORT, COMMIT])
async def test_e4_a_trailing_marker_moves_the_position(control: ControlRecordType) -> None:
    """#911: the position must not stand one short of the end."""
    async with embedded({"t": 1}) as broker:
        transactional(broker, P0, 1, 2)
        end(broker, P0, 1, control)
        async with consumer_of(broker, "t", isolation_level="read_committed") as consumer:
            if control is COMMIT:
                assert await read(consumer, 2) == {P0: [0, 1]}
            else:
                async with asyncio.timeout(30):
                    while await consumer.position(P0) < 3:
                        assert await consumer.getmany(timeout_ms=300) == {}
            assert await consumer.position(P0) == 3
            assert await consumer.end_offsets([P0]) == {P0: 3}


async def test_e1_read_committed_stops_at_the_last_stable_offset() -> None:
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 2)
        transactional(broker, P0, 1, 2)
        fill(broker, P0, 1)
        async with (
            consumer_of(broker, "t", isolation_level="read_committed") as careful,
            consumer_of(broker, "t") as careless,
        ):
            assert await read(careful, 2) == {P0: [0, 1]}
            assert await careful.getmany(timeout_ms=50) == {}
            assert (careful.last_stable_offset(P0), careful.highwater(P0)) == (2, 5)
            assert careful.current_lag(P0) == 0
            assert await careful.end_offsets([P0]) == {P0: 2}
            assert await read(careless, 5) == {P0: [0, 1, 2, 3, 4]}
            assert await careless.end_offsets([P0]) == {P0: 5}
            careless.seek(P0, 1)
            assert careless.current_lag(P0) == 4
            end(broker, P0, 1, COMMIT)
            assert await read(careful, 3) == {P0: [2, 3, 4]}


async def test_e1_the_isolation_level_travels_in_fetch_and_list_offsets() -> None:
    async with embedded({"t": 1}) as broker:
        for level, number in (("read_committed", 1), ("read_uncommitted", 0)):
            broker.forget_requests()
            async with consumer_of(broker, "t", isolation_level=level) as consumer:
                await consumer.position(P0)
                await consumer.getmany()
                await broker.wait_until(lambda: bool(broker.requests_of(FetchRequest)))
            asked: list[ListOffsetsRequest | FetchRequest] = [
                *broker.requests_of(ListOffsetsRequest),
                *(r for r in broker.requests_of(FetchRequest) if r.session_epoch != -1),
            ]
            assert {request.isolation_level for request in asked} == {number}


async def test_e4_a_compacted_tail_moves_the_position() -> None:
    async with embedded({"t": 1}) as broker:
        broker.append(P0, batches(0, 2) + batches(7, 1), keep_offsets=True)
        broker.append(P0, batches(20, 2), keep_offsets=True)
        async with consumer_of(broker, "t") as consumer:
            assert await read(consumer, 5) == {P0: [0, 1, 7, 20, 21]}
            assert await consumer.position(P0) == 22
