"""`send_nowait` and `send_batch`; `send` itself is in test_producer."""

import asyncio
import random
from unittest import mock

import pytest

from aiokafka_lite.errors import (
    BufferExhaustedError,
    IllegalArgumentError,
    IllegalStateError,
    KafkaTimeoutError,
    MessageSizeTooLargeError,
    ProducerClosed,
    SerializationError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.append import new_batches
from aiokafka_lite.producer.key_hash.murmur2 import murmur2
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.testing.fake_clock import FakeClock, settle
from tests.producer.batches import prove_fast
from tests.producer.world import kafka, producing, written


async def test_send_nowait_does_what_send_does() -> None:
    """`send_nowait` appends and returns what `send` would (C2, C3, C7)."""
    async with kafka(num_partitions=3) as broker, producing(broker, linger_ms=1000) as producer:
        await producer.partitions_for("orders")
        explicit = producer.send_nowait("orders", b"v", partition=1, timestamp_ms=5)
        keyed = producer.send_nowait("orders", None, b"key", headers=[("a", None)])
        producer.send_nowait("orders", b"sticky")
        await producer.flush()
        assert (explicit.result().partition, explicit.result().timestamp) == (1, 5)
        assert keyed.result().partition == (murmur2(b"key") & 0x7FFFFFFF) % 3
        assert (keyed.serialized_key_size, keyed.serialized_value_size) == (3, -1)
        assert keyed.result().serialized_key_size == 3
        assert (await producer.send_and_wait("orders", b"vv")).serialized_value_size == 2


async def test_send_nowait_raises_what_it_would_have_waited_for() -> None:
    """`send_nowait` raises where `send` would wait, for metadata or for memory (C3, C4)."""
    async with kafka() as broker:
        broker.create_topic("orders")
        async with producing(
            broker, max_batch_size=1000, buffer_memory=2000, linger_ms=1000
        ) as producer:
            with pytest.raises(KafkaTimeoutError, match="no metadata of topic 'orders'"):
                producer.send_nowait("orders", b"v")
            await producer.partitions_for("orders")
            prove_fast(producer._engine.accumulator.pace_of(1))
            broker.faults.stall(ProduceRequest, times=None)
            for _ in range(4):
                producer.send_nowait("orders", b"v" * 390)
            with pytest.raises(
                BufferExhaustedError, match=r"batch of 1000 bytes.*not wait.*buffer_memory=2000"
            ):
                producer.send_nowait("orders", b"v" * 390)
            assert producer._engine.pool.used_bytes == 2000
            with pytest.raises(MessageSizeTooLargeError):
                producer.send_nowait("orders", b"v" * 3000)
            with pytest.raises(AssertionError):
                producer.send_nowait("orders")
            with pytest.raises(SerializationError):
                producer.send_nowait("orders", "text")
            broker.faults.release()
        with pytest.raises(ProducerClosed):
            producer.send_nowait("orders", b"v")


async def test_a_full_batch_moves_the_sticky_partition_on_for_send_nowait_too() -> None:
    """With `send_nowait` too, the sticky partition changes once its batch is full (2d-5)."""
    async with kafka(num_partitions=5) as broker, producing(broker, max_batch_size=500) as producer:
        await producer.partitions_for("orders")
        acks = []
        for _ in range(200):  # about a hundred batches: each partition is drawn but for 1 in 10^9
            acks.append(producer.send_nowait("orders", b"v" * 200))
            await asyncio.sleep(0)
        await producer.flush()
        assert len({ack.result().partition for ack in acks}) == 5


async def test_a_backlog_is_sent_in_fewer_and_larger_batches() -> None:
    """And in order, all of it, within buffer_memory."""
    async with (
        kafka() as broker,
        producing(
            broker, max_batch_size=1000, max_backlog_batch_size=8000, buffer_memory=100_000
        ) as producer,
    ):
        await producer.send_and_wait("orders", b"first")
        broker.faults.stall(ProduceRequest, times=None)
        values = [b"%04d" % number * 25 for number in range(700)]
        for value in values:
            await producer.send("orders", value)
        sizes = {batch.reserved_bytes for batch in producer._engine.accumulator.incomplete}
        assert sizes == {1000, 2000, 4000, 8000}
        broker.faults.release()
        await producer.flush()
        assert written(broker) == [b"first", *values]
        assert producer._engine.pool.used_bytes == 0
        assert len(broker.requests_of(ProduceRequest)) < 30


async def test_send_nowait_takes_a_usual_batch_where_there_is_no_room_for_a_larger() -> None:
    async with (
        kafka() as broker,
        producing(
            broker,
            max_batch_size=1000,
            max_backlog_batch_size=8000,
            buffer_memory=5000,
            linger_ms=1000,
        ) as producer,
    ):
        await producer.partitions_for("orders")
        prove_fast(producer._engine.accumulator.pace_of(1))
        broker.faults.stall(ProduceRequest, times=None)
        for _ in range(8):
            producer.send_nowait("orders", b"v" * 390)
        assert [batch.reserved_bytes for batch in producer._engine.accumulator.incomplete] == [
            1000,
            1000,
            2000,
        ]
        for _ in range(2):
            producer.send_nowait("orders", b"v" * 400)
        assert producer._engine.accumulator.incomplete.batches[-1].reserved_bytes == 1000
        with pytest.raises(BufferExhaustedError, match="batch of 1000 bytes"):
            producer.send_nowait("orders", b"v" * 390)
        broker.faults.release()


@pytest.mark.parametrize("tasks", [1, 400])
async def test_one_task_pauses_where_many_have_their_ends(tasks: int) -> None:
    """A loop that never waits lets the sender run now and then; a thousand tasks need not."""
    pauses = 0

    class Counting(FakeClock):
        async def sleep(self, delay_s: float) -> None:
            nonlocal pauses
            pauses += not delay_s
            await super().sleep(delay_s)

    clock = Counting()
    async with kafka() as broker, producing(broker, clock=clock) as producer:
        broker.create_topic("orders")  # asked for twice otherwise, with time between
        await producer.partitions_for("orders")
        prove_fast(producer._engine.accumulator.pace_of(1))
        broker.faults.stall(ProduceRequest, times=None)

        async def send(records: int) -> None:
            for _ in range(records):
                await producer.send("orders", b"v" * 10_000)

        await asyncio.gather(*(send(800 // tasks) for _ in range(tasks)))
        # 8 MB; a pause after every 512 KB of new batches.
        assert pauses == 0 if tasks > 1 else 10 < pauses < 20
        broker.faults.release()
        await producer.flush()


@pytest.mark.parametrize("seed", range(12))
async def test_records_follow_a_call_that_pauses(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that lets others run is in its partition before all that come meanwhile (C3, C5)."""
    monkeypatch.setattr(new_batches, "_TURN_BYTES", 1)  # each task pauses for each of its batches
    rng = random.Random(seed)
    called: list[tuple[int, bytes]] = []
    refused: set[bytes] = set()
    kept_back = 0
    async with (
        kafka(num_partitions=2) as broker,
        producing(broker, max_batch_size=300, buffer_memory=9000, linger_ms=1000) as producer,
    ):
        await producer.partitions_for("orders")

        async def call(partition: int, value: bytes) -> None:
            called.append((partition, value))
            await producer.send("orders", value, b"k", partition=partition)

        async def send_all(task: int) -> None:
            for number in range(40):
                partition = rng.randrange(2)
                value = b"%d-%d" % (task, number) + bytes(rng.randrange(280))
                calling = call(partition, value)
                if rng.random() < 0.8:
                    await calling  # without a turn of the loop if it need not wait
                    continue
                one = asyncio.ensure_future(calling)
                for _ in range(rng.randrange(3)):
                    await asyncio.sleep(0)
                if one.cancel():
                    refused.add(value)
                    await asyncio.gather(one, return_exceptions=True)
                    assert one.cancelled()

        await asyncio.gather(*[send_all(task) for task in range(5)])
        await producer.flush()
        for partition in range(2):
            values = written(broker, partition=partition)
            # A call that was cancelled has queued its record if it did not have to wait.
            expected = [
                value
                for number, value in called
                if number == partition and (value not in refused or value in values)
            ]
            assert values == expected
            kept_back += len([each for each in called if each[0] == partition]) - len(values)
        assert not producer._engine.append_path._order.lines
    assert kept_back


async def test_a_call_that_pauses_and_then_lacks_memory_keeps_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A call made after the memory came, and before the one that waited for it runs, is behind."""
    monkeypatch.setattr(new_batches, "_TURN_BYTES", 1)
    async with (
        kafka() as broker,
        producing(broker, max_batch_size=1000, buffer_memory=3100, linger_ms=1000) as producer,
    ):
        await producer.partitions_for("orders")
        broker.faults.stall(ProduceRequest, times=None)
        last: list[asyncio.Future[object]] = []

        def send_last(_: object) -> None:
            last.append(asyncio.ensure_future(producer.send("orders", b"3", partition=0)))

        async def fill() -> None:
            ack = await producer.send("orders", b"0" * 1900, partition=0)
            ack.add_done_callback(send_last)
            for number in (b"1", b"2"):
                await producer.send("orders", number * 800, partition=0)

        filling = asyncio.ensure_future(fill())
        await settle()
        assert producer._engine.pool.waiting == 1
        broker.faults.release()
        await filling
        await last[0]
        await producer.flush()
        assert [value[:1] for value in written(broker) if value] == [b"0", b"1", b"2", b"3"]


async def test_a_producer_that_stops_while_a_call_pauses_refuses_its_record(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(new_batches, "_TURN_BYTES", 1)
    async with kafka() as broker:
        async with producing(broker, max_batch_size=1000, linger_ms=1000) as producer:
            await producer.send("orders", b"0" * 800, partition=0)
            pausing = producer.send("orders", b"1" * 800, partition=0)
            pausing.send(None)  # up to its pause
            stopping = asyncio.ensure_future(producer.stop())
            await settle()
            with pytest.raises(ProducerClosed):
                pausing.send(None)
            await stopping
        assert written(broker) == [b"0" * 800]


async def test_a_batch_behind_others_does_not_wake_the_sender() -> None:
    async with kafka() as broker, producing(broker, linger_ms=1000) as producer:
        await producer.send_and_wait("orders", b"v")
        prove_fast(producer._engine.accumulator.pace_of(1))
        broker.faults.stall(ProduceRequest, times=None)
        new_batches = producer._engine.append_path._new_batches
        wake_sender, wake = new_batches._wake_sender, mock.Mock()
        new_batches._wake_sender = wake
        for _ in range(20):
            producer.send_nowait("orders", b"v" * 10_000)
        new_batches._wake_sender = wake_sender
        assert wake.call_count == 2  # the first batch is new, and it is full
        assert len(producer._engine.accumulator.incomplete) == 5
        broker.faults.release()


async def test_keys_may_be_ignored() -> None:
    """With `partitioner_ignore_keys` a key does not choose the partition (2d-4)."""
    async with (
        kafka(num_partitions=8) as broker,
        producing(broker, partitioner_ignore_keys=True, linger_ms=1000) as producer,
    ):
        await producer.partitions_for("orders")
        keys = [b"%d" % number for number in range(40)]
        acks = [await producer.send("orders", b"v", key=key) for key in keys]
        acks += [producer.send_nowait("orders", b"v", key) for key in keys]
        many = await producer.send_many("orders", [(key, b"v") for key in keys])
        await producer.flush()
        partitions = {ack.result().partition for ack in acks}
        partitions |= {metadata.partition for metadata in many.metadata()}
        assert len(partitions) == 1


async def test_a_batch_made_by_hand_is_sent_as_it_is() -> None:
    """aiokafka 1.5"""
    async with kafka(num_partitions=2) as broker, producing(broker) as producer:
        batch = producer.create_batch()
        for number in range(5):
            record = batch.append(
                timestamp=100 + number, key=b"k", value=b"%d" % number, headers=[("h", b"x")]
            )
            assert record is not None
            assert record.offset == number
        await producer.send_and_wait("orders", b"before", partition=1)
        ack = await producer.send_batch(batch, "orders", partition=1)
        assert batch.closed()
        metadata = await ack
        assert (metadata.topic_partition, metadata.offset) == (TopicPartition("orders", 1), 1)
        assert metadata.timestamp == 100
        log = list(broker.log(("orders", 1)).records())
        assert [(record.value, record.timestamp) for record in log[1:]] == [
            (b"%d" % number, 100 + number) for number in range(5)
        ]
        assert producer._engine.pool.used_bytes == 0


async def test_a_batch_by_hand_keeps_the_order_with_records_before_and_after() -> None:
    async with kafka() as broker, producing(broker, linger_ms=1000) as producer:
        batch = producer.create_batch()
        batch.append(timestamp=None, key=None, value=b"2")
        await producer.send("orders", b"1")
        ack = await producer.send_batch(batch, "orders", partition=0)
        await producer.send("orders", b"3")
        assert not ack.done()
        await producer.flush()
        assert ack.result().offset == 1
        assert written(broker) == [b"1", b"2", b"3"]


async def test_what_cannot_be_sent_as_a_batch_raises_and_may_be_tried_again() -> None:
    """A batch that `send_batch` refuses queues nothing and may be given again (C4)."""
    clock = FakeClock(autojump_threshold_s=0.06)
    async with (
        kafka(clock=clock) as broker,
        producing(
            broker, clock=clock, max_request_size=3000, buffer_memory=4000, max_batch_size=2000
        ) as producer,
    ):
        with pytest.raises(IllegalArgumentError, match="no records"):
            await producer.send_batch(producer.create_batch(), "orders", partition=0)
        large = producer.create_batch()
        large.append(timestamp=1, key=None, value=b"v" * 3500)
        with pytest.raises(MessageSizeTooLargeError, match="max_request_size"):
            await producer.send_batch(large, "orders", partition=0)
        batch = producer.create_batch()
        batch.append(timestamp=1, key=None, value=b"v")
        with pytest.raises(KafkaTimeoutError, match="partition 9"):
            await producer.send_batch(batch, "orders", partition=9)
        assert (await (await producer.send_batch(batch, "orders", partition=0))).offset == 0
        with pytest.raises(IllegalStateError, match="sent before"):
            await producer.send_batch(batch, "orders", partition=0)
        assert producer._engine.pool.used_bytes == 0


async def test_a_split_batch_by_hand_is_acknowledged_as_a_whole() -> None:
    """A batch built by the caller and split on the way is acknowledged as one (2d-14)."""
    async with kafka() as broker:
        broker.create_topic("orders", configs={"max.message.bytes": "500"})
        async with producing(broker) as producer:
            batch = producer.create_batch()
            for size in (100, 200, 100, 1000):
                batch.append(timestamp=1, key=None, value=b"v" * size)
            ack = await producer.send_batch(batch, "orders", partition=0)
            with pytest.raises(MessageSizeTooLargeError):
                await ack
            assert len(written(broker)) == 3
            batch = producer.create_batch()
            for size in (300, 200, 300):
                batch.append(timestamp=1, key=None, value=b"v" * size)
            assert (await (await producer.send_batch(batch, "orders", partition=0))).offset == 3
            assert len(written(broker)) == 6


async def test_a_large_record_waits_for_its_partition_and_gets_a_batch_of_its_size() -> None:
    """A record for a partition that is still to come may be larger than a usual batch (C3, C5)."""
    async with kafka() as broker, producing(broker) as producer:
        await producer.send_and_wait("orders", b"first")
        sending = asyncio.create_task(producer.send("orders", b"v" * 50_000, partition=1))
        await asyncio.sleep(0)
        topic = broker.cluster.topic_by_name("orders")
        replicas = broker.cluster.place_new_partitions(topic, 2, None)
        broker.cluster.add_partitions(topic, replicas)
        metadata = await (await sending)
        assert (metadata.partition, metadata.offset) == (1, 0)
        assert written(broker, partition=1) == [b"v" * 50_000]
