"""Ways to handle the records of a group with our consumer: one loop, a pool by hand, KeyedWorkers.

All of them commit only what is handled. The handler of 10 µs computes; longer ones sleep.
"""

import asyncio
import time
from typing import Any

from aiokafka_lite import AIOKafkaConsumer, ConsumerRecord, KeyedWorkers
from benchmarks.peers.job import Job

CONCURRENCY = 50
POLL_RECORDS = 500
COMPUTES_BELOW_US = 1000


class _Handling:
    """The handler, which counts until the job is done."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._seconds = job.handler_us / 1e6
        self._sleeps = job.handler_us >= COMPUTES_BELOW_US

    def is_over(self) -> bool:
        """Whether all records of the job are handled."""
        return self._job.outcome.records == self._job.records

    async def handle(self, _: ConsumerRecord[Any, Any]) -> None:
        """Handle one record."""
        if self._sleeps:
            await asyncio.sleep(self._seconds)
        else:
            ends = time.perf_counter() + self._seconds
            while time.perf_counter() < ends:
                pass
        self._job.note_round()


def _consumer(job: Job) -> AIOKafkaConsumer[bytes, bytes]:
    return AIOKafkaConsumer(
        job.topic,
        bootstrap_servers=job.bootstrap_servers,
        group_id=job.group_id,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )


async def plain_loop(job: Job) -> None:
    """Await the handler of each record of a poll, then commit."""
    work = _Handling(job)
    async with _consumer(job) as consumer:
        while not work.is_over():
            for records in (await consumer.getmany(timeout_ms=1000)).values():
                for record in records:
                    await work.handle(record)
                    if work.is_over():
                        return
            await consumer.commit()


async def pool_by_hand(job: Job) -> None:
    """Give each record of a poll to the worker of its key, wait for all of them, then commit."""
    work = _Handling(job)
    queues: list[asyncio.Queue[Any]] = [asyncio.Queue() for _ in range(CONCURRENCY)]

    async def serve(queue: asyncio.Queue[Any]) -> None:
        while True:
            await work.handle(await queue.get())
            queue.task_done()

    async with _consumer(job) as consumer:
        workers = [asyncio.create_task(serve(queue)) for queue in queues]
        while not work.is_over():
            found = await consumer.getmany(timeout_ms=1000, max_records=POLL_RECORDS)
            for records in found.values():
                for record in records:
                    queues[hash(record.key) % CONCURRENCY].put_nowait(record)
            await asyncio.gather(*(queue.join() for queue in queues))
            await consumer.commit()
        for worker in workers:
            worker.cancel()


async def keyed_workers(job: Job) -> None:
    """Run KeyedWorkers with their defaults."""
    work = _Handling(job)

    async def handle(record: ConsumerRecord[Any, Any]) -> None:
        await work.handle(record)
        if work.is_over():
            workers.stop()

    async with KeyedWorkers(_consumer(job), handle, concurrency=CONCURRENCY) as workers:
        await workers.run()


__all__ = ["CONCURRENCY", "keyed_workers", "plain_loop", "pool_by_hand"]
