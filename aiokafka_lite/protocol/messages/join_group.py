"""JoinGroup (key 11): a member joins a group, or joins again when the group rebalances.

v1 a separate rebalance timeout (KIP-62); v2 throttling; v4 a new member receives its id and asks
again (KIP-394); v5 static members (KIP-345); v6 flexible; v7 the protocol type in the response
(KIP-559); v8 the reason (KIP-800); v9 a leader that must not assign (KIP-814).
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Bool, Bytes, Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class JoinGroupRequest(Request["JoinGroupResponse"], api_key=11, versions="0-9", flexible="6+"):
    """Asks for membership in the group's next generation.

    The coordinator answers once that generation has formed.
    """

    rebalance_timeout_since = 1
    """The first version that has a rebalance timeout of its own (KIP-62)."""
    static_members_since = 5
    """The first version with static members (KIP-345)."""
    member_id_required_since = 4
    """The first version that makes a new member ask again with its member id (KIP-394)."""
    null_protocol_since = 7
    """The first version that may answer without the name of a protocol (KIP-559)."""
    skip_assignment_since = 9
    """The first version that can tell a leader not to assign (KIP-814)."""

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
        needs="a static member (group_instance_id) needs Kafka 2.3 (KIP-345)",
        doc="The user's name of a static member, or null for a dynamic one (KIP-345).",
    )
    protocol_type: String = field(doc='The type of the group: "consumer" for consumers.')
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
    """One assignor, with this member's subscription for it."""

    name: String = field(doc="Name of the assignor, such as range.")
    metadata: Bytes = field(doc="The member's subscription, opaque to the coordinator.")


class JoinGroupResponse(Response, api_key=11, versions="0-9", flexible="6+"):
    """The generation that formed. Only its leader receives the members."""

    throttle_time_ms: Int32 = field(
        versions="2+",
        ignorable=True,
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219).",
    )
    error_code: Int16 = field(doc="0, or an error code.")
    generation_id: Int32 = field(default=-1, doc="Number of the generation, or -1 on an error.")
    protocol_type: String | None = field(
        versions="7+",
        default=None,
        ignorable=True,
        doc="The type of the group, which the member compares (KIP-559).",
    )
    protocol_name: String | None = field(
        nullable="7+", doc="The assignor all members know; null from v7 on if there is none."
    )
    leader: String = field(doc="Member id of the leader, who computes the assignment.")
    skip_assignment: Bool = field(
        versions="9+",
        doc="True if the leader is a returning static member and must not assign anew (KIP-814).",
    )
    member_id: String = field(doc="The id of this member. On error 79 it joins again with this id.")
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
    metadata: Bytes = field(doc="The member's subscription for the chosen assignor.")


__all__ = [
    "JoinGroupRequest",
    "JoinGroupRequestProtocol",
    "JoinGroupResponse",
    "JoinGroupResponseMember",
]
