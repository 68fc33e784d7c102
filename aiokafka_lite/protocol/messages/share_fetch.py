"""ShareFetch (key 78): a member of a share group acquires records and acknowledges others.

v1 KIP-932; v2 records are acquired by number (KIP-1206), and acquired ones renewed (KIP-1222).
"""

from __future__ import annotations

from aiokafka_lite.protocol.messages._leader import NodeEndpoint
from aiokafka_lite.protocol.messages._share import AcknowledgementBatch, LeaderIdAndEpoch
from aiokafka_lite.schema.field_types import (
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    Records,
    String,
    Uuid,
    field,
)
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class ShareFetchRequest(Request["ShareFetchResponse"], api_key=78, versions="1-2", flexible="0+"):
    """Asks for records of the partitions in the share session, and acknowledges others."""

    needs = "Kafka 4.1 (KIP-932)"

    renew_since = 2
    """The first version that can renew acquired records (KIP-1222) and acquire by number."""

    group_id: String | None = field(default=None, doc="The group.")
    member_id: String | None = field(doc="The member's id.")
    share_session_epoch: Int32 = field(
        doc="Counts the requests of a share session; 0 opens one, -1 closes it."
    )
    max_wait_ms: Int32 = field(doc="Milliseconds the broker may wait for min_bytes.")
    min_bytes: Int32 = field(
        doc="Bytes that make the broker respond before max_wait_ms has passed."
    )
    max_bytes: Int32 = field(
        default=0x7FFFFFFF,
        doc="Upper limit of the response in bytes; the first batch comes whole even if "
        "larger (KIP-74).",
    )
    max_records: Int32 = field(
        versions="1+", doc="Upper limit of the records; whole batches may go beyond it."
    )
    batch_size: Int32 = field(
        versions="1+", doc="The number of records that the member prefers per acquired batch."
    )
    share_acquire_mode: Int8 = field(
        versions="2+",
        default=0,
        ignorable=True,
        doc="0 to acquire whole batches, 1 to acquire max_records at most (KIP-1206).",
    )
    is_renew_ack: Bool = field(
        versions="2+",
        default=False,
        needs="renewing the lock of a record needs Kafka 4.2 (KIP-1222)",
        doc="True if a record is renewed (KIP-1222).",
    )
    topics: list[FetchTopic] = field(doc="Partitions to add to the session or to acknowledge.")
    forgotten_topics_data: list[ForgottenTopic] = field(
        doc="Partitions to take out of the session."
    )


class FetchTopic(Struct):
    """Partitions of one topic."""

    topic_id: Uuid = field(doc="Id of the topic.")
    partitions: list[FetchPartition] = field(doc="The partitions.")


class FetchPartition(Struct):
    """One partition, and what is acknowledged of it."""

    partition_index: Int32 = field(doc="Index of the partition.")
    acknowledgement_batches: list[AcknowledgementBatch] = field(doc="Records to acknowledge.")


class ForgottenTopic(Struct):
    """Partitions of one topic to take out of the session."""

    topic_id: Uuid = field(doc="Id of the topic.")
    partitions: list[Int32] = field(doc="Indexes of the partitions.")


class ShareFetchResponse(Response, api_key=78, versions="1-2", flexible="0+"):
    """Batches per partition, and which of their records the member has acquired."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    error_code: Int16 = field(doc="0, or an error about the whole session or request.")
    error_message: String | None = field(
        default=None, doc="What went wrong, in the broker's words, or null."
    )
    acquisition_lock_timeout_ms: Int32 = field(
        versions="1+", doc="Milliseconds for which acquired records are locked."
    )
    responses: list[ShareFetchableTopicResponse] = field(doc="The results, by topic.")
    node_endpoints: list[NodeEndpoint] = field(doc="Addresses of the leaders in these results.")


class ShareFetchableTopicResponse(Struct):
    """The results for one topic."""

    topic_id: Uuid = field(doc="Id of the topic.")
    partitions: list[PartitionData] = field(doc="The results, by partition.")


class PartitionData(Struct):
    """One partition's batches, or its errors."""

    partition_index: Int32 = field(doc="Index of the partition.")
    error_code: Int16 = field(doc="0, or why nothing could be fetched.")
    error_message: String | None = field(
        default=None, doc="Why nothing could be fetched, in the broker's words, or null."
    )
    acknowledge_error_code: Int16 = field(doc="0, or why nothing could be acknowledged.")
    acknowledge_error_message: String | None = field(
        default=None, doc="Why nothing could be acknowledged, in the broker's words, or null."
    )
    current_leader: LeaderIdAndEpoch = field(
        doc="The leader to use from now on, sent with a leader error."
    )
    records: Records = field(
        doc="Whole batches, in which records that were not acquired may lie between others."
    )
    acquired_records: list[AcquiredRecords] = field(doc="The records that the member has acquired.")


class AcquiredRecords(Struct):
    """Consecutive records that the member has acquired."""

    first_offset: Int64 = field(doc="Offset of the first record.")
    last_offset: Int64 = field(doc="Offset of the last record, which is included.")
    delivery_count: Int16 = field(doc="How often they have been delivered, this time included.")


__all__ = [
    "AcquiredRecords",
    "FetchPartition",
    "FetchTopic",
    "ForgottenTopic",
    "PartitionData",
    "ShareFetchRequest",
    "ShareFetchResponse",
    "ShareFetchableTopicResponse",
]
