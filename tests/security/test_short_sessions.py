"""Sessions that end every two seconds, on a real Kafka: each mechanism authenticates again in time.

All of them run side by side, because each needs some sessions of real time.
"""

import asyncio
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.clock import SYSTEM_CLOCK
from tests.security.conftest import IN_EACH_RELEASE
from tests.support.secured_kafka import SESSION_MS, SHORT_WAYS, SecuredKafka
from tests.support.topics import create_topic

SESSIONS = 2
PAUSE_S = 0.005

pytestmark = [pytest.mark.real_kafka]


class Passage:
    """Numbered records from a producer to a consumer, by one way, until the time is over."""

    def __init__(self, options: dict[str, Any], topic: str) -> None:
        self.options = options
        self.topic = topic
        self.sent = 0
        self.read: list[int] = []
        self.connections: set[tuple[int, int]] = set()
        """How many connections producer and consumer have made, whenever looked at."""

    async def run(self) -> None:
        """Return when all records were acknowledged and read."""
        async with (
            AIOKafkaProducer(**self.options) as producer,
            AIOKafkaConsumer(auto_offset_reset="earliest", **self.options) as consumer,
        ):
            consumer.assign([TopicPartition(self.topic, 0)])
            await self._pass(producer, consumer)
            self.connections.clear()  # from here on there is one to each lane in use
            until = SYSTEM_CLOCK.monotonic() + SESSIONS * SESSION_MS / 1000
            while SYSTEM_CLOCK.monotonic() < until:
                await self._pass(producer, consumer)
                await asyncio.sleep(PAUSE_S)

    async def _pass(self, producer: AIOKafkaProducer, consumer: AIOKafkaConsumer) -> None:
        await producer.send_and_wait(self.topic, b"%d" % self.sent, partition=0)
        self.sent += 1
        async with asyncio.timeout(10):
            self.read.append(int((await consumer.getone()).value or b""))
        counted = producer.statistics().network, consumer.statistics().network
        self.connections.add((counted[0].connections, counted[1].connections))


@IN_EACH_RELEASE
async def test_no_session_ends_under_load(lab: SecuredKafka, topic_name: str) -> None:
    passages = []
    for way in SHORT_WAYS:
        topic = f"{topic_name}-{way.mechanism}"
        await create_topic(lab.kafka.servers("PLAINTEXT"), topic, partitions=1)
        passages.append(Passage(lab.ours(way), topic))
    async with asyncio.TaskGroup() as tasks:
        for passage in passages:
            tasks.create_task(passage.run())
    for passage in passages:
        assert passage.read == list(range(passage.sent)), passage.topic
        # A connection that missed its time would have been closed, and made anew.
        assert len(passage.connections) == 1, passage.topic
