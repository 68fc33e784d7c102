"""A service that cancels its task group leaves nothing behind: no task, no socket, no warning."""

import asyncio
import gc
import warnings
from collections.abc import Callable, Coroutine
from typing import Any

import anyio
import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.testing.broker import EmbeddedBroker


async def consume(address: str, started: asyncio.Event) -> None:
    async with AIOKafkaConsumer("t", bootstrap_servers=address) as consumer:
        started.set()
        while True:
            await consumer.getmany(timeout_ms=60_000)


async def iterate(address: str, started: asyncio.Event) -> None:
    async with AIOKafkaConsumer("t", bootstrap_servers=address) as consumer:
        started.set()
        async for _ in consumer:
            pass


async def produce(address: str, started: asyncio.Event) -> None:
    async with AIOKafkaProducer(bootstrap_servers=address, linger_ms=60_000) as producer:
        await producer.send("t", b"queued when the scope was cancelled")
        started.set()
        await asyncio.Event().wait()


async def stop_in_finally(address: str, started: asyncio.Event) -> None:
    consumer = AIOKafkaConsumer("t", bootstrap_servers=address)
    await consumer.start()
    try:
        started.set()
        await consumer.getone()
    finally:
        await consumer.stop()


@pytest.mark.parametrize("work", [consume, iterate, produce, stop_in_finally])
async def test_a_cancelled_scope_ends_its_clients(
    work: Callable[[str, asyncio.Event], Coroutine[Any, Any, None]],
) -> None:
    async with EmbeddedBroker() as broker, asyncio.timeout(30):
        broker.create_topic("t")
        before = asyncio.all_tasks()
        with warnings.catch_warnings(action="error"):
            started = asyncio.Event()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(work, broker.bootstrap_servers, started)
                await started.wait()
                tasks.cancel_scope.cancel()
            gc.collect()
        assert asyncio.all_tasks() == before
        if work is produce:
            values = [record.value for record in broker.log(("t", 0)).records()]
            assert values == [b"queued when the scope was cancelled"]
