"""Calls that describe topics: aiokafka's, and one that asks for many partitions in pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from aiokafka_lite.admin.calls.admin_family import AdminFamily
from aiokafka_lite.admin.calls.admin_requests import AskedNode
from aiokafka_lite.admin.calls.outcomes import Outcomes, broker_error, raise_broker_error
from aiokafka_lite.admin.topics.topic_description import PartitionDescription, TopicDescription
from aiokafka_lite.checks.item_lists import list_of
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.checks.value_checks import is_int, whole
from aiokafka_lite.errors import (
    BrokerResponseError,
    IllegalArgumentError,
    KafkaError,
    UnsupportedVersionError,
)
from aiokafka_lite.protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
    TopicRequest,
)
from aiokafka_lite.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from aiokafka_lite.schema.field_types import ZERO_UUID

PAGE_PARTITIONS: Final = 2_000
"""How many partitions a page has at most; Kafka's own limit unless it is configured."""
_Partition: TypeAlias = MetadataResponsePartition | DescribeTopicPartitionsResponsePartition
_Topic: TypeAlias = MetadataResponseTopic | DescribeTopicPartitionsResponseTopic
_AskFor: TypeAlias = Callable[[AskedNode, list[str] | None], Awaitable[Sequence[_Topic]]]
"""Asks a node for topics, or for all."""


class DescribeTopicCalls(AdminFamily):
    """Descriptions of topics."""

    async def describe_topics(
        self, topics: Sequence[str] | None = None, timeout_ms: int | None = None
    ) -> list[dict[str, Any]]:
        """Return topics as aiokafka does, one dict each; None: all that the user may describe.

        Keys are error_code, topic, topic_id, is_internal and partitions. A partition has
        error_code, partition, leader (-1: none), leader_epoch, replicas, isr and offline_replicas.
        A topic that cannot be described has its error_code, and no partitions. Creates no topic.

        Raises: IllegalArgumentError for anything but a list of names; KafkaConnectionError,
        KafkaTimeoutError or another error if no node answered within `timeout_ms` (None:
        request_timeout_ms).
        Cancelled: nothing is left behind.
        """
        found = await self._topics(topics, _metadata, timeout_ms, "describe_topics()")
        rows = []
        for name, each in found.items():
            if isinstance(each, BrokerResponseError):
                rows.append(_failed_row(name, each.errno))
            elif isinstance(each, KafkaError):
                raise each
            else:
                rows.append(_row(each))
        return rows

    async def describe_topic_partitions(
        self,
        topics: Iterable[str] | None = None,
        timeout_ms: int | None = None,
        page_partitions: int = PAGE_PARTITIONS,
    ) -> Outcomes[str, TopicDescription]:
        """Return a description of each topic, or its error; None: all that the user may describe.

        The brokers answer in pages of at most `page_partitions` partitions, so that topics with
        thousands of partitions cost no large response. Those before 3.8 answer at once, and leave
        out the eligible leaders. Creates no topic.

        Raises: as `describe_topics`; IllegalArgumentError for a page without partitions.
        Cancelled: nothing is left behind.
        Source: KIP-966.
        """
        page_partitions = whole(page_partitions)
        if not is_int(page_partitions) or page_partitions < 1:
            raise IllegalArgumentError(
                f"page_partitions={quoted(page_partitions)} is no int from 1 on; name how many "
                "partitions a page may have"
            )

        async def pages(node: AskedNode, names: list[str] | None) -> Sequence[_Topic]:
            try:
                return await _pages(node, names, page_partitions)
            except UnsupportedVersionError:
                return await _metadata(node, names)

        found = await self._topics(topics, pages, timeout_ms, "describe_topic_partitions()")
        return Outcomes(
            (name, each if isinstance(each, KafkaError) else _described(each))
            for name, each in found.items()
        )

    async def _topics(
        self, topics: Iterable[str] | None, ask_for: _AskFor, timeout_ms: int | None, what: str
    ) -> Outcomes[str, _Topic]:
        """Return what `ask_for` returns, by name, or the errors in it."""

        async def ask(node: AskedNode, names: list[str]) -> Mapping[str, _Topic | KafkaError]:
            return {each.name or "": _or_error(each) for each in await ask_for(node, names)}

        async def ask_for_all(node: AskedNode) -> Outcomes[str, _Topic]:
            found = await ask_for(node, None)
            return Outcomes((each.name or "", _or_error(each)) for each in found)

        requests = self._running()
        any_node, timeout_s = requests.routes.any_node, self._timeout_s(timeout_ms)
        if topics is None:
            return await requests.one(what, None, any_node, ask_for_all, timeout_s=timeout_s)
        names = list_of("topics", topics, str)
        return await requests.for_each(what, names, any_node, ask, timeout_s=timeout_s)


async def _metadata(node: AskedNode, names: list[str] | None) -> Sequence[_Topic]:
    asked = None if names is None else [MetadataRequestTopic(name=name) for name in names]
    request = MetadataRequest(topics=asked, allow_auto_topic_creation=False)
    answer = await node.request(request)
    raise_broker_error(answer.error_code, None, "topics")
    return answer.topics


async def _pages(node: AskedNode, names: list[str] | None, most: int) -> Sequence[_Topic]:
    """Return the topics of all pages. The partitions of a topic may be on several pages."""
    asked = [TopicRequest(name=name) for name in names or ()]
    topics: dict[str | None, DescribeTopicPartitionsResponseTopic] = {}
    cursor: Cursor | None = None
    while True:
        page = await node.request(
            DescribeTopicPartitionsRequest(
                topics=asked, response_partition_limit=most, cursor=cursor
            )
        )
        for topic in page.topics:
            known = topics.setdefault(topic.name, topic)
            if topic.error_code:  # also on a later page: a part is not the whole
                topics[topic.name] = topic
            elif known is not topic:
                known.partitions += topic.partitions
        cursor = page.next_cursor
        if cursor is None:
            return list(topics.values())
        asked = [each for each in asked if each.name >= cursor.topic_name]


def _or_error(topic: _Topic) -> _Topic | KafkaError:
    return broker_error(topic.error_code, None, f"topic {quoted(topic.name)}") or topic


def _row(topic: _Topic) -> dict[str, Any]:
    return {
        "error_code": 0,
        "topic": topic.name,
        "topic_id": topic.topic_id,
        "is_internal": topic.is_internal,
        "partitions": [
            {
                "error_code": each.error_code,
                "partition": each.partition_index,
                "leader": each.leader_id,
                "leader_epoch": each.leader_epoch,
                "replicas": list(each.replica_nodes),
                "isr": list(each.isr_nodes),
                "offline_replicas": list(each.offline_replicas),
            }
            for each in topic.partitions
        ],
    }


def _failed_row(name: str, error_code: int) -> dict[str, Any]:
    return {
        "error_code": error_code,
        "topic": name,
        "topic_id": ZERO_UUID,
        "is_internal": False,
        "partitions": [],
    }


def _described(topic: _Topic) -> TopicDescription:
    unsorted: Sequence[_Partition] = topic.partitions
    partitions = sorted(unsorted, key=lambda each: each.partition_index)
    return TopicDescription(
        topic.name or "",
        topic.topic_id,
        topic.is_internal,
        tuple(_described_partition(each) for each in partitions),
    )


def _described_partition(partition: _Partition) -> PartitionDescription:
    eligible = last_known = None
    if isinstance(partition, DescribeTopicPartitionsResponsePartition):
        eligible, last_known = partition.eligible_leader_replicas, partition.last_known_elr
    return PartitionDescription(
        partition.partition_index,
        partition.leader_id if partition.leader_id >= 0 else None,
        tuple(partition.replica_nodes),
        tuple(partition.isr_nodes),
        tuple(partition.offline_replicas),
        partition.leader_epoch if partition.leader_epoch >= 0 else None,
        None if eligible is None else tuple(eligible),
        None if last_known is None else tuple(last_known),
    )


__all__ = ["PAGE_PARTITIONS", "DescribeTopicCalls"]
