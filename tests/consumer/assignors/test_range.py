"""The assignor "range" (2e-16)."""

from typing import Any

from hypothesis import given

from aiokafka_lite.consumer.assignors.assignor import RebalanceProtocol
from aiokafka_lite.consumer.assignors.range import RangePartitionAssignor
from aiokafka_lite.model import TopicPartition
from tests.consumer.assignors.groups import (
    Cluster,
    assert_given_once_to_subscribers,
    assign,
    groups,
    member,
)


def numbers(assignment, topic):
    return sorted(p.partition for p in assignment if p.topic == topic)


def test_each_topic_is_cut_into_runs_and_the_first_get_the_remainder():
    """Range cuts each topic into runs, and the first members get the remainder (2e-16)."""
    cluster = Cluster({"a": 7, "b": 2})
    found = assign(RangePartitionAssignor(), cluster, {key: member("a", "b") for key in "xyz"})
    assert [numbers(found[key], "a") for key in "xyz"] == [[0, 1, 2], [3, 4], [5, 6]]
    assert [numbers(found[key], "b") for key in "xyz"] == [[0], [1], []]


def test_static_members_are_counted_first():
    """Static members get their share first, in the order of instance ids (KIP-345)."""
    members = {"a": member("t"), "b": member("t", instance="i2"), "c": member("t", instance="i1")}
    found = assign(RangePartitionAssignor(), Cluster({"t": 3}), members)
    assert [numbers(found[key], "t") for key in "cba"] == [[0], [1], [2]]


def test_no_state_and_eager():
    assignor = RangePartitionAssignor()
    assert (assignor.name, vars(assignor)) == ("range", {})
    assert assignor.supported_protocols == (RebalanceProtocol.EAGER,)


def test_members_get_what_is_in_their_rack():
    """Range gives a member the partitions of its rack (KIP-881)."""
    cluster = Cluster({"t": 3})
    for number in range(3):
        cluster.replica_racks[TopicPartition("t", number)] = frozenset({f"r{2 - number}"})
    members = {f"m{at}": member("t", rack=f"r{at}") for at in range(3)}
    found = assign(RangePartitionAssignor(), cluster, members)
    assert [numbers(found[f"m{at}"], "t") for at in range(3)] == [[2], [1], [0]]


def test_racks_that_are_the_same_everywhere_change_nothing():
    """A member that is far from all partitions gets no worse ones for it (KIP-881)."""
    cluster = Cluster({"a": 4, "b": 4})
    cluster.replica_racks = dict.fromkeys(cluster.partitions(), frozenset({"r1"}))
    members = {"m0": member("a", "b", rack="r9"), "m1": member("a", "b", rack="r1")}
    found = assign(RangePartitionAssignor(), cluster, members)
    assert numbers(found["m0"], "a") == numbers(found["m0"], "b") == [0, 1]


def test_co_partitioned_topics_move_to_a_rack_together():
    """Co-partitioned topics move to a rack together or not at all (KIP-881)."""
    cluster = Cluster({"a": 2, "b": 2})
    for topic in "ab":
        for number in range(2):
            cluster.replica_racks[TopicPartition(topic, number)] = frozenset({f"r{1 - number}"})
    members = {f"m{at}": member("a", "b", rack=f"r{at}") for at in range(2)}
    found = assign(RangePartitionAssignor(), cluster, members)
    assert found["m0"] == {TopicPartition("a", 1), TopicPartition("b", 1)}
    cluster.replica_racks[TopicPartition("b", 1)] = frozenset({"r1"})
    apart = assign(RangePartitionAssignor(), cluster, members)
    assert {numbers(owned, "a")[0] == numbers(owned, "b")[0] for owned in apart.values()} == {True}


@given(groups(racks=True))
def test_complete_and_within_one_per_topic(group):
    """Range is complete, and shares of a topic differ by one at most (2e-16)."""
    cluster, members = group
    found = assign(RangePartitionAssignor(), cluster, members)
    assert_given_once_to_subscribers(found, cluster, members)
    for topic, count in cluster.topics.items():
        subscribers = [key for key, told in members.items() if topic in told.subscription]
        for key in subscribers:
            assert len(numbers(found[key], topic)) - count // len(subscribers) in (0, 1)


@given(groups(racks=True))
def test_topics_of_one_size_and_the_same_subscribers_are_cut_alike(group):
    """Topics of one size with the same subscribers are cut alike (2e-16)."""
    cluster, members = group
    found = assign(RangePartitionAssignor(), cluster, members)
    cuts: dict[Any, Any] = {}
    for topic, count in cluster.topics.items():
        subscribers = tuple(sorted(k for k, told in members.items() if topic in told.subscription))
        cut = [numbers(found[key], topic) for key in subscribers]
        assert cuts.setdefault((subscribers, count), cut) == cut


@given(groups())
def test_without_racks_every_share_is_one_run(group):
    cluster, members = group
    for owned in assign(RangePartitionAssignor(), cluster, members).values():
        for topic in {p.topic for p in owned}:
            run = numbers(owned, topic)
            assert run == list(range(run[0], run[-1] + 1))
