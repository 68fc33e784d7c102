"""AddOffsetsToTxn: the offsets of a group take part (KIP-98)."""

import pytest

from aiokafka_lite.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from aiokafka_lite.testing.broker.handlers import add_offsets_to_txn
from tests.testing.broker.bench import Bench


def add(
    bench: Bench, *, version: int = 4, epoch: int = 0, transactional_id: str = "tx", node: int = 1
) -> int:
    request = AddOffsetsToTxnRequest(
        transactional_id=transactional_id, producer_id=0, producer_epoch=epoch, group_id="g"
    )
    return bench.ask(add_offsets_to_txn.HANDLER, request, version, node).error_code


def bench_of(nodes: int = 1) -> Bench:
    bench = Bench(nodes)
    bench.transactions.init_producer_id("tx", 1000, None)
    return bench


@pytest.mark.parametrize("version", range(5))
async def test_every_version_adds(version: int) -> None:
    bench = bench_of()
    assert add(bench, version=version) == 0
    assert bench.transactions.view("tx").groups == {"g"}
    assert bench.groups.find("g") is None, "the group itself is not needed yet"


@pytest.mark.parametrize(("version", "code"), [(0, 47), (1, 47), (2, 90), (4, 90)])
async def test_fencing_has_a_name_of_its_own_from_version_2_on(version: int, code: int) -> None:
    """AddOffsetsToTxn answers PRODUCER_FENCED from version 2 on (KIP-588)."""
    assert add(bench_of(), version=version, epoch=1) == code


async def test_what_the_coordinator_refuses_and_faults() -> None:
    bench = bench_of()
    assert add(bench, transactional_id="other") == 49
    assert add(bench, transactional_id="") == 42
    bench.faults.fail(AddOffsetsToTxnRequest, 51)
    assert add(bench) == 51


async def test_other_nodes_do_not_coordinate() -> None:
    bench = bench_of(2)
    coordinator = bench.transactions.view("tx").coordinator
    assert coordinator is not None
    assert add(bench, node=3 - coordinator) == 16
    assert add(bench, node=coordinator) == 0
