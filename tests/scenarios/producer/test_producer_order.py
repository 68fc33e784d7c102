"""The records of a partition are in the order in which they were sent, whichever way each has gone;
and only the loop of the producer changes what it holds.
"""

import asyncio
import random
import threading
from typing import Any

import pytest

from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.errors import (
    IllegalStateError,
    KafkaTimeoutError,
    NotLeaderForPartitionError,
)
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch
from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from tests.producer.world import jumping_clock, kafka, producing, written


def numbered(count: int, *sizes: int) -> list[bytes]:
    rng = random.Random(count)
    return [b"%d:" % number + b"x" * rng.choice(sizes) for number in range(count)]


def order_of(values: list[bytes | None]) -> list[int]:
    return [int(value.split(b":")[0]) for value in values if value is not None and b":" in value]


async def test_gathered_sends_keep_the_order_of_their_calls() -> None:
    """`asyncio.gather(*[producer.send(...)])`: a small record does not overtake a large one that
    needs a new batch (C7).
    """
    values = numbered(300, 10, 3000)
    async with kafka() as broker, producing(broker, linger_ms=20) as producer:
        await producer.send_and_wait("orders", b"first", key=b"k")
        await producer.send("orders", b"opens a batch", key=b"k")
        acks = await asyncio.gather(*[producer.send("orders", v, key=b"k") for v in values])
        await asyncio.gather(*acks)
        assert order_of(written(broker)) == list(range(300))


async def test_a_send_that_has_waited_joins_the_batch_that_send_nowait_has_begun_meanwhile() -> (
    None
):
    """And the memory it was given is free again."""
    async with (
        kafka() as broker,
        producing(broker, buffer_memory=2000, max_batch_size=1000, linger_ms=100) as producer,
    ):
        await producer.send_and_wait("orders", b"0")
        pool = producer._engine.pool
        held = [pool.take_nowait(1000) for _ in range(2)]
        waiting = asyncio.ensure_future(producer.send("orders", b"2"))
        while not pool.waiting:
            await asyncio.sleep(0)
        for buffer in held:
            assert buffer is not None
            pool.give(buffer)
        producer.send_nowait("orders", b"1")
        await waiting
        await producer.flush()
        assert written(broker) == [b"0", b"1", b"2"]
        assert len(broker.requests_of(ProduceRequest)) == 2
        assert pool.used_bytes == 0


async def test_what_is_given_in_other_types_keeps_its_place_among_the_others() -> None:
    """A bytearray, or headers in lists, is copied first; that puts nothing behind (C7)."""
    async with kafka() as broker, producing(broker, linger_ms=20) as producer:
        await producer.send_and_wait("orders", b"first")
        await producer.send("orders", b"opens a batch")
        tasks = []
        for number in range(60):
            value: Any = b"%d:" % number
            headers: Any = [["name", b"value"]] if number % 5 == 0 else None
            sending = producer.send(
                "orders", bytearray(value) if number % 3 == 0 else value, headers=headers
            )
            tasks.append(asyncio.ensure_future(sending))
        acks = [await task for task in tasks]
        await asyncio.gather(*acks)
        assert order_of(written(broker)) == list(range(60))


async def test_sends_that_wait_for_memory_keep_the_order_of_their_calls() -> None:
    """A call that finds room in a batch waits for those before it that did not (C5, C7)."""
    clock = jumping_clock()
    values = numbered(150, 10, 700)
    async with (
        kafka(clock=clock) as broker,
        producing(
            broker, clock=clock, buffer_memory=3000, max_batch_size=1000, linger_ms=10
        ) as producer,
    ):
        await producer.send_and_wait("orders", b"first", key=b"k")
        tasks = []
        for number, value in enumerate(values):
            tasks.append(asyncio.ensure_future(producer.send("orders", value, key=b"k")))
            if number % 7 == 0:
                await asyncio.sleep(0)
        acks = await asyncio.gather(*tasks)
        await asyncio.gather(*acks)
        assert order_of(written(broker)) == list(range(150))
        assert producer._engine.pool.used_bytes == 0


async def test_sends_that_wait_for_metadata_are_before_those_that_find_it() -> None:
    """First sends to a topic are written in the order of their calls (C2, C7)."""
    async with kafka() as broker, producing(broker, linger_ms=20) as producer:
        tasks = [
            asyncio.ensure_future(producer.send("orders", b"%d:" % number)) for number in range(40)
        ]
        acks = [await tasks[0]]
        tasks += [
            asyncio.ensure_future(producer.send("orders", b"%d:" % number))
            for number in range(40, 60)
        ]
        acks += [await task for task in tasks[1:]]
        await asyncio.gather(*acks)
        assert order_of(written(broker)) == list(range(60))


async def test_a_send_made_as_the_metadata_arrives_is_behind_those_that_wait_for_it() -> None:
    async with kafka() as broker, producing(broker) as producer:
        tasks: list[asyncio.Future[Any]] = []

        def arrived(snapshot: MetadataSnapshot) -> None:
            if snapshot.partition_ids("orders") and len(tasks) == 1:
                tasks.append(asyncio.ensure_future(producer.send("orders", b"1:")))

        producer.kafka_client.metadata.add_listener(arrived)
        tasks.append(asyncio.ensure_future(producer.send("orders", b"0:")))
        await (await tasks[0])
        await (await tasks[1])
        assert order_of(written(broker)) == [0, 1]


async def test_sends_that_wait_for_a_new_partition_keep_the_order_of_their_calls() -> None:
    """Sends that wait for a new partition go on in the order of their calls (C2, C7)."""
    clock = jumping_clock()
    async with kafka(clock=clock) as broker, producing(broker, clock=clock) as producer:
        await producer.send_and_wait("orders", b"first")
        tasks = []
        for number in range(20):
            sending = producer.send("orders", b"%d:" % number, partition=1)
            tasks.append(asyncio.ensure_future(sending))
            await clock.sleep(0.3)
        await producer.kafka_client.network.request_any(
            CreatePartitionsRequest(
                topics=[CreatePartitionsTopic(name="orders", count=2, assignments=None)],
                timeout_ms=1000,
                validate_only=False,
            )
        )
        acks = [await task for task in tasks]
        await asyncio.gather(*acks)
        assert order_of(written(broker, partition=1)) == list(range(20))


async def test_a_call_that_gives_up_or_is_cancelled_lets_the_next_one_go_on() -> None:
    """A send that gives up or is cancelled lets the next one go on (C1, C5)."""
    clock = jumping_clock()
    async with (
        kafka(clock=clock) as broker,
        producing(
            broker, clock=clock, buffer_memory=1000, max_batch_size=1000, max_block_ms=5000
        ) as producer,
    ):
        await producer.send_and_wait("orders", b"first")
        broker.faults.stall(ProduceRequest)
        held = await producer.send("orders", b"h" * 700)
        tasks = []
        for number in range(4):
            tasks.append(asyncio.ensure_future(producer.send("orders", b"%d" % number * 700)))
            await clock.sleep(1.5)
        tasks[1].cancel()
        with pytest.raises(KafkaTimeoutError, match="max_block_ms=5000"):
            await tasks[0]
        broker.faults.release()
        await asyncio.gather(held, *[await task for task in tasks[2:]])
        with pytest.raises(asyncio.CancelledError):
            await tasks[1]
        assert written(broker) == [b"first", b"h" * 700, b"2" * 700, b"3" * 700]


async def test_a_send_that_is_never_awaited_is_named_and_keeps_nothing_from_going_on() -> None:
    """asyncio's warning says which method it was."""
    async with kafka() as broker, producing(broker) as producer:
        with pytest.warns(RuntimeWarning, match=r"'AIOKafkaProducer\.send' was never awaited"):
            producer.send("orders", b"dropped")  # type: ignore[unused-coroutine]
        await producer.send_and_wait("orders", b"first")
        assert "orders" in producer._engine.routes.known
        assert written(broker) == [b"first"]


# Other threads and loops…


async def test_send_from_another_thread_is_done_by_the_loop_of_the_producer() -> None:
    """`asyncio.run_coroutine_threadsafe(producer.send(...), loop)`: the calling thread appends
    nothing, not even in the middle of what the loop does.
    """
    loop = asyncio.get_running_loop()
    async with kafka() as broker, producing(broker, linger_ms=20) as producer:
        await producer.send_and_wait("orders", b"first")
        ack = await producer.send("orders", b"second")
        batch = ack._batch_and_index[0]
        assert isinstance(batch, ProducerBatch)
        sent: list[Any] = []

        def from_a_thread() -> None:
            sending = producer.send("orders", b"third")
            sent.append(batch.next_index)
            sent.append(asyncio.run_coroutine_threadsafe(sending, loop))

        thread = threading.Thread(target=from_a_thread)
        thread.start()
        thread.join()
        assert sent[0] == 1
        metadata = await (await asyncio.wrap_future(sent[1]))
        assert metadata.offset == 2
        assert written(broker) == [b"first", b"second", b"third"]


async def test_what_is_used_in_another_thread_or_loop_says_how_to_do_it() -> None:
    """Nothing is appended, and nothing hangs: each call raises at once (C4)."""
    async with kafka() as broker, producing(broker, linger_ms=20) as producer:
        await producer.send_and_wait("orders", b"first")
        ack = await producer.send("orders", b"second")
        errors = await asyncio.to_thread(use_elsewhere, producer)
        assert len(errors) == 7
        assert {type(error) for error in errors} == {IllegalStateError}
        assert all("asyncio.run_coroutine_threadsafe" in str(error) for error in errors)
        await ack
        assert written(broker) == [b"first", b"second"]


def use_elsewhere(producer: AIOKafkaProducer) -> list[Exception]:
    batch = producer.create_batch()
    batch.append(timestamp=None, key=None, value=b"x")
    calls = [
        lambda: producer.send("orders", b"x"),
        lambda: producer.send_and_wait("orders", b"x"),
        lambda: producer.send_many("orders", [b"x"]),
        lambda: producer.send_batch(batch, "orders", partition=0),
        producer.flush,
        lambda: producer.partitions_for("orders"),
    ]
    errors: list[Exception] = []
    for call in calls:
        try:
            asyncio.run(_awaited(call))
        except Exception as error:  # noqa: BLE001
            errors.append(error)
    try:
        producer.send_nowait("orders", b"x")
    except Exception as error:  # noqa: BLE001
        errors.append(error)
    return errors


async def _awaited(call: Any) -> None:
    await call()


async def test_a_batch_is_sent_once_however_often_it_is_given_at_once() -> None:
    """Giving `send_batch` a batch again while the first call waits is refused (C4)."""
    async with kafka() as broker, producing(broker) as producer:
        batch = producer.create_batch()
        batch.append(timestamp=None, key=None, value=b"v")
        first, second = await asyncio.gather(
            producer.send_batch(batch, "orders", partition=0),
            producer.send_batch(batch, "orders", partition=0),
            return_exceptions=True,
        )
        assert isinstance(second, IllegalStateError)
        assert not isinstance(first, BaseException)
        await first
        assert written(broker) == [b"v"]


async def test_batches_keep_their_order_in_a_topic_that_was_made_anew() -> None:
    """Its log takes any sequence number, so the next batch waits for the first (2d-10)."""
    async with kafka() as broker, producing(broker, max_batch_size=100) as producer:
        await producer.send_and_wait("orders", b"0:")
        broker.delete_topic("orders")
        broker.create_topic("orders", 1)
        await producer.kafka_client.metadata.refresh()
        broker.faults.fail(ProduceRequest, NotLeaderForPartitionError, times=1)
        values = [b"%d:" % number + b"x" * 90 for number in range(1, 4)]
        acks = [await producer.send("orders", value) for value in values]
        await asyncio.gather(*acks)
        assert order_of(written(broker)) == [1, 2, 3]
