"""confluent-kafka's AIOProducer and AIOConsumer, configured like `confluent_peer`.

AIOProducer learns of deliveries during a poll. Where acks are awaited, a task polls.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, TopicPartition
from confluent_kafka.aio import AIOConsumer, AIOProducer

from benchmarks.peers.confluent_peer import (
    HOLDING_OPTIONS,
    PACED_OPTIONS,
    POLL_RECORDS,
    SINGLES_NOT_COUNTED,
    consumer_options,
    producer_options,
)
from benchmarks.peers.job import Job

TASKS = 1000
AT_ONCE = 1
"""`batch_size` of AIOProducer for paced records: its default waits for a thousand, or a second."""


async def send(job: Job) -> None:
    """`await produce()` keyed, then flush."""
    await _send(job, await_acks=False)


async def send_acked(job: Job) -> None:
    """Do the same as `send`, and await every future."""
    await _send(job, await_acks=True)


async def tasks(job: Job) -> None:
    """A thousand tasks at a time, each awaiting the delivery of its record."""
    pairs = job.pairs()
    async with _producer(job) as producer, _polled(producer):
        await _warm_up(job, producer)

        async def send_and_wait(key: bytes, value: bytes) -> None:
            await (await producer.produce(job.topic, value, key))

        with job.stopwatch():
            for _ in range(0, job.records, TASKS):
                await asyncio.gather(*(send_and_wait(key, value) for key, value in pairs))
    job.outcome.records = job.records


async def paced(job: Job) -> None:
    """Send a fixed number of records a second to one partition."""
    async with _producer(job, PACED_OPTIONS, AT_ONCE) as producer, _polled(producer):
        for _ in range(job.warm_up):
            await (await producer.produce(job.topic, job.stamped(), partition=0))
        all_noted = asyncio.get_running_loop().create_future()
        job.begin_paced()
        for number in range(job.records):
            if (delay_s := job.due_in_s(number)) > 0:
                await asyncio.sleep(delay_s)
            sent_s = time.monotonic()
            delivery = await producer.produce(job.topic, job.stamped(), partition=0)
            delivery.add_done_callback(partial(_note_ack, job, sent_s, all_noted))
        await producer.flush()
        await all_noted


async def hold_unsent(job: Job) -> None:
    """Send records that a broker never acknowledges; does not return."""
    pairs = job.pairs()
    handles = []
    producer = AIOProducer({**producer_options(job), **HOLDING_OPTIONS})
    await producer.list_topics(job.topic, timeout=10)
    with job.memory():
        for number in range(job.records):
            key, value = pairs[number % len(pairs)]
            delivery = await producer.produce(job.topic, value, key)
            if job.keep_handles:
                handles.append(delivery)
    job.outcome.records = job.records
    job.report_and_end()


async def getmany(job: Job) -> None:
    """`await consume(500)`, value read."""
    await _read(job, await _consumer(job))


async def group(job: Job) -> None:
    """Do the same as `getmany` in a group of one."""
    options = {"group.id": job.group_id, "auto.offset.reset": "earliest"}
    consumer = AIOConsumer({"bootstrap.servers": job.bootstrap_servers, **options})
    await consumer.subscribe([job.topic])
    await _read(job, consumer)


async def one_by_one(job: Job) -> None:
    """`await poll()`, value read."""
    consumer = await _consumer(job)
    seen = total = 0
    while seen < job.records:
        message = await consumer.poll(1.0)
        if message is not None:
            total += len(message.value() or b"")
            seen += 1
            if seen == SINGLES_NOT_COUNTED:
                job.start()
    job.stop()
    job.outcome.records = seen - SINGLES_NOT_COUNTED
    await consumer.close()
    assert total


async def paced_receive(job: Job) -> None:
    """`await poll()`, and each record's age."""
    consumer = await _consumer(job)
    job.tell("ready")
    while job.outcome.records < job.records:
        message = await consumer.poll(1.0)
        if message is not None and message.error() is None:
            job.note_received(message.value() or b"")
    await consumer.close()


async def _send(job: Job, *, await_acks: bool) -> None:
    pairs = job.pairs()
    async with _producer(job) as producer:
        await _warm_up(job, producer)
        deliveries = []
        with job.stopwatch():
            for number in range(job.records):
                key, value = pairs[number % len(pairs)]
                delivery = await _produce(producer, job.topic, value, key)
                if await_acks:
                    deliveries.append(delivery)
            await producer.flush()
            for delivery in deliveries:
                await delivery
    job.outcome.records = job.records


async def _produce(producer: AIOProducer, topic: str, value: bytes, key: bytes) -> Awaitable[Any]:
    while True:
        try:
            return await producer.produce(topic, value, key)
        except BufferError:
            await producer.poll(0.01)


async def _read(job: Job, consumer: AIOConsumer) -> None:
    total = skipped = 0
    while not skipped:
        skipped = len(await consumer.consume(POLL_RECORDS, 1.0))
    seen = skipped
    with job.stopwatch():
        while seen < job.records:
            messages = await consumer.consume(POLL_RECORDS, 1.0)
            for message in messages:
                total += len(message.value() or b"")
            seen += len(messages)
    job.outcome.records = seen - skipped
    await consumer.close()
    assert total


async def _consumer(job: Job) -> AIOConsumer:
    consumer = AIOConsumer(consumer_options(job))
    metadata = await consumer.list_topics(job.topic, timeout=10)
    numbers = metadata.topics[job.topic].partitions
    await consumer.assign(
        [TopicPartition(job.topic, number, OFFSET_BEGINNING) for number in numbers]
    )
    return consumer


@asynccontextmanager
async def _producer(
    job: Job, options: dict[str, Any] | None = None, batch_size: int = 1000
) -> AsyncIterator[AIOProducer]:
    settings = {**producer_options(job), **(options or {})}
    producer = AIOProducer(settings, batch_size=batch_size)
    try:
        yield producer
    finally:
        await producer.close()


@asynccontextmanager
async def _polled(producer: AIOProducer) -> AsyncIterator[None]:
    """Poll for deliveries during the block."""

    async def poll(wait: Callable[[float], Awaitable[int]]) -> None:
        while True:
            await wait(0.1)

    polling = asyncio.create_task(poll(producer.poll))
    try:
        yield
    finally:
        polling.cancel()
        await asyncio.wait([polling])


async def _warm_up(job: Job, producer: AIOProducer) -> None:
    await producer.list_topics(job.topic, timeout=10)
    pairs = job.pairs()
    for number in range(job.warm_up):
        key, value = pairs[number % len(pairs)]
        await producer.produce(job.topic, value, key)
    await producer.flush()


def _note_ack(
    job: Job,
    sent_s: float,
    all_noted: "asyncio.Future[None]",
    delivery: "asyncio.Future[Any]",
) -> None:
    job.note_ack(sent_s, delivery.exception())
    if job.outcome.records == job.records:
        all_noted.set_result(None)
