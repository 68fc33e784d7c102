"""Runs the three parts at once: a producer, a stream of Spark, and a consumer of its result.

Owns the topics and the order in which the parts end; prints nothing. It waits without blocking,
because Spark works in threads.
"""

import secrets
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol

import anyio
from anyio import to_thread

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.admin import AIOKafkaAdminClient, NewTopic
from examples.pipeline import flight_stream
from examples.pipeline.departures import (
    Departures,
    Flight,
    Route,
    closing_time,
    counted,
    day_of,
    differences,
    read_back,
)
from examples.pipeline.flight_stream import StreamFacts

POLL_TIMEOUT_MS = 200


class PipelineProgress(Protocol):
    """Receives how many flights were sent, and how many results have come."""

    def produced(self, flights: int) -> None: ...

    def received(self, results: int) -> None: ...


@dataclass(frozen=True, slots=True)
class PipelineResult:
    """The actual result and the expected one."""

    expected: dict[Route, Departures]
    received: dict[Route, Departures]
    repeated: int
    """Results that came more than once: Spark repeats a write whose outcome it does not know."""
    stream: StreamFacts

    def problems(self) -> list[str]:
        """One sentence for each difference; empty when the pipeline is right."""
        found = differences(self.expected, self.received)
        if self.stream.late:
            found.append(f"{self.stream.late} flights came behind the watermark, and were left out")
        return found


async def run_pipeline(
    spark: Any,
    bootstrap_servers: str,
    flights: Sequence[Flight],
    *,
    partitions: int,
    progress: PipelineProgress,
) -> PipelineResult:
    """Send `flights`, ordered by time, through topic, Spark and topic, and collect the result.

    The topics are made before and deleted after. Raises: as the clients; Spark's
    StreamingQueryException.
    """
    async with _topics(bootstrap_servers, partitions, "flights", "departures") as topics:
        source, sink = topics
        run = _Run(bootstrap_servers, source, sink, flights, progress)
        with tempfile.TemporaryDirectory() as folder:
            # Not in a thread: Spark finds the sink only where its session is the active one.
            query = flight_stream.start(spark, bootstrap_servers, source, sink, Path(folder))
            try:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(run.consume)
                    await run.produce()
                    await to_thread.run_sync(query.processAllAvailable)
                    run.stream_ended.set()
                told = flight_stream.facts(query)
            finally:
                with anyio.CancelScope(shield=True):
                    await to_thread.run_sync(query.stop)
    repeated = run.results.total() - len(run.received)
    return PipelineResult(counted(flights), run.received, repeated, told)


@asynccontextmanager
async def _topics(bootstrap_servers: str, partitions: int, *names: str) -> AsyncIterator[list[str]]:
    run = secrets.token_hex(4)
    topics = [f"{name}-{run}" for name in names]
    async with AIOKafkaAdminClient(bootstrap_servers=bootstrap_servers) as admin:
        created = await admin.create_topics([NewTopic(topic, partitions) for topic in topics])
        created.topics.raise_first()
        try:
            yield topics
        finally:
            with anyio.CancelScope(shield=True):
                (await admin.delete_topics(topics)).topics.raise_first()


@dataclass(slots=True)
class _Run:
    """The two clients of one run, and their shared state."""

    bootstrap_servers: str
    source: str
    sink: str
    flights: Sequence[Flight]
    progress: PipelineProgress
    received: dict[Route, Departures] = field(default_factory=dict)
    results: Counter[Route] = field(default_factory=Counter)
    stream_ended: anyio.Event = field(default_factory=anyio.Event)
    """Set when all records of the sink are written."""

    async def produce(self) -> None:
        """Send all flights, and at last a record that moves the watermark past all days."""
        count = 0
        async with AIOKafkaProducer(bootstrap_servers=self.bootstrap_servers) as producer:
            for _, day in groupby(self.flights, lambda flight: day_of(flight.hour)):
                for flight in day:
                    await producer.send(self.source, flight.value, flight.key)
                    count += 1
                # All flights of a day are written before the next day begins. So no partition is
                # further ahead, and the watermark drops nothing.
                await producer.flush()
                self.progress.produced(count)
            closing = closing_time(self.flights, flight_stream.WATERMARK)
            await producer.send(self.source, b'{"time_hour":"%s"}' % closing.isoformat().encode())

    async def consume(self) -> None:
        """Collect results until the stream has ended and all are read."""
        async with AIOKafkaConsumer(
            self.sink, bootstrap_servers=self.bootstrap_servers, auto_offset_reset="earliest"
        ) as consumer:
            while not (self.stream_ended.is_set() and await _is_at_end(consumer)):
                polled = await consumer.getmany(timeout_ms=POLL_TIMEOUT_MS)
                for records in polled.values():
                    for record in records:
                        route, departures = read_back(record.value or b"")
                        self.received[route] = departures
                        self.results[route] += 1
                self.progress.received(len(self.received))


async def _is_at_end(consumer: AIOKafkaConsumer[bytes, bytes]) -> bool:
    ends = await consumer.end_offsets(consumer.assignment())
    return all([await consumer.position(tp) >= end for tp, end in ends.items()])
