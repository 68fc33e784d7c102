"""Short queues get more records, nodes that do not keep up get none (KIP-794)."""

import random
from collections import Counter
from collections.abc import Sequence

from aiokafka_lite.cluster.metadata.metadata_snapshot import LeaderAndEpoch
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.accumulator.partition_queue import PartitionQueue
from aiokafka_lite.producer.partition.partition_loads import NodePatience, PartitionLoads
from aiokafka_lite.producer.partition.partitioner import StickyPartition
from tests.producer.batches import make_batch


def queues(*lengths: int) -> list[PartitionQueue]:
    """Queues of these lengths, led by nodes 0, 1, 2…"""
    made = []
    for partition, length in enumerate(lengths):
        queue = PartitionQueue(TopicPartition("orders", partition))
        queue.batches.extend(make_batch() for _ in range(length))
        queue.leader_id = partition
        made.append(queue)
    return made


def loads_of(
    queues: Sequence[PartitionQueue | None], patience: NodePatience | None = None
) -> PartitionLoads:
    """Partition 0 is led by node 0, 1 by 1…"""
    return PartitionLoads(
        queues, patience or NodePatience(0), lambda partition: LeaderAndEpoch(partition, 0)
    )


def chosen(loads: PartitionLoads, choices: tuple[int, ...], times: int = 6000) -> Counter[int]:
    rng = random.Random(1)
    return Counter(loads.choose(choices, rng) for _ in range(times))


def test_weights_are_the_longest_queue_plus_one_minus_its_own() -> None:
    """A partition's weight is the longest queue plus one, minus its own (2d-5)."""
    counts = chosen(loads_of(queues(0, 3, 1)), (0, 1, 2), 8000)
    for partition, weight in ((0, 4), (1, 1), (2, 3)):
        assert abs(counts[partition] - 1000 * weight) < 200


def test_queues_of_one_length_are_alike_however_long() -> None:
    """Partitions with equally long queues are chosen equally often (2d-5)."""
    counts = chosen(loads_of(queues(7, 7, 7)), (0, 1, 2))
    assert all(abs(count - 2000) < 200 for count in counts.values())
    assert len(counts) == 3


def test_a_partition_that_got_no_record_counts_as_an_empty_queue() -> None:
    """Its queue is made for its first record; its node may be too slow nevertheless (2d-5)."""
    of_topic: list[PartitionQueue | None] = [*queues(3), None, None]
    counts = chosen(loads_of(of_topic), (0, 1, 2), 9000)
    for partition, weight in ((0, 1), (1, 4), (2, 4)):
        assert abs(counts[partition] - 1000 * weight) < 200
    patience = NodePatience(1000)
    loads = PartitionLoads(of_topic, patience, lambda partition: LeaderAndEpoch(partition % 2, 0))
    patience.note(0, 10.0, can_send=True)
    patience.note(0, 11.1, can_send=False)
    assert set(chosen(loads, (0, 1, 2), 100)) == {1}


def test_only_partitions_with_a_leader_are_weighed() -> None:
    """Only partitions with a leader are chosen by their queues (2d-5)."""
    counts = chosen(loads_of(queues(9, 3, 0)), (0, 1))
    assert set(counts) == {0, 1}
    assert counts[1] > 5 * counts[0]


def test_partitions_of_a_node_that_does_not_keep_up_are_left_out() -> None:
    """Partitions of a node that does not keep up are not chosen (2d-5)."""
    patience = NodePatience(1000)
    of_topic = queues(1, 5, 5)
    loads = loads_of(of_topic, patience)
    patience.note(0, 10.0, can_send=True)
    patience.note(0, 11.0, can_send=False)
    assert 0 in chosen(loads, (0, 1, 2), 100)
    patience.note(0, 11.1, can_send=False)
    assert set(chosen(loads, (0, 1, 2), 100)) == {1, 2}
    assert chosen(loads, (0,), 10) == {0: 10}
    batch = of_topic[0].batches.pop()  # expired: somebody has to try the node
    assert 0 in chosen(loads, (0, 1, 2), 100)
    of_topic[0].batches.append(batch)
    assert 0 not in chosen(loads, (0, 1, 2), 100)
    patience.note(0, 30.0, can_send=True)
    assert 0 in chosen(loads, (0, 1, 2), 100)


def test_while_all_nodes_of_the_rack_are_too_slow_records_go_elsewhere() -> None:
    """The shortest queue of the rack is preferred to a shorter one elsewhere, unless the nodes of
    the rack do not keep up (2d-24).
    """
    patience = NodePatience(1000)
    of_topic = queues(0, 5, 3, 9)
    loads = PartitionLoads(
        of_topic, patience, lambda partition: LeaderAndEpoch(partition, 0), (0, 1, 2, 3)
    )
    counts = chosen(loads, (1, 2))
    assert set(counts) == {1, 2}
    assert counts[2] > 2 * counts[1]
    for node_id in (1, 2):
        patience.note(node_id, 10.0, can_send=True)
        patience.note(node_id, 11.1, can_send=False)
    assert set(chosen(loads, (1, 2))) == {0, 3}
    patience.note(2, 11.2, can_send=True)
    assert set(chosen(loads, (1, 2))) == {2}


def test_patience_begins_when_something_is_due_first() -> None:
    patience = NodePatience(1000)
    assert patience.is_on
    assert not patience.is_over(1)
    assert not patience.is_over(None)
    patience.note(1, 50.0, can_send=False)
    assert not patience.is_over(1)
    patience.note(1, 51.5, can_send=False)
    assert patience.is_over(1)
    assert not patience.is_over(2)


def test_without_a_timeout_no_node_is_left_out() -> None:
    patience = NodePatience(0)
    assert not patience.is_on
    patience.note(0, 0.0, can_send=False)
    patience.note(0, 99.0, can_send=False)
    assert 0 in chosen(loads_of(queues(0, 0), patience), (0, 1), 100)


def test_a_single_partition_is_chosen_whatever_its_node_does() -> None:
    patience = NodePatience(1)
    patience.note(0, 0.0, can_send=False)
    patience.note(0, 99.0, can_send=False)
    assert chosen(loads_of(queues(3), patience), (0,), 5) == {0: 5}


def test_the_sticky_partition_asks_when_it_moves_on() -> None:
    """The partition with the short queue gets most of the records (2d-5)."""
    sticky = StickyPartition(100, random.Random(1))
    sticky.loads = loads_of(queues(20, 0))
    counts = Counter(sticky.choose((0, 1), 92) for _ in range(2000))
    assert counts[1] > 15 * counts[0]
