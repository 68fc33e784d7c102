"""DeleteRecords (key 21): moves the start of partitions' logs (KIP-107); v2 flexible."""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int16, Int32, Int64, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class DeleteRecordsRequest(
    Request["DeleteRecordsResponse"], api_key=21, versions="0-2", flexible="2+"
):
    """Asks the leader of partitions to forget records."""

    topics: list[DeleteRecordsTopic] = field(doc="The topics.")
    timeout_ms: Int32 = field(doc="Milliseconds to wait until the replicas have done it, too.")


class DeleteRecordsTopic(Struct):
    """The partitions of one topic."""

    name: String = field(doc="Name of the topic.")
    partitions: list[DeleteRecordsPartition] = field(doc="The partitions.")


class DeleteRecordsPartition(Struct):
    """The new start of one partition's log."""

    partition_index: Int32 = field(doc="Index of the partition.")
    offset: Int64 = field(doc="Delete the records before it; -1 stands for the high watermark.")


class DeleteRecordsResponse(Response, api_key=21, versions="0-2", flexible="2+"):
    """The result of each partition."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    topics: list[DeleteRecordsTopicResult] = field(doc="The results, by topic.")


class DeleteRecordsTopicResult(Struct):
    """The results of one topic."""

    name: String = field(doc="Name of the topic.")
    partitions: list[DeleteRecordsPartitionResult] = field(doc="The results, by partition.")


class DeleteRecordsPartitionResult(Struct):
    """The result for one partition."""

    partition_index: Int32 = field(doc="Index of the partition.")
    low_watermark: Int64 = field(
        doc="The lowest start of the log among the replicas, or -1 with an error."
    )
    error_code: Int16 = field(doc="0, or an error code.")


__all__ = [
    "DeleteRecordsPartition",
    "DeleteRecordsPartitionResult",
    "DeleteRecordsRequest",
    "DeleteRecordsResponse",
    "DeleteRecordsTopic",
    "DeleteRecordsTopicResult",
]
