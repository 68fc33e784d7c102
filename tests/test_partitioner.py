"""aiokafka's partitioner at aiokafka's address puts keys where aiokafka puts them."""

import aiokafka.partitioner

from aiokafka_lite.partitioner import DefaultPartitioner, murmur2


def test_a_key_has_the_partition_that_aiokafka_gives_it() -> None:
    ours, theirs = DefaultPartitioner(), aiokafka.partitioner.DefaultPartitioner()
    for number in range(100):
        key = b"key %d" % number
        assert ours(key, [0, 1, 2, 5], [1]) == theirs(key, [0, 1, 2, 5], [1])
        assert murmur2(key) & 0x7FFFFFFF == aiokafka.partitioner.murmur2(key) & 0x7FFFFFFF
    assert ours(None, [0, 1, 2], [1]) == 1
