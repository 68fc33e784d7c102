"""Records that cannot be turned into objects, and partitions that are paused: what stays theirs."""

import asyncio
from typing import Any

import pytest

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import RecordDeserializationError
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.record.batch_builder import RecordBatchBuilder
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.consumer.batches import tps
from tests.scenarios.consuming import (
    answers_are_there,
    consumer_of,
    embedded,
    fill,
    offsets,
    read,
)

P0, P1, P2 = tps(0, 1, 2)
HEADERS = (("trace", b"\xff"), ("none", None))

Consumer = AIOKafkaConsumer[Any, Any]


def number(data: bytes) -> int:
    return int(data)


def add(broker: EmbeddedBroker, *records: tuple[bytes | None, bytes | None]) -> None:
    """Append one batch of (key, value) to P0; the n-th is of the time 5000 + n."""
    builder = RecordBatchBuilder(bytearray(1 << 16))
    for index, (key, value) in enumerate(records):
        builder.append(5000 + index, key, value, HEADERS)
    builder.seal()
    broker.append(P0, builder.wire())


def asked_for(broker: EmbeddedBroker, partition: int) -> list[int]:
    """The offsets at which fetches have named the partition."""
    return [
        p.fetch_offset
        for request in broker.requests_of(FetchRequest)
        for topic in request.topics
        for p in topic.partitions
        if p.partition == partition
    ]


async def poll_all(consumer: Consumer) -> dict[int, list[int]]:
    return offsets(await consumer.getmany(timeout_ms=30_000))


async def poll_one(consumer: Consumer) -> dict[int, list[int]]:
    record = await consumer.getone()
    return {record.partition: [record.offset]}


async def iterate(consumer: Consumer) -> dict[int, list[int]]:
    async for record in consumer:
        return {record.partition: [record.offset]}
    raise AssertionError("the iteration ended by itself")


@pytest.mark.parametrize("poll", [poll_all, poll_one, iterate])
@pytest.mark.parametrize(
    ("bad_key", "bad_value", "field"),
    [(b"1", b"not a number", "value"), (b"no", b"2", "key"), (b"no", None, "key")],
)
async def test_2b_20_a_deserializers_error_carries_the_place_and_the_raw_bytes(
    poll: Any, bad_key: bytes, bad_value: bytes | None, field: str
) -> None:
    """The record's own, whatever else of it had been turned into an object already."""
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(broker, "t", key_deserializer=number, value_deserializer=number) as consumer,
    ):
        add(broker, (b"1", b"1"), (bad_key, bad_value), (b"3", b"3"))
        seen: list[int] = []
        while not seen:
            seen += (await poll(consumer)).get(0, [])
        assert seen == [0]
        for _ in range(2):
            with pytest.raises(
                RecordDeserializationError, match=f"t-0 at offset 1: the {field}"
            ) as at:
                await poll(consumer)
            error = at.value
            assert (error.topic_partition, error.offset) == (P0, 1)
            assert (error.key_bytes, error.value_bytes) == (bad_key, bad_value)
            assert (error.timestamp, tuple(error.headers)) == (5001, HEADERS)
            assert isinstance(error.__cause__, ValueError)
            assert not error.retriable
            assert await consumer.position(P0) == 1, "kept"
        consumer.seek(P0, 2)
        record = await consumer.getone()
        assert (record.offset, record.key, record.value) == (2, 3, 3)


@pytest.mark.parametrize("poll", [poll_all, poll_one, iterate])
async def test_a9_a_bad_record_blocks_neither_other_partitions_nor_their_fetches(poll: Any) -> None:
    """And costs no fetch of its own while it stands aside."""
    async with (
        embedded({"t": 3}) as broker,
        consumer_of(broker, "t", value_deserializer=number, fetch_max_wait_ms=5) as consumer,
    ):
        add(broker, (None, b"bad"), (None, b"1"))
        with pytest.raises(RecordDeserializationError):
            await consumer.getmany(timeout_ms=30_000)
        errors = 0
        seen: list[int] = []
        for first in range(0, 50, 10):
            for value in range(first, first + 10):
                builder = RecordBatchBuilder(bytearray(1 << 10))
                builder.append(1, None, b"%d" % value)
                builder.seal()
                broker.append(P1, builder.wire())
            while len(seen) < first + 10:
                try:
                    seen += (await poll(consumer)).get(1, [])
                except RecordDeserializationError:
                    errors += 1
        assert seen == list(range(50))
        assert asked_for(broker, 0) == [0]
        forgotten = [
            topic.partitions
            for request in broker.requests_of(FetchRequest)
            for topic in request.forgotten_topics_data
            if 0 in topic.partitions
        ]
        assert forgotten == [[0]], "and no session asks for it in silence"
        assert await consumer.position(P0) == 0
        consumer.seek(P0, 1)
        assert await read(consumer, 1) == {P0: [1]}


async def test_2b_20_seeking_back_to_a_bad_record_gives_the_same_error_again() -> None:
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(broker, "t", value_deserializer=number) as consumer,
    ):
        add(broker, (None, b"0"), (None, b"bad"), (None, b"2"))
        for _ in range(2):
            consumer.seek(P0, 0)
            assert (await consumer.getone()).value == 0
            with pytest.raises(RecordDeserializationError, match="offset 1"):
                await consumer.getone()
            consumer.seek(P0, 2)
            assert (await consumer.getone()).value == 2


async def test_a9_an_error_is_gone_with_the_assignment_of_its_partition() -> None:
    async with (
        embedded({"t": 2}) as broker,
        consumer_of(broker, value_deserializer=number) as consumer,
    ):
        add(broker, (None, b"bad"))
        consumer.assign([P0, P1])
        with pytest.raises(RecordDeserializationError):
            await consumer.getone()
        consumer.assign([P1])
        assert await consumer.getmany(timeout_ms=50) == {}


# Paused partitions…


async def test_kafka_7548_pausing_and_resuming_by_turns_asks_for_nothing_twice() -> None:
    """What is buffered of each waits for its turn, and each record comes once, in order."""
    async with (
        embedded({"t": 3}) as broker,
        consumer_of(broker, "t", max_poll_records=2, fetch_max_wait_ms=5) as consumer,
    ):
        for tp in (P0, P1, P2):
            fill(broker, tp, 12)
        await consumer.seek_to_beginning()
        seen: dict[int, list[int]] = {0: [], 1: [], 2: []}
        turn = 0
        while sum(map(len, seen.values())) < 36:
            active = (P0, P1, P2)[turn % 3]
            turn += 1
            consumer.pause(*({P0, P1, P2} - {active}))
            consumer.resume(active)
            for partition, numbers in offsets(await consumer.getmany(timeout_ms=50)).items():
                assert partition == active.partition
                seen[partition] += numbers
        assert seen == {partition: list(range(12)) for partition in range(3)}
        for partition in range(3):
            named = asked_for(broker, partition)
            assert [offset for offset in named if offset < 12] == [0], named


async def test_kafka_7548_a_paused_partition_is_not_asked_for_and_its_buffer_stays() -> None:
    """Also while the others are read on and on; its bytes count as unread all the time."""
    async with (
        embedded({"t": 2}) as broker,
        consumer_of(broker, "t", max_poll_records=5, fetch_max_wait_ms=5) as consumer,
    ):
        fill(broker, P0, 20)
        await consumer.seek_to_beginning()
        assert offsets(await consumer.getmany(timeout_ms=30_000)) == {0: [0, 1, 2, 3, 4]}
        consumer.pause(P0)
        for first in range(0, 30, 5):
            fill(broker, P1, 5)
            assert await read(consumer, 5) == {P1: list(range(first, first + 5))}
        await answers_are_there(consumer)
        (held,) = consumer.statistics().buffered
        assert (held.topic_partition, held.next_offset) == (P0, 5)
        assert consumer.statistics().unread_bytes == held.size_in_bytes > 0
        assert asked_for(broker, 0) == [0]
        assert await consumer.position(P0) == 5
        consumer.resume(P0)
        fetches = len(broker.requests_of(FetchRequest))
        assert offsets(await consumer.getmany()) == {0: [5, 6, 7, 8, 9]}, "at once, from the buffer"
        assert len(broker.requests_of(FetchRequest)) - fetches <= 1, "the next of P1"
        assert asked_for(broker, 0) == [0]


async def test_b3_a_seek_while_paused_drops_what_is_buffered_for_what_was_sought() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 10)
        assert (await consumer.getone()).offset == 0
        consumer.pause(P0)
        consumer.seek(P0, 7)
        assert consumer.statistics().buffered == ()
        assert await consumer.getmany(timeout_ms=20) == {}
        assert asked_for(broker, 0) == [0], "it is free, but paused (B3)"
        waiting = asyncio.create_task(consumer.getone())
        consumer.resume(P0)
        assert (await asyncio.wait_for(waiting, 30)).offset == 7
        assert asked_for(broker, 0) == [0, 7]
