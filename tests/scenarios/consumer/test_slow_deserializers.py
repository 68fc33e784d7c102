"""Deserializers get a millisecond of each turn of the loop, or one record of it (A12)."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaAdminClient, AIOKafkaConsumer, AIOKafkaShareConsumer
from aiokafka_lite.admin import ConfigResource, ConfigResourceType
from aiokafka_lite.testing.broker import EmbeddedBroker

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
