"""The assignor "sticky": claims, user data, and what stays where (2e-16)."""

import itertools
from typing import Any

import pytest
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyAssignorUserDataV1
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.consumer.assignors.assignor import RebalanceProtocol
from aiokafka_lite.consumer.assignors.sticky import Claim, StickyPartitionAssignor
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.consumer_protocol import ConsumerProtocolMemberAssignment
from tests.consumer.assignors.groups import (
    Cluster,
    assert_given_once_to_subscribers,
    assert_no_move_helps,
    assign,
    claiming_groups,
    counts,
    groups,
    member,
    with_user_data,
)

# What Java's StickyAssignor of Kafka 4.3.1 wrote for t22-1 and t22-2 in generation 3.
USER_DATA = bytes.fromhex("00000001000374323200000002000000010000000200000003")
T22 = [TopicPartition("t22", 1), TopicPartition("t22", 2)]


def user_data(partitions, generation):
    """What a member sends that got these partitions in this generation."""
    sender = StickyPartitionAssignor()
    by_topic = member(owned=partitions).owned_partitions
    sender.on_assignment(ConsumerProtocolMemberAssignment(0, by_topic, None))
    sender.on_generation(generation)
    return sender.metadata([]).user_data


def after(members, given, generation=1):
    """The members as they join when that was their assignment; new ones claim nothing."""
    return {
        key: member(
            *told.subscription,
            rack=told.rack_id,
            instance=told.group_instance_id,
            user_data=user_data(given[key], generation) if key in given else None,
        )
        for key, told in members.items()
    }


def sticky(cluster, members):
    return assign(StickyPartitionAssignor(), cluster, members)


# User data…


def test_user_data_is_that_of_java():
    assert user_data(T22, 3) == USER_DATA
    assert StickyPartitionAssignor().claim(member(user_data=USER_DATA)) == Claim(T22, 3)


def test_user_data_is_that_of_aiokafka():
    theirs = StickyAssignorUserDataV1([("t22", [1, 2])], 3).encode()
    assert theirs == USER_DATA


def test_user_data_without_generation_is_read():
    """Version 0 of the format."""
    assert StickyPartitionAssignor().claim(member(user_data=USER_DATA[:-4])) == Claim(T22, -1)


@pytest.mark.parametrize(
    "data",
    [
        None,
        b"",
        b"\x00",
        USER_DATA[:-6],
        b"\xff\xff\xff\xff",
        b"\x7f" * 9,
        b"\x00\x01" + USER_DATA,  # kafka-python 3.0 puts a version in front, unlike Java
    ],
)
def test_user_data_that_cannot_be_read_claims_nothing(data):
    assert StickyPartitionAssignor().claim(member(user_data=data)) == Claim([], -1)


@given(st.binary(max_size=40))
def test_hostile_user_data_never_raises(data):
    sticky(Cluster({"t": 3}), {"a": member("t", user_data=data), "b": member("t", "u")})


def test_before_the_first_assignment_there_is_no_user_data():
    told = StickyPartitionAssignor().metadata({"t"})
    assert (told.version, told.subscription, told.user_data) == (0, ["t"], b"")


def test_an_empty_assignment_is_a_claim_with_a_generation():
    assert StickyPartitionAssignor().claim(member(user_data=user_data([], 4))) == Claim([], 4)


def test_owned_partitions_are_not_its_claim():
    """An eager member revoked them; they say what it had only by its own user data."""
    told = member("t", owned=T22, generation=7)
    assert StickyPartitionAssignor().claim(told) == Claim([], -1)


def test_state_is_of_the_instance_d14():
    one, other = StickyPartitionAssignor(), StickyPartitionAssignor()
    one.on_assignment(ConsumerProtocolMemberAssignment(0, [("t", [1])], None))
    one.on_generation(9)
    assert other.metadata([]).user_data == b""
    assert StickyPartitionAssignor().metadata([]).user_data == b""


def test_eager():
    assert StickyPartitionAssignor().supported_protocols == (RebalanceProtocol.EAGER,)


# Whose claim counts…

EVEN = Cluster({"t": 2})


@pytest.mark.parametrize("order", list(itertools.permutations("abc")))
def test_the_newest_claim_counts(order):
    """Two claims of an older generation do not take a partition from the newest (2e-16)."""
    told = {
        "a": member("t", user_data=user_data([("t", 0)], 5)),
        "b": member("t", user_data=user_data([("t", 0)], 5)),
        "c": member("t", user_data=user_data([("t", 0)], 6)),
    }
    found = sticky(EVEN, {key: told[key] for key in order})
    assert found["c"] == {TopicPartition("t", 0)}


def test_claims_of_one_generation_cancel_each_other(caplog):
    """A partition with two claims of one generation is assigned anew, with one warning (2e-16)."""
    claim = user_data([("t", 0), ("t", 1)], 5)
    found = sticky(EVEN, {"a": member("t", user_data=claim), "b": member("t", user_data=claim)})
    assert counts(found) == [1, 1]
    (record,) = caplog.records
    assert record.getMessage().startswith("2 partitions, t-0 among them, are claimed by several")


def test_a_claim_to_a_partition_that_is_no_more_changes_nothing():
    """Java's gives t-1 to two members here."""
    claim = user_data([("t", 0), ("t", 7), ("gone", 0)], 1)
    members = {"a": member("t", user_data=claim), "b": member("t")}
    assert_given_once_to_subscribers(sticky(Cluster({"t": 3}), members), Cluster({"t": 3}), members)


def test_a_member_without_topics_gets_nothing():
    """Java's takes it for one with everybody's topics, if it is the first."""
    members = {key: member(*("t" if key == "d" else "")) for key in "abcd"}
    assert sticky(EVEN, members)["d"] == EVEN.partitions()


# The promises.


@given(claiming_groups(racks=True))
def test_complete_and_balanced_whatever_members_claim(group):
    """The sticky assignor is complete and balanced whatever partitions members claim (2e-16)."""
    cluster, members = group
    members = with_user_data(members, lambda told: user_data(told.owned(), told.generation_id))
    found = sticky(cluster, members)
    assert_given_once_to_subscribers(found, cluster, members)


@given(claiming_groups(racks=False))
def test_without_racks_no_move_makes_it_more_balanced(group):
    """Without racks, moving no single partition would balance an assignment better (2e-16)."""
    cluster, members = group
    members = with_user_data(members, lambda told: user_data(told.owned(), told.generation_id))
    assert_no_move_helps(sticky(cluster, members), members)


@given(claiming_groups(racks=True, equal=True))
def test_equal_subscriptions_are_balanced_within_one(group):
    """With equal subscriptions shares differ by one at most, with racks as well (2e-16)."""
    cluster, members = group
    members = with_user_data(members, lambda told: user_data(told.owned(), told.generation_id))
    found = counts(sticky(cluster, members))
    assert found[-1] - found[0] <= 1


@given(groups())
def test_nothing_moves_when_nothing_changed(group):
    """The sticky assignor moves no partition when members and topics are the same (2e-16)."""
    cluster, members = group
    given = sticky(cluster, members)
    assert sticky(cluster, after(members, given)) == given


@given(st.data(), groups(equal=True))
def test_removing_members_moves_only_their_partitions(data, group):
    """With equal subscriptions only the partitions of removed members move (2e-16)."""
    cluster, members = group
    given = sticky(cluster, members)
    stay = data.draw(st.sets(st.sampled_from(sorted(members)), min_size=1))
    left = sticky(cluster, {k: v for k, v in after(members, given).items() if k in stay})
    for member_id in stay:
        assert left[member_id] >= given[member_id]


@given(groups(equal=True), st.integers(1, 3))
def test_new_members_take_and_old_ones_only_give(group, added):
    """With equal subscriptions no partition moves between members that stay (2e-16)."""
    cluster, members = group
    given = sticky(cluster, members)
    topics = next(iter(members.values())).subscription
    joined = members | {f"new-{at}": member(*topics) for at in range(added)}
    found = sticky(cluster, after(joined, given))
    for member_id in members:
        assert found[member_id] <= given[member_id]


@given(st.data(), groups(equal=True))
def test_who_stays_keeps_what_its_share_allows(data, group):
    """A member that stays keeps as many of its partitions as its share allows (2e-16)."""
    cluster, members = group
    owned: dict[str, set[Any]] = {key: set() for key in members}
    wanted = next(iter(members.values())).subscription
    partitions = sorted(p for p in cluster.partitions() if p.topic in wanted)
    for partition in partitions:
        owned[data.draw(st.sampled_from(sorted(members)))].add(partition)
    found = sticky(cluster, after(members, owned))
    for member_id, had in owned.items():
        kept = len(found[member_id] & had)
        assert kept >= min(len(had), len(partitions) // len(members))


def test_two_thousand_partitions_of_a_hundred_members():
    """About a hundredth of a second each; quadratic work would take minutes."""
    cluster = Cluster({f"t{at}": 20 for at in range(100)})
    for odd in (False, True):
        members = {
            f"m{at}": member(*(t for t in cluster.topics if not odd or (int(t[1:]) * 7 + at) % 3))
            for at in range(100)
        }
        given = sticky(cluster, members)
        assert_no_move_helps(given, members)
        fewer = dict(itertools.islice(after(members, given).items(), 90))
        assert_no_move_helps(sticky(cluster, fewer), fewer)
