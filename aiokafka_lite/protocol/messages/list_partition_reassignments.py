"""ListPartitionReassignments (key 46): the reassignments that have not ended (KIP-455).

Flexible from its first version.
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class ListPartitionReassignmentsRequest(
    Request["ListPartitionReassignmentsResponse"], api_key=46, versions="0", flexible="0+"
):
    """Asks for reassignments, of some partitions or of all."""

    needs = "Kafka 2.4 (KIP-455)"

    timeout_ms: Int32 = field(
        default=60_000, doc="Milliseconds the controller may take for the request."
    )
    topics: list[ListPartitionReassignmentsTopics] | None = field(
        default=None, doc="The topics, or null for all."
    )


class ListPartitionReassignmentsTopics(Struct):
    """The partitions of one topic."""

    name: String = field(doc="Name of the topic.")
    partition_indexes: list[Int32] = field(doc="Indexes of the partitions.")


class ListPartitionReassignmentsResponse(Response, api_key=46, versions="0", flexible="0+"):
    """The reassignments that have not ended. Other partitions are left out."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    error_code: Int16 = field(doc="0, or an error code for the whole request.")
    error_message: String | None = field(doc="What went wrong, in the broker's words, or null.")
    topics: list[OngoingTopicReassignment] = field(doc="The reassignments by topic.")


class OngoingTopicReassignment(Struct):
    """The reassignments of one topic."""

    name: String = field(doc="Name of the topic.")
    partitions: list[OngoingPartitionReassignment] = field(doc="The reassignments by partition.")


class OngoingPartitionReassignment(Struct):
    """The reassignment of one partition."""

    partition_index: Int32 = field(doc="Index of the partition.")
    replicas: list[Int32] = field(doc="The brokers that have a replica now, added ones included.")
    adding_replicas: list[Int32] = field(doc="The brokers that are being added.")
    removing_replicas: list[Int32] = field(doc="The brokers that will be removed.")


__all__ = [
    "ListPartitionReassignmentsRequest",
    "ListPartitionReassignmentsResponse",
    "ListPartitionReassignmentsTopics",
    "OngoingPartitionReassignment",
    "OngoingTopicReassignment",
]
