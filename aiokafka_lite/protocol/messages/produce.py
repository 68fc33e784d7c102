"""Produce (key 0): append record batches to partitions.

v3 is the lowest version since Kafka 4.0 (KIP-896) and carries batches of format 2. v5 log start
offset; v7 zstd (KIP-110); v8 errors per record (KIP-467); v9 flexible; v10 leader hints (KIP-951);
v11 TRANSACTION_ABORTABLE and v12 transactions v2 (KIP-890); v13 topic ids instead of names
(KIP-516).
"""

from __future__ import annotations

from aiokafka_lite.protocol.messages._leader import LeaderIdAndEpoch, NodeEndpoint
from aiokafka_lite.schema.field_types import Int16, Int32, Int64, Records, String, Uuid, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class ProduceRequest(Request["ProduceResponse"], api_key=0, versions="3-13", flexible="9+"):
    """Asks to append batches. With acks=0 the broker sends no response."""

    zstd_since = 7
    """The first version that takes batches compressed with zstd (KIP-110)."""
    leader_hints_since = 10
    """The first version that answers with new leaders and their addresses (KIP-951)."""
    abortable_since = 11
    """The first version that answers TRANSACTION_ABORTABLE (KIP-890)."""
    transactions_v2_since = 12
    """The first version that adds its partitions to the transaction itself (KIP-890)."""
    topic_ids_since = 13
    """The first version that names topics by id alone (KIP-516)."""

    transactional_id: String | None = field(
        default=None, doc="The producer's transactional id, or null outside transactions (KIP-98)."
    )
    acks: Int16 = field(
        doc="0 for no response; 1 after the leader's write; -1 after the writes of all "
        "in-sync replicas."
    )
    timeout_ms: Int32 = field(doc="Milliseconds the leader may wait for its replicas.")
    topic_data: list[TopicProduceData] = field(doc="The batches, by topic.")


class TopicProduceData(Struct):
    """The batches for one topic."""

    name: String = field(versions="0-12", ignorable=True, doc="Name of the topic.")
    topic_id: Uuid = field(versions="13+", ignorable=True, doc="Id of the topic (KIP-516).")
    partition_data: list[PartitionProduceData] = field(doc="The batches, by partition.")


class PartitionProduceData(Struct):
    """The batches for one partition."""

    index: Int32 = field(doc="Index of the partition.")
    records: Records | None = field(doc="One batch of format 2.")


class ProduceResponse(Response, api_key=0, versions="3-13", flexible="9+"):
    """The result of each partition."""

    responses: list[TopicProduceResponse] = field(doc="The results, by topic.")
    throttle_time_ms: Int32 = field(
        ignorable=True,
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219).",
    )
    node_endpoints: list[NodeEndpoint] = field(
        versions="10+", tag=0, doc="Addresses of the leaders in these results (KIP-951)."
    )


class TopicProduceResponse(Struct):
    """The results of one topic."""

    name: String = field(versions="0-12", ignorable=True, doc="Name of the topic.")
    topic_id: Uuid = field(versions="13+", ignorable=True, doc="Id of the topic (KIP-516).")
    partition_responses: list[PartitionProduceResponse] = field(doc="The results, by partition.")


class PartitionProduceResponse(Struct):
    """The result of one partition."""

    index: Int32 = field(doc="Index of the partition.")
    error_code: Int16 = field(doc="0, or an error code.")
    base_offset: Int64 = field(
        doc="Offset of the batch's first record, or -1 if the broker no longer knows."
    )
    log_append_time_ms: Int64 = field(
        default=-1,
        ignorable=True,
        doc="The broker's time stamp if the topic uses log append time, else -1.",
    )
    log_start_offset: Int64 = field(
        versions="5+", default=-1, ignorable=True, doc="First offset the log still has."
    )
    record_errors: list[BatchIndexAndErrorMessage] = field(
        versions="8+",
        ignorable=True,
        doc="The records because of which the batch was refused (KIP-467).",
    )
    error_message: String | None = field(
        versions="8+",
        default=None,
        ignorable=True,
        doc="Why the batch was refused, or null (KIP-467).",
    )
    current_leader: LeaderIdAndEpoch = field(
        versions="10+",
        tag=0,
        doc="The leader to use from now on, sent with NOT_LEADER_OR_FOLLOWER (KIP-951).",
    )


class BatchIndexAndErrorMessage(Struct):
    """One record because of which the batch was refused (KIP-467)."""

    batch_index: Int32 = field(doc="Index of the record in its batch, from 0.")
    batch_index_error_message: String | None = field(
        default=None, doc="What is wrong with the record, or null."
    )


__all__ = [
    "BatchIndexAndErrorMessage",
    "PartitionProduceData",
    "PartitionProduceResponse",
    "ProduceRequest",
    "ProduceResponse",
    "TopicProduceData",
    "TopicProduceResponse",
]
