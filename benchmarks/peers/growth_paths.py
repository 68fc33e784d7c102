"""The paths of `benchmarks.clients.growth`: large clients with little to do.

Each active partition has a record when the path begins. The path prints `ready` once its parts
exist and its first-time work is done. It is idle for `job.idle_s` and prints `idle`. Then records
come, so far apart that each is a round of its own. The clients of asyncio share this code; those
that block have `growth_threads`.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from benchmarks.peers.job import Job

POLL_MS = 1000
LOOK_EVERY_S = 0.1
SETTLE_S = 1.2
"""Two long polls, because the first requests of a client cost more."""


async def consume(consumers: Sequence[Any], job: Job) -> None:
    """Let every consumer be polled by a task of its own."""
    active = len(consumers[: job.active])
    firsts = [asyncio.Event() for _ in consumers]
    with job.memory():
        job.begin_first()
        for consumer in consumers:
            await consumer.start()
        readers = [
            asyncio.create_task(_read(consumer, job, first))
            for consumer, first in zip(consumers, firsts, strict=True)
        ]
        for first in firsts[:active]:
            await first.wait()
        job.note_first()
        for consumer in consumers:
            for tp in consumer.assignment():
                await consumer.position(tp)
    await asyncio.sleep(SETTLE_S)
    with job.idle():
        await asyncio.sleep(job.idle_s)
    while job.outcome.records < job.records:
        await asyncio.sleep(LOOK_EVERY_S)
        for reader in readers:
            if reader.done():
                reader.result()
    for reader in readers:
        reader.cancel()
    await asyncio.gather(*readers, return_exceptions=True)
    await asyncio.gather(*(consumer.stop() for consumer in consumers))


async def _read(consumer: Any, job: Job, first: asyncio.Event) -> None:
    while True:
        if await consumer.getmany(timeout_ms=POLL_MS):
            first.set()
            job.note_round()


async def produce(producer: Any, job: Job) -> None:
    """Send to every partition once, then to the active ones only."""
    value = bytes(job.value_bytes)
    with job.memory():
        job.begin_first()
        await producer.start()
        await producer.send_and_wait(job.topic, value, partition=0)
        job.note_first()
        for partition in range(job.partitions):
            await producer.send(job.topic, value, partition=partition)
        await producer.flush()
    await asyncio.sleep(SETTLE_S)
    with job.idle():
        await asyncio.sleep(job.idle_s)
    for number in range(job.warm_up + job.records):
        await producer.send_and_wait(job.topic, value, partition=number % job.active)
        job.note_round()
        await asyncio.sleep(1 / job.per_second)
    await producer.stop()
