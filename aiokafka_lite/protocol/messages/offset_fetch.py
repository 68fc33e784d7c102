"""OffsetFetch (key 9): how far groups have read, by their committed offsets.

v1 is the lowest version since Kafka 4.0 (KIP-896). v2 all topics at once, and an error of the whole
group (KIP-88); v3 throttling; v5 the leader epoch (KIP-320); v6 flexible; v7 stable offsets only
(KIP-447); v8 several groups (KIP-709), which replaces the single-group fields; v9 also for the
consumer group protocol (KIP-848); v10 topic ids in place of topic names.
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Bool, Int16, Int32, Int64, String, Uuid, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class OffsetFetchRequest(Request["OffsetFetchResponse"], api_key=9, versions="1-10", flexible="6+"):
    """Asks for the offsets of one group or, from v8, of several."""

    group_error_since = 2
    """The first version that answers with an error of the whole group (KIP-88)."""
    stable_since = 7
    """The first version that can ask for stable offsets only (KIP-447)."""
    groups_since = 8
    """The first version that asks about a list of groups (KIP-709)."""
    topic_ids_since = 10
    """The first version that names topics by id alone (KIP-848)."""

    group_id: String = field(versions="1-7", doc="The group.")
    topics: list[OffsetFetchRequestTopic] | None = field(
        versions="1-7", nullable="2-7", doc="The partitions, by topic; null for all (KIP-88)."
    )
    groups: list[OffsetFetchRequestGroup] = field(versions="8+", doc="The groups (KIP-709).")
    require_stable: Bool = field(
        versions="7+",
        needs="stable offsets of open transactions need Kafka 2.5 (KIP-447)",
        doc="True to get UNSTABLE_OFFSET_COMMIT while a transaction holds an offset (KIP-447).",
    )


class OffsetFetchRequestTopic(Struct):
    """The partitions of one topic, up to v7."""

    name: String = field(doc="Name of the topic.")
    partition_indexes: list[Int32] = field(doc="Indexes of the partitions.")


class OffsetFetchRequestGroup(Struct):
    """One group and its requested partitions (KIP-709)."""

    group_id: String = field(doc="The group.")
    member_id: String | None = field(
        versions="9+",
        default=None,
        ignorable=True,
        doc="The id of the requesting member, or null from outside the group (KIP-848).",
    )
    member_epoch: Int32 = field(
        versions="9+",
        default=-1,
        ignorable=True,
        doc="That member's epoch in the protocol of KIP-848, or -1 in the classic one.",
    )
    topics: list[OffsetFetchRequestTopics] | None = field(
        doc="The partitions, by topic; null for all (KIP-88)."
    )


class OffsetFetchRequestTopics(Struct):
    """The partitions of one topic, from v8."""

    name: String = field(versions="8-9", ignorable=True, doc="Name of the topic.")
    topic_id: Uuid = field(
        versions="10+", ignorable=True, doc="Id of the topic in place of its name (KIP-848)."
    )
    partition_indexes: list[Int32] = field(doc="Indexes of the partitions.")


class OffsetFetchResponse(Response, api_key=9, versions="1-10", flexible="6+"):
    """The offsets of one group in the top-level fields or, from v8, a list of groups."""

    throttle_time_ms: Int32 = field(
        versions="3+",
        ignorable=True,
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219).",
    )
    topics: list[OffsetFetchResponseTopic] = field(versions="1-7", doc="The offsets, by topic.")
    error_code: Int16 = field(
        versions="2-7", ignorable=True, doc="0, or the error of the whole group (KIP-88)."
    )
    groups: list[OffsetFetchResponseGroup] = field(
        versions="8+", doc="One entry per group (KIP-709)."
    )


class OffsetFetchResponseTopic(Struct):
    """The offsets of one topic, up to v7."""

    name: String = field(doc="Name of the topic.")
    partitions: list[OffsetFetchResponsePartition] = field(doc="The offsets, by partition.")


class OffsetFetchResponsePartition(Struct):
    """The offset of one partition, up to v7."""

    partition_index: Int32 = field(doc="Index of the partition.")
    committed_offset: Int64 = field(doc="The stored offset, or -1 for none.")
    committed_leader_epoch: Int32 = field(
        versions="5-7",
        default=-1,
        ignorable=True,
        doc="The leader epoch stored with it, or -1 (KIP-320).",
    )
    metadata: String | None = field(doc="The note stored with the offset.")
    error_code: Int16 = field(doc="0, or an error code.")


class OffsetFetchResponseGroup(Struct):
    """The offsets of one group, or an error of the whole group (KIP-709)."""

    group_id: String = field(doc="The group of this entry.")
    topics: list[OffsetFetchResponseTopics] = field(doc="The offsets, by topic.")
    error_code: Int16 = field(doc="0, or the error of the whole group.")


class OffsetFetchResponseTopics(Struct):
    """The offsets of one topic, from v8."""

    name: String = field(versions="8-9", ignorable=True, doc="Name of the topic.")
    topic_id: Uuid = field(
        versions="10+", ignorable=True, doc="Id of the topic in place of its name (KIP-848)."
    )
    partitions: list[OffsetFetchResponsePartitions] = field(doc="The offsets, by partition.")


class OffsetFetchResponsePartitions(Struct):
    """The offset of one partition, from v8."""

    partition_index: Int32 = field(doc="Index of the partition.")
    committed_offset: Int64 = field(doc="The stored offset, or -1 for none.")
    committed_leader_epoch: Int32 = field(
        default=-1,
        ignorable=True,
        doc="The leader epoch stored with it, or -1 (KIP-320).",
    )
    metadata: String | None = field(doc="The note stored with the offset.")
    error_code: Int16 = field(doc="0, or an error code.")


__all__ = [
    "OffsetFetchRequest",
    "OffsetFetchRequestGroup",
    "OffsetFetchRequestTopic",
    "OffsetFetchRequestTopics",
    "OffsetFetchResponse",
    "OffsetFetchResponseGroup",
    "OffsetFetchResponsePartition",
    "OffsetFetchResponsePartitions",
    "OffsetFetchResponseTopic",
    "OffsetFetchResponseTopics",
]
