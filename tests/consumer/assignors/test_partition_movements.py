"""Which partition to move, after others were moved."""

from aiokafka_lite.consumer.assignors.partition_movements import PartitionMovements
from aiokafka_lite.model import TopicPartition

P0, P1, P2 = (TopicPartition("t", number) for number in range(3))
OTHER_TOPIC = TopicPartition("u", 0)


def test_without_moves_the_partition_itself_moves():
    assert PartitionMovements().to_move(P0, "a", "b") == P0


def test_one_that_went_the_other_way_comes_back_instead():
    movements = PartitionMovements()
    movements.record(P0, "b", "a")
    assert movements.to_move(P1, "a", "b") == P0
    assert movements.to_move(P1, "a", "c") == P1
    assert movements.to_move(OTHER_TOPIC, "a", "b") == OTHER_TOPIC


def test_one_that_came_back_has_not_moved():
    movements = PartitionMovements()
    movements.record(P0, "b", "a")
    movements.record(P0, "a", "b")
    assert movements.to_move(P1, "a", "b") == P1


def test_two_moves_of_one_partition_are_one_from_its_first_owner():
    movements = PartitionMovements()
    movements.record(P0, "a", "b")
    movements.record(P0, "b", "c")
    assert movements.to_move(P1, "b", "a") == P1
    assert movements.to_move(P1, "c", "a") == P0
    # P2 was with d first: it is d and a that would change places, not c and a.
    movements.record(P2, "d", "c")
    assert movements.to_move(P2, "c", "a") == P2
