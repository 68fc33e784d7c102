"""Creates, deletes and describes topics.

Each function starts a client of its own, waits for the response and closes the client.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.errors import BrokerResponseError, for_code
from aiokafka_lite.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from aiokafka_lite.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from aiokafka_lite.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic

REQUEST_TIMEOUT_MS = 30_000
DEFAULT_REPLICATION = -1  # the broker's own default (KIP-464)


@dataclass(frozen=True, slots=True)
class PartitionDescription:
    """One partition as the cluster describes it; `leader` is None without a leader."""

    partition: int
    leader: int | None
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TopicDescription:
    """One topic as the cluster describes it, partitions in order."""

    name: str
    is_internal: bool
    partitions: tuple[PartitionDescription, ...]


@asynccontextmanager
async def connected(bootstrap_servers: str) -> AsyncIterator[KafkaClient]:
    """Yield a started client, which is closed when the block ends. Raises: as KafkaClient.start."""
    client = KafkaClient(ClientConfig(bootstrap_servers=bootstrap_servers))
    await client.start()
    try:
        yield client
    finally:
        await client.close()


async def create_topic(
    bootstrap_servers: str,
    name: str,
    *,
    partitions: int = -1,
    replication_factor: int = DEFAULT_REPLICATION,
    configs: dict[str, str] | None = None,
) -> None:
    """Create one topic and return when its partitions have leaders.

    -1 stands for the broker's default. `configs` are topic configs by Kafka's names.

    Raises: BrokerResponseError with the broker's text, such as TopicAlreadyExistsError;
    KafkaConnectionError if no broker can be reached; KafkaTimeoutError if the topic exists but has
    no leaders within 30 s. Cancelled: the broker may create the topic nevertheless.
    """
    topic = CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=replication_factor,
        configs=[
            CreatableTopicConfig(name=key, value=value) for key, value in (configs or {}).items()
        ],
    )
    request = CreateTopicsRequest(topics=[topic], timeout_ms=REQUEST_TIMEOUT_MS)
    async with connected(bootstrap_servers) as client:
        response = await client.network.request(_controller(client), request)
        for result in response.topics:
            _raise_if(result.error_code, name, result.error_message)
        await client.metadata.wait_for_topic(name, REQUEST_TIMEOUT_MS / 1000)


async def delete_topic(bootstrap_servers: str, name: str) -> None:
    """Delete one topic with its records.

    Raises: BrokerResponseError, such as UnknownTopicOrPartitionError; KafkaConnectionError if no
    broker can be reached. Cancelled: the broker may delete the topic nevertheless.
    """
    request = DeleteTopicsRequest(
        topics=[DeleteTopicState(name=name)], topic_names=[name], timeout_ms=REQUEST_TIMEOUT_MS
    )
    async with connected(bootstrap_servers) as client:
        response = await client.network.request(_controller(client), request)
        for result in response.responses:
            _raise_if(result.error_code, name, result.error_message)


async def describe_topics(
    bootstrap_servers: str, names: Sequence[str] | None = None
) -> list[TopicDescription]:
    """Return descriptions of the named topics, or of all, sorted by name. Creates no topic.

    Raises: UnknownTopicOrPartitionError for an unknown topic; KafkaConnectionError if no broker can
    be reached.
    """
    asked = None if names is None else [MetadataRequestTopic(name=name) for name in names]
    request = MetadataRequest(topics=asked, allow_auto_topic_creation=False)
    async with connected(bootstrap_servers) as client:
        response = await client.network.request_any(request)
    for topic in response.topics:
        _raise_if(topic.error_code, topic.name or "", None)
    described = [
        TopicDescription(
            topic.name or "",
            topic.is_internal,
            tuple(
                PartitionDescription(
                    each.partition_index,
                    each.leader_id if each.leader_id >= 0 else None,
                    tuple(each.replica_nodes),
                    tuple(each.isr_nodes),
                )
                for each in sorted(topic.partitions, key=lambda part: part.partition_index)
            ),
        )
        for topic in response.topics
    ]
    return sorted(described, key=lambda topic: topic.name)


def _controller(client: KafkaClient) -> int:
    """Return the node that accepts changes. A KRaft broker names any node and forwards them."""
    node = client.metadata.snapshot.controller_id
    return node if node is not None else next(iter(client.metadata.snapshot.nodes))


def _raise_if(code: int, name: str, message: str | None) -> None:
    if code == 0:
        return
    kind = for_code(code)
    text = message or kind.description
    error: BrokerResponseError = kind(text if name in text else f"topic {name!r}: {text}")
    raise error


__all__ = [
    "PartitionDescription",
    "TopicDescription",
    "connected",
    "create_topic",
    "delete_topic",
    "describe_topics",
]
