"""JoinGroup (key 11): a member comes into a group, or back into it when the group rebalances.

v1 the rebalance timeout of its own (KIP-62); v2 throttling; v4 a new member is told its id and asks
again (KIP-394); v5 static members (KIP-345); v6 flexible; v7 the protocol type in the answer
(KIP-559); v8 the reason (KIP-800); v9 a leader that must not assign (KIP-814).
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Bool, Bytes, Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class JoinGroupRequest(Request["JoinGroupResponse"], api_key=11, versions="0-9", flexible="6+"):
    """Asks to be a member of the group's next generation; answered when that has formed."""

    group_id: String = field(doc="The group to join.")
    session_timeout_ms: Int32 = field(
        doc="Milliseconds without a heartbeat after which the coordinator drops the member."
    )
    rebalance_timeout_ms: Int32 = field(
        versions="1+",
        default=-1,
        ignorable=True,
        doc="Milliseconds the others have to join again; v0 takes the session timeout (KIP-62).",
    )
    member_id: String = field(
        doc="The id the coordinator gave this member, or empty for a new one (KIP-394)."
    )
    group_instance_id: String | None = field(
        versions="5+",
        default=None,
        doc="The user's name of a static member, or null for a dynamic one (KIP-345).",
    )
    protocol_type: String = field(doc="What kind of group it is: consumer for consumers.")
    protocols: list[JoinGroupRequestProtocol] = field(
        doc="The assignors this member can work with, the preferred one first."
    )
    reason: String | None = field(
        versions="8+",
        default=None,
        ignorable=True,
        doc="Why the member joins, for the broker's log (KIP-800).",
    )


class JoinGroupRequestProtocol(Struct):
    """One assignor and what this member tells it."""

    name: String = field(doc="Name of the assignor, such as range.")
    metadata: Bytes = field(doc="The member's subscription, opaque to the coordinator.")


class JoinGroupResponse(Response, api_key=11, versions="0-9", flexible="6+"):
    """The generation that formed; only its leader is told the members."""

    throttle_time_ms: Int32 = field(
        versions="2+",
        ignorable=True,
        doc="Milliseconds the client should stay silent for a quota it exceeded, or 0 (KIP-219).",
    )
    error_code: Int16 = field(doc="0, or the error that stands in place of a result.")
    generation_id: Int32 = field(default=-1, doc="Number of the generation, or -1 on an error.")
    protocol_type: String | None = field(
        versions="7+",
        default=None,
        ignorable=True,
        doc="What kind of group it is, for the member to compare (KIP-559).",
    )
    protocol_name: String | None = field(
        nullable="7+", doc="The assignor all members know; null from v7 where there is none."
    )
    leader: String = field(doc="Member id of the leader, who computes the assignment.")
    skip_assignment: Bool = field(
        versions="9+",
        doc="True where a static leader came back and must not assign anew (KIP-814).",
    )
    member_id: String = field(doc="The id of this member, the one to join with on an error 79.")
    members: list[JoinGroupResponseMember] = field(
        doc="All members for the leader, empty for the others."
    )


class JoinGroupResponseMember(Struct):
    """A member as the leader sees it."""

    member_id: String = field(doc="The member's id.")
    group_instance_id: String | None = field(
        versions="5+",
        default=None,
        ignorable=True,
        doc="The user's name of a static member, or null (KIP-345).",
    )
    metadata: Bytes = field(doc="What the member told the assignor that was chosen.")


__all__ = [
    "JoinGroupRequest",
    "JoinGroupRequestProtocol",
    "JoinGroupResponse",
    "JoinGroupResponseMember",
]
