"""aiokafka_lite, with its defaults."""

import asyncio

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from benchmarks.peers import asyncio_paths
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
    producer = AIOKafkaProducer(
        bootstrap_servers=job.bootstrap_servers, compression_type=job.compression
    )
    await asyncio_paths.send(job, producer, await_acks=await_acks)


async def _getmany(job: Job) -> None:
    await asyncio_paths.getmany(job, _consumer(job))


async def _one_by_one(job: Job) -> None:
    await asyncio_paths.one_by_one(job, _consumer(job))


def _consumer(job: Job) -> AIOKafkaConsumer:
    return AIOKafkaConsumer(
        job.topic, bootstrap_servers=job.bootstrap_servers, auto_offset_reset="earliest"
    )
