"""Two of our clients in one process, one with an observer and one without, in turns.

A change of the machine's speed affects both. A turn ends when nothing of it is left to do: the
producer has flushed, and the consumer has the responses to its fetches.
"""

import asyncio
import io
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.metrics.observer import Observer
from benchmarks.peers.asyncio_paths import POLL_RECORDS, reading_options
from benchmarks.peers.job import Job

OBSERVERS = ("nothing", "prometheus", "opentelemetry_exporter", "opentelemetry")
TURNS_NOT_COUNTED = 2
EXPORT_EVERY_MS = math.inf
"""Never: an export each minute would fall into one turn of many."""
_SETTLE_S = 0.0005


async def send(job: Job) -> None:
    """`await send()` keyed, then flush."""
    pairs = job.pairs()

    @asynccontextmanager
    async def client(observer: Observer | None) -> AsyncIterator[Callable[[], Awaitable[int]]]:
        async with AIOKafkaProducer(
            bootstrap_servers=job.bootstrap_servers, observer=observer
        ) as producer:

            async def turn() -> int:
                for _ in range(0, job.turn_records, len(pairs)):
                    for key, value in pairs:
                        await producer.send(job.topic, value, key)
                await producer.flush()
                return -(-job.turn_records // len(pairs)) * len(pairs)

            yield turn

    await _take_turns(job, client)


async def getmany(job: Job) -> None:
    """`getmany()` of 500 a call, value read."""

    @asynccontextmanager
    async def client(observer: Observer | None) -> AsyncIterator[Callable[[], Awaitable[int]]]:
        async with AIOKafkaConsumer(
            job.topic, **reading_options(job), observer=observer
        ) as consumer:

            async def turn() -> int:
                seen = total = 0
                while seen < job.turn_records:
                    polled = await consumer.getmany(timeout_ms=1000, max_records=POLL_RECORDS)
                    for records in polled.values():
                        seen += len(records)
                        for record in records:
                            total += len(record.value or b"")
                while consumer.statistics().fetching_nodes:  # noqa: ASYNC110  no event tells it
                    await asyncio.sleep(_SETTLE_S)
                assert total
                return seen

            yield turn

    await _take_turns(job, client)


async def _take_turns(job: Job, client: Callable[[Observer | None], Any]) -> None:
    async with client(None) as plain, client(_observer(job.observer)) as observed:
        for number in range(job.records):
            # Each goes first as often as the other.
            order = ((plain, 0), (observed, 1)) if number % 2 else ((observed, 1), (plain, 0))
            costs = [0.0, 0.0]
            for turn, place in order:
                began_s = time.process_time()
                records = await turn()
                costs[place] = (time.process_time() - began_s) / records
            if number >= TURNS_NOT_COUNTED:
                job.outcome.turns.append((costs[0], costs[1]))
    job.outcome.records = len(job.outcome.turns)


def _observer(name: str) -> Observer | None:
    if name == "prometheus":
        from prometheus_client import CollectorRegistry

        from aiokafka_lite.observe.prometheus import PrometheusMetrics

        return PrometheusMetrics(CollectorRegistry())
    if name.startswith("opentelemetry"):
        return _opentelemetry(by_exporter=name == "opentelemetry_exporter")
    return None


def _opentelemetry(*, by_exporter: bool) -> Observer:
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import (
        ConsoleMetricExporter,
        InMemoryMetricReader,
        PeriodicExportingMetricReader,
    )

    from aiokafka_lite.observe.histogram_exporter import HistogramExporter
    from aiokafka_lite.observe.opentelemetry import OpenTelemetryMetrics

    if by_exporter:
        exporter = HistogramExporter(ConsoleMetricExporter(out=io.StringIO()))
        reader = PeriodicExportingMetricReader(exporter, export_interval_millis=EXPORT_EVERY_MS)
        provider = MeterProvider([reader], shutdown_on_exit=False)
        return OpenTelemetryMetrics(provider, histograms=exporter)
    return OpenTelemetryMetrics(MeterProvider([InMemoryMetricReader()]))
