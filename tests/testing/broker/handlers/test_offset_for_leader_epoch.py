"""OffsetForLeaderEpoch: where epochs end (KIP-320)."""

import pytest

from aiokafka_lite.errors import (
    FencedLeaderEpochError,
    NotLeaderForPartitionError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from aiokafka_lite.testing.broker.handlers import offset_for_leader_epoch
from tests.testing.broker.bench import Bench, batch

TP = TopicPartition("t", 0)


def ask(
    bench: Bench,
    epoch: int,
    *,
    current: int = -1,
    version: int = 4,
    node_id: int = 2,
    partition: int = 0,
) -> EpochEndOffset:
    wanted = OffsetForLeaderPartition(
        partition=partition, current_leader_epoch=current, leader_epoch=epoch
    )
    request = OffsetForLeaderEpochRequest(
        replica_id=-1, topics=[OffsetForLeaderTopic(topic="t", partitions=[wanted])]
    )
    handler = offset_for_leader_epoch.HANDLER
    return bench.ask(handler, request, version, node_id).topics[0].partitions[0]


def moved() -> Bench:
    """Two records in epoch 0, one in epoch 1, led by node 2."""
    bench = Bench(2)
    partition = bench.topic().partitions[0]
    partition.append(batch(b"a", b"b"))
    bench.cluster.move_leader(TP, 2)
    partition.append(batch(b"c"))
    return bench


@pytest.mark.parametrize("version", [2, 3, 4])
def test_the_end_of_an_epoch_is_told(version: int) -> None:
    bench = moved()
    told = [ask(bench, epoch, version=version) for epoch in (0, 1, 2)]
    assert [(t.leader_epoch, t.end_offset) for t in told] == [(0, 2), (1, 3), (-1, -1)]


def test_errors_are_per_partition() -> None:
    bench = moved()
    assert ask(bench, 0, node_id=1).error_code == NotLeaderForPartitionError.errno
    assert ask(bench, 0, current=0).error_code == FencedLeaderEpochError.errno
    assert ask(bench, 0, partition=7).error_code == UnknownTopicOrPartitionError.errno
    bench.faults.fail(OffsetForLeaderEpochRequest, NotLeaderForPartitionError)
    answer = ask(bench, 0)
    assert (answer.error_code, answer.end_offset) == (NotLeaderForPartitionError.errno, -1)
