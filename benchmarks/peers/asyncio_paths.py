"""The paths of the asyncio clients, ours and aiokafka: their names are the same, and so is this."""

from collections.abc import Callable, Iterable
from typing import Any

from benchmarks.peers.job import Job
from benchmarks.peers.membership import Membership


async def send(job: Job, producer: Any, *, await_acks: bool) -> None:
    """`await send()` keyed, then flush; with `await_acks` every ack is awaited."""
    pairs = job.pairs()
    async with producer:
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


async def getmany(job: Job, consumer: Any) -> None:
    """`getmany()` of 500 a call, value read."""
    total = 0
    async with consumer:
        with job.stopwatch():
            while job.done < job.records:
                for records in (await consumer.getmany(timeout_ms=1000, max_records=500)).values():
                    for record in records:
                        total += len(record.value or b"")
                    job.done += len(records)
    assert total


async def one_by_one(job: Job, consumer: Any) -> None:
    """`async for`, value read."""
    total = 0
    async with consumer:
        with job.stopwatch():
            async for record in consumer:
                total += len(record.value or b"")
                job.done += 1
                if job.done == job.records:
                    break
    assert total


async def group(job: Job, make_consumer: Callable[[], Any]) -> None:
    """A group of one: from the constructor to the last record, `getmany()` of 500 a call."""
    total = 0
    with job.stopwatch():
        consumer = make_consumer()
        await consumer.start()
        while job.done < job.records:
            for records in (await consumer.getmany(timeout_ms=1000, max_records=500)).values():
                for record in records:
                    total += len(record.value or b"")
                job.done += len(records)
    await consumer.stop()
    assert total


async def first_record(
    job: Job, make_consumer: Callable[[], Any], assigned: Iterable[Any] = ()
) -> None:
    """From the constructor to the first record; `assigned`: the partitions, without a group."""
    with job.stopwatch():
        consumer = make_consumer()
        if assigned:
            consumer.assign(assigned)
        await consumer.start()
        await consumer.getone()
    job.done = 1
    await consumer.stop()


async def member(job: Job, make_consumer: Callable[[], Any]) -> None:
    """Be a member of a group until told to end, and note what polls return."""
    membership = Membership(job)
    async with make_consumer() as consumer:
        while not membership.is_over:
            for tp, records in (await consumer.getmany(timeout_ms=100)).items():
                membership.note(tp.partition, records[0].offset, records[-1].offset)
