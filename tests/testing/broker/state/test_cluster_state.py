"""Nodes, topics, leaders and epochs of the embedded cluster."""

from uuid import UUID

import pytest

from aiokafka_lite.errors import (
    BrokerNotAvailableError,
    FencedLeaderEpochError,
    InvalidConfigurationError,
    InvalidPartitionsError,
    InvalidReplicationAssignmentError,
    InvalidReplicationFactorError,
    InvalidTopicError,
    NotLeaderForPartitionError,
    TopicAlreadyExistsError,
    UnknownLeaderEpochError,
    UnknownTopicIdError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.model import TopicPartition
from tests.testing.broker.bench import Bench, batch

TP = TopicPartition("t", 0)


def leaders(bench: Bench, topic: str = "t") -> list[int]:
    return [p.leader for p in bench.cluster.topics[topic].partitions]


# Topics…


def test_leaders_go_round_the_nodes_and_replicas_are_three_at_most() -> None:
    bench = Bench(4)
    topic = bench.topic(partitions=5)
    assert leaders(bench) == [1, 2, 3, 4, 1]
    assert [p.replicas for p in topic.partitions][3] == [4, 1, 2]
    assert {p.leader_epoch for p in topic.partitions} == {0}


def test_topic_ids_are_found_and_never_come_back() -> None:
    bench = Bench()
    first = bench.topic()
    assert bench.cluster.topic_by_id(first.topic_id) is first
    bench.cluster.delete_topic("t")
    with pytest.raises(UnknownTopicIdError):
        bench.cluster.topic_by_id(first.topic_id)
    assert bench.topic().topic_id != first.topic_id


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "a/b", "ü", "x" * 250, "a\n"])
def test_impossible_names_are_refused(name: str) -> None:
    with pytest.raises(InvalidTopicError, match="cannot exist"):
        Bench().topic(name)


def test_new_topic_names_the_fault() -> None:
    cluster = Bench(2).cluster
    with pytest.raises(InvalidPartitionsError, match="0 partitions; the least is 1"):
        cluster.new_topic("t", num_partitions=0)
    with pytest.raises(InvalidReplicationFactorError, match=r"factor 3 .* up, 2"):
        cluster.new_topic("t", replication_factor=3)
    with pytest.raises(InvalidReplicationAssignmentError, match="consecutive 0-based"):
        cluster.new_topic("t", assignments={1: [1]})
    with pytest.raises(InvalidReplicationAssignmentError, match="broker 9, but no such"):
        cluster.new_topic("t", assignments={0: [1, 9]})
    with pytest.raises(InvalidConfigurationError):
        cluster.new_topic("t", settings={"max.message.bytes": "-1"})
    cluster.add_topic(cluster.new_topic("t"))
    with pytest.raises(TopicAlreadyExistsError, match="'t' exists already"):
        cluster.new_topic("t")


def test_assignments_decide_replicas_and_leader() -> None:
    bench = Bench(3)
    bench.cluster.add_topic(bench.cluster.new_topic("t", assignments={0: [3, 1], 1: [2, 1]}))
    assert leaders(bench) == [3, 2]


def test_unknown_topics_and_partitions_are_named() -> None:
    bench = Bench()
    bench.topic(partitions=2)
    with pytest.raises(UnknownTopicOrPartitionError, match="'x' does not exist"):
        bench.cluster.topic_by_name("x")
    with pytest.raises(UnknownTopicOrPartitionError, match="no partition 2; it has 2"):
        bench.cluster.partition(TopicPartition("t", 2))
    with pytest.raises(UnknownTopicIdError):
        bench.cluster.topic_by_id(UUID(int=1))


def test_added_partitions_follow_those_there_are() -> None:
    bench = Bench(3)
    topic = bench.topic(partitions=1)
    placed = bench.cluster.place_new_partitions(topic, 3, None)
    bench.cluster.add_partitions(topic, placed)
    assert leaders(bench) == [1, 2, 3]
    assert [p.topic_partition.partition for p in topic.partitions] == [0, 1, 2]
    with pytest.raises(InvalidPartitionsError, match=r"already has 3 partition\(s\)"):
        bench.cluster.place_new_partitions(topic, 3, None)
    with pytest.raises(InvalidReplicationAssignmentError, match="add 1 additional"):
        bench.cluster.place_new_partitions(topic, 4, [[1], [2]])


# Leaders…


def test_a_moved_leader_has_a_new_epoch() -> None:
    bench = Bench(2)
    partition = bench.topic().partitions[0]
    partition.append(batch(b"a"))
    bench.cluster.move_leader(TP, 2)
    assert (partition.leader, partition.leader_epoch) == (2, 1)
    partition.append(batch(b"a"))
    assert partition.log.end_of_epoch(0) == (0, 1)
    assert partition.log.epoch_of(1) == 1


def test_a_node_without_a_replica_becomes_one_when_it_leads() -> None:
    bench = Bench(5)
    partition = bench.topic().partitions[0]
    bench.cluster.move_leader(TP, 5)
    assert partition.replicas == [1, 2, 3, 5]


def test_a_leader_must_be_up() -> None:
    bench = Bench(2)
    bench.topic()
    bench.cluster.set_alive(2, is_alive=False)
    with pytest.raises(BrokerNotAvailableError, match="node 2 is down"):
        bench.cluster.move_leader(TP, 2)
    with pytest.raises(BrokerNotAvailableError, match=r"node 3 does not exist.*\[1, 2\]"):
        bench.cluster.move_leader(TP, 3)


def test_another_replica_leads_when_a_node_goes_down() -> None:
    bench = Bench(3)
    topic = bench.topic(partitions=3)
    bench.cluster.set_alive(2, is_alive=False)
    assert leaders(bench) == [1, 3, 3]
    assert [p.leader_epoch for p in topic.partitions] == [0, 1, 0]
    assert bench.cluster.in_sync_replicas(topic.partitions[0]) == [1, 3]
    bench.cluster.set_alive(2, is_alive=True)
    assert leaders(bench) == [1, 3, 3]


def test_a_partition_without_a_living_replica_has_no_leader_until_one_is_back() -> None:
    bench = Bench()
    partition = bench.topic().partitions[0]
    bench.cluster.set_alive(1, is_alive=False)
    assert (partition.leader, partition.leader_epoch) == (-1, 1)
    assert bench.cluster.controller_id == -1
    bench.cluster.set_alive(1, is_alive=True)
    assert (partition.leader, partition.leader_epoch) == (1, 2)
    assert bench.cluster.controller_id == 1


def test_leader_epochs_fence_those_who_know_an_older_or_a_newer_one() -> None:
    """A request with an older leader epoch is fenced, one with a newer is unknown (KIP-320)."""
    bench = Bench(2)
    partition = bench.topic().partitions[0]
    bench.cluster.move_leader(TP, 2)
    with pytest.raises(FencedLeaderEpochError, match=r"epoch 0 .* is over; it is 1 now"):
        partition.check_leader(1, 0)
    with pytest.raises(UnknownLeaderEpochError, match=r"epoch 2 .* is not known; it is 1"):
        partition.check_leader(2, 2)
    with pytest.raises(NotLeaderForPartitionError, match=r"node 1 does not lead .*; 2 does"):
        partition.check_leader(1, -1)
    partition.check_leader(2, 1)
    partition.check_leader(2, -1)


# Watchers…


def test_watchers_hear_of_data_leaders_and_deletion() -> None:
    bench = Bench(2)
    partition = bench.topic().partitions[0]
    heard: list[str] = []

    def hear() -> None:
        heard.append("changed")

    partition.watch(hear)
    partition.append(batch(b"a"))
    bench.cluster.move_leader(TP, 2)
    bench.cluster.delete_topic("t")
    assert len(heard) == 3
    partition.unwatch(hear)
    partition.append(batch(b"a"))
    assert len(heard) == 3


def test_producer_ids_are_given_once() -> None:
    cluster = Bench().cluster
    assert [cluster.new_producer_id() for _ in range(3)] == [0, 1, 2]


def test_watchers_of_the_cluster_hear_of_nodes_and_of_deleted_topics() -> None:
    bench = Bench(2)
    heard: list[str] = []
    bench.cluster.watch(
        on_nodes=lambda: heard.append(str(len(bench.cluster.alive_nodes()))),
        on_topic_deleted=heard.append,
    )
    bench.topic("t")
    bench.cluster.set_alive(2, is_alive=False)
    bench.cluster.set_alive(2, is_alive=True)
    bench.cluster.delete_topic("t")
    assert heard == ["1", "2", "t"]


def test_a_topics_name_is_known_by_its_id_while_it_exists() -> None:
    bench = Bench()
    topic_id = bench.topic("t").topic_id
    assert bench.cluster.topic_name(topic_id) == "t"
    bench.cluster.delete_topic("t")
    assert bench.cluster.topic_name(topic_id) is None
