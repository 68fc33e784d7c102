"""What the consumer's scenarios share: a broker with data, a consumer on it, and how to wait."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.model import ConsumerRecord, TopicPartition
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.consumer.batches import batches
from tests.support.leftovers import nothing_left_behind

PATIENCE_S = 30.0

Records = dict[TopicPartition, list[ConsumerRecord[Any, Any]]]


@asynccontextmanager
async def embedded(
    topics: dict[str, int] | None = None, **options: Any
) -> AsyncIterator[EmbeddedBroker]:
    """A broker with these topics (name: partitions), in this loop; nothing may outlive it."""
    async with nothing_left_behind(), EmbeddedBroker(**options) as broker:
        for name, partitions in (topics or {}).items():
            broker.create_topic(name, partitions)
        yield broker


def fill(broker: EmbeddedBroker, tp: TopicPartition, *sizes: int) -> None:
    """Append batches of these sizes; the value at offset n is b"v<n>"."""
    broker.append(tp, batches(broker.log(tp).high_watermark, *sizes))


def consumer_of(broker: EmbeddedBroker, *topics: str, **options: Any) -> AIOKafkaConsumer[Any, Any]:
    """A consumer that reads from the beginning, not started."""
    options = {"auto_offset_reset": "earliest", "fetch_max_wait_ms": 100, **options}
    return AIOKafkaConsumer(*topics, bootstrap_servers=broker.bootstrap_servers, **options)


def offsets(records: Records) -> dict[int, list[int]]:
    """The offsets of a poll, by partition number."""
    return {tp.partition: [record.offset for record in part] for tp, part in records.items()}


async def eventually(consumer: AIOKafkaConsumer[Any, Any], condition: Callable[[], bool]) -> None:
    """Wait until `condition()`, looking whenever something happened to the consumer.

    The polls that were woken by the same thing come first: in which order they are woken is chance.
    """
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await consumer._signal.wait()
            await asyncio.sleep(0)


async def answers_are_there(consumer: AIOKafkaConsumer[Any, Any]) -> None:
    """Wait until no node owes the answer to a fetch."""
    await eventually(consumer, lambda: not consumer.statistics().fetching_nodes)


async def read(
    consumer: AIOKafkaConsumer[Any, Any], count: int, **options: Any
) -> dict[TopicPartition, list[int]]:
    """Poll until `count` records have come; return their offsets, in the order they came."""
    seen: dict[TopicPartition, list[int]] = {}
    async with asyncio.timeout(PATIENCE_S):
        while sum(map(len, seen.values())) < count:
            for tp, records in (await consumer.getmany(timeout_ms=1000, **options)).items():
                seen.setdefault(tp, []).extend(record.offset for record in records)
    return seen
