"""A cancelled call leaves behind what its docstring says, and nothing else."""

import asyncio

import pytest

from aiokafka_lite.errors import ProducerClosed
from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from tests.producer.world import kafka, producing, written


async def cancelled(task: "asyncio.Task[object]") -> bool:
    task.cancel()
    await asyncio.wait([task])
    return task.cancelled()


async def test_a_send_cancelled_while_it_waits_for_metadata_queued_nothing() -> None:
    """A `send` that is cancelled while it waits for metadata has queued nothing (C4)."""
    async with kafka() as broker, producing(broker) as producer:
        broker.faults.stall(MetadataRequest, times=None)
        task = asyncio.create_task(producer.send("orders", b"v"))
        for _ in range(5):
            await asyncio.sleep(0)
        assert await cancelled(task)
        assert not producer._engine.accumulator.incomplete
        broker.faults.release()
        await producer.send_and_wait("orders", b"next")
        assert written(broker) == [b"next"]


async def test_a_send_cancelled_while_it_waits_for_memory_queued_nothing() -> None:
    """A `send` that is cancelled while it waits for memory has queued nothing (C4, 2d-3)."""
    async with (
        kafka() as broker,
        producing(broker, buffer_memory=1000, max_batch_size=1000) as producer,
    ):
        await producer.send_and_wait("orders", b"first")
        broker.faults.stall(ProduceRequest)
        ack = await producer.send("orders", b"a" * 900)
        tasks = [asyncio.create_task(producer.send("orders", c * 900)) for c in (b"b", b"c")]
        while not producer._engine.pool.waiting:  # the first of them; the other waits for its turn
            await asyncio.sleep(0)
        assert await cancelled(tasks[0])
        broker.faults.release()
        await ack
        assert (await (await tasks[1])).offset == 2
        assert written(broker) == [b"first", b"a" * 900, b"c" * 900]
        assert producer._engine.pool.used_bytes == 0


async def test_a_send_cancelled_while_it_gives_others_a_turn_queued_nothing() -> None:
    """A `send` that is cancelled while other tasks run has queued nothing (C4)."""
    async with kafka() as broker, producing(broker, max_batch_size=560_000) as producer:
        await producer.send_and_wait("orders", b"first")

        async def send_two() -> None:
            for value in (b"a" * 530_000, b"b" * 530_000):
                await producer.send("orders", value)

        task = asyncio.create_task(send_two())
        await asyncio.sleep(0)
        assert not task.done()
        assert await cancelled(task)
        await producer.flush()
        assert written(broker) == [b"first", b"a" * 530_000]


async def test_a_send_that_gives_others_a_turn_takes_no_record_once_stop_has_begun() -> None:
    """Also when send_nowait() has begun a batch with room for it meanwhile."""
    async with (
        kafka() as broker,
        producing(
            broker, max_batch_size=560_000, max_in_flight_requests_per_connection=1
        ) as producer,
    ):
        await producer.send_and_wait("orders", b"first")
        broker.faults.stall(ProduceRequest)

        async def send_two() -> None:
            for value in (b"a" * 530_000, b"b" * 200_000):
                await producer.send("orders", value)

        task = asyncio.create_task(send_two())
        task.add_done_callback(lambda _: broker.faults.release())
        await asyncio.sleep(0)
        assert not task.done()
        producer.send_nowait("orders", b"between")
        await producer.stop()
        with pytest.raises(ProducerClosed):
            await task
        assert written(broker) == [b"first", b"a" * 530_000, b"between"]


async def test_a_cancelled_ack_lets_its_record_and_its_neighbours_go_on() -> None:
    async with kafka() as broker, producing(broker) as producer:
        await producer.send_and_wait("orders", b"0")
        broker.faults.stall(ProduceRequest)
        acks = [await producer.send("orders", b"%d" % number) for number in (1, 2)]
        assert acks[0].cancel()
        task = asyncio.create_task(producer.send_and_wait("orders", b"3"))
        for _ in range(5):
            await asyncio.sleep(0)
        assert await cancelled(task)
        broker.faults.release()
        assert (await acks[1]).offset == 2
        await producer.flush()
        assert written(broker) == [b"0", b"1", b"2", b"3"]
        with pytest.raises(asyncio.CancelledError):
            await acks[0]


async def test_a_cancelled_flush_changes_nothing_for_the_records() -> None:
    async with kafka() as broker, producing(broker) as producer:
        await producer.send_and_wait("orders", b"0")
        broker.faults.stall(ProduceRequest)
        ack = await producer.send("orders", b"1")
        task = asyncio.create_task(producer.flush())
        await asyncio.sleep(0)
        assert await cancelled(task)
        broker.faults.release()
        assert (await ack).offset == 1


async def test_a_cancelled_start_leaves_nothing_and_may_be_repeated() -> None:
    async with kafka() as broker:
        broker.faults.stall(MetadataRequest)
        producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers)
        task = asyncio.create_task(producer.start())
        await broker.wait_until(lambda: bool(broker.requests_of(MetadataRequest)))
        assert await cancelled(task)
        broker.faults.release()
        async with producer:
            await producer.send_and_wait("orders", b"v")


async def test_a_cancelled_stop_fails_what_is_left_and_closes() -> None:
    async with kafka() as broker, producing(broker) as producer:
        await producer.send_and_wait("orders", b"0")
        broker.faults.stall(ProduceRequest)
        ack = await producer.send("orders", b"1")
        task = asyncio.create_task(producer.stop())
        for _ in range(5):
            await asyncio.sleep(0)
        assert await cancelled(task)
        with pytest.raises(ProducerClosed):
            await ack
        with pytest.raises(ProducerClosed):
            await producer.send("orders", b"2")
        await producer.stop()
        broker.faults.release()


async def test_two_stops_end_both() -> None:
    async with kafka() as broker, producing(broker) as producer:
        await producer.send("orders", b"v")
        await asyncio.gather(producer.stop(), producer.stop())
        assert written(broker) == [b"v"]


async def test_stop_during_start_ends_both() -> None:
    async with kafka() as broker:
        broker.faults.stall(MetadataRequest)
        producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers)
        start = asyncio.create_task(producer.start())
        await broker.wait_until(lambda: bool(broker.requests_of(MetadataRequest)))
        await producer.stop()
        outcome = await asyncio.gather(start, return_exceptions=True)
        assert isinstance(outcome[0], Exception)
        broker.faults.release()


async def test_a_send_cancelled_at_any_step_queues_its_record_never_or_wholly() -> None:
    """design.md 4: cancelled at each await. The coroutine queues a bytearray, the call none."""
    async with (
        kafka() as broker,
        producing(broker, max_batch_size=300, buffer_memory=900) as producer,
    ):
        await producer.send_and_wait("orders", b"first")
        expected = [b"first"]
        for steps in range(12):
            value = b"%03d" % steps * 60
            task = asyncio.create_task(producer.send("orders", bytearray(value)))
            for _ in range(steps % 4):
                await asyncio.sleep(0)
            if not await cancelled(task):
                task.result()
                expected.append(value)
        await producer.flush()
        assert written(broker) == expected
        assert producer._engine.pool.used_bytes == 0
        assert producer._engine.pool.waiting == 0
