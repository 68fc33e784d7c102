"""aiokafka, with acks=all and idempotence like ours.

Otherwise it has its defaults (linger 0, no prefetch).
"""

import asyncio
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.coordinator.assignors.range import RangePartitionAssignor

from benchmarks.peers.asyncio_paths import (
    ALL_BYTES,
    BULK_BATCH_BYTES,
    POLL_RECORDS,
    AsyncioPaths,
    reading_options,
)
from benchmarks.peers.job import Job


class _Aiokafka(AsyncioPaths):
    __slots__ = ()

    async def bulk(self, job: Job) -> None:
        """`create_batch()` filled with values without keys to 128 KB, `send_batch()`."""
        values = [value for _, value in job.pairs()]
        async with self._producer(job, max_batch_size=BULK_BATCH_BYTES) as producer:
            await self._warm_up(job, producer)
            sent: list[asyncio.Future[Any]] = []
            with job.stopwatch():
                batch = producer.create_batch()
                for number in range(job.records):
                    value = values[number % len(values)]
                    if batch.append(key=None, value=value, timestamp=None) is None:
                        partition = len(sent) % job.partitions
                        sent.append(
                            await producer.send_batch(batch, job.topic, partition=partition)
                        )
                        batch = producer.create_batch()
                        batch.append(key=None, value=value, timestamp=None)
                sent.append(await producer.send_batch(batch, job.topic, partition=0))
                await asyncio.gather(*sent)
        job.outcome.records = job.records

    async def arrow(self, job: Job) -> None:
        """`getmany()` of 500 a call, made into Arrow record batches."""
        async with self.consumer(job.topic, **reading_options(job)) as consumer:
            skipped = 0
            while not skipped:
                skipped = await _arrow_rows(consumer)
            seen = skipped
            with job.stopwatch():
                while seen < job.records:
                    seen += await _arrow_rows(consumer)
        job.outcome.records = seen - skipped


async def _arrow_rows(consumer: Any) -> int:
    # imported here, so that only this path includes pyarrow
    from benchmarks.peers.arrow_rows import arrow_batch

    polled = await consumer.getmany(timeout_ms=1000, max_records=POLL_RECORDS)
    rows = 0
    for records in polled.values():
        rows += arrow_batch(
            [record.topic for record in records],
            [record.partition for record in records],
            [record.offset for record in records],
            [record.timestamp for record in records],
            [record.timestamp_type for record in records],
            [record.key for record in records],
            [record.value for record in records],
        ).num_rows
    return rows


PATHS = _Aiokafka(
    producer=AIOKafkaProducer,
    consumer=AIOKafkaConsumer,
    topic_partition=TopicPartition,
    assignors={"range": RangePartitionAssignor},
    producer_options={"enable_idempotence": True, "acks": "all"},
    holding_options={"max_batch_size": ALL_BYTES},  # it holds one batch per partition
)
