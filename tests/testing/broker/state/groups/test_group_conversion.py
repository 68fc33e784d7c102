"""What becomes of members when their group changes its protocol."""

import pytest

from aiokafka_lite.errors import GroupIdNotFound
from aiokafka_lite.protocol.consumer_protocol import (
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberMetadata,
)
from aiokafka_lite.testing.broker.state.groups.classic_group import ClassicGroup, GroupState
from aiokafka_lite.testing.broker.state.groups.consumer_group_member import TopicIdPartition
from aiokafka_lite.testing.broker.state.groups.group_conversion import (
    classic_group_of,
    consumer_group_of,
)
from aiokafka_lite.testing.broker.state.groups.group_member import GroupMember
from tests.testing.broker.bench import Bench


def told(version: int = 2, rack: str | None = None) -> bytes:
    return ConsumerProtocolMemberMetadata(version, ["t"], b"", rack_id=rack).encode()


def given(*partitions: int, topic: str = "t", data: bytes | None = None) -> bytes:
    return ConsumerProtocolMemberAssignment(2, [(topic, [*partitions])], data).encode()


def classic(assignment: bytes, metadata: bytes = told(3, "r1")) -> ClassicGroup:
    """A stable group "g" in generation 7 with one static member."""
    group = ClassicGroup("g")
    group.generation_id, group.protocol_name, group.state = 7, "range", GroupState.STABLE
    group.add(
        GroupMember(
            "m", "i", "app", "consumer", {"range": metadata}, 9000, 60_000, "host", assignment
        )
    )
    return group


def test_a_member_keeps_what_it_is_and_what_it_has() -> None:
    bench = Bench()
    topic = bench.topic("t", 2)
    group = consumer_group_of(classic(given(1)), ["uniform"], bench.cluster.topics)
    assert (group.group_epoch, group.target_epoch, group.state) == (7, 7, GroupState.STABLE)
    (member,) = group.members.values()
    assert (member.member_id, member.instance_id, member.rack_id) == ("m", "i", "r1")
    assert (member.client_id, member.client_host, member.epoch) == ("app", "host", 7)
    assert (member.topics, member.rebalance_timeout_ms) == ({"t"}, 60_000)
    assert member.classic is not None
    assert member.classic.session_timeout_ms == 9000
    assert member.assigned == {TopicIdPartition(topic.topic_id, 1): 7}
    back = classic_group_of(group, bench.cluster.topic_name)
    assert (back.generation_id, back.protocol_name, back.state) == (7, "range", GroupState.STABLE)
    (again,) = back.members.values()
    assert (
        again
        == classic(ConsumerProtocolMemberAssignment(3, [("t", [1])], None).encode()).members["m"]
    )


def test_a_member_without_an_assignment_and_one_of_a_lost_topic_have_nothing() -> None:
    for assignment in (b"", given(0, topic="gone")):
        group = consumer_group_of(classic(assignment), ["uniform"], {})
        assert group.members["m"].assigned == {}


@pytest.mark.parametrize(
    ("group", "why"),
    [
        (classic(given(0), b"\x00"), "the embedded consumer protocol is malformed"),
        (classic(b"mine"), "the embedded consumer protocol is malformed"),
        (classic(given(0, data=b"x")), "an unsupported custom assignor is in use"),
    ],
)
def test_what_cannot_be_read_is_not_converted(group: ClassicGroup, why: str) -> None:
    with pytest.raises(GroupIdNotFound, match=why):
        consumer_group_of(group, ["uniform"], {})


def test_members_that_are_no_consumers_are_not_converted() -> None:
    group = classic(given(0))
    group.protocol_type = "connect"
    with pytest.raises(GroupIdNotFound, match="does not use the consumer embedded protocol"):
        consumer_group_of(group, ["uniform"], {})
