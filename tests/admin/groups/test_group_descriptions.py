"""Descriptions are read out of the responses of three APIs."""

from typing import Any

from aiokafka_lite import TopicPartition
from aiokafka_lite.admin import GroupDescription, MemberDescription
from aiokafka_lite.admin.groups.group_descriptions import (
    classic_group,
    consumer_group,
    share_group,
)
from aiokafka_lite.errors import GroupIdNotFound, NotCoordinatorForGroupError
from aiokafka_lite.protocol.consumer_protocol import ConsumerProtocolMemberAssignment
from aiokafka_lite.protocol.messages import (
    consumer_group_describe,
    describe_groups,
    share_group_describe,
)
from aiokafka_lite.protocol.messages._group_assignment import Assignment, TopicPartitions

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def assignment(*partitions: int) -> Assignment:
    return Assignment(
        topic_partitions=[TopicPartitions(topic_name="t", partitions=list(partitions))]
    )


def classic(protocol_type: str, data: bytes) -> GroupDescription | Exception:
    member = describe_groups.DescribedGroupMember(
        member_id="m", client_id="c", client_host="/h", member_assignment=data
    )
    group = describe_groups.DescribedGroup(
        group_id="g",
        group_state="Stable",
        protocol_type=protocol_type,
        protocol_data="range",
        members=[member],
    )
    return classic_group(group, 3)


def test_a_classic_group() -> None:
    data = ConsumerProtocolMemberAssignment(0, [("t", [0, 1])], None).encode()
    member = MemberDescription("m", None, "c", "/h", frozenset({T0, T1}))
    assert classic("consumer", data) == GroupDescription(
        "g", "classic", "Stable", (member,), "range", 3
    )


def test_bytes_that_are_no_assignment_stand_for_nothing() -> None:
    for protocol_type, data in (("consumer", b"x"), ("consumer", b""), ("connect", b"\0" * 20)):
        group = classic(protocol_type, data)
        assert isinstance(group, GroupDescription)
        assert group.members[0].assignment == frozenset()


def test_a_group_of_the_consumer_protocol() -> None:
    member = consumer_group_describe.Member(
        member_id="m",
        instance_id="one",
        client_id="c",
        client_host="/h",
        member_epoch=4,
        assignment=assignment(0),
        target_assignment=assignment(0, 1),
    )
    group = consumer_group_describe.DescribedGroup(
        group_id="g",
        group_state="Reconciling",
        group_epoch=5,
        assignor_name="uniform",
        members=[member],
    )
    expected = MemberDescription("m", "one", "c", "/h", frozenset({T0}), 4, frozenset({T0, T1}))
    assert consumer_group(group, 3) == GroupDescription(
        "g", "consumer", "Reconciling", (expected,), "uniform", 3, 5
    )


def test_a_share_group() -> None:
    member = share_group_describe.Member(
        member_id="m", client_id="c", client_host="/h", member_epoch=4, assignment=assignment(0)
    )
    group = share_group_describe.DescribedGroup(
        group_id="g", group_state="Stable", group_epoch=5, members=[member]
    )
    expected = MemberDescription("m", None, "c", "/h", frozenset({T0}), 4)
    assert share_group(group, 3) == GroupDescription(
        "g", "share", "Stable", (expected,), None, 3, 5
    )


def test_errors() -> None:
    dead = describe_groups.DescribedGroup(group_id="g", group_state="Dead")
    assert isinstance(classic_group(dead, 3), GroupIdNotFound)
    fields: dict[str, Any] = {"group_id": "g", "error_code": 16, "error_message": "moved"}
    for error in (
        classic_group(describe_groups.DescribedGroup(**fields), 3),
        consumer_group(consumer_group_describe.DescribedGroup(**fields), 3),
        share_group(share_group_describe.DescribedGroup(**fields), 3),
    ):
        assert isinstance(error, NotCoordinatorForGroupError)
        assert "group 'g': moved" in str(error)
