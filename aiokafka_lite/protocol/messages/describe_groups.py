"""DescribeGroups (key 15): state and members of classic groups.

v1 throttling; v3 the operations that the client may do (KIP-430); v4 static members (KIP-345); v5
flexible; v6 GROUP_ID_NOT_FOUND, with a text, for a group that does not exist (KIP-1043).
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Bool, Bytes, Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class DescribeGroupsRequest(
    Request["DescribeGroupsResponse"], api_key=15, versions="0-6", flexible="5+"
):
    """Asks for groups of one coordinator."""

    operations_since = 3
    """The first version that can return the operations that the client may do (KIP-430)."""
    not_found_since = 6
    """The first version that has an error for a group that does not exist (KIP-1043)."""

    groups: list[String] = field(doc="The groups.")
    include_authorized_operations: Bool = field(
        versions="3+",
        needs="the authorized operations of a group need Kafka 2.3 (KIP-430)",
        doc="True to get the operations that the client may do (KIP-430).",
    )


class DescribeGroupsResponse(Response, api_key=15, versions="0-6", flexible="5+"):
    """The groups."""

    throttle_time_ms: Int32 = field(
        versions="1+",
        ignorable=True,
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219).",
    )
    groups: list[DescribedGroup] = field(doc="One entry per group.")


class DescribedGroup(Struct):
    """One group, or why it could not be described."""

    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(
        versions="6+", default=None, doc="What went wrong, in the broker's words, or null."
    )
    group_id: String = field(doc="The group.")
    group_state: String = field(doc="The state, such as Stable; Dead for no such group.")
    protocol_type: String = field(doc="What the members are, such as consumer; may be empty.")
    protocol_data: String = field(doc="The protocol in use, an assignor; may be empty.")
    members: list[DescribedGroupMember] = field(doc="The members.")
    authorized_operations: Int32 = field(
        versions="3+",
        default=-(2**31),
        doc="A bit per operation that the client may do, or -2147483648 (KIP-430).",
    )


class DescribedGroupMember(Struct):
    """One member; its bytes are empty unless the group is stable."""

    member_id: String = field(doc="The member's id.")
    group_instance_id: String | None = field(
        versions="4+",
        default=None,
        ignorable=True,
        doc="The user's name of a static member, or null for a dynamic one (KIP-345).",
    )
    client_id: String = field(doc="The client's id in its JoinGroup.")
    client_host: String = field(doc="The client's address, after a slash.")
    member_metadata: Bytes = field(doc="The member's data for the protocol in use.")
    member_assignment: Bytes = field(doc="What the leader assigned to the member.")


__all__ = [
    "DescribeGroupsRequest",
    "DescribeGroupsResponse",
    "DescribedGroup",
    "DescribedGroupMember",
]
