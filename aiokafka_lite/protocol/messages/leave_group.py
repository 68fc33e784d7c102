"""LeaveGroup (key 13): members leave, so the group need not wait for their sessions to expire.

v1 throttling; v3 several members at once, static ones by name (KIP-345), which replaces the single
member id; v4 flexible; v5 the reason (KIP-800).
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class LeaveGroupRequest(Request["LeaveGroupResponse"], api_key=13, versions="0-5", flexible="4+"):
    """Removes one member from the group or, from v3, several."""

    members_since = 3
    """The first version that has a list of members in place of one member id (KIP-345)."""

    group_id: String = field(doc="The group to leave.")
    member_id: String = field(versions="0-2", doc="The leaving member.")
    members: list[MemberIdentity] = field(
        versions="3+",
        needs="removing a member by its instance id needs Kafka 2.4 (KIP-345)",
        doc="The leaving members (KIP-345).",
    )


class MemberIdentity(Struct):
    """A leaving member (KIP-345)."""

    member_id: String = field(
        doc="The member's id; empty when an administrator removes a static member by name."
    )
    group_instance_id: String | None = field(
        default=None, doc="The user's name of a static member, or null for a dynamic one."
    )
    reason: String | None = field(
        versions="5+",
        default=None,
        ignorable=True,
        doc="Why the member leaves, for the broker's log (KIP-800).",
    )


class LeaveGroupResponse(Response, api_key=13, versions="0-5", flexible="4+"):
    """The result of the removal."""

    throttle_time_ms: Int32 = field(
        versions="1+",
        ignorable=True,
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219).",
    )
    error_code: Int16 = field(doc="0, or an error code.")
    members: list[MemberResponse] = field(versions="3+", doc="One entry per member (KIP-345).")


class MemberResponse(Struct):
    """The result for one member (KIP-345)."""

    member_id: String = field(doc="The id the request gave.")
    group_instance_id: String | None = field(doc="The name the request gave, or null (KIP-345).")
    error_code: Int16 = field(doc="0, or why this member could not be removed.")


__all__ = ["LeaveGroupRequest", "LeaveGroupResponse", "MemberIdentity", "MemberResponse"]
