"""A topic that is to be created, with aiokafka's arguments."""

import pytest

from aiokafka_lite.admin.topics.new_topic import NewTopic
from aiokafka_lite.errors import IllegalArgumentError


def test_numbers_or_replicas_by_hand() -> None:
    plain = NewTopic("t", 3, 2, topic_configs={"retention.ms": "1"})
    assert (plain.num_partitions, plain.replication_factor) == (3, 2)
    assert (plain.replica_assignments, plain.topic_configs) == ({}, {"retention.ms": "1"})
    by_hand = NewTopic("t", -1, -1, {0: [1, 2]})
    assert by_hand.replica_assignments == {0: [1, 2]}
    assert repr(by_hand) == "NewTopic('t', -1, -1, {0: [1, 2]}, {})"
    assert (NewTopic("t").num_partitions, NewTopic("t").replication_factor) == (-1, -1)


@pytest.mark.parametrize("numbers", [(1, -1), (-1, 1), (1, 1)])
def test_both_are_refused(numbers: tuple[int, int]) -> None:
    with pytest.raises(IllegalArgumentError, match=r"topic 't': either num_partitions/"):
        NewTopic("t", *numbers, replica_assignments={0: [1]})
