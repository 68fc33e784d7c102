"""How batches are opened; who waits for memory, and for how long, is in tests/scenarios."""

import asyncio
import random
from collections.abc import Sequence
from unittest import mock

import pytest

from aiokafka_lite.errors import BufferExhaustedError
from aiokafka_lite.producer.append.appending import Appending
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch
from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.producer.world import kafka, producing, written


class OtherThan:
    """Loads by which the sticky partition moves on to another one."""

    def __init__(self, partition: int) -> None:
        self._partition = partition

    def choose(self, choices: Sequence[int], _rng: random.Random) -> int:
        return next(each for each in choices if each != self._partition)


def appending(producer: AIOKafkaProducer, value: bytes) -> Appending:
    """A record for the one partition of "orders", its size checked."""
    route = producer._engine.routes.find("orders")
    assert route is not None
    record = Appending(route.queue(0), None, 0, None, value, (), 0.0)
    record.size = len(value) + 100
    return record


async def test_a_batch_is_opened_while_memory_is_free() -> None:
    """A batch behind others takes more memory, or the usual size if there is no more (C5)."""
    async with kafka() as broker:
        options = {"max_batch_size": 1000, "buffer_memory": 4000, "linger_ms": 1000}
        async with producing(broker, **options) as producer:
            await producer.send_and_wait("orders", b"first")
            broker.faults.stall(ProduceRequest, times=None)
            new_batches, pool = producer._engine.append_path._new_batches, producer._engine.pool
            assert new_batches.open(appending(producer, b"v")) is not None
            held = pool.take_nowait(2500)
            assert held is not None
            large = appending(producer, b"v" * 600)
            assert new_batches.open(large) is None
            with pytest.raises(BufferExhaustedError, match=r"batch of 1000 bytes, and send_nowait"):
                new_batches.open_or_raise(large)
            pool.give(held)
            assert new_batches.open_or_raise(large)._batch_and_index[1] == 0
            broker.faults.release()
            await producer.flush()


async def test_a_full_batch_grows_while_it_waits_to_be_sent() -> None:
    """What one turn of the loop sends to a partition is one batch, up to a limit (C5)."""
    async with kafka() as broker:
        options = {"max_batch_size": 1000, "max_backlog_batch_size": 4000, "linger_ms": 60_000}
        async with producing(broker, **options) as producer:
            await producer.send("orders", b"first", partition=0)
            await producer.flush()
            began = len(broker.requests_of(ProduceRequest))
            pool = producer._engine.pool
            acks = [await producer.send("orders", b"v" * 300, partition=0) for _ in range(9)]
            batch, index = acks[-1]._batch_and_index
            assert (batch, index) == (acks[0]._batch_and_index[0], 8)
            assert pool.used_bytes == 4000
            await asyncio.gather(*acks)  # it is due: nobody waits for linger_ms
            assert pool.used_bytes == 0
            assert len(broker.requests_of(ProduceRequest)) == began + 1
            acks = [await producer.send("orders", b"v" * 900, partition=0) for _ in range(9)]
            assert len({ack._batch_and_index[0] for ack in acks}) == 3
            await producer.flush()
            assert written(broker)[1:] == [b"v" * 300] * 9 + [b"v" * 900] * 9


async def test_a_batch_does_not_grow_without_memory_or_in_the_sticky_partition() -> None:
    async with kafka() as broker:
        options = {
            "max_batch_size": 1000,
            "max_backlog_batch_size": 4000,
            "buffer_memory": 2900,
            "linger_ms": 60_000,
        }
        async with producing(broker, **options) as producer:
            await producer.send("orders", b"first")
            await producer.flush()
            sticky = [await producer.send("orders", b"v" * 300) for _ in range(4)]
            assert len({ack._batch_and_index[0] for ack in sticky}) == 2
            await producer.flush()
            acks = [await producer.send("orders", b"v" * 300, partition=0) for _ in range(4)]
            assert len({ack._batch_and_index[0] for ack in acks}) == 2
            await producer.flush()


async def test_a_task_has_room_at_once_until_it_has_to_pause_or_to_wait() -> None:
    """A record that opens a batch needs no coroutine unless its call has to wait (C5)."""
    async with kafka() as broker:
        options = {"max_batch_size": 1000, "max_request_size": 2000, "linger_ms": 60_000}
        async with producing(broker, **options) as producer:
            await producer.send("orders", b"first", partition=0)
            await producer.flush()
            new_batches, pool = producer._engine.append_path._new_batches, producer._engine.pool
            route = producer._engine.routes.find("orders")
            assert route is not None
            queue = route.queue(0)
            value = b"v" * 900

            async def rooms(waits: bool) -> int:
                count = 0
                while count < 700:
                    batch = new_batches.make_room(queue, None, value, (), waits)
                    if batch is None:
                        break
                    assert batch.append(0, None, value, ()) == 0
                    new_batches.add_new(batch)
                    assert batch is queue.open_batch
                    count += 1
                return count

            too_large = b"v" * 2000
            assert new_batches.make_room(queue, None, too_large, (), False) is None
            assert queue.open_batch is None
            assert await asyncio.create_task(rooms(waits=False)) == 525  # 512 KiB
            assert await asyncio.create_task(rooms(waits=False)) == 525
            assert await asyncio.create_task(rooms(waits=True)) == 700
            held = pool.take_nowait(pool.available_bytes)
            assert held is not None
            assert new_batches.make_room(queue, None, value, (), True) is None
            pool.give(held, reusable=False)
            await producer.flush()
            assert len(written(broker)) == 1751


async def test_a_sticky_record_has_room_at_once_in_the_next_partition() -> None:
    """A record without key that fills its batch opens the next one, elsewhere perhaps (2d-5)."""
    async with kafka(num_partitions=2) as broker:
        options = {"max_batch_size": 1000, "max_request_size": 2000, "linger_ms": 60_000}
        async with producing(broker, **options) as producer:
            await producer.send("orders", b"first")
            await producer.flush()
            new_batches, pool = producer._engine.append_path._new_batches, producer._engine.pool
            route = producer._engine.routes.find("orders")
            assert route is not None
            sticky, value = route.sticky, b"v" * 900
            before = sticky.current

            def room(value: bytes = value) -> ProducerBatch | None:
                return new_batches.make_sticky_room(route, None, value, (), True)

            assert room(b"v" * 2000) is None  # too large
            held = pool.take_nowait(pool.available_bytes)
            assert held is not None
            assert room() is None
            pool.give(held, reusable=False)
            batch = room()
            assert batch is not None
            assert batch.append(0, None, value, ()) == 0
            new_batches.add_new(batch)
            assert batch is route.queue(before).open_batch
            assert sticky.current == before
            sticky.produced_bytes, sticky.loads = 92, OtherThan(before)
            other = room()
            assert batch.is_closed
            assert sticky.current != before
            assert other is not None
            assert other.append(0, None, value, ()) == 0
            new_batches.add_new(other)
            assert other is route.queue(sticky.current).open_batch
            sticky.current, sticky.produced_bytes = before, 92
            assert route.queue(before).open_batch is None
            again = room()
            assert again is not None
            assert again.append(0, None, value, ()) == 0
            new_batches.add_new(again)
            assert room() is other  # it takes no record, but is no batch of this partition
            await producer.flush()
            counts = [len(written(broker, partition=number)) for number in (before, 1 - before)]
            assert counts == [3, 1]


async def test_a_task_that_fills_the_sticky_partition_pauses_before_it_moves_on() -> None:
    async with kafka(num_partitions=2) as broker:
        options = {"max_batch_size": 1000, "linger_ms": 60_000}
        async with producing(broker, **options) as producer:
            await producer.send("orders", b"first")
            await producer.flush()
            new_batches = producer._engine.append_path._new_batches
            route = producer._engine.routes.find("orders")
            assert route is not None
            value, made = b"v" * 900, 0
            while True:
                batch = new_batches.make_sticky_room(route, None, value, (), False)
                if batch is None:
                    break
                index = batch.append(0, None, value, ())
                if index == 0:
                    new_batches.add_new(batch)
                made += index is not None
            assert 462 < made <= 525  # 512 KiB
            open_batch = route.queue(route.sticky.current).open_batch
            assert open_batch is not None
            assert not open_batch.is_closed
            assert new_batches.must_pause()
            assert new_batches.make_sticky_room(route, None, value, (), False) is not None
            await producer.flush()


async def test_memory_that_is_not_needed_any_more_is_given_back() -> None:
    """A call that finds an open batch after its wait gives its memory back (C5)."""
    async with kafka() as broker, producing(broker, linger_ms=1000) as producer:
        await producer.send_and_wait("orders", b"first")
        new_batches, pool = producer._engine.append_path._new_batches, producer._engine.pool
        record = appending(producer, b"v")
        ack = new_batches.open(record)
        assert ack is not None
        used_bytes = pool.used_bytes
        other = await new_batches.open_when_room(record)
        assert other._batch_and_index == (ack._batch_and_index[0], 1)
        assert pool.used_bytes == used_bytes
        await producer.flush()


async def test_a_topic_is_noted_as_in_use_once_in_a_hundredth_of_the_time_it_is_kept() -> None:
    clock = FakeClock()
    options = {"clock": clock, "metadata_max_idle_ms": 100_000}
    async with kafka(clock=clock) as broker, producing(broker, **options) as producer:
        broker.create_topic("orders")
        await producer.send_and_wait("orders", b"first")
        new_batches = producer._engine.append_path._new_batches
        with mock.patch.object(producer.kafka_client.metadata, "add_topic") as noted:
            assert new_batches.open(appending(producer, b"at once")) is not None
            assert not noted.called
            await clock.advance(1.1)
            for _ in range(2):
                assert new_batches.open(appending(producer, b"later")) is not None
            noted.assert_called_once_with("orders")
        await producer.flush()
