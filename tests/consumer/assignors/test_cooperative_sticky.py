"""The assignor "cooperative-sticky": what moves is revoked first (KIP-429, 2e-16)."""

import struct

from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.consumer.assignors.assignor import RebalanceProtocol
from aiokafka_lite.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from aiokafka_lite.consumer.assignors.sticky import Claim
from aiokafka_lite.model import TopicPartition
from tests.consumer.assignors.groups import (
    Cluster,
    assert_given_once_to_subscribers,
    assert_no_move_helps,
    assert_only_to_subscribers,
    assign,
    claimants,
    claiming_groups,
    counts,
    groups,
    member,
    with_assignment,
)


def cooperative(cluster, members):
    return assign(CooperativeStickyAssignor(), cluster, members)


def of(topic, *numbers):
    return {TopicPartition(topic, number) for number in numbers}


def test_supports_both_protocols():
    supported = CooperativeStickyAssignor().supported_protocols
    assert supported == (RebalanceProtocol.COOPERATIVE, RebalanceProtocol.EAGER)


def test_tells_its_generation_as_java_does():
    assignor = CooperativeStickyAssignor()
    told = assignor.metadata(["t"])
    assert (told.version, told.subscription, told.user_data) == (1, ["t"], b"\xff\xff\xff\xff")
    assignor.on_generation(258)
    assert assignor.metadata(["t"]).user_data == b"\x00\x00\x01\x02"


def test_state_is_of_the_instance_d14():
    CooperativeStickyAssignor().on_generation(7)
    assert CooperativeStickyAssignor().metadata([]).user_data == b"\xff\xff\xff\xff"


def test_claim_is_the_owned_partitions_with_either_generation():
    """A claim has the generation of the subscription, else that in the user data (KIP-792)."""
    owned = [TopicPartition("t", 1)]
    claim = CooperativeStickyAssignor().claim
    assert claim(member(owned=owned, generation=4, user_data=struct.pack(">i", 9))) == Claim(
        owned, 4
    )
    assert claim(member(owned=owned, user_data=struct.pack(">i", 9))) == Claim(owned, 9)
    assert claim(member(owned=owned, user_data=b"\x00")) == Claim(owned, -1)
    assert claim(member(owned=owned)) == Claim(owned, -1)


def test_a_moving_partition_is_nobodys_until_it_was_revoked():
    """A partition that moves has no owner until it was revoked (KIP-429)."""
    cluster = Cluster({"t": 4})
    members = {"a": member("t"), "b": member("t")}
    alone = with_assignment(members, {"a": of("t", 0, 1, 2, 3)}, generation=1)
    first = cooperative(cluster, alone)
    assert first == {"a": of("t", 0, 1), "b": set()}
    second = cooperative(cluster, with_assignment(members, first, generation=2))
    assert second == {"a": of("t", 0, 1), "b": of("t", 2, 3)}


def test_with_different_subscriptions_as_well():
    cluster = Cluster({"t": 4, "u": 1})
    members = {"a": member("t"), "b": member("t", "u")}
    alone = with_assignment(members, {"a": of("t", 0, 1, 2, 3)}, generation=1)
    first = cooperative(cluster, alone)
    assert first["b"] == of("u", 0)
    second = cooperative(cluster, with_assignment(members, first, generation=2))
    assert_given_once_to_subscribers(second, cluster, members)
    assert first["a"] == second["a"]


def test_a_contested_partition_is_nobodys_for_a_round():
    cluster = Cluster({"t": 2})
    both = {key: member("t", owned=of("t", 0, 1), generation=3) for key in "ab"}
    assert cooperative(cluster, both) == {"a": set(), "b": set()}


def test_a_member_that_left_has_nothing_to_revoke():
    cluster = Cluster({"t": 4})
    members = {"a": member("t"), "b": member("t")}
    given = cooperative(cluster, members)
    left = with_assignment({"a": members["a"]}, given, generation=1)
    assert cooperative(cluster, left) == {"a": cluster.partitions()}


@given(claiming_groups(racks=True))
def test_no_partition_has_a_new_owner_while_another_owns_it(group):
    """No partition has a new owner while another member owns it (2e-16, KIP-429)."""
    cluster, members = group
    found = cooperative(cluster, members)
    assert_only_to_subscribers(found, members)
    owners = claimants(members)
    for member_id, partitions in found.items():
        for partition in partitions:
            others = owners.get(partition, set())
            assert not others or member_id in others, partition
    given_out = [partition for partitions in found.values() for partition in partitions]
    assert len(set(given_out)) == len(given_out)


@given(claiming_groups(racks=True))
def test_what_is_held_back_is_owned_by_someone(group):
    """Nothing waits for a revocation that nobody will make."""
    cluster, members = group
    found = cooperative(cluster, members)
    subscribed = {topic for told in members.values() for topic in told.subscription}
    held_back = {p for p in cluster.partitions() if p.topic in subscribed}.difference(
        *found.values()
    )
    assert held_back <= claimants(members).keys()


def rebalances(cluster, before, members):
    """What each round gives, until one changes nothing; everybody rejoins with what it got."""
    rounds = [before]
    while len(rounds) < 2 or rounds[-1] != rounds[-2]:
        assert len(rounds) < 10, rounds
        rounds.append(cooperative(cluster, with_assignment(members, rounds[-1], len(rounds))))
    return rounds[1:]


@given(st.data(), groups(equal=True), st.integers(0, 3))
def test_a_second_round_completes(data, group, added):
    """A second rebalance gives every revoked partition an owner (2e-16, KIP-429)."""
    cluster, members = group
    before = cooperative(cluster, members)
    stay = data.draw(st.sets(st.sampled_from(sorted(members))))
    topics = next(iter(members.values())).subscription
    now = {key: told for key, told in members.items() if key in stay}
    now |= {f"new-{at}": member(*topics) for at in range(added + (not stay))}
    rounds = rebalances(cluster, before, now)
    assert len(rounds) <= 3
    assert_given_once_to_subscribers(rounds[-1], cluster, now)
    assert counts(rounds[-1])[-1] - counts(rounds[-1])[0] <= 1


@given(st.data(), groups(equal=False), st.integers(0, 3))
def test_different_subscriptions_come_to_rest_complete_and_balanced(data, group, added):
    """Balancing what was revoked may need one more revocation, as in Java (2e-16)."""
    cluster, members = group
    before = cooperative(cluster, members)
    stay = data.draw(st.sets(st.sampled_from(sorted(members))))
    topics = st.sets(st.sampled_from(sorted(cluster.topics)), min_size=1)
    now = {key: told for key, told in members.items() if key in stay}
    now |= {f"new-{at}": member(*data.draw(topics)) for at in range(added + (not stay))}
    rounds = rebalances(cluster, before, now)
    assert_given_once_to_subscribers(rounds[-1], cluster, now)
    assert_no_move_helps(rounds[-1], now)
