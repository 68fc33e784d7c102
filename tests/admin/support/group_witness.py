"""What confluent-kafka's admin client sees of a group, and its members of both group protocols."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import confluent_kafka
from confluent_kafka.admin import AdminClient

from aiokafka_lite import TopicPartition

PATIENCE_S = 60


def _admin(address: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": address})


async def seen_groups(address: str) -> dict[str, str]:
    """Group -> state, as confluent-kafka lists them."""

    def ask() -> dict[str, str]:
        admin = _admin(address)
        listed = admin.list_consumer_groups().result(PATIENCE_S).valid
        return {each.group_id: each.state.name for each in listed}

    return await asyncio.to_thread(ask)


async def seen_group(address: str, group_id: str) -> Any:
    """The group as confluent-kafka describes it."""

    def ask() -> Any:
        admin = _admin(address)  # it answers only as long as it lives
        return admin.describe_consumer_groups([group_id])[group_id].result(PATIENCE_S)

    return await asyncio.to_thread(ask)


async def seen_offsets(address: str, group_id: str) -> dict[TopicPartition, int]:
    """The committed offsets that confluent-kafka sees."""

    def ask() -> dict[TopicPartition, int]:
        asked = [confluent_kafka.ConsumerGroupTopicPartitions(group_id)]
        admin = _admin(address)
        futures = admin.list_consumer_group_offsets(asked)
        found = futures[group_id].result(PATIENCE_S).topic_partitions
        return {TopicPartition(each.topic, each.partition): each.offset for each in found}

    return await asyncio.to_thread(ask)


@asynccontextmanager
async def confluent_member(
    address: str, topic: str, group_id: str, **settings: str
) -> AsyncIterator[None]:
    """A member of confluent-kafka with an assignment, polled until the block ends."""
    config: dict[str, Any] = {
        "bootstrap.servers": address,
        "group.id": group_id,
        "client.id": "witness",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        **{name.replace("_", "."): value for name, value in settings.items()},
    }
    consumer = confluent_kafka.Consumer(config)
    is_over = asyncio.Event()
    has_joined = asyncio.Event()

    async def poll() -> None:
        while not is_over.is_set():
            await asyncio.to_thread(consumer.poll, 0.1)
            if consumer.assignment():
                has_joined.set()

    consumer.subscribe([topic])
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
        group.create_task(poll())
        try:
            await has_joined.wait()
            yield
        finally:
            is_over.set()
    await asyncio.to_thread(consumer.close)


@asynccontextmanager
async def confluent_sharer(address: str, topic: str, group_id: str) -> AsyncIterator[None]:
    """A member of a share group, of confluent-kafka, polled until the block ends."""
    config = {"bootstrap.servers": address, "group.id": group_id, "client.id": "witness"}
    consumer = confluent_kafka.ShareConsumer(config)
    consumer.subscribe([topic])
    is_over = asyncio.Event()

    async def poll() -> None:
        while not is_over.is_set():
            await asyncio.to_thread(consumer.poll, 0.1)

    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
        group.create_task(poll())
        try:
            yield
        finally:
            is_over.set()
    await asyncio.to_thread(consumer.close)


__all__ = [
    "confluent_member",
    "confluent_sharer",
    "seen_group",
    "seen_groups",
    "seen_offsets",
]
