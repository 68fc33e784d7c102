"""The paths of the asyncio clients, ours and aiokafka, which share their names and this code.

Steady paths begin when the client is warm. A producer has sent some records and got their acks. A
consumer has returned its first batch, which does not count.
"""

import asyncio
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from benchmarks.peers import growth_paths
from benchmarks.peers.job import Job
from benchmarks.peers.membership import Membership

POLL_RECORDS = 500
BULK_BATCH_BYTES = 131_072
TASKS = 1000
SINGLES_NOT_COUNTED = 500
ALL_BYTES = 1 << 30
EQUAL_OPTIONS = {"max_batch_size": BULK_BATCH_BYTES, "linger_ms": 5}


@dataclass(frozen=True, slots=True)
class AsyncioPaths:
    """The paths of one client; its classes accept any option of aiokafka."""

    producer: Any
    consumer: Any
    topic_partition: Any
    assignors: Mapping[str, Any]
    producer_options: Mapping[str, Any] = field(default_factory=dict)
    """Options that make the producer as safe as the others."""
    holding_options: Mapping[str, Any] = field(default_factory=dict)
    """Options with which the producer holds any number of records."""
    paced_options: Mapping[str, Any] = field(default_factory=dict)
    equal_options: Mapping[str, Any] = field(default_factory=dict)
    """What the producer needs besides EQUAL_OPTIONS."""

    # Producing…

    async def send(self, job: Job) -> None:
        """`await send()` keyed, acks=all, then flush."""
        await self._send(job, await_acks=False)

    async def send_acked(self, job: Job) -> None:
        """Do the same as `send`, and await every ack."""
        await self._send(job, await_acks=True)

    async def tasks(self, job: Job) -> None:
        """A thousand tasks at a time, each awaiting the ack of its record."""
        pairs = job.pairs()
        async with self._producer(job) as producer:
            await self._warm_up(job, producer)
            with job.stopwatch():
                for _ in range(0, job.records, TASKS):
                    await asyncio.gather(
                        *(producer.send_and_wait(job.topic, value, key) for key, value in pairs)
                    )
        job.outcome.records = job.records

    async def paced(self, job: Job) -> None:
        """Send a fixed number of records a second to one partition, each with its own ack."""
        options = {"linger_ms": 0, "request_timeout_ms": 30_000, "retry_backoff_ms": 100}
        async with self._producer(job, **options, **self.paced_options) as producer:
            for _ in range(job.warm_up):
                await producer.send_and_wait(job.topic, job.stamped(), partition=0)
            all_noted = asyncio.get_running_loop().create_future()
            job.begin_paced()
            for number in range(job.records):
                if (delay_s := job.due_in_s(number)) > 0:
                    await asyncio.sleep(delay_s)
                sent_s = time.monotonic()
                ack = await producer.send(job.topic, job.stamped(), partition=0)
                ack.add_done_callback(partial(_note_ack, job, sent_s, all_noted))
            await producer.flush()
            await all_noted

    async def hold_unsent(self, job: Job) -> None:
        """Send records that a broker never acknowledges; does not return."""
        pairs = job.pairs()
        producer = self._producer(job, **self.holding_options)
        await producer.start()
        await producer.partitions_for(job.topic)
        handles = []
        with job.memory():
            for number in range(job.records):
                key, value = pairs[number % len(pairs)]
                handle = await producer.send(job.topic, value, key)
                if job.keep_handles:
                    handles.append(handle)
        job.outcome.records = job.records
        job.report_and_end()

    # Consuming…

    async def getmany(self, job: Job) -> None:
        """`getmany()` of 500 a call, value read."""
        await _read(job, self.consumer(job.topic, **reading_options(job)))

    async def group(self, job: Job) -> None:
        """Do the same as `getmany` in a group of one."""
        await _read(job, self.consumer(job.topic, **reading_options(job), group_id=job.group_id))

    async def one_by_one(self, job: Job) -> None:
        """`async for`, value read."""
        seen = total = 0
        async with self.consumer(job.topic, **reading_options(job)) as consumer:
            async for record in consumer:
                total += len(record.value or b"")
                seen += 1
                if seen == SINGLES_NOT_COUNTED:
                    job.start()
                elif seen == job.records:
                    break
            job.stop()
        job.outcome.records = seen - SINGLES_NOT_COUNTED
        assert total

    async def paced_receive(self, job: Job) -> None:
        """`async for`, and each record's age."""
        async with self.consumer(job.topic, **reading_options(job)) as consumer:
            job.tell("ready")
            async for record in consumer:
                job.note_received(record.value)
                if job.outcome.records == job.records:
                    break

    async def hold_consumed(self, job: Job) -> None:
        """Read records and keep them."""
        kept: list[Any] = []
        async with self.consumer(job.topic, **reading_options(job)) as consumer:
            with job.memory():
                while len(kept) < job.records:
                    polled = await consumer.getmany(timeout_ms=1000, max_records=POLL_RECORDS)
                    for records in polled.values():
                        kept += records
        job.outcome.records = len(kept)

    # Groups…

    async def first_assigned(self, job: Job) -> None:
        """The first record of partitions assigned by hand."""
        with job.stopwatch():
            consumer = self.consumer(**reading_options(job))
            consumer.assign([self.topic_partition(job.topic, at) for at in range(job.partitions)])
            await consumer.start()
            await consumer.getone()
        await consumer.stop()
        job.outcome.records = 1

    async def first_subscribed(self, job: Job) -> None:
        """The first record as the only member of a group."""
        with job.stopwatch():
            consumer = self.consumer(job.topic, **reading_options(job), group_id=job.group_id)
            await consumer.start()
            await consumer.getone()
        await consumer.stop()
        job.outcome.records = 1

    async def member(self, job: Job) -> None:
        """Be a member of a group until told to end, and note the records of each poll."""
        membership = Membership(job)
        async with self._member(job) as consumer:
            while not membership.is_over:
                for tp, records in (await consumer.getmany(timeout_ms=100)).items():
                    membership.note(tp.partition, records[0].offset, records[-1].offset)

    def _member(self, job: Job, **options: Any) -> Any:
        if job.group_protocol == "classic":
            options |= {
                "heartbeat_interval_ms": job.heartbeat_ms,
                "partition_assignment_strategy": [self.assignors[job.assignor]],
            }
        else:
            options["group_protocol"] = job.group_protocol
        return self.consumer(job.topic, **reading_options(job), group_id=job.group_id, **options)

    # Large, mostly idle clients…

    async def growing_group(self, job: Job) -> None:
        """A group of one that has every partition of many topics."""
        topics = job.topic_names()
        consumer = self.consumer(*topics, **reading_options(job), group_id=job.group_id)
        await growth_paths.consume([consumer], job)

    async def growing_consumers(self, job: Job) -> None:
        """Start many consumers, each with an assigned partition; most have the last one."""
        consumers = []
        for number in range(job.clients):
            partition = min(number, job.partitions - 1)
            consumer = self.consumer(**reading_options(job))
            consumer.assign([self.topic_partition(job.topic, partition)])
            consumers.append(consumer)
        await growth_paths.consume(consumers, job)

    async def growing_producer(self, job: Job) -> None:
        """A producer that knows many partitions."""
        await growth_paths.produce(self._producer(job, linger_ms=0), job)

    # Options…

    async def _send(self, job: Job, *, await_acks: bool) -> None:
        pairs = job.pairs()
        async with self._producer(job) as producer:
            await self._warm_up(job, producer)
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
        job.outcome.records = job.records

    async def _warm_up(self, job: Job, producer: Any) -> None:
        await producer.partitions_for(job.topic)
        pairs = job.pairs()
        for number in range(job.warm_up):
            key, value = pairs[number % len(pairs)]
            await producer.send(job.topic, value, key)
        await producer.flush()

    def _producer(self, job: Job, **options: Any) -> Any:
        return self.producer(
            **connecting_options(job),
            compression_type=job.compression,
            **self.producer_options,
            **({**EQUAL_OPTIONS, **self.equal_options} if job.equal else {}),
            **options,
        )


def _note_ack(job: Job, sent_s: float, all_noted: "asyncio.Future[None]", ack: Any) -> None:
    job.note_ack(sent_s, ack.exception())
    if job.outcome.records == job.records:
        all_noted.set_result(None)


def connecting_options(job: Job) -> dict[str, Any]:
    """Return the options of every client."""
    options: dict[str, Any] = {"bootstrap_servers": job.bootstrap_servers}
    if job.ca_pem:
        options["security_protocol"] = "SSL"
        options["ssl_context"] = ssl.create_default_context(cadata=job.ca_pem)
    return options


def reading_options(job: Job) -> dict[str, Any]:
    """Return the options of every consumer."""
    return {**connecting_options(job), "auto_offset_reset": "earliest"}


async def _read(job: Job, consumer: Any) -> None:
    total = skipped = 0
    async with consumer:
        while not skipped:
            polled = await consumer.getmany(timeout_ms=1000, max_records=POLL_RECORDS)
            skipped = sum(map(len, polled.values()))
        seen = skipped
        with job.stopwatch():
            while seen < job.records:
                polled = await consumer.getmany(timeout_ms=1000, max_records=POLL_RECORDS)
                for records in polled.values():
                    for record in records:
                        total += len(record.value or b"")
                    seen += len(records)
    job.outcome.records = seen - skipped
    assert total
