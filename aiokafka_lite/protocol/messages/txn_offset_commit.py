"""TxnOffsetCommit (key 28): offsets of a group, stored if and when a transaction commits (KIP-98).

v2 the leader epoch (KIP-320). v3 flexible, with the member for which the producer commits, so that
the group can refuse a former member (KIP-447). v4 TRANSACTION_ABORTABLE (KIP-890). v5 adds the
group to the transaction itself if transaction.version is 2 (KIP-890). v6 topic ids in place of
topic names (KIP-1319).
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int16, Int32, Int64, String, Uuid, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class TxnOffsetCommitRequest(
    Request["TxnOffsetCommitResponse"], api_key=28, versions="0-6", flexible="3+"
):
    """Stores offsets as part of a transaction."""

    members_since = 3
    """The first version that commits in the name of a member (KIP-447)."""
    abortable_since = 4
    """The first version that answers TRANSACTION_ABORTABLE (KIP-890)."""
    transactions_v2_since = 5
    """The first version that adds its group to the transaction itself (KIP-890)."""
    topic_ids_since = 6
    """The first version that names topics by id alone (KIP-1319)."""

    transactional_id: String = field(doc="The transactional id.")
    group_id: String = field(doc="The group.")
    producer_id: Int64 = field(doc="The producer id in use.")
    producer_epoch: Int16 = field(doc="The epoch in use.")
    generation_id_or_member_epoch: Int32 = field(
        versions="3+",
        default=-1,
        needs="the group metadata of a consumer in a transaction needs Kafka 2.5 (KIP-447)",
        doc="The consumer's generation, its epoch in the protocol of KIP-848, or -1 (KIP-447).",
    )
    member_id: String = field(
        versions="3+",
        needs="the group metadata of a consumer in a transaction needs Kafka 2.5 (KIP-447)",
        doc="The consumer's member id, or empty (KIP-447).",
    )
    group_instance_id: String | None = field(
        versions="3+",
        default=None,
        needs="the group metadata of a consumer in a transaction needs Kafka 2.5 (KIP-447)",
        doc="The user's name of a static member, or null (KIP-345).",
    )
    topics: list[TxnOffsetCommitRequestTopic] = field(doc="The offsets, by topic.")


class TxnOffsetCommitRequestTopic(Struct):
    """The offsets of one topic."""

    name: String = field(versions="0-5", ignorable=True, doc="Name of the topic.")
    topic_id: Uuid = field(
        versions="6+", ignorable=True, doc="Id of the topic in place of its name (KIP-1319)."
    )
    partitions: list[TxnOffsetCommitRequestPartition] = field(doc="The offsets, by partition.")


class TxnOffsetCommitRequestPartition(Struct):
    """The offset of one partition."""

    partition_index: Int32 = field(doc="Index of the partition.")
    committed_offset: Int64 = field(doc="Offset of the first record still to be processed.")
    committed_leader_epoch: Int32 = field(
        versions="2+",
        default=-1,
        ignorable=True,
        doc="Leader epoch of the last record processed, or -1 if unknown (KIP-320).",
    )
    committed_metadata: String | None = field(doc="A note to keep with the offset.")


class TxnOffsetCommitResponse(Response, api_key=28, versions="0-6", flexible="3+"):
    """The result of each partition."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    topics: list[TxnOffsetCommitResponseTopic] = field(doc="The results, by topic.")


class TxnOffsetCommitResponseTopic(Struct):
    """The results for one topic."""

    name: String = field(versions="0-5", ignorable=True, doc="Name of the topic.")
    topic_id: Uuid = field(
        versions="6+", ignorable=True, doc="Id of the topic in place of its name (KIP-1319)."
    )
    partitions: list[TxnOffsetCommitResponsePartition] = field(doc="The results, by partition.")


class TxnOffsetCommitResponsePartition(Struct):
    """The result for one partition."""

    partition_index: Int32 = field(doc="Index of the partition.")
    error_code: Int16 = field(doc="0, or why this offset was not stored.")


__all__ = [
    "TxnOffsetCommitRequest",
    "TxnOffsetCommitRequestPartition",
    "TxnOffsetCommitRequestTopic",
    "TxnOffsetCommitResponse",
    "TxnOffsetCommitResponsePartition",
    "TxnOffsetCommitResponseTopic",
]
