"""EndTxn: what is told about the end, and to go on with (KIP-98, KIP-890)."""

import pytest

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.end_txn import EndTxnRequest
from aiokafka_lite.testing.broker.handlers import end_txn
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import TxnProducerId
from tests.testing.broker.bench import Bench


def end(
    bench: Bench,
    *,
    version: int = 5,
    epoch: int = 0,
    commit: bool = True,
    transactional_id: str = "tx",
    node: int = 1,
) -> tuple[int, int, int]:
    request = EndTxnRequest(
        transactional_id=transactional_id, producer_id=0, producer_epoch=epoch, committed=commit
    )
    answer = bench.ask(end_txn.HANDLER, request, version, node)
    return answer.error_code, answer.producer_id, answer.producer_epoch


def begun(nodes: int = 1) -> Bench:
    bench = Bench(nodes)
    bench.topic()
    producer = bench.transactions.init_producer_id("tx", 1000, None)
    bench.transactions.add("tx", producer, partitions=[TopicPartition("t", 0)])
    return bench


@pytest.mark.parametrize("commit", [True, False])
@pytest.mark.parametrize("version", range(6))
async def test_every_version_ends_and_version_5_brings_the_next_epoch(
    version: int, *, commit: bool
) -> None:
    """Every version ends a transaction, and version 5 returns the next epoch (2d'-7)."""
    bench = begun()
    going_on = (0, 1) if version == 5 else (-1, -1)
    for _ in range(2):
        assert end(bench, version=version, commit=commit) == (0, *going_on)
    assert bench.transactions.view("tx").state == ("CompleteCommit" if commit else "CompleteAbort")
    assert bench.cluster.partition(TopicPartition("t", 0)).log.log_end_offset == 1


@pytest.mark.parametrize(("version", "code"), [(0, 47), (1, 47), (2, 90), (5, 90)])
async def test_fencing_has_a_name_of_its_own_from_version_2_on(version: int, code: int) -> None:
    """EndTxn answers PRODUCER_FENCED from version 2 on (KIP-588)."""
    assert end(begun(), version=version, epoch=7) == (code, -1, -1)


async def test_what_the_coordinator_refuses_and_faults() -> None:
    bench = begun()
    assert end(bench, transactional_id="other") == (49, -1, -1)
    assert end(bench, transactional_id="") == (42, -1, -1)
    bench.faults.fail(EndTxnRequest, 14)
    assert end(bench) == (14, -1, -1)
    bench.transactions.markers.hold()
    end(bench)
    assert end(bench) == (51, -1, -1)
    assert end(bench, commit=False) == (48, -1, -1)


async def test_other_nodes_do_not_coordinate() -> None:
    bench = begun(2)
    coordinator = bench.transactions.view("tx").coordinator
    assert coordinator is not None
    assert end(bench, node=3 - coordinator) == (16, -1, -1)
    bench.transactions.nodes.move("tx", None)
    assert end(bench, node=coordinator) == (15, -1, -1)
    bench.transactions.nodes.move("tx", coordinator)
    assert end(bench, node=coordinator) == (0, *TxnProducerId(0, 1))
