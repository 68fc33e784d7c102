"""ShareGroupDescribe (key 77): state and members of share groups (KIP-932)."""

from __future__ import annotations

from aiokafka_lite.protocol.messages._group_assignment import Assignment
from aiokafka_lite.schema.field_types import Bool, Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class ShareGroupDescribeRequest(
    Request["ShareGroupDescribeResponse"], api_key=77, versions="1", flexible="0+"
):
    """Asks for groups of one coordinator."""

    needs = "Kafka 4.1 (KIP-932)"

    group_ids: list[String] = field(doc="The groups.")
    include_authorized_operations: Bool = field(
        doc="True to get the operations that the client may do (KIP-430)."
    )


class ShareGroupDescribeResponse(Response, api_key=77, versions="1", flexible="0+"):
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
    assignment_epoch: Int32 = field(doc="The epoch of the assignment.")
    assignor_name: String = field(doc="The assignor of the broker in use.")
    members: list[Member] = field(doc="The members.")
    authorized_operations: Int32 = field(
        default=-(2**31),
        doc="A bit per operation that the client may do, or -2147483648 (KIP-430).",
    )


class Member(Struct):
    """One member."""

    member_id: String = field(doc="The member's id.")
    rack_id: String | None = field(default=None, doc="The member's rack, or null.")
    member_epoch: Int32 = field(doc="The member's epoch.")
    client_id: String = field(doc="The client's id.")
    client_host: String = field(doc="The client's address, after a slash.")
    subscribed_topic_names: list[String] = field(doc="The topics it subscribes to.")
    assignment: Assignment = field(doc="The partitions that the member reads.")


__all__ = ["DescribedGroup", "Member", "ShareGroupDescribeRequest", "ShareGroupDescribeResponse"]
