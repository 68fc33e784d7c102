"""Replicas that a client has chosen, and Kafka's words for each fault."""

import pytest

from aiokafka_lite.errors import InvalidReplicationAssignmentError
from aiokafka_lite.testing.broker.state.replica_assignments import (
    check_assignments,
    check_replica_lists,
)

NODES = [1, 2, 3]


@pytest.mark.parametrize(
    ("assignments", "fault"),
    [
        ({0: []}, "an empty replica list"),
        ({0: [1, 9]}, "broker 9, but no such broker is registered"),
        ({0: [2, 1, 2]}, "the broker 2 more than once"),
        ({0: [1, 2], 1: [3]}, r"with 1 replica\(s\), but .* which have 2 replica\(s\)"),
        ({0: [1], 2: [1]}, "consecutive 0-based integer sequence"),
    ],
)
def test_each_fault_is_told(assignments: dict[int, list[int]], fault: str) -> None:
    with pytest.raises(InvalidReplicationAssignmentError, match=fault):
        check_assignments(assignments, NODES)


def test_the_partitions_come_in_order() -> None:
    assert check_assignments({1: [3, 1], 0: [2, 1]}, NODES) == [[2, 1], [3, 1]]


def test_further_partitions_have_as_many_replicas_as_the_first_ones() -> None:
    assert check_replica_lists([[1, 2], [3, 2]], NODES, 2) == [[1, 2], [3, 2]]
    with pytest.raises(InvalidReplicationAssignmentError, match=r"which have 2 replica"):
        check_replica_lists([[1, 2], [3]], NODES, 2)
    with pytest.raises(InvalidReplicationAssignmentError, match=r"with 2 .* which have 1"):
        check_replica_lists([[1, 2]], NODES, 1)
