"""Fetching ahead of what is buffered (`prefetch_max_bytes`): what it adds; A and B hold."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer
from aiokafka_lite.errors import (
    BrokerResponseError,
    CorruptRecordException,
    NotLeaderForPartitionError,
    OffsetOutOfRangeError,
    TopicAuthorizationFailedError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.consumer.batches import batches, marker, tps, with_bad_crc
from tests.scenarios.consuming import (
    answers_are_there,
    consumer_of,
    embedded,
    fill,
    offsets,
    read,
)

P0, P1 = tps(0, 1)
AHEAD = 1 << 20
"""More than any of these tests writes."""

Consumer = AIOKafkaConsumer[Any, Any]


def ahead(broker: EmbeddedBroker, *topics: str, **options: Any) -> Consumer:
    """A consumer that fetches ahead, one batch an answer, and returns one record a poll."""
    ready = {"prefetch_max_bytes": AHEAD, "fetch_max_bytes": 1, "max_poll_records": 1}
    return consumer_of(broker, *topics, **{**ready, **options})


def buffered(consumer: Consumer) -> list[tuple[int, int]]:
    """Partition and next offset of what is buffered, in the order it is served."""
    return [(f.topic_partition.partition, f.next_offset) for f in consumer.statistics().buffered]


def asked(broker: EmbeddedBroker) -> list[list[tuple[int, int]]]:
    """The partitions and offsets each Fetch so far has named."""
    return [
        [(each.partition, each.fetch_offset) for topic in r.topics for each in topic.partitions]
        for r in broker.requests_of(FetchRequest)
        if r.session_epoch != -1
    ]


async def poll_once(consumer: Consumer) -> dict[int, list[int]]:
    """Poll, and wait for what the poll has set going."""
    found = offsets(await consumer.getmany(timeout_ms=30_000))
    await answers_are_there(consumer)
    return found


async def test_a_buffered_partition_is_fetched_on_from_behind_what_is_buffered() -> None:
    async with embedded({"t": 1}) as broker, ahead(broker, "t") as consumer:
        fill(broker, P0, 2, 2, 2)
        assert await poll_once(consumer) == {0: [0]}
        assert buffered(consumer) == [(0, 1), (0, 2)]
        assert asked(broker) == [[(0, 0)], [(0, 2)]]
        assert await consumer.position(P0) == 1, "it moves with what is returned (B6)"
        assert await poll_once(consumer) == {0: [1]}
        assert buffered(consumer) == [(0, 2), (0, 4)]
        assert (await read(consumer, 4))[P0] == [2, 3, 4, 5]


async def test_without_the_option_it_is_not() -> None:
    async with embedded({"t": 1}) as broker, ahead(broker, "t", prefetch_max_bytes=0) as consumer:
        fill(broker, P0, 2, 2)
        assert await poll_once(consumer) == {0: [0]}
        assert buffered(consumer) == [(0, 1)]
        assert asked(broker) == [[(0, 0)]]


@pytest.mark.parametrize(("above", "fetches"), [(0, 1), (1, 2)])
async def test_no_more_is_fetched_ahead_once_so_many_bytes_lie_unread(
    above: int, fetches: int
) -> None:
    size = len(batches(0, 9))
    async with (
        embedded({"t": 1}) as broker,
        ahead(broker, "t", prefetch_max_bytes=size + above) as consumer,
    ):
        fill(broker, P0, 9, 9, 9, 9)
        for offset in range(5):
            assert await poll_once(consumer) == {0: [offset]}
            assert len(buffered(consumer)) == fetches
        assert (await read(consumer, 31))[P0] == list(range(5, 36))


async def test_records_of_two_fetches_of_one_partition_are_joined_in_one_poll() -> None:
    async with embedded({"t": 1}) as broker, ahead(broker, "t") as consumer:
        fill(broker, P0, 2, 2, 2)
        await poll_once(consumer)
        assert offsets(await consumer.getmany(max_records=10)) == {0: [1, 2, 3]}
        assert (await read(consumer, 2))[P0] == [4, 5]


async def test_a_partition_far_behind_does_not_wait_for_those_at_their_end() -> None:
    async with (
        embedded({"t": 2}) as broker,
        ahead(broker, "t", fetch_max_wait_ms=20_000) as consumer,
    ):
        fill(broker, P0, *[2] * 8)
        assert await asyncio.wait_for(read(consumer, 16), 10) == {P0: list(range(16))}
        waits = {r.max_wait_ms for r in broker.requests_of(FetchRequest) if r.session_epoch >= 0}
        assert waits == {20_000}, "the buffered partition is in the request, too"


async def to_the_beginning(consumer: Consumer) -> None:
    consumer.seek(P0, 0)


async def to_the_end_of_what_is_buffered(consumer: Consumer) -> None:
    consumer.seek(P0, 4)


async def let_go_and_taken_again(consumer: Consumer) -> None:
    consumer.assign([])
    assert not consumer.statistics().buffered
    consumer.assign([P0])


@pytest.mark.parametrize(
    ("change", "first"),
    [(to_the_beginning, 0), (to_the_end_of_what_is_buffered, 4), (let_go_and_taken_again, 0)],
)
@pytest.mark.parametrize("on_its_way", [False, True], ids=["answered", "on its way"])
async def test_a6_what_does_not_fit_the_position_any_more_is_dropped(
    change: Callable[[Consumer], Awaitable[None]], first: int, on_its_way: bool
) -> None:
    async with embedded({"t": 1}) as broker, ahead(broker) as consumer:
        consumer.assign([P0])
        fill(broker, P0, *[2] * 6)
        assert await poll_once(consumer) == {0: [0]}
        if on_its_way:
            broker.faults.stall(FetchRequest)
        assert offsets(await consumer.getmany(timeout_ms=30_000)) == {0: [1]}
        if on_its_way:
            await broker.wait_until(lambda: len(asked(broker)) == 3)
        await change(consumer)
        broker.faults.release()
        assert (await read(consumer, 12 - first))[P0] == list(range(first, 12))


async def test_kafka_7548_what_is_ahead_of_a_paused_partition_stays_and_grows_no_more() -> None:
    async with embedded({"t": 1}) as broker, ahead(broker, "t") as consumer:
        fill(broker, P0, *[2] * 4)
        assert await poll_once(consumer) == {0: [0]}
        consumer.pause(P0)
        before = len(asked(broker))
        assert await consumer.getmany(timeout_ms=20) == {}
        assert buffered(consumer) == [(0, 1), (0, 2)]
        consumer.resume(P0)
        assert len(asked(broker)) == before
        assert (await read(consumer, 7))[P0] == list(range(1, 8))


async def test_a9_a_bad_record_ahead_is_raised_in_its_place_and_nothing_behind_it_is_kept() -> None:
    async with embedded({"t": 1}) as broker, ahead(broker, "t") as consumer:
        fill(broker, P0, 2)
        broker.append(P0, with_bad_crc(batches(2, 2)))
        fill(broker, P0, 2)
        for offset in (0, 1):
            assert await poll_once(consumer) == {0: [offset]}
        assert buffered(consumer) == [(0, 2), (0, 4)]
        for _ in range(2):
            with pytest.raises(CorruptRecordException, match="offset 2"):
                await consumer.getmany(timeout_ms=30_000)
            assert buffered(consumer) == [(0, 2)]
        assert await consumer.position(P0) == 2
        consumer.seek(P0, 4)
        assert (await read(consumer, 2))[P0] == [4, 5]


@pytest.mark.parametrize("error", [NotLeaderForPartitionError, OffsetOutOfRangeError])
async def test_a9_an_error_of_a_fetch_ahead_resets_nothing_and_loses_nothing(
    error: type[BrokerResponseError],
) -> None:
    async with (
        embedded({"t": 1}) as broker,
        ahead(broker, "t", retry_backoff_ms=20, auto_offset_reset="none") as consumer,
    ):
        consumer.seek(P0, 0)
        fill(broker, P0, 2, 2, 2)
        assert await poll_once(consumer) == {0: [0]}
        broker.faults.fail(FetchRequest, error)
        assert await poll_once(consumer) == {0: [1]}
        assert asked(broker)[-1] == [(0, 4)]
        assert buffered(consumer) == [(0, 2)]
        assert (await read(consumer, 4))[P0] == [2, 3, 4, 5]


async def test_a9_an_error_that_lasts_is_raised_behind_the_records_before_it() -> None:
    async with embedded({"t": 1}) as broker, ahead(broker, "t", retry_backoff_ms=5) as consumer:
        fill(broker, P0, 3, 3)
        assert offsets(await consumer.getmany(timeout_ms=30_000)) == {0: [0]}
        await answers_are_there(consumer)
        broker.faults.fail(FetchRequest, TopicAuthorizationFailedError, times=None)
        assert (await read(consumer, 5))[P0] == [1, 2, 3, 4, 5]
        with pytest.raises(TopicAuthorizationFailedError):
            await consumer.getmany(timeout_ms=30_000)


@pytest.mark.parametrize("isolation_level", ["read_uncommitted", "read_committed"])
async def test_e4_markers_at_the_end_of_a_fetch_do_not_part_it_from_the_next(
    isolation_level: str,
) -> None:
    async with (
        embedded({"t": 1}) as broker,
        ahead(broker, "t", isolation_level=isolation_level) as consumer,
    ):
        fill(broker, P0, 2)
        broker.append(P0, marker(2))
        fill(broker, P0, 2)
        broker.append(P0, marker(5))
        fill(broker, P0, 1)
        assert (await read(consumer, 5))[P0] == [0, 1, 3, 4, 6]
        await answers_are_there(consumer)
        fetched = [offset for request in asked(broker) for _, offset in request]
        assert fetched == sorted(set(fetched)), "nothing was fetched twice"


async def test_a_poll_that_is_cancelled_takes_nothing_of_what_is_ahead() -> None:
    async with embedded({"t": 2}) as broker, ahead(broker, "t") as consumer:
        fill(broker, P0, 2, 2)
        assert await poll_once(consumer) == {0: [0]}
        waiting = asyncio.create_task(consumer.getone(P1))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert (await read(consumer, 3))[P0] == [1, 2, 3]


async def test_a11_unread_memory_stays_within_the_bound_of_fetching_ahead() -> None:
    most_ahead, max_bytes = 1500, 500
    options = {
        "prefetch_max_bytes": most_ahead,
        "fetch_max_bytes": max_bytes,
        "max_partition_fetch_bytes": max_bytes,
        "max_poll_records": 7,
    }
    async with embedded({"t": 1}) as broker, ahead(broker, "t", **options) as consumer:
        fill(broker, P0, *[10] * 30)
        bound = most_ahead + max_bytes + len(batches(0, 10))
        most, seen = 0, 0
        while seen < 300:
            seen += sum(map(len, (await poll_once(consumer)).values()))
            unread = consumer.statistics().unread_bytes
            assert unread <= bound
            most = max(most, unread)
        assert most >= most_ahead, "the bound was reached"


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_happens_every_record_comes_once_and_in_order(seed: int) -> None:
    """Polls of any size and kind, pauses, seeks and new records, over two nodes."""
    rng = random.Random(seed)
    partitions = tps(*range(5))
    async with (
        embedded({"t": 5}, nodes=2) as broker,
        ahead(
            broker, "t", fetch_max_wait_ms=5, fetch_max_bytes=400, prefetch_max_bytes=800
        ) as consumer,
    ):
        for tp in partitions:
            fill(broker, tp, *(rng.randint(1, 9) for _ in range(20)))
        expected = dict.fromkeys(partitions, 0)

        def note(tp: TopicPartition, offset: int) -> None:
            assert offset == expected[tp]
            expected[tp] = offset + 1

        for _ in range(150):
            tp = rng.choice(partitions)
            match rng.randrange(8):
                case 0:
                    consumer.pause(tp)
                case 1 | 2:
                    consumer.resume(*partitions)
                case 3:
                    expected[tp] = rng.randint(0, await consumer.position(tp))
                    consumer.seek(tp, expected[tp])
                case 4:
                    fill(broker, tp, rng.randint(1, 5))
                case _:
                    found = await consumer.getmany(timeout_ms=5, max_records=rng.randint(1, 30))
                    for each, records in found.items():
                        for record in records:
                            note(each, record.offset)
        consumer.resume(*partitions)
        ends = {tp: broker.log(tp).high_watermark for tp in partitions}
        async with asyncio.timeout(30):
            while expected != ends:
                record = await consumer.getone()
                note(TopicPartition(record.topic, record.partition), record.offset)
