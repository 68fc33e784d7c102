"""AddPartitionsToTxn: all of them or none (KIP-98)."""

import pytest

from aiokafka_lite.errors import NotCoordinatorForGroupError, TopicAuthorizationFailedError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)
from aiokafka_lite.testing.broker.handlers import add_partitions_to_txn
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import TxnProducerId
from tests.testing.broker.bench import Bench

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def bench_of(nodes: int = 1) -> Bench:
    bench = Bench(nodes)
    bench.topic(partitions=2)
    bench.transactions.init_producer_id("tx", 1000, None)
    return bench


def codes(results: list[AddPartitionsToTxnTopicResult]) -> dict[tuple[str, int], int]:
    return {
        (topic.name, result.partition_index): result.partition_error_code
        for topic in results
        for result in topic.results_by_partition
    }


def add(
    bench: Bench,
    *partitions: int,
    topic: str = "t",
    version: int = 3,
    epoch: int = 0,
    node_id: int = 1,
) -> dict[tuple[str, int], int]:
    topics = [AddPartitionsToTxnTopic(name="t", partitions=list(partitions))]
    if topic != "t":
        topics.append(AddPartitionsToTxnTopic(name=topic, partitions=[0]))
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id="tx",
        v3_and_below_producer_id=0,
        v3_and_below_producer_epoch=epoch,
        v3_and_below_topics=topics,
    )
    answer = bench.ask(add_partitions_to_txn.HANDLER, request, version, node_id)
    return codes(answer.results_by_topic_v3_and_below)


@pytest.mark.parametrize("version", range(4))
async def test_every_version_adds(version: int) -> None:
    bench = bench_of()
    assert add(bench, 0, 1, version=version) == {T0: 0, T1: 0}
    assert bench.transactions.view("tx").partitions == {T0, T1}


async def test_an_unknown_partition_keeps_the_others_out() -> None:
    """One unknown partition keeps the others out with OPERATION_NOT_ATTEMPTED (2d'-4)."""
    bench = bench_of()
    assert add(bench, 0, 2, topic="nowhere") == {T0: 55, ("t", 2): 3, ("nowhere", 0): 3}
    assert bench.transactions.view("tx").state == "Empty"


async def test_so_does_one_with_an_injected_error() -> None:
    bench = bench_of()
    error = TopicAuthorizationFailedError
    bench.faults.fail(AddPartitionsToTxnRequest, error, topic_partition=T1)
    assert add(bench, 0, 1) == {T0: 55, T1: error.errno}
    bench.faults.fail(AddPartitionsToTxnRequest, 51)
    assert add(bench, 0, 1) == {T0: 51, T1: 51}
    assert add(bench, 0, 1) == {T0: 0, T1: 0}


@pytest.mark.parametrize(("version", "code"), [(0, 47), (1, 47), (2, 90), (3, 90)])
async def test_fencing_has_a_name_of_its_own_from_version_2_on(version: int, code: int) -> None:
    """AddPartitionsToTxn answers PRODUCER_FENCED from version 2 on (KIP-588)."""
    assert add(bench_of(), 0, version=version, epoch=1) == {T0: code}


async def test_other_nodes_do_not_coordinate() -> None:
    bench = bench_of(2)
    coordinator = bench.transactions.view("tx").coordinator
    assert coordinator is not None
    elsewhere = add(bench, 0, node_id=3 - coordinator)
    assert elsewhere == {T0: NotCoordinatorForGroupError.errno}
    assert add(bench, 0, node_id=coordinator) == {T0: 0}


@pytest.mark.parametrize("version", [4, 5])
async def test_brokers_ask_for_several_transactions_and_without_adding(version: int) -> None:
    """Brokers may ask for several transactions at once, and only verify (KIP-890)."""
    bench = bench_of()
    bench.transactions.init_producer_id("other", 1000, None)
    bench.transactions.add("other", TxnProducerId(1, 0), partitions=[T0])

    def about(
        transactional_id: str, producer_id: int, *, verify_only: bool
    ) -> AddPartitionsToTxnTransaction:
        return AddPartitionsToTxnTransaction(
            transactional_id=transactional_id,
            producer_id=producer_id,
            producer_epoch=0,
            verify_only=verify_only,
            topics=[AddPartitionsToTxnTopic(name="t", partitions=[0, 1])],
        )

    request = AddPartitionsToTxnRequest(
        transactions=[
            about("tx", 0, verify_only=False),
            about("other", 1, verify_only=True),
            about("nobody's", 0, verify_only=True),
        ]
    )
    answer = bench.ask(add_partitions_to_txn.HANDLER, request, version)
    assert answer.error_code == 0
    assert [
        (result.transactional_id, codes(result.topic_results))
        for result in answer.results_by_transaction
    ] == [
        ("tx", {T0: 0, T1: 0}),
        ("other", {T0: 0, T1: 120}),
        ("nobody's", {T0: 49, T1: 49}),
    ]
    assert bench.transactions.view("tx").partitions == {T0, T1}
    assert bench.transactions.view("other").partitions == {T0}
