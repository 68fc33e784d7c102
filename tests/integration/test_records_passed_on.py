"""Records that producers seldom make are stored by real brokers, and copied as they are."""

from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from tests.support.topics import KEEP_OLD_RECORDS, create_topic
from tests.support.unusual_records import UNUSUAL, Fields, fields

# A broker refuses a time that is far ahead, unless its topic is configured for that.
RECORDS = [each for name, each in UNUSUAL.items() if name != "the year 10000"]


# It is the broker that matters, and not the event loop.
@pytest.mark.asyncio(loop_factories=["asyncio"])
@pytest.mark.parametrize("codec", [None, "zstd"])
async def test_a_record_of_any_kind_is_copied_as_it_was(
    any_kafka: str, topic_name: str, codec: Any
) -> None:
    """What passes records on keeps what Kafka keeps of any of them (2g-6)."""
    copy = f"{topic_name}-copy"
    for topic in (topic_name, copy):
        await create_topic(any_kafka, topic, configs=KEEP_OLD_RECORDS)
    async with AIOKafkaProducer(bootstrap_servers=any_kafka, compression_type=codec) as producer:
        batch = producer.create_batch()
        for timestamp, key, value, headers in RECORDS:
            assert batch.append(timestamp=timestamp, key=key, value=value, headers=headers)
        await (await producer.send_batch(batch, topic_name, partition=0))
        async with AIOKafkaConsumer(bootstrap_servers=any_kafka) as consumer:
            tp = TopicPartition(topic_name, 0)
            consumer.assign([tp])
            consumer.seek(tp, 0)
            columns = await consumer.getmany_arrow(timeout_ms=10_000)
            assert columns.num_rows == len(RECORDS)
            await (await producer.send_arrow(columns, copy))
            assert await _stored(consumer, topic_name) == RECORDS
            assert await _stored(consumer, copy) == RECORDS


async def _stored(consumer: AIOKafkaConsumer[Any, Any], topic: str) -> list[Fields]:
    tp = TopicPartition(topic, 0)
    consumer.assign([tp])
    consumer.seek(tp, 0)
    return [fields(await consumer.getone()) for _ in RECORDS]
