"""A poll cancelled at each of its awaits, one after the other, loses nothing and repeats nothing.

The number of awaits is not guessed: a poll is run again, with everything new, and struck one await
later, until it ends before it could be struck.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator
from contextlib import asynccontextmanager
from types import coroutine
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from aiokafka_lite.protocol.messages.fetch import FetchRequest
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
from tests.scenarios.grouping import member_of
from tests.support.topics import create_topic

P0, P1 = tps(0, 1)

Consumer = AIOKafkaConsumer[Any, Any]
Seen = dict[int, list[int]]


class Struck(Exception):
    """The coroutine was cancelled at the await that was asked for."""


@coroutine
def struck_at(
    number: int, call: Coroutine[Any, Any, Seen], *, when_woken: bool
) -> Generator[Any, Any, Seen]:
    """Run `call` and cancel it at its await of that number, from 0 on.

    `when_woken`: when what it waited for has come, the moment in which most can be lost; else as
    soon as it begins to wait. Raises: Struck when the cancellation went through; a call that has
    fewer awaits ends as ever.
    """
    blow: BaseException | None = None
    for turn in range(1000):
        try:
            awaited = call.send(None) if blow is None else call.throw(blow)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]  # a Seen, says the signature
        except asyncio.CancelledError:
            if blow is None:
                raise
            raise Struck from None
        blow = None
        if turn == number and not when_woken:
            if awaited is not None:
                awaited._asyncio_future_blocking = False
                awaited.cancel()
            blow = asyncio.CancelledError()
            continue
        yield awaited
        if turn == number:
            blow = asyncio.CancelledError()
    raise AssertionError("the call does not come to an end")


async def many(consumer: Consumer) -> Seen:
    return offsets(await consumer.getmany(timeout_ms=30_000, max_records=3))


async def many_named(consumer: Consumer) -> Seen:
    return offsets(await consumer.getmany(P0, P1, timeout_ms=30_000))


async def one(consumer: Consumer) -> Seen:
    record = await consumer.getone()
    return {record.partition: [record.offset]}


async def one_named(consumer: Consumer) -> Seen:
    record = await consumer.getone(P1)
    return {record.partition: [record.offset]}


async def iterate(consumer: Consumer) -> Seen:
    async for record in consumer:
        return {record.partition: [record.offset]}
    raise AssertionError("the iteration ended by itself")


# Where the consumer stands before the poll that is struck…


async def fresh(broker: EmbeddedBroker, consumer: Consumer) -> Seen:
    """No position, nothing asked."""
    return {}


async def positioned(broker: EmbeddedBroker, consumer: Consumer) -> Seen:
    await consumer.seek_to_beginning()
    return {}


async def asked(broker: EmbeddedBroker, consumer: Consumer) -> Seen:
    """A fetch is on its way that an earlier poll has left behind."""
    await consumer.seek_to_beginning()
    return offsets(await consumer.getmany())


async def buffered(broker: EmbeddedBroker, consumer: Consumer) -> Seen:
    await consumer.seek_to_beginning()
    seen = offsets(await consumer.getmany())
    await answers_are_there(consumer)
    return seen


async def decoded_ahead(broker: EmbeddedBroker, consumer: Consumer) -> Seen:
    return await one(consumer)


async def second_fetch(broker: EmbeddedBroker, consumer: Consumer) -> Seen:
    """The poll before has used everything up, and set the next fetch going."""
    seen = offsets(await consumer.getmany(timeout_ms=30_000))
    while consumer.statistics().buffered:  # both nodes may have answered in the same turn
        add(seen, await many(consumer))
    return seen


PLACES = (fresh, positioned, asked, buffered, decoded_ahead, second_fetch)
POLLS = (many, many_named, one, one_named, iterate)


@asynccontextmanager
async def reading() -> AsyncIterator[tuple[EmbeddedBroker, Consumer]]:
    """Two nodes with a partition each, 12 records in batches of 3, one batch per answer."""
    async with (
        embedded({"t": 2}, nodes=2) as broker,
        consumer_of(broker, "t", fetch_max_bytes=1, fetch_max_wait_ms=5) as consumer,
    ):
        for tp in (P0, P1):
            fill(broker, tp, *[3] * 4)
        yield broker, consumer


def add(seen: Seen, polled: Seen) -> None:
    for partition, numbers in polled.items():
        seen.setdefault(partition, []).extend(numbers)


async def rest(consumer: Consumer, seen: Seen, count: int) -> Seen:
    async with asyncio.timeout(30):
        while sum(map(len, seen.values())) < count:
            add(seen, offsets(await consumer.getmany(timeout_ms=1000)))
    return seen


@pytest.mark.parametrize("when_woken", [False, True], ids=["as it waits", "as it wakes"])
@pytest.mark.parametrize("poll", POLLS)
@pytest.mark.parametrize("place", PLACES)
async def test_a6_cancelled_at_each_await_a_poll_loses_and_repeats_nothing(
    place: Callable[[EmbeddedBroker, Consumer], Awaitable[Seen]],
    poll: Callable[[Consumer], Coroutine[Any, Any, Seen]],
    when_woken: bool,
) -> None:
    struck = 0
    for number in range(30):
        async with reading() as (broker, consumer):
            seen = await place(broker, consumer)
            stood = known_positions(consumer) if seen else {}
            try:
                add(seen, await struck_at(number, poll(consumer), when_woken=when_woken))
                was_struck = False
            except Struck:
                was_struck = True
                assert not stood or known_positions(consumer) == stood, "no position has moved"
            assert await rest(consumer, seen, 24) == {0: list(range(12)), 1: list(range(12))}
        if not was_struck:
            break
        struck += 1
    else:
        pytest.fail("the poll has more awaits than anybody thought of")
    # What is at hand needs no await, now and then; every other poll has one at least.
    assert struck or place in (buffered, decoded_ahead)


# Members of a group…


async def joining(consumer: Consumer) -> Seen:
    return {}


async def rebalancing(consumer: Consumer) -> Seen:
    """It has read all that has come, and has just been told to join again."""
    seen = await many(consumer)
    while consumer.statistics().buffered:  # both nodes may have answered in the same turn
        add(seen, await many(consumer))
    assert consumer._engine is not None
    assert consumer._engine.group is not None
    consumer._engine.group.membership.request_rejoin("to meet a poll")
    return seen


@pytest.mark.parametrize("when_woken", [False, True], ids=["as it waits", "as it wakes"])
@pytest.mark.parametrize("poll", [many, one, iterate])
@pytest.mark.parametrize("place", [joining, rebalancing])
async def test_a6_a_member_cancelled_at_each_await_of_a_poll_loses_and_repeats_nothing(
    place: Callable[[Consumer], Awaitable[Seen]],
    poll: Callable[[Consumer], Coroutine[Any, Any, Seen]],
    when_woken: bool,
) -> None:
    """Its partitions stay with it over the rebalance, and so do its positions."""
    struck = 0
    for number in range(40):
        async with (
            embedded({"t": 2}, nodes=2) as broker,
            member_of(
                broker,
                "t",
                partition_assignment_strategy=(CooperativeStickyAssignor,),
                fetch_max_bytes=1,
                fetch_max_wait_ms=5,
            ) as consumer,
        ):
            for tp in (P0, P1):
                fill(broker, tp, *[3] * 4)
            seen = await place(consumer)
            try:
                add(seen, await struck_at(number, poll(consumer), when_woken=when_woken))
                was_struck = False
            except Struck:
                was_struck = True
            assert await rest(consumer, seen, 24) == {0: list(range(12)), 1: list(range(12))}
        if not was_struck:
            break
        struck += 1
    else:
        pytest.fail("the poll has more awaits than anybody thought of")
    assert struck


def known_positions(consumer: Consumer) -> dict[TopicPartition, int]:
    """The positions, 0 before the first is known. `position()` would let responses come."""
    assert consumer._engine is not None
    states = [consumer._engine.poller._subscription.get(tp) for tp in (P0, P1)]
    return {state.topic_partition: state.position or 0 for state in states if state is not None}


async def test_a2_a_fetch_left_by_a_struck_poll_is_used_not_repeated() -> None:
    """However often polls are struck while it is on its way, the broker is asked once."""
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 3)
        await consumer.seek_to_beginning()
        broker.faults.stall(FetchRequest)
        for poll in (many, one, iterate):
            with pytest.raises(Struck):
                await struck_at(0, poll(consumer), when_woken=False)  # it waits for the fetch
            for at, when_woken in ((0, False), (0, True), (1, False)):
                assert consumer._engine is not None
                consumer._engine.poller._polls_left = 0  # it gives up a turn, and then waits
                with pytest.raises(Struck):
                    await struck_at(at, poll(consumer), when_woken=when_woken)
        broker.faults.release()
        assert await read(consumer, 3) == {P0: [0, 1, 2]}
        at_0 = [
            request
            for request in broker.requests_of(FetchRequest)
            if any(p.fetch_offset == 0 for t in request.topics for p in t.partitions)
        ]
        assert len(at_0) == 1


async def test_500_random_wait_for_timeouts_return_exactly_what_was_written(
    any_kafka: str, topic_name: str
) -> None:
    """Against a broker, a real one too, that is written to all the while."""
    rng = random.Random(11)
    await create_topic(any_kafka, topic_name, partitions=2)
    written: dict[int, dict[int, bytes]] = {0: {}, 1: {}}

    async def write(producer: AIOKafkaProducer) -> None:
        while True:
            value = b"%d" % sum(map(len, written.values()))
            done = await producer.send_and_wait(topic_name, value, partition=rng.randrange(2))
            written[done.partition][done.offset] = value
            await asyncio.sleep(rng.random() / 200)

    seen: dict[int, dict[int, bytes | None]] = {0: {}, 1: {}}

    async def poll(consumer: Consumer) -> None:
        kind = rng.randrange(3)
        if kind == 0:
            polled = await consumer.getmany(timeout_ms=100, max_records=3)
            records = [record for part in polled.values() for record in part]
        elif kind == 1:
            records = [await consumer.getone()]
        else:
            records = [await anext(aiter(consumer))]
        for record in records:
            before = seen[record.partition]
            assert record.offset == len(before), "the next one, and not twice"
            before[record.offset] = record.value

    async with (
        AIOKafkaProducer(bootstrap_servers=any_kafka) as producer,
        AIOKafkaConsumer(
            topic_name,
            bootstrap_servers=any_kafka,
            auto_offset_reset="earliest",
            fetch_max_wait_ms=10,
        ) as consumer,
    ):
        writing = asyncio.create_task(write(producer))
        timeouts = 0
        for _ in range(500):
            try:
                await asyncio.wait_for(poll(consumer), rng.random() / 200)
            except TimeoutError:
                timeouts += 1
        writing.cancel()
        await asyncio.wait([writing])
        assert writing.cancelled(), "else with what it failed"
        assert timeouts > 50
        ends = await consumer.end_offsets([TopicPartition(topic_name, n) for n in (0, 1)])
        async with asyncio.timeout(30):
            while sum(map(len, seen.values())) < sum(ends.values()):
                await poll(consumer)
    # The record of the cancelled send may or may not have been written.
    for partition, values in written.items():
        assert sorted(seen[partition]) == list(range(len(seen[partition])))
        assert len(seen[partition]) - len(values) in (0, 1)
        assert seen[partition] | values == seen[partition]
