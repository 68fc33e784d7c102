"""ListOffsets (key 2): the offset for a time, for the log's start or for its end.

v1 is the lowest version since Kafka 4.0 (KIP-896). v2 isolation level; v4 leader epochs (KIP-320);
v6 flexible; v7 the greatest timestamp, -3 (KIP-734); v8 local log start, -4 (KIP-405); v9 last
tiered offset, -5 (KIP-1005); v10 a time limit (KIP-1075); v11 earliest pending upload, -6
(KIP-1023).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aiokafka_lite.errors import UnsupportedVersionError
from aiokafka_lite.model import OffsetSpec, TopicPartition
from aiokafka_lite.schema.field_types import Int8, Int16, Int32, Int64, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class ListOffsetsRequest(Request["ListOffsetsResponse"], api_key=2, versions="1-11", flexible="6+"):
    """Asks for one offset per partition."""

    leader_epoch_since = 4
    """The first version that answers with leader epochs (KIP-320)."""
    max_timestamp_since = 7
    """The first version that asks for the record with the greatest timestamp (KIP-734)."""
    local_log_since = 8
    """The first version that asks for the start of the local log (KIP-405)."""
    tiered_since = 9
    """The first version that asks for the last tiered offset (KIP-1005)."""
    pending_upload_since = 11
    """The first version that asks for the earliest offset that waits for its upload (KIP-1023)."""

    replica_id: Int32 = field(doc="The requesting follower, or -1 for a consumer.")
    isolation_level: Int8 = field(
        versions="2+",
        doc="0 for all records, 1 for committed ones and the list of aborted transactions"
        " (KIP-98).",
    )
    topics: list[ListOffsetsTopic] = field(doc="The partitions, by topic.")
    timeout_ms: Int32 = field(
        versions="10+",
        ignorable=True,
        doc="Milliseconds the broker may take to look into remote storage (KIP-1075).",
    )


def lowest_version(timestamp: int) -> int:
    """Return the lowest version of the request that may have this time or special value."""
    return _KNOWN_SINCE.get(timestamp, 0)


def unknown_spec_error(
    tp: TopicPartition, spec: int, node_id: int | None, version: int | None
) -> UnsupportedVersionError:
    """Return the error for a special value that the versions of a node up to `version` lack."""
    has = "has no version" if version is None else f"has versions up to {version}"
    return UnsupportedVersionError(
        f"OffsetSpec.{OffsetSpec(spec).name} of {tp[0]}-{tp[1]} needs {_KAFKA_WITH[spec]}: node"
        f" {node_id} {has} of ListOffsets, in place of {lowest_version(spec)}; ask for another"
        f" OffsetSpec, or upgrade the brokers"
    )


class ListOffsetsTopic(Struct):
    """The partitions of one topic."""

    name: String = field(doc="Name of the topic.")
    partitions: list[ListOffsetsPartition] = field(doc="The partitions to look up.")


class ListOffsetsPartition(Struct):
    """One partition and the time to look up."""

    partition_index: Int32 = field(doc="Index of the partition.")
    current_leader_epoch: Int32 = field(
        versions="4+",
        default=-1,
        ignorable=True,
        doc="The epoch the reader believes to be current, or -1 to skip the check (KIP-320).",
    )
    timestamp: Int64 = field(
        doc=(
            "Milliseconds since the epoch, or a special value: -1 end, -2 start, -3 greatest "
            "timestamp, -4 to -6 tiered."
        )
    )


_KNOWN_SINCE: Final[Mapping[int, int]] = {
    OffsetSpec.MAX_TIMESTAMP: ListOffsetsRequest.max_timestamp_since,
    OffsetSpec.EARLIEST_LOCAL: ListOffsetsRequest.local_log_since,
    OffsetSpec.LATEST_TIERED: ListOffsetsRequest.tiered_since,
    OffsetSpec.EARLIEST_PENDING_UPLOAD: ListOffsetsRequest.pending_upload_since,
}


_KAFKA_WITH: Final[Mapping[int, str]] = {
    OffsetSpec.MAX_TIMESTAMP: "Kafka 3.0 (KIP-734)",
    OffsetSpec.EARLIEST_LOCAL: "Kafka 3.5 (KIP-405)",
    OffsetSpec.LATEST_TIERED: "Kafka 3.9 (KIP-1005)",
    OffsetSpec.EARLIEST_PENDING_UPLOAD: "Kafka 4.2 (KIP-1023)",
}


class ListOffsetsResponse(Response, api_key=2, versions="1-11", flexible="6+"):
    """The offsets that were found."""

    throttle_time_ms: Int32 = field(
        versions="2+",
        ignorable=True,
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219).",
    )
    topics: list[ListOffsetsTopicResponse] = field(doc="The results, by topic.")


class ListOffsetsTopicResponse(Struct):
    """The results for one topic."""

    name: String = field(doc="Name of the topic.")
    partitions: list[ListOffsetsPartitionResponse] = field(doc="The results, by partition.")


class ListOffsetsPartitionResponse(Struct):
    """The offset that was found in one partition."""

    partition_index: Int32 = field(doc="Index of the partition.")
    error_code: Int16 = field(doc="0, or an error code.")
    timestamp: Int64 = field(default=-1, doc="Timestamp of the record found, or -1.")
    offset: Int64 = field(default=-1, doc="The offset, or -1 if no record is that late.")
    leader_epoch: Int32 = field(
        versions="4+", default=-1, doc="Epoch of the record at that offset, or -1 (KIP-320)."
    )


__all__ = [
    "ListOffsetsPartition",
    "ListOffsetsPartitionResponse",
    "ListOffsetsRequest",
    "ListOffsetsResponse",
    "ListOffsetsTopic",
    "ListOffsetsTopicResponse",
    "lowest_version",
    "unknown_spec_error",
]
