"""A topic on the embedded broker, and workers over it, for the tests of workers."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, KeyedWorkers
from aiokafka_lite.consumer.group.rebalance_listener import ConsumerRebalanceListener
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.support.leftovers import nothing_left_behind

TOPIC, GROUP = "t", "g"
PATIENCE_S = 60.0
Record = ConsumerRecord[Any, Any]
Handle = Callable[[Record], Awaitable[object]]


@asynccontextmanager
async def embedded_topic(
    records: int = 0, partitions: int = 1, keys: int = 10, **options: Any
) -> AsyncIterator[EmbeddedBroker]:
    """A broker with one topic. Record n has the value b"v<n>" and the key b"k<n modulo keys>"."""
    async with (
        asyncio.timeout(PATIENCE_S),
        nothing_left_behind(),
        EmbeddedBroker(**options) as broker,
    ):
        broker.create_topic(TOPIC, partitions)
        await write(broker, range(records), keys)
        yield broker


async def write(broker: EmbeddedBroker, numbers: range, keys: int = 10) -> None:
    """Write further records; each key has one partition."""
    count = len(broker.cluster.topic_by_name(TOPIC).partitions)
    async with AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for number in numbers:
            key = number % keys
            await producer.send(TOPIC, b"v%d" % number, b"k%d" % key, partition=key % count)


def committed(broker: EmbeddedBroker) -> dict[int, int]:
    """The committed offset of each partition."""
    return {tp.partition: stored.offset for tp, stored in broker.group(GROUP).offsets.items()}


class Pool:
    """One member of the group with its workers; a note of each handler that began and ended."""

    def __init__(
        self,
        broker: EmbeddedBroker,
        *,
        listener: ConsumerRebalanceListener | None = None,
        consumer: dict[str, Any] | None = None,
        clock: Any = None,
        **settings: Any,
    ) -> None:
        self.began: list[tuple[int, int]] = []
        """(partition, offset) of each attempt."""
        self.ended: list[tuple[int, int]] = []
        """Of each that returned."""
        self._handle: Handle = self._nothing
        options = {
            "group_id": GROUP,
            "enable_auto_commit": False,
            "auto_offset_reset": "earliest",
            # Time that jumps goes from timer to timer.
            "fetch_max_wait_ms": 50 if clock is None else 2000,
            "heartbeat_interval_ms": 20 if clock is None else 1000,
            "retry_backoff_ms": 1,
            "reconnect_backoff_ms": 1,
            **(consumer or {}),
        }
        self.consumer = AIOKafkaConsumer[Any, Any](
            bootstrap_servers=broker.bootstrap_servers, clock=clock, **options
        )
        self.consumer.subscribe([TOPIC], listener=listener)
        interval_ms = 10 if clock is None else 5000
        settings = {"commit_interval_ms": interval_ms, "drain_timeout_ms": 5000, **settings}
        self.workers = KeyedWorkers(
            self.consumer, self._noted, clock=clock, rng=random.Random(1), **settings
        )

    def does(self, handle: Handle) -> None:
        """Let each handler do this."""
        self._handle = handle

    async def _nothing(self, _: Record) -> None:
        pass

    async def _noted(self, record: Record) -> None:
        place = (record.partition, record.offset)
        self.began.append(place)
        await self._handle(record)
        self.ended.append(place)

    @asynccontextmanager
    async def running(self) -> AsyncIterator["asyncio.Task[None]"]:
        """Run the workers beside the block, and stop them in order after it."""
        async with self.workers as workers:
            run = asyncio.create_task(workers.run())
            try:
                yield run
                workers.stop()
                await run
            finally:
                run.cancel()
                await asyncio.gather(run, return_exceptions=True)


def number_of(record: Record) -> int:
    """The number that was written."""
    return int((record.value or b"")[1:])


T0 = TopicPartition(TOPIC, 0)
