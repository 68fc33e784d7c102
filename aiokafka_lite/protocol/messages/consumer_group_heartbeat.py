"""ConsumerGroupHeartbeat (key 68): a member joins, stays in and leaves a group of KIP-848.

v1 topics by a pattern of the broker, and member ids that only the member makes (KIP-1082).
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int16, Int32, String, Uuid, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class ConsumerGroupHeartbeatRequest(
    Request["ConsumerGroupHeartbeatResponse"], api_key=68, versions="0-1", flexible="0+"
):
    """Tells the coordinator what has changed, and that the member is alive.

    A null field, or -1, says that the value is as in the last heartbeat.
    """

    needs = "Kafka 4.0 (KIP-848)"

    regex_since = 1
    """The first version that can subscribe by a pattern of the broker (KIP-848)."""
    own_member_id_since = 1
    """The first version in which only the member makes its id (KIP-1082)."""

    group_id: String = field(doc="The group.")
    member_id: String = field(doc="The member's id, which the member makes and keeps.")
    member_epoch: Int32 = field(
        doc="The member's epoch; 0 to join, -1 to leave, -2 for a static member that will return."
    )
    instance_id: String | None = field(
        default=None, doc="The user's name of a static member, or null."
    )
    rack_id: String | None = field(default=None, doc="The member's rack, or null.")
    rebalance_timeout_ms: Int32 = field(
        default=-1, doc="Milliseconds that the member may take to give up partitions, or -1."
    )
    subscribed_topic_names: list[String] | None = field(
        default=None, doc="The topics it subscribes to, or null."
    )
    subscribed_topic_regex: String | None = field(
        versions="1+",
        default=None,
        needs="a SubscriptionPattern needs Kafka 4.0 (KIP-848)",
        doc="The pattern of topics it subscribes to, or null.",
    )
    server_assignor: String | None = field(
        default=None, doc="The assignor of the broker that the member wants, or null."
    )
    topic_partitions: list[TopicPartitions] | None = field(
        default=None, doc="The partitions that the member owns, or null."
    )


class TopicPartitions(Struct):
    """Partitions of one topic."""

    topic_id: Uuid = field(doc="Id of the topic.")
    partitions: list[Int32] = field(doc="Indexes of the partitions.")


class ConsumerGroupHeartbeatResponse(Response, api_key=68, versions="0-1", flexible="0+"):
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
        default=None, doc="What the member may own now, or null for no change."
    )


class Assignment(Struct):
    """Partitions by topic."""

    topic_partitions: list[TopicPartitions] = field(doc="The assigned partitions, by topic.")


__all__ = [
    "Assignment",
    "ConsumerGroupHeartbeatRequest",
    "ConsumerGroupHeartbeatResponse",
    "TopicPartitions",
]
