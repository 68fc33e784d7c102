"""Serializers that have to wait: the order of calls stays, and every wait has a bound."""

import asyncio
from typing import Any

import pytest

from aiokafka_lite.errors import IllegalStateError, KafkaTimeoutError, SerializationError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.serialization import NotPreparedError
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.producer.world import jumping_clock, kafka, producing, written


class Prepared:
    """A serializer that is prepared once for each topic, when `go` is set."""

    def __init__(self, error: Exception | None = None) -> None:
        self.go = asyncio.Event()
        self.topics: set[str] = set()
        self.preparations = 0
        self.error = error

    def serialize(self, topic: str, headers: Any, obj: str) -> bytes:
        if topic not in self.topics:
            raise NotPreparedError(f"{topic} is not prepared", lambda: self.prepare(topic))
        headers.append(("by", topic.encode()))
        return obj.encode()

    async def prepare(self, topic: str) -> None:
        self.preparations += 1
        await self.go.wait()
        if self.error is not None:
            raise self.error
        self.topics.add(topic)


async def pause(text: str) -> bytes:
    """Serialize, the first record slower than the second."""
    for _ in range(20 - int(text)):
        await asyncio.sleep(0)
    return text.encode()


def topics(broker: EmbeddedBroker, *names: str) -> None:
    for name in names:
        broker.create_topic(name, 1)


async def test_an_async_serializer_is_awaited_and_the_order_is_kept() -> None:
    async with kafka() as broker:
        topics(broker, "orders")
        async with producing(broker, key_serializer=str.encode, value_serializer=pause) as producer:
            acks = await asyncio.gather(*(producer.send("orders", str(n), "k") for n in range(20)))
            await asyncio.gather(*acks)
            await (await producer.send_many("orders", ["20", ("k", "21")]))
            with pytest.raises(IllegalStateError, match="cannot await an async serializer"):
                producer.send_nowait("orders", "22")
            with pytest.raises(SerializationError, match="value_serializer is async"):
                producer.create_batch().append(key=None, value="22", timestamp=None)
        assert written(broker) == [str(n).encode() for n in range(22)]


async def test_a_serializer_is_prepared_once_and_other_topics_go_on() -> None:
    serializer = Prepared()
    serializer.topics.add("others")
    async with kafka() as broker:
        topics(broker, "orders", "others")
        async with producing(broker, value_serializer=serializer) as producer:
            await producer.partitions_for("orders")
            sends = [asyncio.create_task(producer.send("orders", str(n))) for n in range(5)]
            await producer.send_and_wait("others", "x")
            assert written(broker) == []
            with pytest.raises(IllegalStateError, match="orders is not prepared"):
                producer.send_nowait("orders", "too early")
            serializer.go.set()
            await asyncio.gather(*[await send for send in sends])
            producer.send_nowait("orders", "5")
        assert written(broker) == [b"0", b"1", b"2", b"3", b"4", b"5"]
        assert serializer.preparations == 1
        (record,) = broker.log(TopicPartition("others", 0)).records()
        assert dict(record.headers) == {"by": b"others"}


async def test_the_error_of_a_preparation_is_raised_and_the_next_call_tries_again() -> None:
    serializer = Prepared(ValueError("no registry"))
    serializer.go.set()
    async with kafka() as broker:
        topics(broker, "orders")
        async with producing(broker, value_serializer=serializer) as producer:
            with pytest.raises(ValueError, match="no registry"):
                await producer.send("orders", "x")
            serializer.error = None
            await producer.send_and_wait("orders", "y")
        assert written(broker) == [b"y"]


async def test_the_wait_is_bounded_by_max_block_ms() -> None:
    clock = jumping_clock()
    async with kafka(clock=clock) as broker:
        topics(broker, "orders")
        serializer = Prepared()
        async with producing(
            broker, clock=clock, value_serializer=serializer, max_block_ms=5000
        ) as producer:
            with pytest.raises(KafkaTimeoutError, match="topic 'orders' within max_block_ms=5000"):
                await producer.send("orders", "x")
            serializer.go.set()
            await producer.send_and_wait("orders", "y")
        assert written(broker) == [b"y"]


async def test_a_cancelled_call_leaves_nothing_behind() -> None:
    serializer = Prepared()
    async with kafka() as broker:
        topics(broker, "orders")
        async with producing(broker, value_serializer=serializer) as producer:
            await producer.partitions_for("orders")
            first = asyncio.create_task(producer.send("orders", "x"))
            second = asyncio.create_task(producer.send("orders", "y"))
            await asyncio.sleep(0)
            first.cancel()
            serializer.go.set()
            await (await second)
        assert written(broker) == [b"y"]


async def test_a_serializer_that_is_never_prepared_or_fails_is_an_error() -> None:
    async def fail(_obj: object) -> bytes:
        raise ValueError("no")

    def never(_obj: object) -> bytes:
        raise NotPreparedError("never", lambda: asyncio.sleep(0))

    async with kafka() as broker:
        topics(broker, "orders")
        for serializer, said in ((fail, "ValueError"), (never, "never")):
            async with producing(broker, value_serializer=serializer) as producer:
                with pytest.raises(SerializationError, match=said):
                    await producer.send("orders", "x")
