"""Heartbeat (key 12): a member reports that it is alive, and learns whether the group rebalances.

v1 throttling; v3 static members (KIP-345); v4 flexible.
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response


class HeartbeatRequest(Request["HeartbeatResponse"], api_key=12, versions="0-4", flexible="4+"):
    """Keeps the member's session from expiring."""

    group_id: String = field(doc="The group.")
    generation_id: Int32 = field(doc="The generation the member joined.")
    member_id: String = field(doc="The member's id.")
    group_instance_id: String | None = field(
        versions="3+",
        default=None,
        needs="a static member (group_instance_id) needs Kafka 2.3 (KIP-345)",
        doc="The user's name of a static member, or null for a dynamic one (KIP-345).",
    )


class HeartbeatResponse(Response, api_key=12, versions="0-4", flexible="4+"):
    """The result: 0 if the member keeps its place in the group."""

    throttle_time_ms: Int32 = field(
        versions="1+",
        ignorable=True,
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219).",
    )
    error_code: Int16 = field(
        doc="0, or what happened; REBALANCE_IN_PROGRESS (27) asks the member to join again."
    )


__all__ = ["HeartbeatRequest", "HeartbeatResponse"]
