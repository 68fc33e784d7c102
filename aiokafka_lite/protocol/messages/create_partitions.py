"""CreatePartitions (key 37): raises the number of a topic's partitions (KIP-195).

v2 flexible; v3 quota errors (KIP-599).
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Bool, Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class CreatePartitionsRequest(
    Request["CreatePartitionsResponse"], api_key=37, versions="0-3", flexible="2+"
):
    """Asks for more partitions."""

    topics: list[CreatePartitionsTopic] = field(doc="The topics to grow.")
    timeout_ms: Int32 = field(doc="Milliseconds to wait until the partitions exist.")
    validate_only: Bool = field(doc="Only check, change nothing.")


class CreatePartitionsTopic(Struct):
    """One topic and its new number of partitions."""

    name: String = field(doc="Name of the topic.")
    count: Int32 = field(doc="Partitions the topic shall have in all.")
    assignments: list[CreatePartitionsAssignment] | None = field(
        doc="Replicas of each new partition, or null to leave it to the broker."
    )


class CreatePartitionsAssignment(Struct):
    """The brokers chosen by hand for one new partition."""

    broker_ids: list[Int32] = field(doc="The brokers, the preferred leader first.")


class CreatePartitionsResponse(Response, api_key=37, versions="0-3", flexible="2+"):
    """The result of each topic."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    results: list[CreatePartitionsTopicResult] = field(doc="The results, by topic.")


class CreatePartitionsTopicResult(Struct):
    """The result for one topic."""

    name: String = field(doc="Name of the topic.")
    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(
        default=None, doc="What went wrong, in the broker's words, or null."
    )


__all__ = [
    "CreatePartitionsAssignment",
    "CreatePartitionsRequest",
    "CreatePartitionsResponse",
    "CreatePartitionsTopic",
    "CreatePartitionsTopicResult",
]
