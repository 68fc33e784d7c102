"""DescribeTopicPartitions (key 75): topics with all facts of their partitions, in pages (KIP-966).

Flexible from its first version.
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Bool, Int16, Int32, String, Uuid, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class DescribeTopicPartitionsRequest(
    Request["DescribeTopicPartitionsResponse"], api_key=75, versions="0", flexible="0+"
):
    """Asks for one page of topics. A broker answers in the order of their names."""

    needs = "Kafka 3.8 with KRaft (KIP-966)"

    topics: list[TopicRequest] = field(doc="The topics; an empty list for all of them.")
    response_partition_limit: Int32 = field(
        default=2000, doc="Most partitions in the response; the broker has a limit, too."
    )
    cursor: Cursor | None = field(
        default=None, doc="Where this page begins, as the page before has said; null for the first."
    )


class TopicRequest(Struct):
    """One topic."""

    name: String = field(doc="Name of the topic.")


class Cursor(Struct):
    """The first partition of a page, in a request and in the response before it."""

    topic_name: String = field(doc="Name of the first topic.")
    partition_index: Int32 = field(doc="Index of its first partition.")


class DescribeTopicPartitionsResponse(Response, api_key=75, versions="0", flexible="0+"):
    """One page of topics."""

    throttle_time_ms: Int32 = field(
        ignorable=True,
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219).",
    )
    topics: list[DescribeTopicPartitionsResponseTopic] = field(doc="The topics of the page.")
    next_cursor: Cursor | None = field(
        default=None, doc="Where the next page begins, or null after the last one."
    )


class DescribeTopicPartitionsResponseTopic(Struct):
    """One topic, or its error."""

    error_code: Int16 = field(doc="0, or why the broker cannot describe this topic.")
    name: String | None = field(doc="Name of the topic.")
    topic_id: Uuid = field(ignorable=True, doc="Id of the topic; zero with an error.")
    is_internal: Bool = field(ignorable=True, doc="Kafka keeps its own state in this topic.")
    partitions: list[DescribeTopicPartitionsResponsePartition] = field(
        doc="The partitions of the page, in order."
    )
    topic_authorized_operations: Int32 = field(
        default=-0x80000000, doc="Bits of the operations allowed on the topic (KIP-430)."
    )


class DescribeTopicPartitionsResponsePartition(Struct):
    """One partition, with its leader and replicas."""

    error_code: Int16 = field(doc="0, or why the partition cannot be used in full.")
    partition_index: Int32 = field(doc="Index of the partition.")
    leader_id: Int32 = field(doc="The leading broker, or -1 while no broker leads.")
    leader_epoch: Int32 = field(
        default=-1,
        ignorable=True,
        doc="Grows with each change of leader; an older epoch is out of date (KIP-320).",
    )
    replica_nodes: list[Int32] = field(doc="Brokers with a copy, the preferred leader first.")
    isr_nodes: list[Int32] = field(doc="Brokers whose copy is up to date.")
    eligible_leader_replicas: list[Int32] | None = field(
        default=None, doc="Brokers out of sync that have all committed records (KIP-966)."
    )
    last_known_elr: list[Int32] | None = field(
        default=None, doc="The last eligible brokers before there were none (KIP-966)."
    )
    offline_replicas: list[Int32] = field(
        ignorable=True, doc="Brokers with a copy that is not available now (KIP-112)."
    )


__all__ = [
    "Cursor",
    "DescribeTopicPartitionsRequest",
    "DescribeTopicPartitionsResponse",
    "DescribeTopicPartitionsResponsePartition",
    "DescribeTopicPartitionsResponseTopic",
    "TopicRequest",
]
