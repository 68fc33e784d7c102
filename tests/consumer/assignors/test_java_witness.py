"""The four assignors against Apache Kafka's, on random groups.

`java_assignors.json` was written by `JavaAssignors.java` beside it, with Kafka 4.3.1: members with
and without instance ids and racks, equal and different subscriptions, members that come and go,
topics that grow and vanish, claims that are old or contested. What Java's depend on the order of a
HashMap for is followed too. What is not followed does not occur here: Java may give a partition to
a member that has unsubscribed from its topic, or to nobody (test_sticky.py has those groups).
"""

import json
from pathlib import Path

import pytest

from aiokafka_lite.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from aiokafka_lite.consumer.assignors.range import RangePartitionAssignor
from aiokafka_lite.consumer.assignors.round_robin import RoundRobinPartitionAssignor
from aiokafka_lite.consumer.assignors.sticky import StickyPartitionAssignor
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.consumer_protocol import ConsumerProtocolMemberMetadata
from tests.consumer.assignors.groups import Cluster

CASES = json.loads((Path(__file__).parent / "java_assignors.json").read_text(encoding="utf-8"))
ASSIGNORS = [
    RangePartitionAssignor,
    RoundRobinPartitionAssignor,
    StickyPartitionAssignor,
    CooperativeStickyAssignor,
]


def the_cluster(case):
    """Each letter of a partition is the rack of a replica; the broker "d" has none."""
    cluster = Cluster({})
    for topic, partitions in case["topics"].items():
        racks = [""] * partitions if isinstance(partitions, int) else partitions
        cluster.topics[topic] = len(racks)
        for number, letters in enumerate(racks):
            cluster.replica_racks[TopicPartition(topic, number)] = frozenset(letters) - {"d"}
    return cluster


def the_members(case):
    return {
        member_id: ConsumerProtocolMemberMetadata(
            version=3,
            subscription=told["topics"],
            user_data=bytes.fromhex(told["user_data"]) if "user_data" in told else None,
            owned_partitions=list(told.get("owned", {}).items()),
            generation_id=told.get("generation", -1),
            rack_id=told.get("rack"),
            group_instance_id=told.get("instance"),
        )
        for member_id, told in case["members"].items()
    }


def by_member(assignments):
    return {member_id: dict(given.assignment) for member_id, given in assignments.items()}


def partitions_given(case):
    return sum(len(numbers) for topics in case["java"].values() for numbers in topics.values())


def partitions_wanted(case):
    wanted = {topic for told in case["members"].values() for topic in told["topics"]}
    return sum(count for topic, count in the_cluster(case).topics.items() if topic in wanted)


@pytest.mark.parametrize("assignor", ASSIGNORS)
def test_assigns_as_java_does_2e_16(assignor):
    cases = [case for case in CASES if case["assignor"] == assignor.name]
    assert len(cases) >= 60
    for case in cases:
        ours = assignor().assign(the_cluster(case), the_members(case))
        assert by_member(ours) == case["java"], case


def test_the_witness_covers_every_kind_of_group():
    """A check of the witness itself: what it is for does occur in it."""
    members = [told for case in CASES for told in case["members"].values()]
    assert {len(case["members"]) for case in CASES} >= set(range(1, 10))
    for fact in ("rack", "instance", "owned", "generation", "user_data"):
        assert sum(fact in told for told in members) > 100
    unequal = [
        case
        for case in CASES
        if len({tuple(told["topics"]) for told in case["members"].values()}) > 1
    ]
    assert {case["assignor"] for case in unequal} == {one.name for one in ASSIGNORS}
    assert len(unequal) > 100
    cooperative = [case for case in CASES if case["assignor"] == "cooperative-sticky"]
    held_back = [case for case in cooperative if partitions_given(case) < partitions_wanted(case)]
    assert len(held_back) > 30
