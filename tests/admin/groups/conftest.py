"""An admin client, and a topic with records, on the embedded broker and on real Kafka."""

from collections.abc import AsyncIterator

import pytest

from aiokafka_lite import AIOKafkaAdminClient, AIOKafkaProducer
from aiokafka_lite.admin import NewTopic
from tests.support.topics import KEEP_OLD_RECORDS


@pytest.fixture
async def admin(any_kafka: str) -> AsyncIterator[AIOKafkaAdminClient]:
    async with AIOKafkaAdminClient(bootstrap_servers=any_kafka) as admin:
        yield admin


@pytest.fixture
async def topic(admin: AIOKafkaAdminClient, any_kafka: str, topic_name: str) -> str:
    """Two partitions; partition 0 has ten records with the timestamps 1000 to 1009."""
    new = NewTopic(topic_name, 2, 1, topic_configs=KEEP_OLD_RECORDS)
    (await admin.create_topics([new])).topics.raise_first()
    async with AIOKafkaProducer(bootstrap_servers=any_kafka) as producer:
        for number in range(10):
            await producer.send_and_wait(topic_name, b"v", partition=0, timestamp_ms=1000 + number)
    return topic_name
