"""Reassignments: replicas come and go, in the steps that Apache Kafka takes."""

import pytest

from aiokafka_lite.errors import (
    InvalidReplicationAssignmentError,
    InvalidReplicationFactorError,
    NoReassignmentInProgressError,
)
from aiokafka_lite.testing.broker.state.cluster_state import BrokerPartition
from tests.testing.broker.bench import Bench


def placed(bench: Bench, *replicas: int) -> BrokerPartition:
    topic = bench.cluster.new_topic("t", assignments={0: replicas})
    bench.cluster.add_topic(topic)
    return topic.partitions[0]


def test_new_replicas_on_running_nodes_are_in_sync_at_once() -> None:
    bench = Bench(3)
    partition = placed(bench, 1, 2)
    bench.reassignments.start(partition, [3, 2])
    assert (partition.replicas, partition.leader, partition.leader_epoch) == ([3, 2], 3, 1)
    assert not partition.is_reassigning
    bench.reassignments.start(partition, [2, 3])  # another order only
    assert (partition.replicas, partition.leader, partition.leader_epoch) == ([2, 3], 3, 1)


def test_a_held_reassignment_keeps_leaving_replicas_last() -> None:
    bench = Bench(3)
    partition = placed(bench, 1, 2)
    bench.reassignments.hold()
    bench.reassignments.start(partition, [2, 3])
    assert partition.replicas == [2, 3, 1]
    assert (partition.adding, partition.removing) == ((3,), (1,))
    assert bench.cluster.in_sync_replicas(partition) == [2, 1]
    assert list(bench.reassignments.ongoing()) == [partition]
    bench.reassignments.release()
    assert (partition.replicas, partition.leader) == ([2, 3], 2)
    assert list(bench.reassignments.ongoing()) == []


def test_another_target_takes_the_place_of_one_that_was_not_reached() -> None:
    bench = Bench(4)
    partition = placed(bench, 1, 2)
    bench.reassignments.hold()
    bench.reassignments.start(partition, [2, 3])
    bench.reassignments.start(partition, [3, 2])
    assert (partition.adding, partition.removing) == ((3,), (1,))
    bench.reassignments.start(partition, [4, 2])  # 3 is forgotten
    assert partition.replicas == [4, 2, 1]
    assert (partition.adding, partition.removing) == ((4,), (1,))
    assert partition.catching_up == {4}


def test_a_node_that_is_down_keeps_its_replica_behind_until_it_starts() -> None:
    bench = Bench(3)
    partition = placed(bench, 1)
    bench.cluster.set_alive(3, is_alive=False)
    bench.reassignments.start(partition, [3])
    assert partition.is_reassigning
    bench.cluster.set_alive(3, is_alive=True)
    assert (partition.replicas, partition.leader) == ([3], 3)


def test_a_cancel_removes_what_was_added() -> None:
    bench = Bench(3)
    partition = placed(bench, 1, 2)
    with pytest.raises(NoReassignmentInProgressError):
        bench.reassignments.cancel(partition)
    bench.reassignments.hold()
    bench.reassignments.start(partition, [2, 3])
    bench.reassignments.cancel(partition)
    assert (partition.replicas, partition.leader) == ([2, 1], 1)
    assert not partition.catching_up


def test_a_cancel_that_only_leaves_replicas_behind_is_refused() -> None:
    bench = Bench(3)
    partition = placed(bench, 1)
    bench.reassignments.hold()
    bench.reassignments.start(partition, [2, 3])
    partition.catching_up.discard(2)
    bench.cluster.set_alive(1, is_alive=False)
    assert partition.leader == 2
    with pytest.raises(InvalidReplicationAssignmentError, match="unclean"):
        bench.reassignments.cancel(partition)


@pytest.mark.parametrize(
    ("target", "text"), [([], "empty replica list"), ([1, 1], "1 more than once"), ([9], "9, but")]
)
def test_replicas_that_cannot_be(target: list[int], text: str) -> None:
    bench = Bench(3)
    with pytest.raises(InvalidReplicationAssignmentError, match=text):
        bench.reassignments.start(placed(bench, 1), target)


def test_the_number_of_replicas_may_be_fixed() -> None:
    bench = Bench(3)
    partition = placed(bench, 1)
    with pytest.raises(InvalidReplicationFactorError, match="from 1 to 2"):
        bench.reassignments.start(partition, [1, 2], may_change_count=False)
    bench.reassignments.start(partition, [2], may_change_count=False)
    assert partition.replicas == [2]
