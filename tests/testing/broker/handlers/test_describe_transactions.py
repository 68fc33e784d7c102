"""DescribeTransactions: what a coordinator knows of a transactional id (KIP-664)."""

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    TransactionState,
)
from aiokafka_lite.testing.broker.handlers import describe_transactions
from tests.testing.broker.bench import Bench


def ask(bench: Bench, transactional_id: str = "tx", node: int = 1) -> TransactionState:
    request = DescribeTransactionsRequest(transactional_ids=[transactional_id])
    return bench.ask(describe_transactions.HANDLER, request, 0, node).transaction_states[0]


async def test_a_transaction_with_partitions_and_a_group() -> None:
    bench = Bench()
    bench.topic(partitions=3)
    producer = bench.transactions.init_producer_id("tx", 1000, None)
    assert ask(bench).transaction_start_time_ms == -1
    now_ms = int(bench.clock.time() * 1000)
    bench.transactions.add(
        "tx", producer, partitions=[TopicPartition("t", 2), TopicPartition("t", 0)], groups=["g"]
    )
    found = ask(bench)
    assert (found.error_code, found.transactional_id) == (0, "tx")
    assert found.transaction_state == "Ongoing"
    assert (found.producer_id, found.producer_epoch, found.transaction_timeout_ms) == (0, 0, 1000)
    assert found.transaction_start_time_ms == now_ms
    # "g".hashCode() is 103.
    assert [(each.topic, each.partitions) for each in found.topics] == [
        ("__consumer_offsets", [3]),
        ("t", [0, 2]),
    ]


async def test_the_partition_of_a_group_is_that_of_java() -> None:
    """String.hashCode() of "groups-of-many" is -685452900, that of "Größe😀" is 2087674644."""
    bench = Bench()
    producer = bench.transactions.init_producer_id("tx", 1000, None)
    bench.transactions.add("tx", producer, groups=["groups-of-many", "Größe😀"])
    (topic,) = ask(bench).topics
    assert topic.partitions == [0, 44]


async def test_ids_that_are_elsewhere_or_nowhere() -> None:
    bench = Bench(nodes=2)
    bench.transactions.init_producer_id("tx", 1000, None)
    bench.transactions.nodes.move("tx", 2)
    assert [ask(bench, node=node).error_code for node in (1, 2)] == [16, 0]
    bench.transactions.nodes.move("tx", None)
    assert ask(bench).error_code == 15
    bench.transactions.nodes.move("other", 1)
    assert (ask(bench, "other").error_code, ask(bench, "").error_code) == (105, 42)


async def test_a_fault() -> None:
    bench = Bench()
    bench.transactions.init_producer_id("tx", 1000, None)
    bench.faults.fail(DescribeTransactionsRequest, 14)
    assert [ask(bench).error_code for _ in range(2)] == [14, 0]
