"""CreatePartitions: more of them, never less."""

import pytest

from aiokafka_lite.errors import (
    InvalidPartitionsError,
    InvalidReplicationAssignmentError,
    NotControllerError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from aiokafka_lite.testing.broker.handlers import create_partitions
from tests.testing.broker.bench import Bench


def ask(
    bench: Bench,
    count: int,
    *,
    name: str = "t",
    assignments: list[list[int]] | None = None,
    version: int = 3,
    validate_only: bool = False,
) -> int:
    placed = (
        None
        if assignments is None
        else [CreatePartitionsAssignment(broker_ids=ids) for ids in assignments]
    )
    topic = CreatePartitionsTopic(name=name, count=count, assignments=placed)
    request = CreatePartitionsRequest(topics=[topic], validate_only=validate_only)
    return bench.ask(create_partitions.HANDLER, request, version).results[0].error_code


@pytest.mark.parametrize("version", range(4))
def test_every_version_adds_partitions(version: int) -> None:
    bench = Bench(2)
    topic = bench.topic()
    assert ask(bench, 3, version=version) == 0
    assert [p.leader for p in topic.partitions] == [1, 2, 1]


def test_assignments_decide_where_the_new_ones_are() -> None:
    bench = Bench(3)
    topic = bench.topic()
    assert ask(bench, 3, assignments=[[3, 1, 2], [2, 3, 1]]) == 0
    assert [p.leader for p in topic.partitions] == [1, 3, 2]


def test_what_cannot_be_done_is_told_and_nothing_changes() -> None:
    bench = Bench()
    topic = bench.topic(partitions=2)
    assert ask(bench, 2) == InvalidPartitionsError.errno
    assert ask(bench, 1) == InvalidPartitionsError.errno
    assert ask(bench, 3, assignments=[[9]]) == InvalidReplicationAssignmentError.errno
    assert ask(bench, 3, name="x") == UnknownTopicOrPartitionError.errno
    assert ask(bench, 3, validate_only=True) == 0
    bench.faults.fail(CreatePartitionsRequest, NotControllerError)
    assert ask(bench, 3) == NotControllerError.errno
    assert len(topic.partitions) == 2
