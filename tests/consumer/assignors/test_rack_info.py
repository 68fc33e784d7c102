"""Who is near what, for the sticky assignors (KIP-881, 2e-16)."""

from typing import Any, cast

from aiokafka_lite.consumer.assignors.rack_info import RackInfo
from aiokafka_lite.model import TopicPartition
from tests.consumer.assignors.groups import Cluster, member

P0, P1, P2 = PARTITIONS = [TopicPartition("t", number) for number in range(3)]
MEMBERS = {"a": member("t", rack="r1"), "b": member("t", rack="r2"), "c": member("t")}


def racks(*replicas, members=MEMBERS):
    where = {p: frozenset(one) for p, one in zip(PARTITIONS, replicas, strict=True)}
    return RackInfo(Cluster({"t": 3}, where), PARTITIONS, members)


def test_far_is_who_names_a_rack_without_replica():
    found = racks({"r1"}, {"r2"}, {"r3"})
    assert found.matters
    assert [found.is_far(key, P0) for key in "abc"] == [False, True, False]
    assert [found.is_far(key, P2) for key in "abc"] == [True, True, False]


def test_next_near_goes_around_and_skips_members_without_rack():
    found = racks({"r1"}, {"r1", "r2"}, {"r3"})
    order = ["c", "a", "b"]
    assert found.next_near(P0, order, 0) == 1
    assert found.next_near(P0, order, 2) == 1
    assert found.next_near(P1, order, 2) == 2
    assert found.next_near(P2, order, 0) == -1
    assert found.next_near(P0, [], 0) == -1


def test_partitions_with_fewest_members_nearby_come_first():
    found = racks({"r1", "r2"}, {"r2"}, {"r3"})
    assert found.fewest_near_first(PARTITIONS) == [P2, P1, P0]


def test_nobody_is_far_where_all_partitions_are_in_the_same_racks():
    found = racks({"r1"}, {"r1"}, {"r1"})
    assert not found.matters
    assert not found.is_far("b", P0)
    assert found.fewest_near_first([P1, P0]) == [P1, P0]


class BareCluster:
    """As programs written for aiokafka have it: it knows no racks."""

    def partitions_for_topic(self, topic):
        return {0, 1, 2}


def test_racks_are_not_asked_for_where_no_member_names_one():
    assert not RackInfo(
        cast("Any", BareCluster()), PARTITIONS, {"a": member("t"), "b": member("t", rack="")}
    ).matters
