"""Sharing out among members with different subscriptions (2e-16)."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.consumer.assignors.assignor import topic_partitions
from aiokafka_lite.consumer.assignors.general_assignment import GeneralAssignment
from aiokafka_lite.consumer.assignors.rack_info import RackInfo
from aiokafka_lite.model import TopicPartition
from tests.consumer.assignors.groups import (
    Cluster,
    assert_given_once_to_subscribers,
    assert_no_move_helps,
    groups,
    member,
)


def share(cluster, members, owned=None, previous=None):
    owned = {key: (owned or {}).get(key, []) for key in members}
    topics = topic_partitions(cluster, members)
    racks = RackInfo(cluster, sorted(cluster.partitions()), members)
    return GeneralAssignment(topics, members, owned, previous or {}, racks).assigned


def of(topic, *numbers):
    return [TopicPartition(topic, number) for number in numbers]


def test_members_with_less_choice_get_theirs():
    found = share(Cluster({"a": 2, "b": 2}), {"x": member("a"), "y": member("a", "b")})
    assert {key: set(given) for key, given in found.items()} == {
        "x": set(of("a", 0, 1)),
        "y": set(of("b", 0, 1)),
    }


def test_what_a_member_has_stays():
    cluster = Cluster({"a": 4, "b": 1})
    members = {"x": member("a"), "y": member("a", "b")}
    found = share(cluster, members, {"x": of("a", 1, 2), "y": of("a", 0)})
    assert set(of("a", 1, 2)) < set(found["x"])
    assert set(of("a", 0)) < set(found["y"])


def test_an_unsubscribed_topic_is_given_up():
    found = share(Cluster({"a": 2}), {"x": member("b"), "y": member("a")}, {"x": of("a", 0, 1)})
    assert found == {"x": {}, "y": dict.fromkeys(of("a", 0, 1))}


def test_a_partition_returns_to_who_had_it_in_an_older_generation():
    """Of two members with as few partitions, the one that had it gets it (2e-16)."""
    cluster = Cluster({"t": 4, "u": 1})
    members = {"a": member("t", "u"), "b": member("t"), "c": member("t")}
    owned = {"a": of("u", 0), "b": of("t", 0, 1, 2, 3), "c": []}
    back = share(cluster, members, owned, dict.fromkeys(of("t", 0, 1), "c"))
    assert set(back["c"]) == set(of("t", 0, 1))
    assert len(back["b"]) == 2


def test_not_to_one_that_has_unsubscribed():
    """Java's gives t-0 to c here."""
    cluster = Cluster({"t": 4, "u": 1})
    members = {"a": member("t", "u"), "b": member("t"), "c": member("u")}
    owned = {"a": [], "b": of("t", 0, 1, 2, 3), "c": of("u", 0)}
    found = share(cluster, members, owned, dict.fromkeys(of("t", 0, 1), "c"))
    assert_given_once_to_subscribers({k: set(v) for k, v in found.items()}, cluster, members)
    assert {key: len(given) for key, given in found.items()} == {"a": 2, "b": 2, "c": 1}


def test_a_member_that_can_have_nothing_else_is_left_alone():
    cluster = Cluster({"a": 5, "b": 1, "c": 1})
    members = {"x": member("a"), "y": member("b", "c"), "z": member("b", "c")}
    found = share(cluster, members)
    assert [len(found[key]) for key in "xyz"] == [5, 1, 1]


def test_partitions_go_where_they_are_near():
    """With unequal subscriptions too, a partition goes to the rack of a replica (KIP-881)."""
    cluster = Cluster({"a": 4, "b": 1})
    for partition in cluster.partitions():
        cluster.replica_racks[partition] = frozenset({f"r{partition.partition % 2}"})
    members = {"x": member("a", rack="r1"), "y": member("a", "b", rack="r0")}
    found = share(cluster, members)
    assert set(of("a", 1, 3)) <= set(found["x"])
    assert set(of("b", 0)) <= set(found["y"])


@given(st.data(), groups(racks=False))
def test_complete_and_balanced_whatever_was_owned(data, group):
    cluster, members = group
    someone = st.none() | st.sampled_from(sorted(members))
    topics = topic_partitions(cluster, members)
    owned: dict[str, list[Any]] = {key: [] for key in members}
    previous = {}
    for partition in [one for numbers in topics.values() for one in numbers]:
        if (owner := data.draw(someone)) is not None:
            owned[owner].append(partition)
        if (old := data.draw(someone)) is not None:
            previous[partition] = old
    found = {k: set(v) for k, v in share(cluster, members, owned, previous).items()}
    assert_given_once_to_subscribers(found, cluster, members)
    assert_no_move_helps(found, members)
