"""OffsetCommit (key 8): a group stores how far it has read.

v2 is the lowest version since Kafka 4.0 (KIP-896). v3 throttling; v5 without a retention time,
which only the broker sets now (KIP-211); v6 the leader epoch (KIP-320); v7 static members
(KIP-345); v8 flexible; v9 also for the consumer group protocol (KIP-848); v10 topic ids in place of
topic names.
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int16, Int32, Int64, String, Uuid, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class OffsetCommitRequest(
    Request["OffsetCommitResponse"], api_key=8, versions="2-10", flexible="8+"
):
    """Stores offsets for a member of the group.

    Without a member id, the request comes from outside.
    """

    consumer_protocol_since = 9
    """The first version that serves the consumer group protocol, too (KIP-848)."""
    topic_ids_since = 10
    """The first version that names topics by id alone (KIP-848)."""

    group_id: String = field(doc="The group.")
    generation_id_or_member_epoch: Int32 = field(
        default=-1,
        ignorable=True,
        doc="The member's generation, its epoch in the protocol of KIP-848, or -1 from "
        "outside the group.",
    )
    member_id: String = field(
        ignorable=True, doc="The member's id, or empty from outside the group."
    )
    group_instance_id: String | None = field(
        versions="7+",
        default=None,
        needs="a static member (group_instance_id) needs Kafka 2.3 (KIP-345)",
        doc="The user's name of a static member, or null for a dynamic one (KIP-345).",
    )
    retention_time_ms: Int64 = field(
        versions="2-4",
        default=-1,
        ignorable=True,
        doc="Milliseconds to keep the offsets, or -1 for the broker's setting (KIP-211).",
    )
    topics: list[OffsetCommitRequestTopic] = field(doc="The offsets, by topic.")


class OffsetCommitRequestTopic(Struct):
    """The offsets of one topic."""

    name: String = field(versions="2-9", ignorable=True, doc="Name of the topic.")
    topic_id: Uuid = field(
        versions="10+", ignorable=True, doc="Id of the topic in place of its name (KIP-848)."
    )
    partitions: list[OffsetCommitRequestPartition] = field(doc="The offsets, by partition.")


class OffsetCommitRequestPartition(Struct):
    """The offset of one partition."""

    partition_index: Int32 = field(doc="Index of the partition.")
    committed_offset: Int64 = field(doc="Offset of the first record still to be processed.")
    committed_leader_epoch: Int32 = field(
        versions="6+",
        default=-1,
        ignorable=True,
        doc="Leader epoch of the last record processed, or -1 if unknown (KIP-320).",
    )
    committed_metadata: String | None = field(
        doc="A note to keep with the offset; the broker limits its size."
    )


class OffsetCommitResponse(Response, api_key=8, versions="2-10", flexible="8+"):
    """The result of each partition."""

    throttle_time_ms: Int32 = field(
        versions="3+",
        ignorable=True,
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219).",
    )
    topics: list[OffsetCommitResponseTopic] = field(doc="The results, by topic.")


class OffsetCommitResponseTopic(Struct):
    """The results for one topic."""

    name: String = field(versions="2-9", ignorable=True, doc="Name of the topic.")
    topic_id: Uuid = field(
        versions="10+", ignorable=True, doc="Id of the topic in place of its name (KIP-848)."
    )
    partitions: list[OffsetCommitResponsePartition] = field(doc="The results, by partition.")


class OffsetCommitResponsePartition(Struct):
    """The result for one partition."""

    partition_index: Int32 = field(doc="Index of the partition.")
    error_code: Int16 = field(doc="0, or why this offset was not stored.")


__all__ = [
    "OffsetCommitRequest",
    "OffsetCommitRequestPartition",
    "OffsetCommitRequestTopic",
    "OffsetCommitResponse",
    "OffsetCommitResponsePartition",
    "OffsetCommitResponseTopic",
]
