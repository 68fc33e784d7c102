"""Sharing out among members with equal subscriptions (2e-16)."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.consumer.assignors.constrained_assignment import ConstrainedAssignment
from aiokafka_lite.consumer.assignors.rack_info import RackInfo
from aiokafka_lite.model import TopicPartition
from tests.consumer.assignors.groups import Cluster, counts, member


def partitions(count):
    return [TopicPartition("t", number) for number in range(count)]


def share(all_partitions, owned, contested=(), racks=None):
    members = {key: member("t", rack=(racks or {}).get(key)) for key in owned}
    where = {p: frozenset({f"r{p.partition % 2}"}) for p in all_partitions}
    info = RackInfo(Cluster({"t": len(all_partitions)}, where), all_partitions, members)
    return ConstrainedAssignment(all_partitions, owned, contested, info)


def test_members_fill_up_in_turn():
    p = partitions(5)
    assert share(p, {"b": [], "a": []}).assigned == {"a": [p[0], p[2], p[4]], "b": [p[1], p[3]]}


def test_who_has_too_much_keeps_its_lowest_numbers():
    p = partitions(6)
    result = share(p, {"a": p, "b": []})
    assert result.assigned == {"a": p[:3], "b": p[3:]}
    assert result.moved == dict.fromkeys(p[3:], "b")


def test_only_as_many_keep_one_more_as_the_division_leaves():
    p = partitions(7)
    result = share(p, {"a": p[:4], "b": p[4:], "c": []})
    assert {key: len(given) for key, given in result.assigned.items()} == {"a": 3, "b": 2, "c": 2}
    assert result.moved == {p[3]: "c", p[6]: "c"}


def test_a_partition_nobody_had_is_not_moved():
    p = partitions(4)
    assert share(p, {"a": p[:1], "b": []}).moved == {}


def test_a_contested_partition_counts_as_moved_whoever_gets_it():
    p = partitions(2)
    assert share(p, {"a": [], "b": []}, contested={p[0]}).moved == {p[0]: "a"}


def test_fewer_partitions_than_members():
    p = partitions(2)
    assert counts(share(p, {"a": [], "b": p, "c": []}).assigned) == [0, 1, 1]


def test_partitions_go_where_they_are_near():
    """A partition goes to a member in the rack of a replica (KIP-881)."""
    p = partitions(4)
    result = share(p, {"a": [], "b": []}, racks={"a": "r1", "b": "r0"})
    assert result.assigned == {"a": [p[1], p[3]], "b": [p[0], p[2]]}


def test_what_is_far_from_its_owner_moves_but_balance_counts_more():
    """A partition far from its owner moves, as long as the shares stay equal (KIP-881)."""
    p = partitions(4)
    result = share(p, {"a": p, "b": []}, racks={"a": "r1", "b": "r0"})
    assert result.assigned == {"a": [p[1], p[3]], "b": [p[0], p[2]]}
    assert result.moved == {p[0]: "b", p[2]: "b"}
    both = share(p, {"a": p, "b": []}, racks={"a": "r1", "b": "r1"})
    assert counts(both.assigned) == [2, 2]


@given(st.data(), st.integers(0, 20), st.integers(1, 6), st.booleans())
def test_shares_differ_by_one_and_everything_is_given_once(data, count, members, racked):
    p = partitions(count)
    owned: dict[str, list[Any]] = {f"m{at}": [] for at in range(members)}
    for partition in p:
        if (owner := data.draw(st.none() | st.sampled_from(sorted(owned)))) is not None:
            owned[owner].append(partition)
    racks = {key: data.draw(st.sampled_from(["r0", "r1", "r9", None])) for key in owned}
    result = share(p, owned, racks=racks if racked else None)
    assert sorted(one for given in result.assigned.values() for one in given) == p
    assert counts(result.assigned)[-1] - counts(result.assigned)[0] <= 1
    owner_of = {one: key for key, claimed in owned.items() for one in claimed}
    taken = {
        one: key
        for key, given in result.assigned.items()
        for one in given
        if owner_of.get(one, key) != key
    }
    assert result.moved == taken
