"""What all assignors share."""

import pytest

from aiokafka_lite.consumer.assignors.assignor import (
    AbstractPartitionAssignor,
    RebalanceProtocol,
    member_order,
    racks_matter,
    text_order,
    to_assignments,
    topic_partitions,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.consumer_protocol import ConsumerProtocolMemberAssignment
from tests.consumer.assignors.groups import Cluster, member


class EverythingToTheFirst(AbstractPartitionAssignor):
    name = "first"

    def assign(self, cluster, members):
        partitions = [p for numbers in topic_partitions(cluster, members).values() for p in numbers]
        return to_assignments({**dict.fromkeys(members, ()), min(members): partitions})


def test_an_assignor_needs_only_a_name_and_assign():
    assignor = EverythingToTheFirst()
    given = assignor.assign(Cluster({"t": 2}), {"b": member("t"), "a": member("t")})
    assert given["a"].partitions() == [TopicPartition("t", 0), TopicPartition("t", 1)]
    assert given["b"].partitions() == []
    told = assignor.metadata({"t"})
    assert (told.version, told.subscription, told.user_data) == (0, ["t"], b"")
    assignor.on_assignment(given["a"])
    assignor.on_generation(1)
    assert assignor.supported_protocols == (RebalanceProtocol.EAGER,)


def test_without_assign_it_is_none():
    class Nameless(AbstractPartitionAssignor):
        name = "nothing"

    with pytest.raises(TypeError, match="assign"):
        Nameless()  # type: ignore[abstract]


def test_partitions_are_those_of_subscribed_and_known_topics_in_order():
    cluster = Cluster({"b": 1, "a": 2, "unwanted": 3, "empty": 0})
    found = topic_partitions(cluster, {"m": member("b", "unknown"), "n": member("a", "empty")})
    assert list(found) == ["a", "b"]
    assert found["a"] == [TopicPartition("a", 0), TopicPartition("a", 1)]


def test_assignments_are_by_topic_and_in_order():
    partitions = [TopicPartition("b", 1), TopicPartition("a", 0), TopicPartition("b", 0)]
    assert to_assignments({"m": partitions, "n": []}) == {
        "m": ConsumerProtocolMemberAssignment(0, [("a", [0]), ("b", [0, 1])], b""),
        "n": ConsumerProtocolMemberAssignment(0, [], b""),
    }


def test_static_members_come_first_by_instance_id():
    """The member id, which is new at each start, does not place a static member (KIP-345)."""
    members = {
        "a": member("t"),
        "z": member("t", instance="1"),
        "b": member("t", instance="2"),
        "c": member("t"),
    }
    assert sorted(members, key=lambda key: member_order(key, members[key])) == ["z", "b", "a", "c"]


def test_texts_are_in_the_order_of_java():
    """By UTF-16 units, U+1F600 (D83D DE00) is before U+FB01; by code points it is behind."""
    assert sorted(["\ufb01", "\U0001f600", "a"], key=text_order) == ["a", "\U0001f600", "\ufb01"]


@pytest.mark.parametrize(
    ("consumers", "replicas", "matter"),
    [
        (["r1"], ["r1", "r2"], True),
        (["r1"], ["r2", "r3"], False),
        (["r1"], ["r1", "r1"], False),
        ([], ["r1", "r2"], False),
        (["r1"], [], False),
    ],
)
def test_racks_matter_only_where_they_differ_and_someone_is_there(consumers, replicas, matter):
    """Racks count only where replicas differ in them and a member is in one (2e-16, KIP-881)."""
    racks = [frozenset({rack}) for rack in replicas]
    assert racks_matter(consumers, racks) is matter
