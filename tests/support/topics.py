"""Creates, deletes and describes topics for tests, each call with a client of its own."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiokafka_lite import AIOKafkaAdminClient
from aiokafka_lite.admin import NewTopic, TopicDescription
from aiokafka_lite.admin.topics.topic_calls import CreateTopicsAnswer
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.errors import TopicAlreadyExistsError, UnsupportedVersionError

TIMEOUT_S = 30
KEEP_OLD_RECORDS = {"retention.ms": "-1"}
"""Kafka deletes records whose timestamps are a week old some 30 s after it starts."""


@asynccontextmanager
async def connected(bootstrap_servers: str, **options: Any) -> AsyncIterator[KafkaClient]:
    """Yield a started client of the cluster, for requests that no call sends."""
    async with AIOKafkaAdminClient(bootstrap_servers=bootstrap_servers, **options) as admin:
        yield admin.client


async def create_topic(
    bootstrap_servers: str,
    name: str,
    *,
    partitions: int = -1,
    replication_factor: int = -1,
    configs: Mapping[str, str] | None = None,
    **options: Any,
) -> None:
    """Create one topic and return when its partitions have leaders. Raise the topic's error.

    The response to a request may be lost. That the topic exists then is no error.
    """
    topic = NewTopic(name, partitions, replication_factor, topic_configs=configs)
    async with AIOKafkaAdminClient(bootstrap_servers=bootstrap_servers, **options) as admin:
        try:
            (await _created(admin, topic)).topics.raise_first()
        except TopicAlreadyExistsError as error:
            if not hasattr(error, "__notes__"):
                raise
        await admin.client.metadata.wait_for_topic(name, TIMEOUT_S)


async def _created(admin: AIOKafkaAdminClient, topic: NewTopic) -> CreateTopicsAnswer:
    """Create a topic, with what the brokers of the suite have as defaults if they tell none."""
    try:
        return await admin.create_topics([topic])
    except UnsupportedVersionError:  # Kafka before 2.4
        copies = len((await admin.describe_cluster())["brokers"])
        return await admin.create_topics(
            [
                NewTopic(
                    topic.name,
                    max(topic.num_partitions, 1),
                    copies if topic.replication_factor < 0 else topic.replication_factor,
                    topic_configs=topic.topic_configs,
                )
            ]
        )


async def delete_topic(bootstrap_servers: str, name: str, **options: Any) -> None:
    """Delete one topic. Raise the topic's error."""
    async with AIOKafkaAdminClient(bootstrap_servers=bootstrap_servers, **options) as admin:
        (await admin.delete_topics([name])).topics.raise_first()


async def describe_topics(
    bootstrap_servers: str, names: Sequence[str] | None = None, **options: Any
) -> list[TopicDescription]:
    """Return descriptions of the named topics, or of all. Raise the error of the first."""
    async with AIOKafkaAdminClient(bootstrap_servers=bootstrap_servers, **options) as admin:
        found = await admin.describe_topic_partitions(names)
        found.raise_first()
        return list(found.succeeded.values())


__all__ = ["KEEP_OLD_RECORDS", "connected", "create_topic", "delete_topic", "describe_topics"]
