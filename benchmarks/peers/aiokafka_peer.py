"""aiokafka, with acks=all and idempotence as ours has them, else its defaults (linger 0, no
prefetch).
"""

import asyncio
from functools import partial

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.coordinator.assignors.range import RangePartitionAssignor

from benchmarks.peers import asyncio_paths
from benchmarks.peers.job import Job

_ASSIGNORS = {"range": RangePartitionAssignor}


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


def group(job: Job) -> None:
    """`getmany()` of 500 a call in a group of one."""
    asyncio.run(asyncio_paths.group(job, partial(_group_consumer, job)))


def first_assigned(job: Job) -> None:
    """The first record of partitions assigned by hand."""
    assigned = [TopicPartition(job.topic, number) for number in range(job.partitions)]
    asyncio.run(asyncio_paths.first_record(job, partial(_bare_consumer, job), assigned))


def first_subscribed(job: Job) -> None:
    """The first record as the only member of a group."""
    asyncio.run(asyncio_paths.first_record(job, partial(_group_consumer, job)))


def member(job: Job) -> None:
    """A member of a group that is told when to join and when to end."""
    asyncio.run(asyncio_paths.member(job, partial(_member, job)))


async def _send(job: Job, *, await_acks: bool) -> None:
    producer = AIOKafkaProducer(
        bootstrap_servers=job.bootstrap_servers,
        compression_type=job.compression,
        enable_idempotence=True,
        acks="all",
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


def _bare_consumer(job: Job) -> AIOKafkaConsumer:
    return AIOKafkaConsumer(bootstrap_servers=job.bootstrap_servers, auto_offset_reset="earliest")


def _group_consumer(job: Job) -> AIOKafkaConsumer:
    return AIOKafkaConsumer(
        job.topic,
        bootstrap_servers=job.bootstrap_servers,
        group_id=job.group_id,
        auto_offset_reset="earliest",
    )


def _member(job: Job) -> AIOKafkaConsumer:
    return AIOKafkaConsumer(
        job.topic,
        bootstrap_servers=job.bootstrap_servers,
        group_id=job.group_id,
        auto_offset_reset="earliest",
        heartbeat_interval_ms=job.heartbeat_ms,
        partition_assignment_strategy=[_ASSIGNORS[job.assignor]],
    )
