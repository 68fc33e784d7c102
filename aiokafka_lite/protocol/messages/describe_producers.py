"""DescribeProducers (key 61): the producers that a replica of a partition knows (KIP-664)."""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int16, Int32, Int64, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class DescribeProducersRequest(
    Request["DescribeProducersResponse"], api_key=61, versions="0", flexible="0+"
):
    """Asks a node for the producers of partitions of which it has a replica."""

    needs = "Kafka 2.8 (KIP-664)"

    topics: list[TopicRequest] = field(doc="The partitions, by topic.")


class TopicRequest(Struct):
    """The partitions of one topic."""

    name: String = field(doc="Name of the topic.")
    partition_indexes: list[Int32] = field(doc="Indexes of the partitions.")


class DescribeProducersResponse(Response, api_key=61, versions="0", flexible="0+"):
    """The producers of each partition."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    topics: list[TopicResponse] = field(doc="The results, by topic.")


class TopicResponse(Struct):
    """The results of one topic."""

    name: String = field(doc="Name of the topic.")
    partitions: list[PartitionResponse] = field(doc="The results, by partition.")


class PartitionResponse(Struct):
    """The producers of one partition."""

    partition_index: Int32 = field(doc="Index of the partition.")
    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(
        default=None, doc="What went wrong, in the broker's words, or null."
    )
    active_producers: list[ProducerState] = field(doc="The producers that have not expired.")


class ProducerState(Struct):
    """One producer as the replica knows it."""

    producer_id: Int64 = field(doc="Id of the producer.")
    producer_epoch: Int32 = field(doc="Its newest epoch.")
    last_sequence: Int32 = field(
        default=-1, doc="Sequence of its last record in that epoch, or -1 without one."
    )
    last_timestamp: Int64 = field(
        default=-1, doc="Timestamp of its last batch or marker, in milliseconds, or -1."
    )
    coordinator_epoch: Int32 = field(
        doc="The coordinator's epoch in its last marker, or -1 without one."
    )
    current_txn_start_offset: Int64 = field(
        default=-1, doc="First offset of its open transaction, or -1 without one."
    )


__all__ = [
    "DescribeProducersRequest",
    "DescribeProducersResponse",
    "PartitionResponse",
    "ProducerState",
    "TopicRequest",
    "TopicResponse",
]
