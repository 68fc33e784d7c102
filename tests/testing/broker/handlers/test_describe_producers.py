"""DescribeProducers: the producers of a partition as its replicas know them (KIP-664)."""

import pytest

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    PartitionResponse,
    TopicRequest,
)
from aiokafka_lite.testing.broker.handlers import describe_producers
from aiokafka_lite.testing.broker.state.log.producer_states import AppendedBatch
from tests.testing.broker.bench import Bench, batch


def ask(bench: Bench, partition: int = 0, topic: str = "t", node: int = 1) -> PartitionResponse:
    request = DescribeProducersRequest(
        topics=[TopicRequest(name=topic, partition_indexes=[partition])]
    )
    answer = bench.ask(describe_producers.HANDLER, request, 0, node)
    return answer.topics[0].partitions[0]


def test_a_producer_with_a_transaction_and_one_without() -> None:
    bench = Bench()
    (partition,) = bench.topic().partitions
    partition.append(batch(b"a", b"b", producer=(7, 3, 0), is_transactional=True))
    partition.producers.record(7, 3, AppendedBatch(0, 1, 0, 1001))
    partition.producers.record(8, 0, AppendedBatch(5, 5, 2, 1002))
    found = ask(bench).active_producers
    assert [
        (p.producer_id, p.producer_epoch, p.last_sequence, p.last_timestamp) for p in found
    ] == [(7, 3, 1, 1001), (8, 0, 5, 1002)]
    assert [(p.coordinator_epoch, p.current_txn_start_offset) for p in found] == [(-1, 0), (-1, -1)]


@pytest.mark.parametrize(
    ("topic", "partition", "code"), [("t", 1, 3), ("other", 0, 3), ("no/topic", 0, 17)]
)
def test_a_partition_that_is_not_there(topic: str, partition: int, code: int) -> None:
    bench = Bench()
    bench.topic()
    answer = ask(bench, partition, topic)
    assert (answer.error_code, bool(answer.error_message)) == (code, True)


def test_each_replica_answers_and_no_other_node() -> None:
    bench = Bench(nodes=2)
    (partition,) = bench.topic(partitions=1).partitions
    assert [ask(bench, node=node).error_code for node in (1, 2)] == [0, 0]
    partition.replicas.remove(next(node for node in (1, 2) if node != partition.leader))
    codes = {node: ask(bench, node=node).error_code for node in (1, 2)}
    assert codes == {partition.leader: 0, 3 - partition.leader: 6}


def test_a_fault_of_one_partition() -> None:
    bench = Bench()
    bench.topic(partitions=2)
    bench.faults.fail(DescribeProducersRequest, 6, topic_partition=TopicPartition("t", 1))
    assert [ask(bench, index).error_code for index in (0, 1, 1)] == [0, 6, 0]
