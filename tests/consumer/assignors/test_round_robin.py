"""The assignor "roundrobin" (2e-16)."""

from hypothesis import given

from aiokafka_lite.consumer.assignors.round_robin import RoundRobinPartitionAssignor
from aiokafka_lite.model import TopicPartition
from tests.consumer.assignors.groups import (
    Cluster,
    assert_given_once_to_subscribers,
    assign,
    counts,
    groups,
    member,
)


def test_partitions_of_all_topics_are_dealt_in_turn():
    """The example of Java's documentation: t0p0, t0p2, t1p1 to one; t0p1, t1p0, t1p2 to the
    other.
    """
    found = assign(
        RoundRobinPartitionAssignor(),
        Cluster({"t0": 3, "t1": 3}),
        {"c1": member("t0", "t1"), "c0": member("t0", "t1")},
    )
    assert found["c0"] == {
        TopicPartition("t0", 0),
        TopicPartition("t0", 2),
        TopicPartition("t1", 1),
    }
    assert found["c1"] == {
        TopicPartition("t0", 1),
        TopicPartition("t1", 0),
        TopicPartition("t1", 2),
    }


def test_members_that_do_not_subscribe_are_passed_over():
    """The other example there: three topics of 1, 2 and 3 partitions."""
    found = assign(
        RoundRobinPartitionAssignor(),
        Cluster({"t0": 1, "t1": 2, "t2": 3}),
        {"c0": member("t0"), "c1": member("t0", "t1"), "c2": member("t0", "t1", "t2")},
    )
    assert found["c0"] == {TopicPartition("t0", 0)}
    assert found["c1"] == {TopicPartition("t1", 0)}


def test_a_member_without_topics_gets_nothing():
    found = assign(
        RoundRobinPartitionAssignor(), Cluster({"t": 2}), {"a": member(), "b": member("t")}
    )
    assert {key: len(owned) for key, owned in found.items()} == {"a": 0, "b": 2}


@given(groups())
def test_complete(group):
    """Round robin gives each partition to exactly one subscriber (2e-16)."""
    cluster, members = group
    found = assign(RoundRobinPartitionAssignor(), cluster, members)
    assert_given_once_to_subscribers(found, cluster, members)


@given(groups(equal=True))
def test_equal_subscriptions_are_balanced_within_one(group):
    found = counts(assign(RoundRobinPartitionAssignor(), *group))
    assert found[-1] - found[0] <= 1
