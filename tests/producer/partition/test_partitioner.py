import random
from collections import Counter

from aiokafka_lite.producer.partition.partitioner import (
    DefaultPartitioner,
    RoundRobinPartitioner,
    StickyPartition,
)
from aiokafka_lite.producer.producer_config import TopicPartitioner


def test_default_partitioner_uses_all_partitions_for_a_key_and_available_ones_without() -> None:
    """A key may choose any partition; records without one use partitions with a leader (2g-5)."""
    partitioner = DefaultPartitioner(random.Random(1))
    keyed = {partitioner(b"%d" % n, [0, 1, 2, 3], [0]) for n in range(100)}
    assert keyed == {0, 1, 2, 3}
    assert partitioner(b"foobar", [0, 1, 2, 3], [0]) == (-790332482 & 0x7FFFFFFF) % 4
    assert {partitioner(None, [0, 1, 2, 3], [1, 2]) for _ in range(100)} == {1, 2}
    assert partitioner(None, [5], []) == 5


def test_round_robin_takes_turns_by_topic() -> None:
    """`RoundRobinPartitioner` takes the partitions of each topic in turn (C3)."""
    partitioner = RoundRobinPartitioner()
    assert isinstance(partitioner, TopicPartitioner)
    turns = [partitioner.partition(topic, None, [0, 1, 2], [0, 1, 2]) for topic in ["a", "b"] * 4]
    assert turns[::2] == turns[1::2] == [0, 1, 2, 0]
    assert partitioner.partition("c", b"key", [0, 1, 2], [2]) == 2


def test_sticky_stays_until_its_share_is_there_and_the_batch_is_full() -> None:
    """The sticky partition stays until its share of bytes is there and the batch is full (2d-5)."""
    sticky = StickyPartition(1000, random.Random(3))
    choices = tuple(range(50))
    first = sticky.choose(choices, 92)  # counts 100 with its overhead
    sticky.batch_is_full()
    assert {sticky.choose(choices, 92) for _ in range(9)} == {first}
    sticky.batch_is_full()
    assert sticky.choose(choices, 92) != first


def test_sticky_leaves_at_twice_its_share_even_without_a_full_batch() -> None:
    """The sticky partition changes at twice its share even without a full batch (2d-5)."""
    sticky = StickyPartition(1000, random.Random(3))
    choices = tuple(range(50))
    chosen = [sticky.choose(choices, 92) for _ in range(40)]
    assert len(set(chosen[:20])) == 1
    assert len(set(chosen[20:])) == 1
    assert chosen[0] != chosen[20]


def test_sticky_leaves_a_partition_that_lost_its_leader() -> None:
    sticky = StickyPartition(1000, random.Random(3))
    everything = (0, 1)
    first = sticky.choose(everything, 1)
    other = (1 - first,)
    assert sticky.choose(other, 1) == other[0]
    assert sticky.choose(everything, 1) == other[0]  # no leader anywhere: all are choices


def test_sticky_spreads_evenly_over_time() -> None:
    sticky = StickyPartition(100, random.Random(7))
    choices = (0, 1, 2, 3)
    counts = Counter(sticky.choose(choices, 92) for _ in range(4000))
    assert all(800 < counts[partition] < 1200 for partition in choices)
