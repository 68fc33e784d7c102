"""A group at one moment."""

import pytest

from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.consumer_protocol import ConsumerProtocolMemberAssignment
from aiokafka_lite.testing.broker.state.groups.classic_group import GroupState
from aiokafka_lite.testing.broker.state.groups.group_offsets import GroupOffsets, StoredOffset
from aiokafka_lite.testing.broker.state.groups.group_view import GroupMemberView, GroupView, view_of
from tests.testing.broker.state.groups.served_groups import Served


def test_a_view_does_not_change_with_its_group() -> None:
    served, offsets = Served(), GroupOffsets(10)
    offsets.commit(TopicPartition("t", 0), StoredOffset(7))
    member_id = served.stable(group_instance_id="one")
    view = view_of(served.group, offsets, 3)
    assert view == GroupView(
        "g",
        GroupState.STABLE,
        1,
        "consumer",
        "range",
        member_id,
        3,
        {member_id: GroupMemberView(member_id, "one", "c", b"r", b"all")},
        {TopicPartition("t", 0): StoredOffset(7)},
    )
    served.membership.leave(member_id, "one")
    served.membership.left("test")
    offsets.forget_topic("t")
    assert list(view.members) == [member_id]
    assert len(view.offsets) == 1
    assert view_of(served.group, offsets, 3).state == "Empty"


def test_the_partitions_of_an_assignment() -> None:
    assignment = ConsumerProtocolMemberAssignment(0, [("t", [2, 0])], b"").encode()
    member = GroupMemberView("m", None, "c", b"", assignment)
    assert member.partitions() == [TopicPartition("t", 2), TopicPartition("t", 0)]
    assert GroupMemberView("m", None, "c", b"", b"").partitions() == []
    with pytest.raises(ProtocolDecodeError):
        GroupMemberView("m", None, "c", b"", b"x").partitions()


def test_a_group_that_does_not_exist_is_dead() -> None:
    view = GroupView("g")
    assert (view.state, view.generation_id, view.members, view.offsets) == ("Dead", -1, {}, {})
