"""Reads descriptions of groups out of the responses of the three describing APIs. Does not wait."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from aiokafka_lite.admin.calls.outcomes import broker_error
from aiokafka_lite.admin.groups.group_values import GroupDescription, MemberDescription
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import GroupIdNotFound, KafkaError, ProtocolDecodeError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.consumer_protocol import (
    ConsumerProtocol,
    ConsumerProtocolMemberAssignment,
)
from aiokafka_lite.protocol.messages import (
    consumer_group_describe,
    describe_groups,
    share_group_describe,
)
from aiokafka_lite.protocol.messages._group_assignment import Assignment

DEAD: Final = "Dead"
"""The state that DescribeGroups before version 6 tells of a group that it does not know."""


def classic_group(
    group: describe_groups.DescribedGroup, coordinator: int
) -> GroupDescription | KafkaError:
    """Return a classic group, or its error. Brokers before 4.0 say Dead for no such group."""
    error = broker_error(group.error_code, group.error_message, f"group {quoted(group.group_id)}")
    if error is not None:
        return error
    if group.group_state == DEAD:
        return GroupIdNotFound(f"group {quoted(group.group_id)} does not exist")
    return GroupDescription(
        group_id=group.group_id,
        type="classic",
        state=group.group_state,
        members=tuple(
            MemberDescription(
                member_id=each.member_id,
                group_instance_id=each.group_instance_id,
                client_id=each.client_id,
                client_host=each.client_host,
                assignment=_decoded(group.protocol_type, each.member_assignment),
            )
            for each in group.members
        ),
        assignor=group.protocol_data or None,
        coordinator=coordinator,
    )


def consumer_group(
    group: consumer_group_describe.DescribedGroup, coordinator: int
) -> GroupDescription | KafkaError:
    """Return a group of the consumer protocol (KIP-848), or its error."""
    members = (
        MemberDescription(
            member_id=each.member_id,
            group_instance_id=each.instance_id,
            client_id=each.client_id,
            client_host=each.client_host,
            assignment=_partitions(each.assignment),
            member_epoch=each.member_epoch,
            target_assignment=_partitions(each.target_assignment),
            rack_id=each.rack_id or None,
        )
        for each in group.members
    )
    return _with_epoch("consumer", group, members, coordinator)


def share_group(
    group: share_group_describe.DescribedGroup, coordinator: int
) -> GroupDescription | KafkaError:
    """Return a share group (KIP-932), or its error."""
    members = (
        MemberDescription(
            member_id=each.member_id,
            group_instance_id=None,
            client_id=each.client_id,
            client_host=each.client_host,
            assignment=_partitions(each.assignment),
            member_epoch=each.member_epoch,
            rack_id=each.rack_id or None,
        )
        for each in group.members
    )
    return _with_epoch("share", group, members, coordinator)


def _with_epoch(
    kind: str,
    group: consumer_group_describe.DescribedGroup | share_group_describe.DescribedGroup,
    members: Iterable[MemberDescription],
    coordinator: int,
) -> GroupDescription | KafkaError:
    error = broker_error(group.error_code, group.error_message, f"group {quoted(group.group_id)}")
    if error is not None:
        return error
    return GroupDescription(
        group_id=group.group_id,
        type=kind,
        state=group.group_state,
        members=tuple(members),
        assignor=group.assignor_name or None,
        coordinator=coordinator,
        group_epoch=group.group_epoch,
    )


def _decoded(protocol_type: str, data: bytes) -> frozenset[TopicPartition]:
    if protocol_type != ConsumerProtocol.PROTOCOL_TYPE or not data:
        return frozenset()
    try:
        return frozenset(ConsumerProtocolMemberAssignment.decode(data).partitions())
    except ProtocolDecodeError:  # an assignor of a user may write what it likes
        return frozenset()


def _partitions(assignment: Assignment) -> frozenset[TopicPartition]:
    return frozenset(
        TopicPartition(topic.topic_name, index)
        for topic in assignment.topic_partitions
        for index in topic.partitions
    )


__all__ = ["DEAD", "classic_group", "consumer_group", "share_group"]
