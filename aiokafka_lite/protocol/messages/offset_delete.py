"""OffsetDelete (key 47): committed offsets of a group are deleted (KIP-496)."""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class OffsetDeleteRequest(
    Request["OffsetDeleteResponse"], api_key=47, versions="0", flexible="none"
):
    """Names partitions whose offsets the group shall forget."""

    needs = "Kafka 2.4 (KIP-496)"

    group_id: String = field(doc="The group.")
    topics: list[OffsetDeleteRequestTopic] = field(doc="The partitions, by topic.")


class OffsetDeleteRequestTopic(Struct):
    """The partitions of one topic."""

    name: String = field(doc="Name of the topic.")
    partitions: list[OffsetDeleteRequestPartition] = field(doc="The partitions.")


class OffsetDeleteRequestPartition(Struct):
    """One partition."""

    partition_index: Int32 = field(doc="Index of the partition.")


class OffsetDeleteResponse(Response, api_key=47, versions="0", flexible="none"):
    """The result of each partition, or an error of the whole group."""

    error_code: Int16 = field(doc="0, or the error of the whole group.")
    throttle_time_ms: Int32 = field(
        ignorable=True,
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219).",
    )
    topics: list[OffsetDeleteResponseTopic] = field(doc="The results, by topic.")


class OffsetDeleteResponseTopic(Struct):
    """The results for one topic."""

    name: String = field(doc="Name of the topic.")
    partitions: list[OffsetDeleteResponsePartition] = field(doc="The results, by partition.")


class OffsetDeleteResponsePartition(Struct):
    """The result for one partition."""

    partition_index: Int32 = field(doc="Index of the partition.")
    error_code: Int16 = field(doc="0, or why the offset was not deleted.")


__all__ = [
    "OffsetDeleteRequest",
    "OffsetDeleteRequestPartition",
    "OffsetDeleteRequestTopic",
    "OffsetDeleteResponse",
    "OffsetDeleteResponsePartition",
    "OffsetDeleteResponseTopic",
]
