"""What operators and tests may look at."""

from typing import Any

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from tests.consumer.batches import tps
from tests.scenarios.consuming import consumer_of, embedded, fill

P0, P1 = tps(0, 1)


async def test_statistics_before_start_know_the_queue_only() -> None:
    consumer: AIOKafkaConsumer[Any, Any] = AIOKafkaConsumer()
    consumer.assign([P1, P0])
    statistics = consumer.statistics()
    assert statistics.queue == (P1, P0)
    assert (statistics.free, statistics.buffered, statistics.unread_bytes) == ((), (), 0)


async def test_statistics_show_what_is_buffered() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 4)
        await consumer.getone()
        (fetch,) = consumer.statistics().buffered
        assert (fetch.topic_partition, fetch.next_offset) == (P0, 1)
        assert consumer.statistics().unread_bytes == fetch.size_in_bytes > 0
