"""aiokafka-foundation-kit: topics are made, JSON is sent and read, and the health check passes."""

import asyncio
import sys

from aiokafka_foundation_kit import TopicConfig, consumer_lifecycle, producer_lifecycle
from aiokafka_foundation_kit.contrib.models import (
    BaseKafkaConsumerSettings,
    BaseKafkaProducerSettings,
)
from aiokafka_foundation_kit.health import check_kafka_health_async

BOOTSTRAP, MARK = sys.argv[1:]


async def main() -> None:
    topic = f"fk-{MARK}"
    sends = BaseKafkaProducerSettings(bootstrap_servers=BOOTSTRAP)
    reads = BaseKafkaConsumerSettings(
        bootstrap_servers=BOOTSTRAP, group_id=topic, auto_offset_reset="earliest"
    )
    print("healthy", await check_kafka_health_async(sends))
    topics = [TopicConfig(name=topic, num_partitions=3, replication_factor=1)]
    async with producer_lifecycle(sends, topics=topics, auto_create_topics=True) as producer:
        print("partitions", len(await producer.partitions_for(topic)))
        for number in range(3):
            await producer.send_and_wait(topic, {"number": number}, partition=0)
    async with consumer_lifecycle(reads, topics=(topic,)) as consumer:
        for _ in range(3):
            print((await asyncio.wait_for(consumer.getone(), 20)).value)
            await consumer.commit()
    unreachable = BaseKafkaProducerSettings(bootstrap_servers="127.0.0.1:1")
    print("healthy", await check_kafka_health_async(unreachable, timeout_seconds=2))


asyncio.run(main())
