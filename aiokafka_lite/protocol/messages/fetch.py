"""Fetch (key 1): read record batches, by consumers and by follower replicas.

v4 is the lowest version since Kafka 4.0 (KIP-896). v7 fetch sessions (KIP-227); v9 leader epochs
(KIP-320); v10 zstd (KIP-110); v11 rack (KIP-392); v12 flexible, diverging epochs (KIP-595); v13
topic ids (KIP-516); v15 replica state (KIP-903); v16 node endpoints (KIP-951); v17 directory ids
(KIP-853); v18 high watermark (KIP-1166).
"""

from __future__ import annotations

from aiokafka_lite.protocol.messages._leader import LeaderIdAndEpoch, NodeEndpoint
from aiokafka_lite.schema.field_types import Int8, Int16, Int32, Int64, Records, String, Uuid, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class FetchRequest(Request["FetchResponse"], api_key=1, versions="4-18", flexible="12+"):
    """Asks for records. The broker waits for min_bytes, up to max_wait_ms."""

    rack_since = 11
    """The first version that lets consumers read from followers (KIP-392)."""
    topic_ids_since = 13
    """The first version that names topics by id alone (KIP-516)."""
    replica_state_since = 15
    """The first version in which a consumer tells no replica at all (KIP-903)."""
    leader_hints_since = 16
    """The first version that answers with new leaders and their addresses (KIP-951)."""

    cluster_id: String | None = field(
        versions="12+",
        default=None,
        tag=0,
        ignorable=True,
        doc="Id of the cluster a raft follower expects (KIP-595).",
    )
    replica_id: Int32 = field(
        versions="0-14",
        default=-1,
        doc="The requesting follower, or -1 for a consumer; from v15 in replica_state.",
    )
    replica_state: ReplicaState = field(
        versions="15+", tag=1, doc="The requesting follower; unset for a consumer (KIP-903)."
    )
    max_wait_ms: Int32 = field(doc="Milliseconds the broker may wait for min_bytes.")
    min_bytes: Int32 = field(
        doc="Bytes that make the broker respond before max_wait_ms has passed."
    )
    max_bytes: Int32 = field(
        default=0x7FFFFFFF,
        ignorable=True,
        doc="Upper limit of the response in bytes; the first batch comes whole even if "
        "larger (KIP-74).",
    )
    isolation_level: Int8 = field(
        ignorable=True,
        doc="0 for all records, 1 for committed ones and the list of aborted transactions"
        " (KIP-98).",
    )
    session_id: Int32 = field(
        versions="7+", ignorable=True, doc="The fetch session, 0 for none or a new one (KIP-227)."
    )
    session_epoch: Int32 = field(
        versions="7+",
        default=-1,
        ignorable=True,
        doc=(
            "Counts the requests of a session; 0 opens one, -1 closes it or fetches without "
            "one (KIP-227)."
        ),
    )
    topics: list[FetchTopic] = field(doc="What to read, in order of preference.")
    forgotten_topics_data: list[ForgottenTopic] = field(
        versions="7+", doc="What to take out of the session (KIP-227)."
    )
    rack_id: String = field(
        versions="11+",
        ignorable=True,
        doc="Rack of the consumer, so that it may be sent to a near replica (KIP-392).",
    )


class ReplicaState(Struct):
    """The identity of a follower that fetches (KIP-903)."""

    replica_id: Int32 = field(default=-1, doc="Id of the follower, -1 for a consumer.")
    replica_epoch: Int64 = field(default=-1, doc="Epoch of the follower's registration, or -1.")


class FetchTopic(Struct):
    """The partitions of one topic to read; in a session, those new or changed (KIP-227)."""

    topic: String = field(versions="0-12", ignorable=True, doc="Name of the topic.")
    topic_id: Uuid = field(versions="13+", ignorable=True, doc="Id of the topic (KIP-516).")
    partitions: list[FetchPartition] = field(doc="The partitions to read.")


class FetchPartition(Struct):
    """Where to read in one partition, and how much."""

    partition: Int32 = field(doc="Index of the partition.")
    current_leader_epoch: Int32 = field(
        versions="9+",
        default=-1,
        ignorable=True,
        doc="The epoch the reader believes to be current, or -1 to skip the check (KIP-320).",
    )
    fetch_offset: Int64 = field(doc="Offset of the first requested record.")
    last_fetched_epoch: Int32 = field(
        versions="12+",
        default=-1,
        doc="Epoch of the last record read, or -1; lets the leader notice that the logs "
        "differ (KIP-595).",
    )
    log_start_offset: Int64 = field(
        versions="5+",
        default=-1,
        ignorable=True,
        doc="First offset the follower's log has; -1 for a consumer (KIP-107).",
    )
    partition_max_bytes: Int32 = field(
        doc=(
            "Upper limit for this partition in bytes; the first batch comes whole even if "
            "larger (KIP-74)."
        )
    )
    replica_directory_id: Uuid = field(
        versions="17+", tag=0, ignorable=True, doc="The follower's log directory (KIP-853)."
    )
    high_watermark: Int64 = field(
        versions="18+",
        default=0x7FFFFFFFFFFFFFFF,
        tag=1,
        ignorable=True,
        doc=(
            "The high watermark the follower knows; the greatest int64 when it does not take "
            "part (KIP-1166)."
        ),
    )


class ForgottenTopic(Struct):
    """Partitions to take out of the fetch session (KIP-227)."""

    topic: String = field(versions="7-12", ignorable=True, doc="Name of the topic.")
    topic_id: Uuid = field(versions="13+", ignorable=True, doc="Id of the topic (KIP-516).")
    partitions: list[Int32] = field(doc="Indexes of the partitions.")


class FetchResponse(Response, api_key=1, versions="4-18", flexible="12+"):
    """Batches per partition. In a session, only partitions with changes (KIP-227)."""

    throttle_time_ms: Int32 = field(
        ignorable=True,
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219).",
    )
    error_code: Int16 = field(
        versions="7+",
        ignorable=True,
        doc="0, or an error about the whole session or request (KIP-227).",
    )
    session_id: Int32 = field(
        versions="7+", doc="The fetch session, 0 if the broker keeps none (KIP-227)."
    )
    responses: list[FetchableTopicResponse] = field(doc="The results, by topic.")
    node_endpoints: list[NodeEndpoint] = field(
        versions="16+", tag=0, doc="Addresses of the leaders in these results (KIP-951)."
    )


class FetchableTopicResponse(Struct):
    """The results for one topic."""

    topic: String = field(versions="0-12", ignorable=True, doc="Name of the topic.")
    topic_id: Uuid = field(versions="13+", ignorable=True, doc="Id of the topic (KIP-516).")
    partitions: list[PartitionData] = field(doc="The results, by partition.")


class PartitionData(Struct):
    """One partition's batches, or its error."""

    partition_index: Int32 = field(doc="Index of the partition.")
    error_code: Int16 = field(doc="0, or an error code.")
    high_watermark: Int64 = field(
        doc="Offset behind the last record that all in-sync replicas have."
    )
    last_stable_offset: Int64 = field(
        default=-1, ignorable=True, doc="Offset before which every transaction is decided (KIP-98)."
    )
    log_start_offset: Int64 = field(
        versions="5+", default=-1, ignorable=True, doc="First offset the log still has (KIP-107)."
    )
    diverging_epoch: EpochEndOffset = field(
        versions="12+",
        tag=0,
        doc="Set when the reader's log differs from the leader's (KIP-595).",
    )
    current_leader: LeaderIdAndEpoch = field(
        versions="12+",
        tag=1,
        doc="The leader to use from now on, sent with a leader error (KIP-951).",
    )
    snapshot_id: SnapshotId = field(
        versions="12+",
        tag=2,
        doc="Set when the offset lies before the log; the snapshot to load instead (KIP-630).",
    )
    aborted_transactions: list[AbortedTransaction] | None = field(
        ignorable=True,
        doc=(
            "Aborted transactions within these batches, by first offset; null when all "
            "records were asked for (KIP-98)."
        ),
    )
    preferred_read_replica: Int32 = field(
        versions="11+", default=-1, doc="A nearer broker to read from, or -1 (KIP-392)."
    )
    records: Records | None = field(doc="Whole batches, and perhaps a part of one more at the end.")


class EpochEndOffset(Struct):
    """Where the last common epoch ends, when the logs differ (KIP-595)."""

    epoch: Int32 = field(default=-1, doc="The last epoch both have.")
    end_offset: Int64 = field(default=-1, doc="Where that epoch ends at the leader.")


class SnapshotId(Struct):
    """The snapshot to fetch instead, for followers of the metadata log (KIP-630)."""

    end_offset: Int64 = field(default=-1, doc="Offset behind the snapshot.")
    epoch: Int32 = field(default=-1, doc="Epoch of the snapshot's last record.")


class AbortedTransaction(Struct):
    """A transaction in this range that was aborted (KIP-98).

    A read_committed consumer must not return its records.
    """

    producer_id: Int64 = field(doc="Producer of the transaction.")
    first_offset: Int64 = field(doc="Offset of its first record.")


__all__ = [
    "AbortedTransaction",
    "EpochEndOffset",
    "FetchPartition",
    "FetchRequest",
    "FetchResponse",
    "FetchTopic",
    "FetchableTopicResponse",
    "ForgottenTopic",
    "PartitionData",
    "ReplicaState",
    "SnapshotId",
]
