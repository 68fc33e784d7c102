"""A broker, a producer, and the proof that neither leaves anything behind."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.support.leftovers import nothing_left_behind


@asynccontextmanager
async def kafka(
    *, nodes: int = 1, clock: Clock = SYSTEM_CLOCK, **options: Any
) -> AsyncIterator[EmbeddedBroker]:
    """A broker; at the end no task, no TCP socket and, on a FakeClock, no timer may be left."""
    async with nothing_left_behind(), EmbeddedBroker(nodes, clock=clock, **options) as broker:
        yield broker
    if isinstance(clock, FakeClock):
        assert clock.pending_timers == 0


def jumping_clock() -> FakeClock:
    """Time that jumps when everybody waits, with patience for a slow machine's sockets."""
    return FakeClock(autojump_threshold_s=0.06)


@asynccontextmanager
async def producing(
    broker: EmbeddedBroker, **options: Any
) -> AsyncIterator[AIOKafkaProducer[Any, Any]]:
    """A started producer that does not linger, and retries soon, in a few jumps of a fake clock."""
    options.setdefault("linger_ms", 0)
    pause_ms = 2000 if isinstance(options.get("clock"), FakeClock) else 5
    for name in ("retry_backoff_ms", "retry_backoff_max_ms", "reconnect_backoff_ms"):
        options.setdefault(name, pause_ms)
    async with AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers, **options) as producer:
        yield producer


@asynccontextmanager
async def producing_on(
    clock: FakeClock, **options: Any
) -> AsyncIterator[tuple[EmbeddedBroker, AIOKafkaProducer[Any, Any]]]:
    """A broker, and a producer whose first record is written: what comes now finds all it needs."""
    async with kafka(clock=clock) as broker, producing(broker, clock=clock, **options) as producer:
        await producer.send_and_wait("orders", b"first")
        yield broker, producer


def written(
    broker: EmbeddedBroker, topic: str = "orders", partition: int = 0
) -> list[bytes | None]:
    """The values in a partition's log, in order."""
    return [record.value for record in broker.log(TopicPartition(topic, partition)).records()]
