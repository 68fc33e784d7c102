"""AlterPartitionReassignments (key 45): moves replicas to other brokers, or cancels that (KIP-455).

Flexible from its first version. v1 may forbid a change of the number of replicas (KIP-860).
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Bool, Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class AlterPartitionReassignmentsRequest(
    Request["AlterPartitionReassignmentsResponse"], api_key=45, versions="0-1", flexible="0+"
):
    """Asks for reassignments."""

    needs = "Kafka 2.4 (KIP-455)"

    factor_check_since = 1
    """The first version that may forbid another number of replicas (KIP-860)."""

    timeout_ms: Int32 = field(
        default=60_000, doc="Milliseconds the controller may take for the request."
    )
    allow_replication_factor_change: Bool = field(
        versions="1+",
        default=True,
        needs="allow_replication_factor_change=False needs Kafka 4.1 (KIP-860)",
        doc="Whether a partition may get another number of replicas (KIP-860).",
    )
    topics: list[ReassignableTopic] = field(doc="The topics.")


class ReassignableTopic(Struct):
    """The partitions of one topic."""

    name: String = field(doc="Name of the topic.")
    partitions: list[ReassignablePartition] = field(doc="The partitions.")


class ReassignablePartition(Struct):
    """One partition and its new replicas."""

    partition_index: Int32 = field(doc="Index of the partition.")
    replicas: list[Int32] | None = field(
        default=None,
        doc="The brokers, the preferred leader first; null cancels a reassignment.",
    )


class AlterPartitionReassignmentsResponse(Response, api_key=45, versions="0-1", flexible="0+"):
    """Which reassignments have begun, or were cancelled."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    allow_replication_factor_change: Bool = field(
        versions="1+",
        default=True,
        ignorable=True,
        doc="Whether the number of replicas was allowed to change (KIP-860).",
    )
    error_code: Int16 = field(doc="0, or an error code for the whole request.")
    error_message: String | None = field(doc="What went wrong, in the broker's words, or null.")
    responses: list[ReassignableTopicResponse] = field(doc="The results by topic.")


class ReassignableTopicResponse(Struct):
    """The results of one topic."""

    name: String = field(doc="Name of the topic.")
    partitions: list[ReassignablePartitionResponse] = field(doc="The results by partition.")


class ReassignablePartitionResponse(Struct):
    """The result of one partition."""

    partition_index: Int32 = field(doc="Index of the partition.")
    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(doc="What went wrong, in the broker's words, or null.")


__all__ = [
    "AlterPartitionReassignmentsRequest",
    "AlterPartitionReassignmentsResponse",
    "ReassignablePartition",
    "ReassignablePartitionResponse",
    "ReassignableTopic",
    "ReassignableTopicResponse",
]
