"""WriteTxnMarkers: markers that an administrator writes (KIP-664)."""

import pytest

from aiokafka_lite.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from aiokafka_lite.testing.broker.handlers import write_txn_markers
from aiokafka_lite.testing.broker.state.cluster_state import BrokerPartition
from aiokafka_lite.testing.broker.state.log.producer_states import AppendedBatch
from tests.testing.broker.bench import Bench, batch


def hanging(nodes: int = 1) -> tuple[Bench, BrokerPartition]:
    """Producer 7 in epoch 3 has an open transaction that no coordinator knows."""
    bench = Bench(nodes)
    partition = bench.topic(partitions=2).partitions[0]
    partition.append(batch(b"a", producer=(7, 3, 0), is_transactional=True))
    partition.producers.record(7, 3, AppendedBatch(0, 0, 0, 1000))
    return bench, partition


def write(
    bench: Bench,
    *partitions: int,
    epoch: int = 3,
    coordinator_epoch: int = 0,
    transaction_version: int = 0,
    topic: str = "t",
    node: int = 1,
    version: int = 2,
) -> list[int]:
    """The error of each partition."""
    topics = [WritableTxnMarkerTopic(name=topic, partition_indexes=list(partitions) or [0])]
    marker = WritableTxnMarker(
        producer_id=7,
        producer_epoch=epoch,
        topics=topics,
        coordinator_epoch=coordinator_epoch,
        transaction_version=transaction_version,
    )
    request = WriteTxnMarkersRequest(markers=[marker])
    (result,) = bench.ask(write_txn_markers.HANDLER, request, version, node).markers
    assert result.producer_id == 7
    return [each.error_code for each in result.topics[0].partitions]


@pytest.mark.parametrize("version", [1, 2])
async def test_a_marker_ends_the_transaction_of_its_producer(version: int) -> None:
    bench, partition = hanging()
    assert partition.log.last_stable_offset == 0
    assert write(bench, coordinator_epoch=5, version=version) == [0]
    assert partition.log.last_stable_offset == partition.log.log_end_offset == 2
    assert partition.log.transactions.aborted_between(0, 2) == [(7, 0)]
    (producer,) = partition.producers.active()
    assert (producer.epoch, producer.last_sequence, producer.coordinator_epoch) == (3, 0, 5)


async def test_epochs_that_are_over() -> None:
    bench, _ = hanging()
    assert write(bench, epoch=2) == [47]
    assert write(bench, transaction_version=2) == [47], "a marker of V2 has the next epoch"
    assert write(bench, coordinator_epoch=5, epoch=4, transaction_version=2) == [0]
    assert write(bench, coordinator_epoch=5, epoch=4, transaction_version=2) == [0], "again"
    assert write(bench, coordinator_epoch=4, epoch=4) == [52]


async def test_partitions_that_are_elsewhere_or_nowhere() -> None:
    bench, partition = hanging(nodes=2)
    other = 3 - partition.leader
    assert write(bench, 0, 1, 7, node=partition.leader) == [0, 6, 3]
    assert write(bench, node=other) == [6]
    partition.replicas.remove(other)
    assert write(bench, node=other) == [3]
    assert write(bench, topic="nowhere") == [3]


async def test_a_fault() -> None:
    bench, _ = hanging()
    bench.faults.fail(WriteTxnMarkersRequest, 6)
    assert [write(bench) for _ in range(2)] == [[6], [0]]
