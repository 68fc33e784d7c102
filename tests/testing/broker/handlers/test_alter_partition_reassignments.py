"""AlterPartitionReassignments: each partition has its own answer."""

import pytest

from aiokafka_lite.errors import (
    InvalidReplicationAssignmentError,
    InvalidReplicationFactorError,
    NoReassignmentInProgressError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from aiokafka_lite.testing.broker.handlers import alter_partition_reassignments
from tests.testing.broker.bench import Bench


def ask(
    bench: Bench, targets: dict[int, list[int] | None], *, version: int = 1, fixed: bool = False
) -> list[int]:
    partitions = [
        ReassignablePartition(partition_index=index, replicas=replicas)
        for index, replicas in targets.items()
    ]
    request = AlterPartitionReassignmentsRequest(
        topics=[ReassignableTopic(name="t", partitions=partitions)],
        allow_replication_factor_change=not fixed,
    )
    response = bench.ask(alter_partition_reassignments.HANDLER, request, version)
    assert response.allow_replication_factor_change is not fixed
    return [each.error_code for topic in response.responses for each in topic.partitions]


@pytest.mark.parametrize("version", range(2))
def test_every_version_moves_replicas(version: int) -> None:
    bench = Bench(3)
    (partition,) = bench.topic().partitions
    assert ask(bench, {0: [3]}, version=version) == [0]
    assert (partition.replicas, partition.leader) == ([3], 3)


def test_a_bad_partition_keeps_no_other_from_moving() -> None:
    bench = Bench(3)
    topic = bench.topic(partitions=2)
    assert ask(bench, {0: [9], 7: [1], 1: [3], 2: None}) == [
        InvalidReplicationAssignmentError.errno,
        UnknownTopicOrPartitionError.errno,
        0,
        UnknownTopicOrPartitionError.errno,
    ]
    assert ask(bench, {0: None}) == [NoReassignmentInProgressError.errno]
    assert topic.partitions[1].replicas == [3]
    assert ask(bench, {1: [1, 2]}, fixed=True) == [InvalidReplicationFactorError.errno]
