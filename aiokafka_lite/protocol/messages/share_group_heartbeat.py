"""ShareGroupHeartbeat (key 76): a member joins, stays in and leaves a share group (KIP-932)."""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int16, Int32, String, Uuid, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class ShareGroupHeartbeatRequest(
    Request["ShareGroupHeartbeatResponse"], api_key=76, versions="1", flexible="0+"
):
    """Tells the coordinator what has changed, and that the member is alive.

    A null field says that the value is as in the last heartbeat.
    """

    needs = "Kafka 4.1 (KIP-932)"

    group_id: String = field(doc="The group.")
    member_id: String = field(doc="The member's id, which the member makes and keeps.")
    member_epoch: Int32 = field(doc="The member's epoch; 0 to join, -1 to leave.")
    rack_id: String | None = field(default=None, doc="The member's rack, or null.")
    subscribed_topic_names: list[String] | None = field(
        default=None, doc="The topics it subscribes to, or null."
    )


class ShareGroupHeartbeatResponse(Response, api_key=76, versions="1", flexible="0+"):
    """The member's epoch, and its assignment if that has changed."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(
        default=None, doc="What went wrong, in the broker's words, or null."
    )
    member_id: String | None = field(default=None, doc="The member's id; null on an error.")
    member_epoch: Int32 = field(doc="The member's epoch.")
    heartbeat_interval_ms: Int32 = field(doc="Milliseconds until the next heartbeat.")
    assignment: Assignment | None = field(
        default=None, doc="What the member may read now, or null for no change."
    )


class Assignment(Struct):
    """Partitions by topic."""

    topic_partitions: list[TopicPartitions] = field(doc="The assigned partitions, by topic.")


class TopicPartitions(Struct):
    """Partitions of one topic."""

    topic_id: Uuid = field(doc="Id of the topic.")
    partitions: list[Int32] = field(doc="Indexes of the partitions.")


__all__ = [
    "Assignment",
    "ShareGroupHeartbeatRequest",
    "ShareGroupHeartbeatResponse",
    "TopicPartitions",
]
