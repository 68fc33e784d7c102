"""Deserializers get a millisecond of each turn of the loop, or one record of it (A12)."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aiokafka_lite import (
    AIOKafkaAdminClient,
    AIOKafkaConsumer,
    AIOKafkaProducer,
    AIOKafkaShareConsumer,
    KeyedWorkers,
)
from aiokafka_lite.admin import ConfigResource, ConfigResourceType
from aiokafka_lite.model import ConsumerRecord, TopicPartition
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.support.patience import eventually

RECORDS, PARTITIONS, SLOW_S = 40, 4, 0.002
Read = Callable[[Any], Awaitable[int]]


class Calls:
    """Counts the calls of a slow deserializer in each turn of the event loop."""

    def __init__(self) -> None:
        self.by_turn: Counter[int] = Counter()
        self.turn = 0

    def plain(self, data: bytes) -> bytes:
        self.by_turn[self.turn] += 1
        time.sleep(SLOW_S)
        return data

    async def coroutine(self, data: bytes) -> bytes:
        return self.plain(data)

    async def count_turns(self) -> None:
        while True:
            await asyncio.sleep(0)
            self.turn += 1


@asynccontextmanager
async def counted(calls: Calls) -> AsyncIterator[EmbeddedBroker]:
    async with EmbeddedBroker() as broker:
        broker.create_topic("t", partitions=PARTITIONS)
        for number in range(RECORDS):
            broker.produce("t", b"%d" % number, partition=number % PARTITIONS)
        turns = asyncio.create_task(calls.count_turns())
        yield broker
        turns.cancel()


async def one(consumer: Any) -> int:
    await consumer.getone()
    return 1


async def many(consumer: Any) -> int:
    return sum(map(len, (await consumer.getmany(timeout_ms=10_000)).values()))


async def iterated(consumer: Any) -> int:
    async for _ in consumer:
        return 1
    raise AssertionError


each_kind = pytest.mark.parametrize("kind", ["plain", "coroutine"])


@each_kind
@pytest.mark.parametrize("read", [one, many, iterated], ids=lambda read: read.__name__)
async def test_the_program_runs_between_two_slow_records(kind: str, read: Read) -> None:
    """The first record comes soon, and all come (A12)."""
    calls = Calls()
    async with (
        counted(calls) as broker,
        AIOKafkaConsumer(
            "t",
            bootstrap_servers=broker.bootstrap_servers,
            auto_offset_reset="earliest",
            value_deserializer=getattr(calls, kind),
        ) as consumer,
    ):
        found = await read(consumer)
        assert calls.by_turn.total() < RECORDS
        while found < RECORDS:
            found += await read(consumer)
    assert calls.by_turn.total() == RECORDS
    assert max(calls.by_turn.values()) == 1


@each_kind
async def test_so_it_does_between_two_records_of_a_share_group(kind: str) -> None:
    calls = Calls()
    async with counted(calls) as broker:
        servers = broker.bootstrap_servers
        async with AIOKafkaAdminClient(bootstrap_servers=servers) as admin:
            resource = ConfigResource(
                ConfigResourceType.GROUP, "s", configs={"share.auto.offset.reset": "earliest"}
            )
            (await admin.incremental_alter_configs([resource])).raise_first()
        async with AIOKafkaShareConsumer(
            "t",
            group_id="s",
            bootstrap_servers=servers,
            value_deserializer=getattr(calls, kind),
        ) as consumer:
            found = await many(consumer)
            assert calls.by_turn.total() < RECORDS
            while found < RECORDS:
                found += await many(consumer)
    assert found == calls.by_turn.total() == RECORDS
    assert max(calls.by_turn.values()) == 1


async def test_so_it_does_between_two_keys_that_the_user_names() -> None:
    """The function `order` of KeyedWorkers (A12)."""
    calls, handled = Calls(), list[int]()

    async def handle(record: ConsumerRecord[bytes, bytes]) -> None:
        handled.append(record.offset)

    def order(record: ConsumerRecord[bytes, bytes]) -> bytes:
        assert record.value is not None
        return calls.plain(record.value)

    async with counted(calls) as broker:
        consumer = AIOKafkaConsumer[bytes, bytes](
            "t",
            group_id="g",
            bootstrap_servers=broker.bootstrap_servers,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
        )
        async with KeyedWorkers(consumer, handle, order=order) as workers:
            running = asyncio.create_task(workers.run())
            await eventually(lambda: len(handled) == RECORDS)
            workers.stop()
            await running
    assert calls.by_turn.total() == RECORDS
    assert max(calls.by_turn.values()) == 1


def all_of(calls: Calls) -> Iterator[tuple[bytes, bytes]]:
    for number in range(RECORDS):
        calls.plain(b"")
        yield b"%d" % number, b"v"


class Interceptor:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def on_send(self, record: Any) -> Any:
        return self._calls.plain(record)


def choose(calls: Calls) -> Callable[..., int]:
    def partitioner(_: bytes, partitions: list[int], __: list[int]) -> int:
        calls.plain(b"")
        return partitions[0]

    return partitioner


PRODUCERS: dict[str, Callable[[Calls], dict[str, Any]]] = {
    "value": lambda calls: {"value_serializer": calls.plain},
    "async value": lambda calls: {"value_serializer": calls.coroutine},
    "key": lambda calls: {"key_serializer": calls.plain},
    "interceptor": lambda calls: {"interceptors": [Interceptor(calls)]},
    "partitioner": lambda calls: {"partitioner": choose(calls)},
    "generator": lambda _: {},
}


@pytest.mark.parametrize("kind", PRODUCERS)
async def test_so_it_does_between_two_records_of_send_many(kind: str) -> None:
    """Whatever of the user is called for each record (A12)."""
    calls = Calls()
    records: Any = [(b"%d" % number, b"v") for number in range(RECORDS)]
    async with (
        counted(calls) as broker,
        AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, **PRODUCERS[kind](calls)
        ) as producer,
    ):
        await (await producer.send_many("t", all_of(calls) if kind == "generator" else records))
        written = len(broker.records("t"))
    assert written == 2 * RECORDS
    assert calls.by_turn.total() == RECORDS
    assert max(calls.by_turn.values()) <= (2 if kind == "generator" else 1)


class Makes:
    """Deserializers that are fast, and count how often each record was made."""

    def __init__(self) -> None:
        self.times: Counter[bytes] = Counter()

    def plain(self, data: bytes) -> bytes:
        self.times[data] += 1
        return data

    async def coroutine(self, data: bytes) -> bytes:
        return self.plain(data)


async def one_of_many(consumer: Any) -> int:
    return sum(map(len, (await consumer.getmany(timeout_ms=10_000, max_records=1)).values()))


async def seek_on(consumer: AIOKafkaConsumer[Any, Any], number: int) -> None:
    consumer.seek(P0, number + 1)


async def assign_again(consumer: AIOKafkaConsumer[Any, Any], _: int) -> None:
    position = await consumer.position(P0)
    consumer.incremental_unassign([P0])
    consumer.incremental_assign([P0])
    consumer.seek(P0, position)


async def commit_and_return(consumer: AIOKafkaConsumer[Any, Any], number: int) -> None:
    """As what processes a record and begins anew from what is committed."""
    await consumer.commit({P0: number + 1})
    await consumer.seek_to_committed(P0)


MOVES = [seek_on, assign_again, commit_and_return]
P0 = TopicPartition("t", 0)


@each_kind
@pytest.mark.parametrize("move", MOVES, ids=lambda move: move.__name__)
@pytest.mark.parametrize("read", [one, one_of_many, iterated], ids=lambda read: read.__name__)
async def test_a_record_is_made_for_nothing_once_at_most(
    kind: str, move: Callable[..., Awaitable[None]], read: Read
) -> None:
    """What a seek drops is made again when it is read, not ahead (A12)."""
    makes = Makes()
    async with EmbeddedBroker() as broker:
        broker.create_topic("t")
        values = [b"%d" % number for number in range(RECORDS)]
        for value in values:
            broker.produce("t", value, partition=0)
        async with AIOKafkaConsumer(
            bootstrap_servers=broker.bootstrap_servers,
            group_id="g",
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            value_deserializer=getattr(makes, kind),
        ) as consumer:
            consumer.assign([P0])
            for number in range(RECORDS):
                assert await read(consumer) == 1
                await move(consumer, number)
            assert set(makes.times) == set(values)
            assert max(makes.times.values()) <= 2
            makes.times.clear()
            consumer.seek(P0, 0)
            found = 0
            while found < RECORDS:
                found += await many(consumer)
            assert makes.times == dict.fromkeys(values, 1), "what a poll wants is made at once"
