"""Calls that wait for memory, or for their turn in a partition, and what changes meanwhile."""

import asyncio
import random
from collections.abc import Sequence
from typing import Any, TypeVar

import pytest

from aiokafka_lite.errors import ProducerClosed
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from tests.producer.world import jumping_clock, kafka, producing, written

T = TypeVar("T")
LINGER_MS = 3_600_000


class OneAfterTheOther(random.Random):
    """Takes the choices in their order, so that a test knows the next sticky partition."""

    taken = 0

    def choice(self, seq: Any) -> Any:
        self.taken += 1
        return seq[(self.taken - 1) % len(seq)]

    def choices(self, population: Sequence[T], *_: object, **__: object) -> list[T]:  # type: ignore[override]
        return [self.choice(population)]


async def test_a_record_that_fills_no_batch_joins_the_open_batch_of_the_next_sticky_partition() -> (
    None
):
    """When its batch is full, the sticky partition changes, and the batch there has room (2d-5)."""
    async with (
        kafka(num_partitions=2) as broker,
        producing(
            broker, rng=OneAfterTheOther(), max_batch_size=1000, linger_ms=LINGER_MS
        ) as producer,
    ):
        await producer.partitions_for("orders")
        await producer.send("orders", b"there", partition=1)
        await producer.send("orders", b"a" * 900)
        ack = await producer.send("orders", b"b" * 300)
        await producer.flush()
        assert ack.result().partition == 1
        assert written(broker, partition=1) == [b"there", b"b" * 300]
        assert len(list(broker.log(("orders", 1)).batches())) == 1


async def test_a_record_whose_sticky_partition_changes_waits_for_its_turn_in_the_next() -> None:
    """It goes behind a call that waits in that partition, into whatever batch is open (C7)."""
    async with (
        kafka(num_partitions=2) as broker,
        producing(
            broker, rng=OneAfterTheOther(), max_batch_size=560_000, linger_ms=LINGER_MS
        ) as producer,
    ):
        await producer.partitions_for("orders")
        await producer.send("orders", b"sticky" + b"." * 559_000)

        async def send_two() -> None:
            for value in (b"1" * 540_000, b"2" * 540_000):
                await producer.send("orders", value, partition=1)

        pausing = asyncio.create_task(send_two())
        await asyncio.sleep(0)
        assert not pausing.done()
        producer.send_nowait("orders", b"between", partition=1)
        await producer.send("orders", b"3" * 2000)
        await pausing
        await producer.flush()
        values = [b"1" * 540_000, b"between", b"2" * 540_000, b"3" * 2000]
        assert written(broker, partition=1) == values


async def test_calls_in_line_for_a_partition_stay_there_when_the_sticky_partition_changes() -> None:
    """A call that waited for its turn goes on in that partition: it has the turn of no other."""
    async with (
        kafka(num_partitions=2) as broker,
        producing(
            broker,
            rng=OneAfterTheOther(),
            buffer_memory=2000,
            max_batch_size=1000,
            linger_ms=LINGER_MS,
        ) as producer,
    ):
        await producer.partitions_for("orders")
        broker.faults.stall(ProduceRequest, times=None)
        for _ in range(2):
            await producer.send("orders", b"x" * 900, partition=1)
        waiting = [asyncio.ensure_future(producer.send("orders", c * 900)) for c in (b"a", b"b")]
        while not producer._engine.pool.waiting:
            await asyncio.sleep(0)
        broker.faults.release()
        acks = await asyncio.gather(*waiting)
        await producer.flush()
        assert [ack.result().partition for ack in acks] == [0, 0]
        assert written(broker, partition=0) == [b"a" * 900, b"b" * 900]


async def test_a_call_cancelled_in_the_moment_of_its_grant_gives_the_memory_back() -> None:
    """Memory that a cancelled call was just given is free for the next call (C5, 2d-3)."""
    async with (
        kafka() as broker,
        producing(broker, buffer_memory=1000, max_batch_size=1000) as producer,
    ):
        await producer.send_and_wait("orders", b"first")
        pool = producer._engine.pool
        held = pool.take_nowait(1000)
        assert held is not None
        waiting = asyncio.ensure_future(producer.send("orders", b"a" * 900))
        while not pool.waiting:
            await asyncio.sleep(0)
        pool.give(held)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert pool.used_bytes == 0
        await producer.send_and_wait("orders", b"b" * 900)
        assert written(broker) == [b"first", b"b" * 900]


async def test_a_batch_granted_memory_in_the_moment_of_the_stop_is_not_queued() -> None:
    """`send_batch` that gets its memory as the producer stops raises, and gives it back (C5)."""
    async with (
        kafka() as broker,
        producing(broker, buffer_memory=1000, max_batch_size=1000) as producer,
    ):
        await producer.send_and_wait("orders", b"first")
        pool = producer._engine.pool
        batch = producer.create_batch()
        batch.append(timestamp=None, key=None, value=b"by hand")
        held = pool.take_nowait(1000)
        assert held is not None
        waiting = asyncio.create_task(producer.send_batch(batch, "orders", partition=0))
        while not pool.waiting:
            await asyncio.sleep(0)
        pool.give(held)
        await producer.stop()
        with pytest.raises(ProducerClosed):
            await waiting
        assert pool.used_bytes == 0
        assert written(broker) == [b"first"]


async def test_a_batch_whose_turn_comes_after_the_stop_has_begun_is_not_queued() -> None:
    """Also with memory free for it, while what was sent before is still on its way (C5)."""
    async with (
        kafka() as broker,
        producing(broker, max_batch_size=560_000) as producer,
    ):
        await producer.send_and_wait("orders", b"first")
        broker.faults.stall(ProduceRequest)
        batch = producer.create_batch()
        batch.append(timestamp=None, key=None, value=b"by hand")

        async def send_two() -> None:
            for value in (b"a" * 540_000, b"b" * 540_000):
                await producer.send("orders", value)

        pausing = asyncio.create_task(send_two())
        waiting = asyncio.create_task(producer.send_batch(batch, "orders", partition=0))
        waiting.add_done_callback(lambda _: broker.faults.release())
        await asyncio.sleep(0)
        assert not pausing.done()
        await producer.stop()
        for task in (pausing, waiting):
            with pytest.raises(ProducerClosed):
                await task
        assert written(broker) == [b"first", b"a" * 540_000]


@pytest.mark.parametrize("gives_up", ["cancelled", "timeout"])
async def test_a_call_that_gives_up_lets_the_next_one_have_the_memory_that_is_free(
    gives_up: str,
) -> None:
    """Nobody overtakes a large record that waits for memory; once it gives up, the next call goes
    on at once, and not only when more memory is free (2d-3).
    """
    clock = jumping_clock()
    async with (
        kafka(num_partitions=2, clock=clock) as broker,
        producing(
            broker, clock=clock, buffer_memory=3000, max_batch_size=1000, max_block_ms=5000
        ) as producer,
    ):
        await producer.send_and_wait("orders", b"first", partition=0)
        broker.faults.stall(ProduceRequest, times=None)
        pool = producer._engine.pool
        held = await producer.send("orders", b"h" * 900, partition=0)
        large = asyncio.ensure_future(producer.send("orders", b"l" * 2500, partition=0))
        while not pool.waiting:
            await asyncio.sleep(0)
        if gives_up == "timeout":
            await clock.sleep(3.0)
        small = asyncio.ensure_future(producer.send("orders", b"s" * 900, partition=1))
        while pool.waiting < 2:
            await asyncio.sleep(0)
        if gives_up == "cancelled":
            large.cancel()
        ack = await small
        assert large.done()
        assert not held.done()
        broker.faults.release()
        await ack
        outcome = (await asyncio.gather(large, return_exceptions=True))[0]
        assert isinstance(outcome, BaseException)
