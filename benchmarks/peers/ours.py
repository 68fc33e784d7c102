"""aiokafka_lite, with its defaults."""

import asyncio

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from benchmarks.peers.job import Job


def send(job: Job) -> None:
    """`await send()` keyed, acks=all, then flush."""
    asyncio.run(_send(job, await_acks=False))


def send_acked(job: Job) -> None:
    """The same, and every ack awaited."""
    asyncio.run(_send(job, await_acks=True))


def getmany(job: Job) -> None:
    """`getmany()` of 500 a call, value read."""
    asyncio.run(_getmany(job))


def one_by_one(job: Job) -> None:
    """`async for`, value read."""
    asyncio.run(_one_by_one(job))


async def _send(job: Job, *, await_acks: bool) -> None:
    pairs = job.pairs()
    async with AIOKafkaProducer(
        bootstrap_servers=job.bootstrap_servers, compression_type=job.compression
    ) as producer:
        await producer.partitions_for(job.topic)
        acks = []
        with job.stopwatch():
            for number in range(job.records):
                key, value = pairs[number % len(pairs)]
                ack = await producer.send(job.topic, value, key)
                if await_acks:
                    acks.append(ack)
            await producer.flush()
            for ack in acks:
                await ack
    job.done = job.records


async def _getmany(job: Job) -> None:
    total = 0
    async with AIOKafkaConsumer(
        job.topic, bootstrap_servers=job.bootstrap_servers, auto_offset_reset="earliest"
    ) as consumer:
        with job.stopwatch():
            while job.done < job.records:
                for records in (await consumer.getmany(timeout_ms=1000, max_records=500)).values():
                    for record in records:
                        total += len(record.value or b"")
                    job.done += len(records)
    assert total


async def _one_by_one(job: Job) -> None:
    total = 0
    async with AIOKafkaConsumer(
        job.topic, bootstrap_servers=job.bootstrap_servers, auto_offset_reset="earliest"
    ) as consumer:
        with job.stopwatch():
            async for record in consumer:
                total += len(record.value or b"")
                job.done += 1
                if job.done == job.records:
                    break
    assert total
