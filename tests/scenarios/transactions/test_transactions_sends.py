"""A call of send() belongs to the transaction that is open when it is made, and to no other."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from aiokafka_lite.errors import (
    GroupAuthorizationFailedError,
    IllegalOperation,
    IllegalStateError,
    SerializationError,
    TopicAuthorizationFailedError,
)
from aiokafka_lite.producer.append.producer_interceptors import ProducerRecord
from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest
from tests.producer.world import kafka
from tests.scenarios.transacting import ORDERS, commit_one, transacting, visible

both_protocols = pytest.mark.parametrize("version", [1, 2])


async def batch_of(producer: AIOKafkaProducer, topic: str) -> Any:
    batch = producer.create_batch()
    batch.append(timestamp=None, key=None, value=b"late")
    return await producer.send_batch(batch, topic, partition=0)


WAYS: dict[str, Callable[[AIOKafkaProducer, str], Awaitable[Any]]] = {
    "send": lambda producer, topic: producer.send(topic, b"late"),
    "send_and_wait": lambda producer, topic: producer.send_and_wait(topic, b"late"),
    "send_many": lambda producer, topic: producer.send_many(topic, [b"late"] * 3),
    "send_batch": batch_of,
}
every_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


async def a_few_turns() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


@both_protocols
@every_way
async def test_what_waits_for_metadata_ends_with_its_transaction(
    version: int, way: Callable[[AIOKafkaProducer, str], Awaitable[Any]]
) -> None:
    """A send() of an aborted transaction is not committed with the next one."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        broker.create_topic("audit")
        await commit_one(producer, b"1")
        broker.faults.stall(MetadataRequest, times=None)
        await producer.begin_transaction()
        late = asyncio.ensure_future(way(producer, "audit"))
        await a_few_turns()
        await producer.abort_transaction()
        with pytest.raises(IllegalOperation, match="the transaction ended while send"):
            await late
        await producer.begin_transaction()
        broker.faults.clear()
        await producer.send_and_wait("orders", b"2")
        await producer.commit_transaction()
        assert await visible(broker, "audit") == []
        assert await visible(broker) == [b"1", b"2"]


@both_protocols
async def test_gather_leaves_nothing_behind_for_the_next_transaction(version: int) -> None:
    """When one send() of a gather fails, the others do not get into the next transaction."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        broker.create_topic("audit")
        await commit_one(producer, b"1")
        broker.faults.stall(MetadataRequest, times=None)
        with pytest.raises(SerializationError):
            async with producer.transaction():
                await asyncio.gather(
                    producer.send("audit", b"late"),
                    producer.send("orders", "no bytes"),  # type: ignore[arg-type]
                )
        await producer.begin_transaction()
        broker.faults.clear()
        await producer.send_and_wait("audit", b"right")
        await producer.commit_transaction()
        assert await visible(broker, "audit") == [b"right"]


@both_protocols
@pytest.mark.parametrize("is_commit", [True, False])
async def test_what_waits_for_memory_ends_with_its_transaction(
    version: int, is_commit: bool
) -> None:
    """Memory that comes free, and a batch that another has begun, are for the next transaction."""
    async with (
        kafka(transaction_version=version) as broker,
        transacting(broker, buffer_memory=2000, max_batch_size=1000) as producer,
    ):
        await commit_one(producer, b"1")
        await producer.begin_transaction()
        broker.faults.stall(ProduceRequest)
        acks = [await producer.send("orders", b"%d" % n * 900) for n in (2, 3)]
        late = asyncio.create_task(producer.send("orders", b"late" * 200))
        await a_few_turns()
        end = producer.commit_transaction if is_commit else producer.abort_transaction
        ending = asyncio.create_task(end())
        with pytest.raises(IllegalOperation):
            await late
        broker.faults.release()
        await ending
        await asyncio.gather(*acks, return_exceptions=True)
        await commit_one(producer, b"4")
        assert b"late" * 200 not in await visible(broker)
        assert producer._engine.pool.used_bytes == 0


@both_protocols
async def test_what_waits_in_an_interceptor_ends_with_its_transaction(version: int) -> None:
    """An on_send that takes its time does not carry a record into the next transaction."""
    entered, go_on = asyncio.Event(), asyncio.Event()

    class Slow:
        async def on_send(self, record: ProducerRecord) -> ProducerRecord:
            if record.value == b"late":
                entered.set()
                await go_on.wait()
            return record

    async with (
        kafka(transaction_version=version) as broker,
        transacting(broker, interceptors=[Slow()]) as producer,
    ):
        await commit_one(producer, b"1")
        await producer.begin_transaction()
        late = asyncio.create_task(producer.send("orders", b"late"))
        await entered.wait()
        await producer.abort_transaction()
        await producer.begin_transaction()
        go_on.set()
        with pytest.raises(IllegalOperation):
            await late
        await producer.send("orders", b"2")
        await producer.commit_transaction()
        assert await visible(broker) == [b"1", b"2"]


@both_protocols
async def test_a_send_made_before_the_transaction_is_not_part_of_it(version: int) -> None:
    """A send() that was called outside of a transaction raises, whatever begins afterwards."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        await commit_one(producer, b"1")
        early = asyncio.create_task(producer.send("orders", b"early"))
        await asyncio.sleep(0)
        await producer.begin_transaction()
        with pytest.raises(IllegalOperation):
            await early
        await producer.send("orders", b"2")
        await producer.commit_transaction()
        assert await visible(broker) == [b"1", b"2"]


@both_protocols
async def test_a_send_that_is_awaited_only_in_the_next_transaction_is_not_part_of_it(
    version: int,
) -> None:
    """What counts is when send() was called, not when its coroutine takes its first step. A
    bytearray needs the coroutine.
    """
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        for _ in range(2):
            late = producer.send("orders", bytearray(b"late"))
            await producer.begin_transaction()
            with pytest.raises(IllegalOperation, match="called before the transaction"):
                await late
            late = producer.send("orders", bytearray(b"late"))
            await producer.send("orders", b"right")
            await producer.commit_transaction()
            await producer.begin_transaction()
            with pytest.raises(IllegalOperation, match="called before the transaction"):
                await late
            await producer.commit_transaction()
        assert await visible(broker) == [b"right"] * 2


@both_protocols
async def test_a_send_that_finds_everything_ready_is_part_of_the_transaction_of_its_call(
    version: int,
) -> None:
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        await commit_one(producer, b"first")
        await producer.begin_transaction()
        sending = producer.send("orders", b"sent")
        await producer.commit_transaction()
        assert await visible(broker) == [b"first", b"sent"]
        await producer.begin_transaction()
        assert (await (await sending)).offset == 2  # behind the marker of the first one
        await producer.abort_transaction()


@every_way
async def test_outside_of_a_transaction_nothing_is_sent(
    way: Callable[[AIOKafkaProducer, str], Awaitable[Any]],
) -> None:
    """aiokafka's IllegalOperation, and our IllegalStateError, each catch it."""
    async with kafka() as broker, transacting(broker) as producer:
        await commit_one(producer, b"1")
        for kind in (IllegalOperation, IllegalStateError):
            with pytest.raises(kind, match=r"call begin_transaction\(\) first"):
                await way(producer, "orders")
        with pytest.raises(IllegalOperation, match="begin_transaction"):
            producer.send_nowait("orders", b"late")
        with pytest.raises(IllegalOperation, match="begin_transaction"):
            await producer.send_offsets_to_transaction({ORDERS: 1}, "g")
        assert await visible(broker) == [b"1"]


@both_protocols
@every_way
async def test_what_waits_for_memory_while_its_transaction_fails_is_told_why(
    version: int, way: Callable[[AIOKafkaProducer, str], Awaitable[Any]]
) -> None:
    """It is not queued in a transaction that can only be aborted, and holds no memory."""
    async with (
        kafka(transaction_version=version) as broker,
        transacting(broker, buffer_memory=2000, max_batch_size=1000) as producer,
    ):
        await commit_one(producer, b"1")
        await producer.begin_transaction()
        broker.faults.stall(ProduceRequest)
        broker.faults.fail(ProduceRequest, TopicAuthorizationFailedError)
        ack = await producer.send("orders", b"2" * 900)
        await broker.wait_until(lambda: len(broker.requests_of(ProduceRequest)) == 2)
        held = producer._engine.pool.take_nowait(1000)  # a batch that was sent gave its slack back
        assert held is not None
        late = asyncio.ensure_future(way(producer, "orders"))
        await a_few_turns()
        broker.faults.release()
        with pytest.raises(TopicAuthorizationFailedError):
            await ack
        with pytest.raises(TopicAuthorizationFailedError):
            await late
        producer._engine.pool.give(held)
        assert producer._engine.pool.used_bytes == 0
        await producer.abort_transaction()
        assert await visible(broker) == [b"1"]


async def test_what_waits_behind_another_is_told_why_its_transaction_failed_without_memory() -> (
    None
):
    """Once it is its turn, it does not wait for memory in a transaction that is lost."""
    async with (
        kafka() as broker,
        transacting(broker, buffer_memory=2000, max_batch_size=1000) as producer,
    ):
        await commit_one(producer, b"1")
        await producer.begin_transaction()
        await producer.send_and_wait("orders", b"2")
        held = producer._engine.pool.take_nowait(producer._engine.pool.available_bytes)
        assert held is not None
        first, second = (asyncio.create_task(producer.send("orders", b"late")) for _ in range(2))
        await a_few_turns()
        broker.faults.fail(TxnOffsetCommitRequest, GroupAuthorizationFailedError)
        with pytest.raises(GroupAuthorizationFailedError):
            await producer.send_offsets_to_transaction({ORDERS: 1}, "g")
        first.cancel()
        with pytest.raises(GroupAuthorizationFailedError):
            await second
        producer._engine.pool.give(held)
        await producer.abort_transaction()
        assert await visible(broker) == [b"1"]


async def test_a_commit_hurries_nothing_of_the_next_transaction() -> None:
    """Records linger again for linger_ms, so that batches fill up."""
    async with (
        kafka(transaction_version=2) as broker,
        transacting(broker, linger_ms=3_600_000) as producer,
    ):
        await commit_one(producer, b"1")
        await producer.begin_transaction()
        await producer.send("orders", b"2")
        await a_few_turns()
        await producer.partitions_for("orders")
        await a_few_turns()
        assert len(broker.requests_of(ProduceRequest)) == 1
        await producer.commit_transaction()
        assert await visible(broker) == [b"1", b"2"]
