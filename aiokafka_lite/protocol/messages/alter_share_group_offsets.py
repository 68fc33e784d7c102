"""AlterShareGroupOffsets (key 91): an empty share group begins to read elsewhere (KIP-932)."""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int16, Int32, Int64, String, Uuid, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class AlterShareGroupOffsetsRequest(
    Request["AlterShareGroupOffsetsResponse"], api_key=91, versions="0", flexible="0+"
):
    """Gives the group start offsets."""

    needs = "Kafka 4.1 (KIP-932)"

    group_id: String = field(doc="The group.")
    topics: list[AlterShareGroupOffsetsRequestTopic] = field(doc="The offsets, by topic.")


class AlterShareGroupOffsetsRequestTopic(Struct):
    """The offsets of one topic."""

    topic_name: String = field(doc="Name of the topic.")
    partitions: list[AlterShareGroupOffsetsRequestPartition] = field(
        doc="The offsets, by partition."
    )


class AlterShareGroupOffsetsRequestPartition(Struct):
    """The offset of one partition."""

    partition_index: Int32 = field(doc="Index of the partition.")
    start_offset: Int64 = field(doc="The first offset that the group shall read.")


class AlterShareGroupOffsetsResponse(Response, api_key=91, versions="0", flexible="0+"):
    """The result of each partition, or an error of the whole group."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    error_code: Int16 = field(doc="0, or the error of the whole group.")
    error_message: String | None = field(
        default=None, doc="What went wrong, in the broker's words, or null."
    )
    responses: list[AlterShareGroupOffsetsResponseTopic] = field(doc="The results, by topic.")


class AlterShareGroupOffsetsResponseTopic(Struct):
    """The results for one topic."""

    topic_name: String = field(doc="Name of the topic.")
    topic_id: Uuid = field(doc="Id of the topic.")
    partitions: list[AlterShareGroupOffsetsResponsePartition] = field(
        doc="The results, by partition."
    )


class AlterShareGroupOffsetsResponsePartition(Struct):
    """The result for one partition."""

    partition_index: Int32 = field(doc="Index of the partition.")
    error_code: Int16 = field(doc="0, or why the offset was not stored.")
    error_message: String | None = field(
        default=None, doc="What went wrong, in the broker's words, or null."
    )


__all__ = [
    "AlterShareGroupOffsetsRequest",
    "AlterShareGroupOffsetsRequestPartition",
    "AlterShareGroupOffsetsRequestTopic",
    "AlterShareGroupOffsetsResponse",
    "AlterShareGroupOffsetsResponsePartition",
    "AlterShareGroupOffsetsResponseTopic",
]
