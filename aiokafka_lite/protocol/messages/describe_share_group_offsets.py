"""DescribeShareGroupOffsets (key 90): where share groups begin to read (KIP-932). v1 the lag
(KIP-1226).
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int16, Int32, Int64, String, Uuid, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class DescribeShareGroupOffsetsRequest(
    Request["DescribeShareGroupOffsetsResponse"], api_key=90, versions="0-1", flexible="0+"
):
    """Asks for the start offsets of groups of one coordinator."""

    needs = "Kafka 4.1 (KIP-932)"

    groups: list[DescribeShareGroupOffsetsRequestGroup] = field(doc="The groups.")


class DescribeShareGroupOffsetsRequestGroup(Struct):
    """One group and its requested partitions."""

    group_id: String = field(doc="The group.")
    topics: list[DescribeShareGroupOffsetsRequestTopic] | None = field(
        doc="The partitions, by topic; null for all."
    )


class DescribeShareGroupOffsetsRequestTopic(Struct):
    """The partitions of one topic."""

    topic_name: String = field(doc="Name of the topic.")
    partitions: list[Int32] = field(doc="Indexes of the partitions.")


class DescribeShareGroupOffsetsResponse(Response, api_key=90, versions="0-1", flexible="0+"):
    """The start offsets."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    groups: list[DescribeShareGroupOffsetsResponseGroup] = field(doc="One entry per group.")


class DescribeShareGroupOffsetsResponseGroup(Struct):
    """The offsets of one group, or an error of the whole group."""

    group_id: String = field(doc="The group of this entry.")
    topics: list[DescribeShareGroupOffsetsResponseTopic] = field(doc="The offsets, by topic.")
    error_code: Int16 = field(doc="0, or the error of the whole group.")
    error_message: String | None = field(
        default=None, doc="What went wrong, in the broker's words, or null."
    )


class DescribeShareGroupOffsetsResponseTopic(Struct):
    """The offsets of one topic."""

    topic_name: String = field(doc="Name of the topic.")
    topic_id: Uuid = field(doc="Id of the topic.")
    partitions: list[DescribeShareGroupOffsetsResponsePartition] = field(
        doc="The offsets, by partition."
    )


class DescribeShareGroupOffsetsResponsePartition(Struct):
    """The offset of one partition."""

    partition_index: Int32 = field(doc="Index of the partition.")
    start_offset: Int64 = field(doc="The first offset that the group has not finished, or -1.")
    leader_epoch: Int32 = field(doc="The leader epoch of the partition.")
    lag: Int64 = field(
        versions="1+",
        default=-1,
        ignorable=True,
        doc="Records that the group has still to process, or -1 if unknown (KIP-1226).",
    )
    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(
        default=None, doc="What went wrong, in the broker's words, or null."
    )


__all__ = [
    "DescribeShareGroupOffsetsRequest",
    "DescribeShareGroupOffsetsRequestGroup",
    "DescribeShareGroupOffsetsRequestTopic",
    "DescribeShareGroupOffsetsResponse",
    "DescribeShareGroupOffsetsResponseGroup",
    "DescribeShareGroupOffsetsResponsePartition",
    "DescribeShareGroupOffsetsResponseTopic",
]
