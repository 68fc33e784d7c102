"""The option `partition_assignment_strategy`."""

import pytest

from aiokafka_lite.consumer.assignors.assignment_strategy import make_assignors
from aiokafka_lite.consumer.assignors.assignor import AbstractPartitionAssignor, RebalanceProtocol
from aiokafka_lite.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from aiokafka_lite.consumer.assignors.range import RangePartitionAssignor
from aiokafka_lite.consumer.assignors.round_robin import RoundRobinPartitionAssignor
from aiokafka_lite.consumer.assignors.sticky import StickyPartitionAssignor
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.protocol.consumer_protocol import (
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberMetadata,
)
from tests.consumer.assignors.groups import Cluster, assign, member


class LastTakesAll:
    """An assignor as programs for aiokafka write them: nothing but class methods."""

    name = "last"

    @classmethod
    def assign(cls, cluster, members):
        topics = {topic for told in members.values() for topic in told.subscription}
        everything = [(topic, sorted(cluster.partitions_for_topic(topic))) for topic in topics]
        return {
            key: ConsumerProtocolMemberAssignment(0, everything if key == max(members) else [], b"")
            for key in members
        }

    @classmethod
    def metadata(cls, topics):
        return ConsumerProtocolMemberMetadata(0, list(topics), b"hello")

    @classmethod
    def on_assignment(cls, assignment):
        pass


class OnlyCooperative(CooperativeStickyAssignor):
    name = "only-cooperative"
    supported_protocols = (RebalanceProtocol.COOPERATIVE,)  # type: ignore[assignment]


def test_the_default_has_an_assignor_in_common_with_each_other_client():
    """Range with Java's, librdkafka's and kafka-python's, round-robin with aiokafka's. The protocol
    is eager (2e-7).
    """
    assert [type(one) for one in make_assignors()] == [
        RangePartitionAssignor,
        CooperativeStickyAssignor,
        RoundRobinPartitionAssignor,
    ]


def test_names_on_the_wire_are_those_of_java_2e_16():
    strategy = [
        RangePartitionAssignor,
        RoundRobinPartitionAssignor,
        StickyPartitionAssignor,
        CooperativeStickyAssignor,
    ]
    names = [assignor.name for assignor in make_assignors(strategy)]
    assert names == ["range", "roundrobin", "sticky", "cooperative-sticky"]


@pytest.mark.parametrize("strategy", [None, [StickyPartitionAssignor]])
def test_each_consumer_has_its_own_d14(strategy):
    for one, other in zip(make_assignors(strategy), make_assignors(strategy), strict=True):
        assert one is not other


def test_an_instance_is_used_as_it_is():
    own = StickyPartitionAssignor()
    assert make_assignors((own,)) == (own,)


def test_an_assignor_written_for_aiokafka_works():
    (assignor,) = make_assignors([LastTakesAll])
    assert assignor.metadata({"t"}).encode().endswith(b"hello")
    found = assign(assignor, Cluster({"t": 3}), {"a": member("t"), "b": member("t")})
    assert {key: len(owned) for key, owned in found.items()} == {"a": 0, "b": 3}


def test_aiokafkas_kind_is_eager():
    make_assignors([LastTakesAll, CooperativeStickyAssignor])
    with pytest.raises(
        KafkaConfigurationError, match=r"last \(EAGER\), only-cooperative \(COOPERATIVE\)"
    ):
        make_assignors([LastTakesAll, OnlyCooperative])


class NeedsArguments(RangePartitionAssignor):
    def __init__(self, weight):
        self.weight = weight


@pytest.mark.parametrize(
    ("strategy", "told"),
    [
        ([], "is empty"),
        ("range", "'range' is no list"),
        (RangePartitionAssignor, "RangePartitionAssignor.* is no list"),
        (7, "7 is no list"),
        (iter([RangePartitionAssignor]), "is no list"),
        (["range"], "'range', which is no assignor: it lacks name, assign, metadata"),
        ([dict], "dict.* it lacks name, assign"),
        ([None], "None, which is no assignor"),
        ([NeedsArguments], "cannot be made without arguments .*weight"),
        ([AbstractPartitionAssignor], "cannot be made without arguments .*abstract"),
        ([RangePartitionAssignor, RangePartitionAssignor()], "several assignors named 'range'"),
    ],
)
def test_what_is_no_strategy_is_named(strategy, told):
    with pytest.raises(KafkaConfigurationError, match=told):
        make_assignors(strategy)


def test_an_instance_that_needs_arguments_is_made_by_the_user():
    (assignor,) = make_assignors([NeedsArguments(3)])
    assert isinstance(assignor, NeedsArguments)
    assert assignor.weight == 3
