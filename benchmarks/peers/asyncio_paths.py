"""The paths of the asyncio clients, ours and aiokafka: their names are the same, and so is this."""

from typing import Any

from benchmarks.peers.job import Job


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
