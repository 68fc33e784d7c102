"""DescribeLogDirs (key 35): a broker's log directories and the replicas in them (KIP-113).

v1 is the lowest version since Kafka 4.0 (KIP-896). v2 flexible; v3 an error of the whole response;
v4 the size of the volume (KIP-827); v5 cordoned directories (KIP-1066).
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Bool, Int16, Int32, Int64, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class DescribeLogDirsRequest(
    Request["DescribeLogDirsResponse"], api_key=35, versions="1-5", flexible="2+"
):
    """Asks one broker for its own log directories."""

    topics: list[DescribableLogDirTopic] | None = field(
        doc="The topics whose replicas to name, or null for all."
    )


class DescribableLogDirTopic(Struct):
    """The partitions of one topic."""

    topic: String = field(doc="Name of the topic.")
    partitions: list[Int32] = field(doc="Indexes of the partitions.")


class DescribeLogDirsResponse(Response, api_key=35, versions="1-5", flexible="2+"):
    """The broker's log directories."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    error_code: Int16 = field(
        versions="3+", ignorable=True, doc="0, or an error code for the whole request."
    )
    results: list[DescribeLogDirsResult] = field(
        doc="The directories. Below v3, none means that the right is missing."
    )


class DescribeLogDirsResult(Struct):
    """One directory."""

    error_code: Int16 = field(doc="0, or an error code.")
    log_dir: String = field(doc="The absolute path of the directory.")
    topics: list[DescribeLogDirsTopic] = field(doc="The replicas in it, by topic.")
    total_bytes: Int64 = field(
        versions="4+",
        default=-1,
        ignorable=True,
        doc="Bytes of the volume that the directory is on, or -1 (KIP-827).",
    )
    usable_bytes: Int64 = field(
        versions="4+",
        default=-1,
        ignorable=True,
        doc="Bytes of that volume that the broker can still use, or -1 (KIP-827).",
    )
    is_cordoned: Bool = field(
        versions="5+", ignorable=True, doc="The directory gets no new replicas (KIP-1066)."
    )


class DescribeLogDirsTopic(Struct):
    """The replicas of one topic."""

    name: String = field(doc="Name of the topic.")
    partitions: list[DescribeLogDirsPartition] = field(doc="The replicas by partition.")


class DescribeLogDirsPartition(Struct):
    """One replica."""

    partition_index: Int32 = field(doc="Index of the partition.")
    partition_size: Int64 = field(doc="Bytes of its segments.")
    offset_lag: Int64 = field(
        doc="Records between its end and the high watermark; of a future replica, between its end"
        " and that of the present one."
    )
    is_future_key: Bool = field(
        doc="It is a copy that will replace the broker's replica in another directory."
    )


__all__ = [
    "DescribableLogDirTopic",
    "DescribeLogDirsPartition",
    "DescribeLogDirsRequest",
    "DescribeLogDirsResponse",
    "DescribeLogDirsResult",
    "DescribeLogDirsTopic",
]
