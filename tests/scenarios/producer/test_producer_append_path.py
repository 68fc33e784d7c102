"""C in front of a broker: batches that are too large, leaders that moved, bulk, batches by hand."""

import asyncio

import pytest

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import IllegalStateError, MessageSizeTooLargeError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from tests.producer.world import jumping_clock, kafka, producing, written


@pytest.mark.parametrize("codec", [None, "gzip", "lz4"])
@pytest.mark.parametrize("idempotent", [True, False])
async def test_batches_a_topic_finds_too_large_are_split_until_they_fit(
    codec: str | None, idempotent: bool
) -> None:
    """A split loses no acknowledgement and keeps the order (C7, C8, 2d-14)."""
    called: list[int] = []
    async with kafka() as broker:
        broker.create_topic("orders", configs={"max.message.bytes": "900"})
        async with producing(
            broker, compression_type=codec, enable_idempotence=idempotent, linger_ms=1000
        ) as producer:
            values: list[bytes | None] = [
                (b"%03d" % number).ljust(100, b".") for number in range(400)
            ]
            acks = []
            for number, value in enumerate(values):
                ack = await producer.send("orders", value, timestamp_ms=1000 + number)
                ack.add_done_callback(lambda ack, number=number: called.append(number))  # type: ignore[misc]
                acks.append(ack)
            await producer.flush()
            written_at = [ack.result() for ack in acks]
            assert [metadata.timestamp for metadata in written_at] == list(range(1000, 1400))
            assert producer._engine.pool.used_bytes == 0
        log = {record.offset: record.value for record in broker.log(("orders", 0)).records()}
        assert [log[metadata.offset] for metadata in written_at] == values
        assert sorted(called) == list(range(400))
        if idempotent:
            assert written(broker) == values
            assert called == sorted(called)


async def test_a_topic_may_have_batches_of_a_size_of_its_own() -> None:
    topics, sizes = ("images", "orders", "ticks"), {"images": 100_000, "ticks": 1_000}
    async with kafka() as broker:
        async with producing(broker, linger_ms=60_000, max_batch_size_by_topic=sizes) as producer:
            acks = [await producer.send(topic, bytes(500)) for topic in topics for _ in range(60)]
            await producer.flush()
        assert all(ack.exception() is None for ack in acks)
        batches = {topic: len(list(broker.log((topic, 0)).batches())) for topic in topics}
        assert batches == {"images": 1, "orders": 2, "ticks": 60}


async def test_a_record_that_is_too_large_by_itself_fails_alone() -> None:
    """A record too large for the broker fails alone; its neighbours are written (C4, 2d-14)."""
    async with kafka() as broker:
        broker.create_topic("orders", configs={"max.message.bytes": "500"})
        async with producing(broker, linger_ms=1000) as producer:
            acks = [
                await producer.send("orders", value) for value in (b"a", b"x" * 2000, b"b", b"c")
            ]
            await producer.flush()
            assert isinstance(acks[1].exception(), MessageSizeTooLargeError)
            assert [ack.exception() for ack in (acks[0], *acks[2:])] == [None] * 3
            assert written(broker) == [b"a", b"b", b"c"]
            assert await producer.send_and_wait("orders", b"d")


async def test_a_moved_leader_is_followed_at_once_by_the_hint_of_the_answer() -> None:
    """A leader that an answer names is used at once (2d-8, 2d-15, KIP-951)."""
    async with kafka(nodes=3) as broker:
        broker.create_topic("orders")
        async with producing(
            broker, retry_backoff_ms=30_000, retry_backoff_max_ms=30_000
        ) as producer:
            await producer.send_and_wait("orders", b"before")
            leader = broker.leader(("orders", 0))
            broker.move_leader(("orders", 0), leader % 3 + 1)
            for node_id in {1, 2, 3} - {leader % 3 + 1}:
                # Not at the new leader: what is behind it on its connection would wait, too.
                broker.faults.stall(MetadataRequest, node_id=node_id)
            async with asyncio.timeout(20):
                await producer.send_and_wait("orders", b"after")
            broker.faults.release()
            assert len(broker.requests_of(ProduceRequest)) == 3
            assert written(broker) == [b"before", b"after"]


async def test_partitions_of_a_node_that_does_not_keep_up_get_no_more_records() -> None:
    """After `partitioner_availability_timeout_ms` a slow node gets no more records (2d-5)."""
    clock = jumping_clock()
    async with kafka(nodes=2, clock=clock) as broker:
        broker.create_topic("orders", partitions=4, replication_factor=1)
        slow = broker.leader(("orders", 0))
        late = {at for at in range(4) if broker.leader(("orders", at)) == slow}
        quick = min({0, 1, 2, 3} - late)
        async with producing(
            broker,
            clock=clock,
            partitioner_availability_timeout_ms=3000,
            max_batch_size=200,
            max_in_flight_requests_per_connection=1,
        ) as producer:
            for partition in range(4):
                await producer.send_and_wait("orders", b"v", partition=partition)
            broker.faults.stall(ProduceRequest, times=None, node_id=slow)
            waiting = []
            for partition in late:
                waiting.append(await producer.send("orders", b"x" * 150, partition=partition))
                await clock.sleep(1.0)  # one request is on its way, another partition is due
            await clock.sleep(10.0)
            await producer.send_and_wait("orders", b"v", partition=quick)  # the sender looks again
            acks = [await producer.send("orders", b"x" * 150) for _ in range(40)]
            outcomes = await asyncio.gather(*acks)
            assert {metadata.partition for metadata in outcomes}.isdisjoint(late)
            assert not any(ack.done() for ack in waiting)
            broker.faults.release()
            await asyncio.gather(*waiting)
            acks = [await producer.send("orders", b"x" * 150) for _ in range(60)]
            outcomes = await asyncio.gather(*acks)
            assert late & {metadata.partition for metadata in outcomes}


async def test_every_way_of_sending_takes_part_in_the_transaction_and_none_works_outside() -> None:
    """Every way of sending joins the transaction, and none works outside of one (C3)."""
    async with kafka(num_partitions=2) as broker:
        async with producing(broker, transactional_id="t", linger_ms=1000) as producer:
            await producer.partitions_for("orders")
            for committed in (False, True):
                batch = producer.create_batch()
                batch.append(timestamp=None, key=None, value=b"3")
                await producer.begin_transaction()
                await producer.send("orders", b"0", partition=0)
                producer.send_nowait("orders", b"1", partition=0)
                await producer.send_many("orders", [b"2", (b"k", b"2")], partition=0)
                await producer.send_batch(batch, "orders", partition=0)
                if committed:
                    await producer.commit_transaction()
                else:
                    await producer.abort_transaction()
            with pytest.raises(IllegalStateError, match="begin_transaction"):
                producer.send_nowait("orders", b"x")
            with pytest.raises(IllegalStateError, match="begin_transaction"):
                await producer.send_many("orders", [b"x"])
            batch = producer.create_batch()
            batch.append(timestamp=None, key=None, value=b"x")
            with pytest.raises(IllegalStateError, match="begin_transaction"):
                await producer.send_batch(batch, "orders", partition=0)
        async with AIOKafkaConsumer(
            bootstrap_servers=broker.bootstrap_servers,
            isolation_level="read_committed",
            auto_offset_reset="earliest",
        ) as consumer:
            consumer.assign([TopicPartition("orders", 0)])
            read: list[bytes | None] = []
            async with asyncio.timeout(30):
                while len(read) < 5:
                    read.append((await consumer.getone()).value)
            assert read == [b"0", b"1", b"2", b"2", b"3"]


async def test_a_batch_without_a_partition_goes_where_a_record_without_key_goes() -> None:
    """The sticky partition, or the choice of the user's partitioner, which is given no key."""

    def last(key: bytes | None, every: list[int], available: list[int]) -> int:
        assert key is None
        assert every == available
        return every[-1]

    async with kafka(num_partitions=4) as broker:
        async with producing(broker, partitioner=last) as producer:
            batch = producer.create_batch()
            batch.append(timestamp=None, key=b"k", value=b"v")
            ack = await producer.send_batch(batch, "orders", partition=None)
            assert (await ack).partition == 3
        async with producing(broker) as producer:
            found = set()
            for _ in range(40):
                batch = producer.create_batch()
                batch.append(timestamp=None, key=None, value=b"v" * 15_000)
                ack = await producer.send_batch(batch, "orders", partition=None)
                found.add((await ack).partition)
            assert len(found) > 1
