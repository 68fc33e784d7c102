"""ElectLeaders (key 43): makes replicas the leaders of partitions (KIP-183).

v1 unclean elections and an error of the whole response (KIP-460); v2 flexible.
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int8, Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class ElectLeadersRequest(
    Request["ElectLeadersResponse"], api_key=43, versions="0-2", flexible="2+"
):
    """Asks for elections."""

    needs = "Kafka 2.2 (KIP-183)"

    election_type_since = 1
    """The first version that asks for unclean elections (KIP-460)."""

    election_type: Int8 = field(
        versions="1+",
        needs="an unclean election needs Kafka 2.4 (KIP-460)",
        doc="0 elects the preferred replica, 1 a live one if no replica in sync is left.",
    )
    topic_partitions: list[TopicPartitions] | None = field(
        doc="The partitions by topic, or null for all."
    )
    timeout_ms: Int32 = field(
        default=60_000, doc="Milliseconds the controller may take for the elections."
    )


class TopicPartitions(Struct):
    """The partitions of one topic."""

    topic: String = field(doc="Name of the topic.")
    partitions: list[Int32] = field(doc="The partitions that shall elect a leader.")


class ElectLeadersResponse(Response, api_key=43, versions="0-2", flexible="2+"):
    """What became of the elections."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    error_code: Int16 = field(versions="1+", doc="0, or an error code for the whole request.")
    replica_election_results: list[ReplicaElectionResult] = field(
        doc="The results by topic. Empty without the right, when all partitions were asked for."
    )


class ReplicaElectionResult(Struct):
    """The results of one topic."""

    topic: String = field(doc="Name of the topic.")
    partition_result: list[PartitionResult] = field(doc="The results by partition.")


class PartitionResult(Struct):
    """The result of one partition."""

    partition_id: Int32 = field(doc="Index of the partition.")
    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(doc="What went wrong, in the broker's words, or null.")


__all__ = [
    "ElectLeadersRequest",
    "ElectLeadersResponse",
    "PartitionResult",
    "ReplicaElectionResult",
    "TopicPartitions",
]
