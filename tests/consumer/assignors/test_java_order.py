"""The order of Java's hash tables. The expected values were printed by Java 17 with Kafka 4.3.1."""

import pytest

from aiokafka_lite.consumer.assignors.java_order import (
    PartitionHashSet,
    hash_map_order,
    string_hash,
)
from aiokafka_lite.model import TopicPartition


@pytest.mark.parametrize(
    ("text", "hashed"),
    [("consumer-1-0a9f", 332825361), ("é\U0001f600", 1996812), ("", 0), ("BB", 2112), ("Aa", 2112)],
)
def test_texts_hash_as_in_java(text, hashed):
    assert string_hash(text) == hashed


def test_keys_come_as_from_a_hash_map_that_has_grown():
    in_java = [126704, 71271, 31676, 7919, 388031, 1140336, 0, 506816, 285084, 1338311]
    in_java += [958199, 197975, 791900, 641439]
    keys = [f"consumer-{number * number * 7919}" for number in range(14)]
    assert hash_map_order(keys) == [f"consumer-{number}" for number in in_java]


def test_keys_of_one_hash_keep_the_order_they_were_put_in():
    assert hash_map_order(["BB", "Aa", "C#"]) == ["BB", "Aa", "C#"]
    assert hash_map_order(["C#", "Aa", "BB"]) == ["C#", "Aa", "BB"]


def test_first_partition_is_that_of_a_hash_set_that_grows_and_never_shrinks():
    partitions = [TopicPartition("ü" if number % 2 else "flights", number) for number in range(30)]
    found = PartitionHashSet()
    first_after = {}
    for partition in partitions:
        found.add(partition)
        first_after[partition.partition] = found.first()
    assert first_after[2] == TopicPartition("flights", 0)
    assert first_after[11] == first_after[12] == TopicPartition("flights", 6)
    assert first_after[29] == TopicPartition("ü", 29)
    for partition in partitions[:28]:
        found.remove(partition)
    assert len(found) == 2
    assert found.first() == TopicPartition("ü", 29)
