"""ConsumerGroupDescribe (key 69): groups of the protocol of KIP-848. v1 the type of each member
(KIP-1099).
"""

from __future__ import annotations

from aiokafka_lite.protocol.messages._group_assignment import Assignment
from aiokafka_lite.schema.field_types import Bool, Int8, Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class ConsumerGroupDescribeRequest(
    Request["ConsumerGroupDescribeResponse"], api_key=69, versions="0-1", flexible="0+"
):
    """Asks for groups of one coordinator."""

    needs = "Kafka 4.0 (KIP-848)"

    group_ids: list[String] = field(doc="The groups.")
    include_authorized_operations: Bool = field(
        doc="True to get the operations that the client may do (KIP-430)."
    )


class ConsumerGroupDescribeResponse(Response, api_key=69, versions="0-1", flexible="0+"):
    """The groups."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    groups: list[DescribedGroup] = field(doc="One entry per group.")


class DescribedGroup(Struct):
    """One group, or why it could not be described."""

    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(
        default=None, doc="What went wrong, in the broker's words, or null."
    )
    group_id: String = field(doc="The group.")
    group_state: String = field(doc="The state, such as Stable; may be empty.")
    group_epoch: Int32 = field(doc="The group's epoch.")
    assignment_epoch: Int32 = field(doc="The epoch of the target assignment.")
    assignor_name: String = field(doc="The assignor of the broker in use.")
    members: list[Member] = field(doc="The members.")
    authorized_operations: Int32 = field(
        default=-(2**31),
        doc="A bit per operation that the client may do, or -2147483648 (KIP-430).",
    )


class Member(Struct):
    """One member."""

    member_id: String = field(doc="The member's id.")
    instance_id: String | None = field(
        default=None, doc="The user's name of a static member, or null for a dynamic one."
    )
    rack_id: String | None = field(default=None, doc="The member's rack, or null.")
    member_epoch: Int32 = field(doc="The member's epoch.")
    client_id: String = field(doc="The client's id.")
    client_host: String = field(doc="The client's address, after a slash.")
    subscribed_topic_names: list[String] = field(doc="The topics it subscribes to.")
    subscribed_topic_regex: String | None = field(
        default=None, doc="The pattern of topics it subscribes to, or null."
    )
    assignment: Assignment = field(doc="What the member owns.")
    target_assignment: Assignment = field(doc="What the member is to own.")
    member_type: Int8 = field(
        versions="1+",
        default=-1,
        ignorable=True,
        doc="-1 unknown; 0 a member of the classic protocol; 1 of the newer one (KIP-1099).",
    )


__all__ = [
    "ConsumerGroupDescribeRequest",
    "ConsumerGroupDescribeResponse",
    "DescribedGroup",
    "Member",
]
