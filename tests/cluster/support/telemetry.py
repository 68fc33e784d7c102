"""Clients in front of a broker that asks for their metrics, in virtual time."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.compression.compressor import decompress
from aiokafka_lite.protocol.messages.push_telemetry import PushTelemetryRequest as Push
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka
from tests.support.otlp import Pushed, read_metrics

INTERVAL_S = 60.0
PRODUCER = "org.apache.kafka.producer."
CONSUMER = "org.apache.kafka.consumer."
SENT = f"{PRODUCER}record.send.total"


def run(main: Callable[[VirtualKafka], Coroutine[Any, Any, None]], **options: Any) -> None:
    """Run `main` beside a broker that asks for all metrics once a minute."""

    async def subscribed(kafka: VirtualKafka) -> None:
        ask(kafka, "*")
        kafka.broker.create_topic("orders")
        await main(kafka)

    run_virtual_kafka(subscribed, client_telemetry=True, **options)


def ask(kafka: VirtualKafka, metrics: str, interval_s: float = INTERVAL_S) -> None:
    """Let the cluster ask for these metrics, or for none."""
    settings = {"metrics": metrics, "interval.ms": str(int(interval_s * 1000))}
    kafka.broker.cluster.client_metrics_settings["all"] = settings


def producer_of(kafka: VirtualKafka, **options: Any) -> AIOKafkaProducer[bytes, bytes]:
    return AIOKafkaProducer(**kafka.client_options, **options)


def pushes(kafka: VirtualKafka) -> list[Push]:
    return kafka.broker.requests_of(Push)


def read(push: Push) -> Pushed:
    return read_metrics(bytes(decompress(push.compression_type, push.metrics)))


async def pushed(kafka: VirtualKafka, count: int) -> Push:
    """Wait until so many pushes have come; return the newest."""
    while len(pushes(kafka)) < count:
        await asyncio.sleep(0.01)
    return pushes(kafka)[-1]
