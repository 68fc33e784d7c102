"""Polls on a broker: A1 to A11, asserted on what a user and the broker see."""

import asyncio

import pytest

from aiokafka_lite.errors import ConsumerStoppedError, RecordDeserializationError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.consumer.batches import tps
from tests.scenarios.consuming import (
    answers_are_there,
    consumer_of,
    embedded,
    eventually,
    fill,
    offsets,
    read,
)

P0, P1, P2 = tps(0, 1, 2)


def asked(broker: EmbeddedBroker) -> list[list[tuple[int, int]]]:
    """The partitions and offsets each Fetch so far has named."""
    return [
        [
            (partition.partition, partition.fetch_offset)
            for topic in r.topics
            for partition in topic.partitions
        ]
        for r in broker.requests_of(FetchRequest)
        if r.session_epoch != -1
    ]


async def test_a1_a_poll_waits_for_the_first_record_and_returns_what_is_there() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        poll = asyncio.create_task(consumer.getmany(timeout_ms=10_000))
        await broker.wait_until(lambda: bool(broker.requests_of(FetchRequest)))
        fill(broker, P0, 3)
        assert offsets(await poll) == {0: [0, 1, 2]}


async def test_a1_a_poll_sends_again_until_there_is_a_record() -> None:
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(broker, "t", fetch_max_wait_ms=10) as consumer,
    ):
        poll = asyncio.create_task(consumer.getmany(timeout_ms=60_000))
        await broker.wait_until(lambda: len(broker.requests_of(FetchRequest)) > 2)
        assert not poll.done()
        fill(broker, P0, 1)
        assert offsets(await poll) == {0: [0]}


async def test_a1_with_timeout_0_a_poll_starts_the_fetch_and_returns_what_is_buffered() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 3)
        await consumer.position(P0)
        assert await consumer.getmany() == {}
        await eventually(consumer, lambda: bool(consumer.statistics().buffered))
        assert offsets(await consumer.getmany()) == {0: [0, 1, 2]}


async def test_a2_the_second_fetch_is_sent_after_the_first_was_drained_and_not_twice() -> None:
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(broker, "t", max_poll_records=2, fetch_max_bytes=1) as consumer,
    ):
        fill(broker, P0, 4, 4)
        assert offsets(await consumer.getmany(timeout_ms=30_000)) == {0: [0, 1]}
        assert not consumer.statistics().fetching_nodes, "two records wait in the buffer still"
        broker.faults.stall(FetchRequest)
        assert offsets(await consumer.getmany(timeout_ms=30_000)) == {0: [2, 3]}
        assert consumer.statistics().fetching_nodes == {1}, "set going before the poll returned"
        await broker.wait_until(lambda: len(asked(broker)) == 2)
        for _ in range(3):
            assert await consumer.getmany(timeout_ms=10) == {}
        assert asked(broker) == [[(0, 0)], [(0, 4)]], (
            "later polls wait for it, they do not repeat it"
        )
        broker.faults.release()
        assert offsets(await consumer.getmany(timeout_ms=30_000)) == {0: [4, 5]}


async def test_a2_what_the_second_fetch_brings_never_mixes_into_the_poll_that_started_it() -> None:
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(broker, "t", max_poll_records=None, fetch_max_bytes=1) as consumer,
    ):
        fill(broker, P0, 4, 4, 4)
        polled = [offsets(await consumer.getmany(timeout_ms=30_000)) for _ in range(3)]
        assert polled == [{0: [0, 1, 2, 3]}, {0: [4, 5, 6, 7]}, {0: [8, 9, 10, 11]}]


async def test_a2_a_node_that_is_slow_to_answer_holds_up_no_other() -> None:
    async with (
        embedded({"t": 2}, nodes=2) as broker,
        consumer_of(broker, "t", fetch_max_bytes=1) as consumer,
    ):
        fill(broker, P0, 2, 2)
        fill(broker, P1, 2, 2)
        slow = broker.leader(P1)
        await consumer.seek_to_beginning()
        broker.faults.stall(FetchRequest, node_id=slow)
        assert offsets(await consumer.getmany(timeout_ms=30_000)) == {0: [0, 1]}
        assert offsets(await consumer.getmany(timeout_ms=30_000)) == {0: [2, 3]}
        assert consumer.statistics().fetching_nodes == {1, 2}
        broker.faults.release()
        assert offsets(await consumer.getmany(timeout_ms=30_000)) == {1: [0, 1]}


async def test_a2_a_poll_that_timed_out_leaves_its_fetch_to_the_next() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 2)
        await consumer.position(P0)
        broker.faults.stall(FetchRequest)
        assert await consumer.getmany(timeout_ms=20) == {}
        await broker.wait_until(lambda: len(asked(broker)) == 1)
        broker.faults.release()
        assert offsets(await consumer.getmany(timeout_ms=30_000)) == {0: [0, 1]}
        assert asked(broker)[0] == [(0, 0)]
        assert (0, 0) not in [entry for request in asked(broker)[1:] for entry in request]


async def test_a3_a10_one_request_holds_all_free_partitions_of_a_node() -> None:
    async with embedded({"t": 3}) as broker, consumer_of(broker, "t") as consumer:
        await consumer.seek_to_beginning()
        await consumer.getmany(timeout_ms=1)
        await broker.wait_until(lambda: bool(asked(broker)))
        assert asked(broker) == [[(0, 0), (1, 0), (2, 0)]]


async def test_a4_a_partition_far_behind_does_not_wait_for_those_that_are_at_their_end() -> None:
    """The node's one fetch asks for P1 alone while P0 is buffered, and P0 needs the next (A10)."""
    options = {"fetch_max_wait_ms": 20_000, "fetch_max_bytes": 1, "max_poll_records": 1}
    async with embedded({"t": 2}) as broker, consumer_of(broker, "t", **options) as consumer:
        fill(broker, P0, *[2] * 5)
        assert await asyncio.wait_for(read(consumer, 10), 10) == {P0: list(range(10))}
        assert any(r.forgotten_topics_data for r in broker.requests_of(FetchRequest)), "P1 alone"


async def test_a4_a_batch_beyond_every_limit_is_delivered_all_the_same() -> None:
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(broker, "t", fetch_max_bytes=1, max_partition_fetch_bytes=1) as consumer,
    ):
        fill(broker, P0, 100, 100)
        assert (await read(consumer, 200)) == {P0: list(range(200))}


async def test_a5_max_records_of_a_call_goes_before_max_poll_records() -> None:
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(broker, "t", max_poll_records=3) as consumer,
    ):
        fill(broker, P0, 10)
        assert offsets(await consumer.getmany(timeout_ms=30_000)) == {0: [0, 1, 2]}
        assert offsets(await consumer.getmany(timeout_ms=30_000, max_records=5)) == {
            0: [3, 4, 5, 6, 7]
        }
        assert offsets(await consumer.getmany(timeout_ms=30_000)) == {0: [8, 9]}


async def test_a9_d16_a_bad_record_stands_aside_while_the_others_go_on() -> None:
    def not_v2(data: bytes) -> bytes:
        if data == b"v2":
            raise ValueError("v2 is bad")
        return data

    async with embedded({"t": 2}) as broker:
        consumer = consumer_of(broker, "t", value_deserializer=not_v2)
        fill(broker, P0, 5)
        async with consumer:
            assert offsets(await consumer.getmany(timeout_ms=30_000)) == {0: [0, 1]}
            with pytest.raises(RecordDeserializationError, match="t-0") as caught:
                await consumer.getmany(timeout_ms=30_000)
            assert caught.value.offset == 2
            fill(broker, P1, 2)
            assert offsets(await consumer.getmany(timeout_ms=30_000)) == {1: [0, 1]}
            with pytest.raises(RecordDeserializationError):
                await consumer.getmany(timeout_ms=30_000)
            with pytest.raises(RecordDeserializationError):
                await consumer.getone()
            assert await consumer.position(P0) == 2
            consumer.seek(P0, 3)
            assert offsets(await consumer.getmany(timeout_ms=30_000)) == {0: [3, 4]}


async def test_a11_a_full_buffer_stops_fetching_from_its_node() -> None:
    async with (
        embedded({"t": 2}) as broker,
        consumer_of(
            broker, "t", fetch_buffer_bytes=1, fetch_max_bytes=1, max_poll_records=1
        ) as consumer,
    ):
        fill(broker, P0, 3)
        fill(broker, P1, 3)
        assert offsets(await consumer.getmany(timeout_ms=30_000)) == {0: [0]}
        assert consumer.statistics().free == (P1,)
        assert not consumer.statistics().fetching_nodes, "P1 is free, but its node's buffer is full"
        assert offsets(await consumer.getmany(timeout_ms=30_000)) == {0: [1]}
        assert offsets(await consumer.getmany(timeout_ms=30_000)) == {0: [2]}
        assert offsets(await consumer.getmany(timeout_ms=30_000)) == {1: [0]}


async def test_a9_a11_a_bad_record_in_a_full_buffer_stands_aside_too() -> None:
    def not_v2(data: bytes) -> bytes:
        if data == b"v2":
            raise ValueError("v2 is bad")
        return data

    options = {"fetch_buffer_bytes": 1, "fetch_max_bytes": 1, "value_deserializer": not_v2}
    async with embedded({"t": 2}) as broker, consumer_of(broker, "t", **options) as consumer:
        fill(broker, P0, 5)
        fill(broker, P1, 2)
        assert offsets(await consumer.getmany(timeout_ms=30_000)) == {0: [0, 1]}
        with pytest.raises(RecordDeserializationError):
            await consumer.getmany(timeout_ms=30_000)
        assert offsets(await consumer.getmany(timeout_ms=30_000)) == {1: [0, 1]}
        with pytest.raises(RecordDeserializationError):
            await consumer.getmany(timeout_ms=30_000)


@pytest.mark.parametrize("kind", ["getmany", "getone"])
async def test_a11_polls_of_named_partitions_go_on_behind_a_buffer_full_of_others(
    kind: str,
) -> None:
    options = {"fetch_buffer_bytes": 1, "fetch_max_bytes": 1, "fetch_max_wait_ms": 5}
    async with embedded({"t": 3}) as broker, consumer_of(broker, "t", **options) as consumer:
        await consumer.seek_to_beginning()
        fill(broker, P0, 5)
        fill(broker, P2, 5)

        async def poll() -> list[int]:
            if kind == "getone":
                return [(await consumer.getone(P1)).offset]
            return offsets(await consumer.getmany(P1, timeout_ms=60_000))[1]

        polling = asyncio.create_task(poll())
        await broker.wait_until(lambda: len(broker.requests_of(FetchRequest)) > 10)
        fill(broker, P1, 1)
        assert await asyncio.wait_for(polling, 30) == [0]
        entries = [entry for request in asked(broker) for entry in request]
        assert (entries.count((0, 0)), entries.count((2, 0))) == (1, 1), "not over and over"
        assert await read(consumer, 10) == {P0: [0, 1, 2, 3, 4], P2: [0, 1, 2, 3, 4]}


async def test_a11_what_another_poll_takes_is_not_dropped_for_a_named_one() -> None:
    options = {"fetch_buffer_bytes": 1, "fetch_max_bytes": 1, "fetch_max_wait_ms": 5}
    async with embedded({"t": 2}) as broker, consumer_of(broker, "t", **options) as consumer:
        await consumer.seek_to_beginning()
        polls = [asyncio.create_task(consumer.getone(tp)) for tp in (P1, P0)]
        await broker.wait_until(lambda: bool(broker.requests_of(FetchRequest)))
        fill(broker, P0, 5)
        assert (await asyncio.wait_for(polls[1], 30)).offset == 0
        fill(broker, P1, 1)
        assert (await asyncio.wait_for(polls[0], 30)).offset == 0, "the rest of P0 makes room now"
        assert [entry for request in asked(broker) for entry in request].count((0, 0)) == 1


async def test_named_partitions_are_returned_alone_and_the_others_wait() -> None:
    async with embedded({"t": 2}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 2)
        fill(broker, P1, 2)
        assert offsets(await consumer.getmany(P1, timeout_ms=30_000)) == {1: [0, 1]}
        assert await consumer.getmany(P1, timeout_ms=20) == {}
        record = await consumer.getone(P0)
        assert (record.partition, record.offset) == (0, 0)
        assert offsets(await consumer.getmany(timeout_ms=30_000)) == {0: [1]}


async def test_kafka_7548_pausing_keeps_what_is_buffered() -> None:
    async with (
        embedded({"t": 2}) as broker,
        consumer_of(broker, "t", max_poll_records=1) as consumer,
    ):
        fill(broker, P0, 3)
        assert offsets(await consumer.getmany(timeout_ms=30_000)) == {0: [0]}
        consumer.pause(P0)
        assert consumer.paused() == {P0}
        fill(broker, P1, 1)
        assert offsets(await consumer.getmany(timeout_ms=30_000)) == {1: [0]}
        assert await consumer.getmany(timeout_ms=20) == {}
        fetched = sum((0, 0) in request for request in asked(broker))
        consumer.resume(P0)
        assert offsets(await consumer.getmany(timeout_ms=30_000)) == {0: [1]}
        assert sum((0, 1) in request for request in asked(broker)) == 0
        assert fetched == 1


async def test_iteration_returns_every_record_in_order_and_ends_with_stop() -> None:
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 300, 300)
        consumer = consumer_of(broker, "t")
        await consumer.start()
        seen = []
        async for record in consumer:
            seen.append(record.offset)
            assert await consumer.position(P0) == record.offset + 1
            if len(seen) == 600:
                await consumer.stop()
        assert seen == list(range(600))
        with pytest.raises(ConsumerStoppedError):
            aiter(consumer)


async def test_one_by_one_the_next_fetch_is_set_going_when_a_partition_is_used_up() -> None:
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(broker, "t", fetch_max_bytes=1) as consumer,
    ):
        fill(broker, P0, 3, 3)
        for _ in range(2):
            await consumer.getone()
        assert not consumer.statistics().fetching_nodes
        await consumer.getone()
        assert consumer.statistics().fetching_nodes == {1}


@pytest.mark.parametrize(("kind", "count", "least"), [("getmany", 100, 11), ("getone", 9000, 2)])
async def test_polls_that_always_find_records_let_other_tasks_run_now_and_then(
    kind: str, count: int, least: int
) -> None:
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(broker, "t", max_poll_records=1) as consumer,
    ):
        fill(broker, P0, 9200)
        await consumer.getone()
        await answers_are_there(consumer)
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        task = asyncio.create_task(other())
        poll = getattr(consumer, kind)
        for _ in range(count):
            await poll()
        task.cancel()
        assert turns >= least


async def test_several_tasks_may_poll_one_consumer() -> None:
    async with embedded({"t": 2}) as broker, consumer_of(broker, "t") as consumer:
        seen: list[tuple[int, int]] = []

        async def work() -> None:
            while len(seen) < 40:
                records = await consumer.getmany(timeout_ms=50, max_records=3)
                for tp, numbers in offsets(records).items():
                    seen.extend((tp, number) for number in numbers)

        for partition in (P0, P1):
            fill(broker, partition, *[4] * 5)
        await asyncio.wait_for(asyncio.gather(*(work() for _ in range(4))), 30)
        assert sorted(seen) == [(partition, offset) for partition in (0, 1) for offset in range(20)]


async def test_highwater_and_its_kin_tell_what_the_newest_answer_said() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 5)
        assert consumer.highwater(P0) is None
        assert consumer.current_lag(P0) is None
        assert consumer.current_lead(P0) is None
        await consumer.getone()
        assert consumer.highwater(P0) == 5
        assert consumer.last_stable_offset(P0) == 5
        assert consumer.current_lag(P0) == 4
        assert consumer.current_lead(P0) == 1
        assert consumer.statistics().leads == {P0: 1}
        consumer.seek(P0, 7)
        assert consumer.current_lag(P0) == -2, "beyond the end"
        timestamp = consumer.last_poll_timestamp(P0)
        assert timestamp is not None
        assert timestamp > 1_600_000_000_000
        for method in (
            consumer.highwater,
            consumer.last_stable_offset,
            consumer.current_lag,
            consumer.current_lead,
            consumer.last_poll_timestamp,
        ):
            with pytest.raises(AssertionError, match="Partition is not assigned"):
                method(TopicPartition("t", 9))
