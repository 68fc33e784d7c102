"""Groups to assign to: a cluster of plain values, members, and what every assignor promises."""

from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import strategies as st

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.consumer_protocol import ConsumerProtocolMemberMetadata


@dataclass
class Cluster:
    """The partitions of each topic, and the racks of replicas where they are told."""

    topics: dict[str, int]
    replica_racks: dict[TopicPartition, frozenset[str]] = field(default_factory=dict)

    def partitions_for_topic(self, topic):
        return set(range(self.topics[topic])) if topic in self.topics else None

    def racks(self, partition):
        return self.replica_racks.get(partition, frozenset())

    def partitions(self):
        return {TopicPartition(t, n) for t, count in self.topics.items() for n in range(count)}


def member(*topics, owned=(), generation=-1, rack=None, instance=None, user_data=None):
    """A subscription; `owned` is of (topic, partition)."""
    by_topic: dict[str, list[int]] = {}
    for topic, number in sorted(owned):
        by_topic.setdefault(topic, []).append(number)
    return ConsumerProtocolMemberMetadata(
        3, list(topics), user_data, list(by_topic.items()), generation, rack, instance
    )


def assign(assignor, cluster, members):
    """The assignment as sets of partitions by member; a partition given twice to one fails."""
    given = assignor.assign(cluster, members)
    for assignment in given.values():
        assert len(set(assignment.partitions())) == len(assignment.partitions())
    return {member_id: set(assignment.partitions()) for member_id, assignment in given.items()}


def with_assignment(members, given, generation):
    """The same members as they join after that assignment."""
    return {
        member_id: replace(
            told,
            owned_partitions=member(owned=given.get(member_id, ())).owned_partitions,
            generation_id=generation if member_id in given else -1,
        )
        for member_id, told in members.items()
    }


def with_user_data(members, write):
    """The same members, each with the user data that `write` makes of it."""
    return {key: replace(told, user_data=write(told)) for key, told in members.items()}


def claimants(members):
    """The members that own each partition, by their own word."""
    found: dict[Any, set[str]] = {}
    for member_id, told in members.items():
        for partition in told.owned():
            found.setdefault(partition, set()).add(member_id)
    return found


def assert_given_once_to_subscribers(given, cluster, members):
    """Each partition of a subscribed topic goes exactly once to a subscriber (2e-16)."""
    assert given.keys() == members.keys()
    subscribed = {topic for told in members.values() for topic in told.subscription}
    expected = {p for p in cluster.partitions() if p.topic in subscribed}
    assert sorted(p for owned in given.values() for p in owned) == sorted(expected)
    assert_only_to_subscribers(given, members)


def assert_only_to_subscribers(given, members):
    for member_id, owned in given.items():
        assert {p.topic for p in owned} <= set(members[member_id].subscription)


def assert_no_move_helps(given, members):
    """Balanced as the sticky assignors promise: nobody could take from one with two more."""
    for member_id, told in members.items():
        for other, owned in given.items():
            if len(owned) - 2 >= len(given[member_id]):
                assert not {p.topic for p in owned} & set(told.subscription), (member_id, other)


def counts(given):
    return sorted(len(owned) for owned in given.values())


TOPICS = ("a", "b", "c", "d")
RACKS = ("r1", "r2", "r3")
# One more partition per topic than any cluster has, and one topic more.
CLAIMABLE = [TopicPartition(topic, number) for topic in (*TOPICS, "gone") for number in range(10)]


def subsets(values):
    """Any of the values; one number says which, so a draw costs little."""
    return st.integers(0, (1 << len(values)) - 1).map(
        lambda bits: [value for at, value in enumerate(values) if bits >> at & 1]
    )


@st.composite
def clusters(draw, racks=False):
    cluster = Cluster({topic: draw(st.integers(1, 9)) for topic in draw(subsets(TOPICS)) or "a"})
    if racks:
        partitions = sorted(cluster.partitions())
        in_rack = {rack: set(draw(subsets(partitions))) for rack in RACKS}
        for partition in partitions:
            near = frozenset(rack for rack in RACKS if partition in in_rack[rack])
            cluster.replica_racks[partition] = near
    return cluster


@st.composite
def groups(draw, racks=False, equal=None):
    """(cluster, members): 1 to 7 members without claims; unknown topics may be subscribed to."""
    cluster = draw(clusters(racks))
    subscriptions = subsets((*TOPICS, "unknown"))
    if draw(st.booleans()) if equal is None else equal:
        subscriptions = st.just(draw(subscriptions))
    members = {}
    for at in range(draw(st.integers(1, 7))):
        members[f"m-{draw(st.integers(0, 99))}-{at}"] = member(
            *draw(subscriptions),
            instance=draw(st.sampled_from([None, f"i{at}"])),
            rack=draw(st.sampled_from([None, *RACKS])) if racks else None,
        )
    return cluster, members


@st.composite
def claiming_groups(draw, racks=False, equal=None):
    """As `groups`, and members claim anything, at odds with each other and with the cluster."""
    cluster, members = draw(groups(racks, equal))
    return cluster, {
        member_id: replace(
            told,
            owned_partitions=member(owned=draw(subsets(CLAIMABLE))).owned_partitions,
            generation_id=draw(st.integers(-1, 3)),
        )
        for member_id, told in members.items()
    }
