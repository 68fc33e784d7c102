"""The number of partitions that a topic is to have, with aiokafka's arguments."""

from aiokafka_lite.admin.topics.new_partitions import NewPartitions


def test_a_number_and_perhaps_the_replicas() -> None:
    assert NewPartitions(3).new_assignments is None
    by_hand = NewPartitions(3, new_assignments=[[1], [2]])
    assert (by_hand.total_count, by_hand.new_assignments) == (3, [[1], [2]])
    assert repr(by_hand) == "NewPartitions(3, [[1], [2]])"
