"""Cancelled polls lose nothing and repeat nothing, wherever the cancellation strikes."""

import asyncio
import random
from collections.abc import Callable, Coroutine
from typing import Any

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import NotLeaderForPartitionError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.protocol.messages.list_offsets import ListOffsetsRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.consumer.batches import tps
from tests.scenarios.consuming import consumer_of, embedded, fill, offsets

P0, P1 = tps(0, 1)

Seen = dict[int, list[int]]
Poll = Callable[[], Coroutine[Any, Any, Seen]]


def polls_of(consumer: AIOKafkaConsumer[Any, Any]) -> list[Poll]:
    async def many() -> Seen:
        return offsets(await consumer.getmany(timeout_ms=1000, max_records=3))

    async def one() -> Seen:
        record = await consumer.getone()
        return {record.partition: [record.offset]}

    async def iterate() -> Seen:
        record = await anext(aiter(consumer))
        return {record.partition: [record.offset]}

    return [many, one, iterate]


async def cancelled_after(steps: int, poll: Poll) -> Seen:
    """Run a poll, cancel it after so many turns of the loop, and return what it returned."""
    task = asyncio.create_task(poll())
    for _ in range(steps):
        if task.done():
            break
        await asyncio.sleep(0)
    task.cancel()
    try:
        return await task
    except asyncio.CancelledError:
        return {}


def add(seen: Seen, polled: Seen) -> None:
    for partition, numbers in polled.items():
        seen.setdefault(partition, []).extend(numbers)


async def finish(consumer: AIOKafkaConsumer[Any, Any], seen: Seen, count: int) -> None:
    async with asyncio.timeout(30):
        while sum(map(len, seen.values())) < count:
            add(seen, offsets(await consumer.getmany(timeout_ms=1000)))


async def test_cancelled_after_any_number_of_turns_a_poll_loses_and_repeats_nothing() -> None:
    """The turns cover every await: before the position, in the fetch, between collecting polls."""
    for poll_kind in range(3):
        async with (
            embedded({"t": 2}, nodes=2) as broker,
            consumer_of(broker, "t", fetch_max_bytes=1, fetch_max_wait_ms=5) as consumer,
        ):
            poll = polls_of(consumer)[poll_kind]
            seen: Seen = {}
            fill(broker, P0, *[4] * 30)
            fill(broker, P1, *[3] * 30)
            for steps in range(40):
                add(seen, await cancelled_after(steps, poll))
                add(seen, await cancelled_after(steps, poll))
            await finish(consumer, seen, 210)
            assert seen == {0: list(range(120)), 1: list(range(90))}


async def test_cancelled_at_any_turn_records_decoded_ahead_are_neither_lost_nor_repeated() -> None:
    for poll_kind in (1, 2):
        async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
            fill(broker, P0, 100)
            poll = polls_of(consumer)[poll_kind]
            seen = await poll()
            for steps in (0, 1, 2, 1, 3, 1):
                add(seen, await cancelled_after(steps, poll))
            await finish(consumer, seen, 100)
            assert seen == {0: list(range(100))}


async def test_cancelled_while_positions_are_found_a_poll_leaves_the_lookup_running() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 3)
        broker.faults.stall(ListOffsetsRequest)
        for steps in range(30):
            assert await cancelled_after(steps, polls_of(consumer)[0]) == {}
        broker.faults.release()
        seen: Seen = {}
        await finish(consumer, seen, 3)
        assert seen == {0: [0, 1, 2]}
        assert len(broker.requests_of(ListOffsetsRequest)) == 1


async def test_a2_a_cancelled_poll_leaves_its_fetch_running_for_the_next() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 3)
        await consumer.seek_to_beginning()
        broker.faults.stall(FetchRequest)
        for _ in range(5):
            assert await cancelled_after(20, polls_of(consumer)[1]) == {}
        broker.faults.release()
        seen: Seen = {}
        await finish(consumer, seen, 3)
        assert seen == {0: [0, 1, 2]}
        first = [
            r.topics[0].partitions[0].fetch_offset
            for r in broker.requests_of(FetchRequest)
            if r.topics
        ]
        assert first.count(0) == 1


async def write(broker: EmbeddedBroker, tp: TopicPartition, rng: random.Random) -> None:
    while True:
        fill(broker, tp, rng.randint(1, 5))
        await asyncio.sleep(rng.random() / 500)


async def test_500_random_timeouts_against_a_busy_broker_return_exactly_the_log() -> None:
    rng = random.Random(3)
    async with (
        embedded({"t": 2}, nodes=2) as broker,
        consumer_of(broker, "t", fetch_max_wait_ms=3, retry_backoff_ms=1) as consumer,
    ):
        polls = polls_of(consumer)
        writers = [asyncio.create_task(write(broker, tp, rng)) for tp in (P0, P1)]
        seen: Seen = {}
        for turn in range(500):
            if turn % 100 == 50:
                broker.faults.fail(FetchRequest, NotLeaderForPartitionError)
            if turn % 100 == 75:
                broker.drop_connections()
            try:
                async with asyncio.timeout(rng.random() / 300):
                    add(seen, await rng.choice(polls)())
            except TimeoutError:
                pass
        for writer in writers:
            writer.cancel()
        await asyncio.gather(*writers, return_exceptions=True)
        logs = {tp.partition: broker.log(tp).high_watermark for tp in (P0, P1)}
        await finish(consumer, seen, sum(logs.values()))
        assert seen == {partition: list(range(end)) for partition, end in logs.items()}


async def test_every_call_that_waits_may_be_cancelled_at_any_turn() -> None:
    async with (
        embedded({"t": 2}) as broker,
        consumer_of(broker, "t", fetch_max_wait_ms=5) as consumer,
    ):
        fill(broker, P0, 10)
        calls: list[Callable[[], Coroutine[Any, Any, Any]]] = [
            lambda: consumer.position(P0),
            consumer.seek_to_beginning,
            lambda: consumer.seek_to_end(P1),
            lambda: consumer.beginning_offsets([P0, P1]),
            lambda: consumer.end_offsets([P0, P1]),
            consumer.topics,
        ]
        for call in calls:
            for steps in range(25):
                task = asyncio.create_task(call())
                for _ in range(steps):
                    await asyncio.sleep(0)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        assert await consumer.end_offsets([P0]) == {P0: 10}
        assert await consumer.position(P0) == 0
