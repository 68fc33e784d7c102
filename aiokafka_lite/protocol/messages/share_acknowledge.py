"""ShareAcknowledge (key 79): a member of a share group tells what became of records (KIP-932).

v2 acquired records can be renewed (KIP-1222).
"""

from __future__ import annotations

from aiokafka_lite.protocol.messages._leader import NodeEndpoint
from aiokafka_lite.protocol.messages._share import AcknowledgementBatch, LeaderIdAndEpoch
from aiokafka_lite.schema.field_types import Bool, Int16, Int32, String, Uuid, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class ShareAcknowledgeRequest(
    Request["ShareAcknowledgeResponse"], api_key=79, versions="1-2", flexible="0+"
):
    """Acknowledges records within a share session."""

    needs = "Kafka 4.1 (KIP-932)"

    renew_since = 2
    """The first version that can renew acquired records (KIP-1222)."""

    group_id: String | None = field(default=None, doc="The group.")
    member_id: String | None = field(doc="The member's id.")
    share_session_epoch: Int32 = field(
        doc="Counts the requests of a share session; -1 closes it, and 0 is refused."
    )
    is_renew_ack: Bool = field(
        versions="2+",
        default=False,
        needs="renewing the lock of a record needs Kafka 4.2 (KIP-1222)",
        doc="True if a record is renewed (KIP-1222).",
    )
    topics: list[AcknowledgeTopic] = field(doc="What to acknowledge, by topic.")


class AcknowledgeTopic(Struct):
    """Partitions of one topic."""

    topic_id: Uuid = field(doc="Id of the topic.")
    partitions: list[AcknowledgePartition] = field(doc="The partitions.")


class AcknowledgePartition(Struct):
    """What is acknowledged of one partition."""

    partition_index: Int32 = field(doc="Index of the partition.")
    acknowledgement_batches: list[AcknowledgementBatch] = field(doc="Records to acknowledge.")


class ShareAcknowledgeResponse(Response, api_key=79, versions="1-2", flexible="0+"):
    """Whether each partition has taken what was acknowledged."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    error_code: Int16 = field(doc="0, or an error about the whole session or request.")
    error_message: String | None = field(
        default=None, doc="What went wrong, in the broker's words, or null."
    )
    acquisition_lock_timeout_ms: Int32 = field(
        versions="2+", ignorable=True, doc="Milliseconds for which acquired records are locked."
    )
    responses: list[ShareAcknowledgeTopicResponse] = field(doc="The results, by topic.")
    node_endpoints: list[NodeEndpoint] = field(doc="Addresses of the leaders in these results.")


class ShareAcknowledgeTopicResponse(Struct):
    """The results for one topic."""

    topic_id: Uuid = field(doc="Id of the topic.")
    partitions: list[PartitionData] = field(doc="The results, by partition.")


class PartitionData(Struct):
    """One partition's result."""

    partition_index: Int32 = field(doc="Index of the partition.")
    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(
        default=None, doc="What went wrong, in the broker's words, or null."
    )
    current_leader: LeaderIdAndEpoch = field(
        doc="The leader to use from now on, sent with a leader error."
    )


__all__ = [
    "AcknowledgePartition",
    "AcknowledgeTopic",
    "PartitionData",
    "ShareAcknowledgeRequest",
    "ShareAcknowledgeResponse",
    "ShareAcknowledgeTopicResponse",
]
