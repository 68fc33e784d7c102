"""What aiokafka's `describe_consumer_groups` returns: DescribeGroups responses. Does not wait."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

from aiokafka_lite.admin.calls.raw_answer import RawAnswer
from aiokafka_lite.protocol.consumer_protocol import (
    ConsumerProtocol,
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberMetadata,
)
from aiokafka_lite.protocol.messages import consumer_group_describe
from aiokafka_lite.protocol.messages.describe_groups import DescribedGroup


class DescribedMember(NamedTuple):
    """One member, in bytes as its group has them."""

    member_id: str
    client_id: str
    client_host: str
    member_metadata: bytes
    """The member's subscription; see `aiokafka_lite.ConsumerProtocolMemberMetadata`."""
    member_assignment: bytes
    """The member's partitions; see `aiokafka_lite.ConsumerProtocolMemberAssignment`."""


class _GroupFields(NamedTuple):
    error_code: int
    group: str
    state: str
    protocol_type: str
    protocol: str
    members: list[DescribedMember]


class DescribedGroupRow(_GroupFields):
    """One group. `authorized_operations` is an attribute outside the tuple, as aiokafka's rows have
    six fields.
    """

    authorized_operations: int
    """A bit for each AclOperation that the client may do; -2147483648 if not asked for."""

    @classmethod
    def of(cls, group: DescribedGroup) -> Self:
        """Return the row of a group in a response."""
        row = cls(
            group.error_code,
            group.group_id,
            group.group_state,
            group.protocol_type,
            group.protocol_data,
            [
                DescribedMember(
                    each.member_id,
                    each.client_id,
                    each.client_host,
                    each.member_metadata,
                    each.member_assignment,
                )
                for each in group.members
            ],
        )
        row.authorized_operations = group.authorized_operations
        return row

    @classmethod
    def of_consumer_group(cls, group: consumer_group_describe.DescribedGroup) -> Self:
        """Return the row of a group of the consumer protocol (KIP-848), as of a classic group.

        Subscriptions and assignments are in the bytes of classic members.
        """
        row = cls(
            group.error_code,
            group.group_id,
            group.group_state,
            ConsumerProtocol.PROTOCOL_TYPE,
            group.assignor_name,
            [
                DescribedMember(
                    each.member_id,
                    each.client_id,
                    each.client_host,
                    ConsumerProtocolMemberMetadata(0, each.subscribed_topic_names, b"").encode(),
                    ConsumerProtocolMemberAssignment(
                        0,
                        [
                            (topic.topic_name, topic.partitions)
                            for topic in each.assignment.topic_partitions
                        ],
                        b"",
                    ).encode(),
                )
                for each in group.members
            ],
        )
        row.authorized_operations = group.authorized_operations
        return row


@dataclass(frozen=True)
class DescribeGroupsAnswer(RawAnswer):
    """The groups of one coordinator."""

    groups: list[DescribedGroupRow]
    """One row for each group; one that does not exist has the state "Dead" and no error_code."""


__all__ = ["DescribeGroupsAnswer", "DescribedGroupRow", "DescribedMember"]
