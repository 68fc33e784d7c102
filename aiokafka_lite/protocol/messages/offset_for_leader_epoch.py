"""OffsetForLeaderEpoch (key 23): where a leader epoch ended, which reveals a truncated log
(KIP-320).

v2 is the lowest version since Kafka 4.0 (KIP-896). v3 the replica's id; v4 flexible.
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int16, Int32, Int64, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class OffsetForLeaderEpochRequest(
    Request["OffsetForLeaderEpochResponse"], api_key=23, versions="2-4", flexible="4+"
):
    """Asks for the ends of epochs."""

    consumers_since = 3
    """The first version that needs rights on the topic alone, which consumers have (KIP-320)."""

    replica_id: Int32 = field(
        versions="3+",
        default=-2,
        ignorable=True,
        doc="The requesting follower, or -1 for a consumer; -2 sees beyond the high watermark.",
    )
    topics: list[OffsetForLeaderTopic] = field(doc="The partitions, by topic.")


class OffsetForLeaderTopic(Struct):
    """The partitions of one topic."""

    topic: String = field(doc="Name of the topic.")
    partitions: list[OffsetForLeaderPartition] = field(doc="The partitions to look up.")


class OffsetForLeaderPartition(Struct):
    """One partition and the epoch to look up."""

    partition: Int32 = field(doc="Index of the partition.")
    current_leader_epoch: Int32 = field(
        default=-1,
        ignorable=True,
        doc="The epoch the reader believes to be current, or -1 to skip the check (KIP-320).",
    )
    leader_epoch: Int32 = field(doc="The epoch whose end is requested.")


class OffsetForLeaderEpochResponse(Response, api_key=23, versions="2-4", flexible="4+"):
    """The ends of the epochs."""

    throttle_time_ms: Int32 = field(
        ignorable=True,
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219).",
    )
    topics: list[OffsetForLeaderTopicResult] = field(doc="The results, by topic.")


class OffsetForLeaderTopicResult(Struct):
    """The results for one topic."""

    topic: String = field(doc="Name of the topic.")
    partitions: list[EpochEndOffset] = field(doc="The results, by partition.")


class EpochEndOffset(Struct):
    """The end of the epoch in one partition."""

    error_code: Int16 = field(doc="0, or an error code.")
    partition: Int32 = field(doc="Index of the partition.")
    leader_epoch: Int32 = field(
        default=-1, ignorable=True, doc="The greatest epoch up to the requested one, or -1."
    )
    end_offset: Int64 = field(default=-1, doc="Offset behind that epoch's last record, or -1.")


__all__ = [
    "EpochEndOffset",
    "OffsetForLeaderEpochRequest",
    "OffsetForLeaderEpochResponse",
    "OffsetForLeaderPartition",
    "OffsetForLeaderTopic",
    "OffsetForLeaderTopicResult",
]
