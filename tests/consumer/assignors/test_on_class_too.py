"""Assignors in aiokafka's form, with class methods, and calls on the classes of ours."""

import pytest

from aiokafka_lite.consumer.assignors.assignment_strategy import make_assignors
from aiokafka_lite.consumer.assignors.range import RangePartitionAssignor
from aiokafka_lite.consumer.assignors.round_robin import RoundRobinPartitionAssignor
from aiokafka_lite.consumer.assignors.sticky import StickyPartitionAssignor
from aiokafka_lite.protocol.consumer_protocol import (
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberMetadata,
)
from tests.consumer.assignors.groups import Cluster


@pytest.mark.parametrize(
    "kind", [RangePartitionAssignor, RoundRobinPartitionAssignor, StickyPartitionAssignor]
)
def test_methods_can_be_called_on_the_class(kind):
    told = kind.metadata(["t"])
    assert (told.version, told.subscription, kind.version) == (0, ["t"], 0)
    on_the_class = kind.assign(Cluster({"t": 3}), {"a": told, "b": told})
    assert on_the_class == kind().assign(Cluster({"t": 3}), {"a": told, "b": told})
    assert sum(len(given.partitions()) for given in on_the_class.values()) == 3
    kind.on_assignment(on_the_class["a"])
    assert kind.metadata(["t"]) == told, "a call on the class left something behind"


def test_class_methods_may_call_those_of_the_base():
    class Noted(RoundRobinPartitionAssignor):
        name = "noted"
        heard: list[ConsumerProtocolMemberAssignment] = []

        @classmethod
        def metadata(cls, topics):
            return ConsumerProtocolMemberMetadata(cls.version, sorted(topics), b"rack 1")

        @classmethod
        def assign(cls, cluster, members):
            assigned = super().assign(cluster, members)  # type: ignore[call-arg]
            return {
                member: ConsumerProtocolMemberAssignment(cls.version, given.assignment, b"!")
                for member, given in assigned.items()
            }

        @classmethod
        def on_assignment(cls, assignment):
            super().on_assignment(assignment)  # type: ignore[call-arg]
            cls.heard.append(assignment)

    (assignor,) = make_assignors([Noted])
    told = assignor.metadata({"t"})
    given = assignor.assign(Cluster({"t": 2}), {"a": told, "b": told})
    assert [(each.assignment, each.user_data) for each in given.values()] == [
        ([("t", [0])], b"!"),
        ([("t", [1])], b"!"),
    ]
    assignor.on_assignment(given["a"])
    assert Noted.heard == [given["a"]]


def test_the_methods_keep_their_help():
    assert RangePartitionAssignor.assign.__doc__ == RangePartitionAssignor().assign.__doc__
    assert "assignment" in (RangePartitionAssignor.assign.__doc__ or "")
