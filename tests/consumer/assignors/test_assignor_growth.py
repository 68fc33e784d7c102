"""What a leader's work costs as its group grows: eight times the work for eight times the group.

The members are as many times more as the partitions are. A loop over all pairs of members and
topics takes eight times the steps a partition. So does a walk over other members for each of them.
"""

import random
from collections.abc import Iterable
from typing import Any

import pytest

from aiokafka_lite.consumer.assignors.assignor import AbstractPartitionAssignor, RebalanceProtocol
from aiokafka_lite.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from aiokafka_lite.consumer.assignors.range import RangePartitionAssignor
from aiokafka_lite.consumer.assignors.round_robin import RoundRobinPartitionAssignor
from aiokafka_lite.consumer.assignors.sticky import StickyPartitionAssignor
from aiokafka_lite.consumer.group.classic.rebalance import (
    MemberPosition,
    assign,
    encoded,
    join_protocols,
    read_members,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.consumer_protocol import ConsumerProtocolMemberAssignment
from aiokafka_lite.protocol.messages.join_group import JoinGroupResponseMember
from tests.consumer.assignors.groups import Cluster
from tests.support.interpreter_steps import counted

SMALL, TIMES = 12, 8
MOST = 1.4
"""So many times as many steps a partition may take in the large group; what is square takes 8."""

ASSIGNORS = [
    RangePartitionAssignor,
    RoundRobinPartitionAssignor,
    StickyPartitionAssignor,
    CooperativeStickyAssignor,
]


class Keep(AbstractPartitionAssignor):
    """A cooperative assignor of a user's: members keep what they own, so nothing is refused."""

    name = "keep"
    supported_protocols = (RebalanceProtocol.COOPERATIVE,)

    def assign(self, cluster: Any, members: Any) -> Any:
        return {
            key: ConsumerProtocolMemberAssignment(0, told.owned_partitions, None)
            for key, told in members.items()
        }


Given = dict[str, ConsumerProtocolMemberAssignment]


class Group:
    """Members that subscribe to topics in one of several ways, and hold what they were given."""

    def __init__(self, kind: type[AbstractPartitionAssignor], topics: int, each: int) -> None:
        self.kind = kind
        self.topics = [f"topic-{number}" for number in range(topics)]
        self.cluster = Cluster(dict.fromkeys(self.topics, each))
        self.partitions = topics * each
        self.racks = False

    def set_racks(self, crowded: float) -> None:
        """Give each partition a replica in one of three racks, and each member one of them.

        So large a part of the partitions is in one rack.
        """
        rng = random.Random(1)
        self.racks = True
        for partition in sorted(self.cluster.partitions()):
            self.cluster.replica_racks[partition] = frozenset({f"r{rng.randrange(3)}"})
            if rng.random() < crowded:
                self.cluster.replica_racks[partition] = frozenset({"r0"})

    def _subscription(self, subscribe: str, member: int) -> list[str]:
        third = len(self.topics) // 3
        match subscribe:
            case "halves":
                return self.topics[: -third or None] if member % 2 else self.topics[third:]
            case "own":
                return [t for at, t in enumerate(self.topics) if at != member % len(self.topics)]
            case _:
                return self.topics

    def told(self, subscribe: str, count: int, given: Given) -> list[JoinGroupResponseMember]:
        """What so many members tell, each with what it was given before."""
        found = []
        for number in range(count):
            member_id = f"member-{number:05}"
            mine, assignor = given.get(member_id), self.kind()
            owned: Iterable[TopicPartition] = ()
            if mine is not None:
                owned = mine.partitions()
                assignor.on_assignment(mine)
                assignor.on_generation(1)
            rack = f"r{number % 3}" if self.racks else None
            position = MemberPosition(list(owned), 1 if mine else -1, rack)
            (said,) = join_protocols([assignor], self._subscription(subscribe, number), position)
            found.append(JoinGroupResponseMember(member_id=member_id, metadata=said.metadata))
        return found

    def led(self, told: list[JoinGroupResponseMember]) -> tuple[Given, float]:
        """What the leader gives, and its steps a partition: to read, assign, check and encode."""
        assignor, cluster = self.kind(), self.cluster
        with counted("/aiokafka_lite/protocol/", "/aiokafka_lite/codec/") as count:
            members = read_members(told)
            given = assign(assignor, cluster, members, assignor.supported_protocols[0])  # type: ignore[arg-type]
            encoded(given)
        return given, count.steps / self.partitions

    def costs(self, subscribe: str, count: int) -> dict[str, float]:
        """Steps a partition of a new group, of one that rebalances, and when a member joins."""
        given, new = self.led(self.told(subscribe, count, {}))
        _, again = self.led(self.told(subscribe, count, given))
        _, joins = self.led(self.told(subscribe, count + 1, given))
        return {"new": new, "again": again, "a member joins": joins}


def worst(few: dict[str, float], many: dict[str, float]) -> float:
    print({what: (round(few[what]), round(many[what])) for what in few})
    return max(many[what] / few[what] for what in few)


@pytest.mark.parametrize("subscribe", ["alike", "halves", "own"])
@pytest.mark.parametrize("kind", ASSIGNORS)
def test_2e_16_larger_topics_for_more_members_cost_the_same_a_partition(
    kind: type[AbstractPartitionAssignor], subscribe: str
) -> None:
    few = Group(kind, 6, 30).costs(subscribe, SMALL)
    many = Group(kind, 6, 30 * TIMES).costs(subscribe, SMALL * TIMES)
    assert worst(few, many) < MOST


@pytest.mark.parametrize("subscribe", ["alike", "halves"])
@pytest.mark.parametrize("kind", ASSIGNORS)
def test_2e_16_more_topics_for_more_members_cost_the_same_a_partition(
    kind: type[AbstractPartitionAssignor], subscribe: str
) -> None:
    few = Group(kind, 18, 10).costs(subscribe, SMALL)
    many = Group(kind, 18 * TIMES, 10).costs(subscribe, SMALL * TIMES)
    assert worst(few, many) < MOST


@pytest.mark.parametrize("crowded", [0.0, 0.5])
@pytest.mark.parametrize("kind", ASSIGNORS)
def test_2e_16_racks_of_more_members_cost_the_same_a_partition(
    kind: type[AbstractPartitionAssignor], crowded: float
) -> None:
    groups = Group(kind, 6, 30), Group(kind, 6, 30 * TIMES)
    for group in groups:
        group.set_racks(crowded)
    for subscribe in ("alike", "halves"):
        few, many = groups[0].costs(subscribe, SMALL), groups[1].costs(subscribe, SMALL * TIMES)
        assert worst(few, many) < MOST


def test_2e_9_the_check_of_a_cooperative_assignment_costs_the_same_a_partition() -> None:
    costs = []
    for each in (100, 100 * TIMES):
        group = Group(Keep, 1, each)
        every = ConsumerProtocolMemberAssignment(0, [("topic-0", list(range(each)))], None)
        told = group.told("alike", 1, {"member-00000": every})
        costs.append(group.led(told)[1])
    assert costs[1] / costs[0] < MOST
