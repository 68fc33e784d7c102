"""Asks a node which topics and partitions exist, without keeping anything of it."""

from collections.abc import Collection, Iterable, Sequence
from uuid import UUID

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.errors import for_code
from aiokafka_lite.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponseTopic,
)
from aiokafka_lite.schema.field_types import ZERO_UUID


async def list_topics(
    client: KafkaClient, names: Collection[str] | None, timeout_s: float
) -> Sequence[MetadataResponseTopic]:
    """Return what a node says of these topics, or of all. It creates none.

    Raises: KafkaTimeoutError after the time. Cancelled: nothing stays behind.
    """
    asked = None if names is None else [MetadataRequestTopic(name=name) for name in names]
    response = await client.ask_until_answered(
        lambda: client.network.request_any(
            MetadataRequest(topics=asked, allow_auto_topic_creation=False)
        ),
        timeout_s,
        what="list of topics",
        api="Metadata",
        remedy="check the connection to the brokers, or raise default_api_timeout_ms",
    )
    return response.topics


def names_in(listed: Iterable[MetadataResponseTopic], *, exclude_internal: bool) -> set[str]:
    """Return the names of the topics that a client may use."""
    return {
        topic.name
        for topic in listed
        if topic.name is not None
        and not topic.error_code
        and not (topic.is_internal and exclude_internal)
    }


def partitions_in(listed: Iterable[MetadataResponseTopic]) -> dict[str, set[int]]:
    """Return the partitions by topic, without topics that do not exist.

    Raises: InvalidTopicError, TopicAuthorizationFailedError.
    """
    found: dict[str, set[int]] = {}
    for topic in listed:
        error = for_code(topic.error_code)
        if topic.error_code and not error.retriable:
            raise error(f"topic {quoted(topic.name)}: {error.description}")
        if topic.name is not None and topic.partitions:
            found[topic.name] = {each.partition_index for each in topic.partitions}
    return found


def ids_in(listed: Iterable[MetadataResponseTopic]) -> dict[str, UUID]:
    """Return the ids by topic, without topics that have none."""
    return {
        topic.name: topic.topic_id
        for topic in listed
        if topic.name is not None and topic.topic_id != ZERO_UUID
    }


__all__ = ["ids_in", "list_topics", "names_in", "partitions_in"]
