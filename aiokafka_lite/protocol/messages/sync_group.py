"""SyncGroup (key 14): the leader sends the assignment of a generation, and each member gets its
own.

v1 throttling; v3 static members (KIP-345); v4 flexible; v5 the protocol's type and name, for both
sides to compare (KIP-559).
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Bytes, Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class SyncGroupRequest(Request["SyncGroupResponse"], api_key=14, versions="0-5", flexible="4+"):
    """Asks for the member's assignment.

    The coordinator answers once the leader has sent the assignment.
    """

    protocol_since = 5
    """The first version that must have the protocol's type and name (KIP-559)."""

    group_id: String = field(doc="The group.")
    generation_id: Int32 = field(doc="The generation the member joined.")
    member_id: String = field(doc="The member's id.")
    group_instance_id: String | None = field(
        versions="3+",
        default=None,
        needs="a static member (group_instance_id) needs Kafka 2.3 (KIP-345)",
        doc="The user's name of a static member, or null for a dynamic one (KIP-345).",
    )
    protocol_type: String | None = field(
        versions="5+",
        default=None,
        ignorable=True,
        doc="The type of group that the member expects (KIP-559).",
    )
    protocol_name: String | None = field(
        versions="5+",
        default=None,
        ignorable=True,
        doc="The assignor that the member believes was chosen (KIP-559).",
    )
    assignments: list[SyncGroupRequestAssignment] = field(
        doc="Every member's part from the leader, empty from the others."
    )


class SyncGroupRequestAssignment(Struct):
    """One member's share of the partitions."""

    member_id: String = field(doc="The member it is for.")
    assignment: Bytes = field(doc="The member's partitions, opaque to the coordinator.")


class SyncGroupResponse(Response, api_key=14, versions="0-5", flexible="4+"):
    """The member's share of the assignment."""

    throttle_time_ms: Int32 = field(
        versions="1+",
        ignorable=True,
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219).",
    )
    error_code: Int16 = field(doc="0, or an error code.")
    protocol_type: String | None = field(
        versions="5+",
        default=None,
        ignorable=True,
        doc="The type of the group, which the member compares (KIP-559).",
    )
    protocol_name: String | None = field(
        versions="5+",
        default=None,
        ignorable=True,
        doc="The assignor of the generation, which the member compares (KIP-559).",
    )
    assignment: Bytes = field(
        doc="The member's partitions as its leader wrote them; empty if it got none."
    )


__all__ = ["SyncGroupRequest", "SyncGroupRequestAssignment", "SyncGroupResponse"]
