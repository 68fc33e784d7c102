"""DescribeTopicPartitions: pages in the order of names, with the errors of topics beside them."""

from typing import Any

from aiokafka_lite.errors import (
    InvalidRequestError,
    InvalidTopicError,
    LeaderNotAvailableError,
    NotLeaderForPartitionError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from aiokafka_lite.testing.broker.handlers import describe_topic_partitions
from tests.testing.broker.bench import Bench


def ask(
    bench: Bench, *names: str, limit: int = 2_000, cursor: tuple[str, int] | None = None
) -> Any:
    request = DescribeTopicPartitionsRequest(
        topics=[TopicRequest(name=name) for name in names],
        response_partition_limit=limit,
        cursor=cursor and Cursor(topic_name=cursor[0], partition_index=cursor[1]),
    )
    return bench.ask(describe_topic_partitions.HANDLER, request, 0)


def shape(response: Any) -> tuple[list[tuple[str, int, list[int]]], tuple[str, int] | None]:
    """Topics as (name, error, partitions), and the cursor."""
    next_cursor = response.next_cursor
    return [
        (each.name, each.error_code, [part.partition_index for part in each.partitions])
        for each in response.topics
    ], next_cursor and (next_cursor.topic_name, next_cursor.partition_index)


def test_a_page_ends_in_a_topic_or_between_two() -> None:
    bench = Bench()
    bench.topic("b", 3)
    bench.topic("a", 2)
    assert shape(ask(bench, limit=1)) == ([("a", 0, [0])], ("a", 1))
    assert shape(ask(bench, limit=2)) == ([("a", 0, [0, 1])], ("b", 0))
    assert shape(ask(bench, limit=4, cursor=("a", 1))) == (
        [("a", 0, [1]), ("b", 0, [0, 1, 2])],
        None,
    )
    assert shape(ask(bench, "b", "a", limit=0)) == ([("a", 0, [0])], ("a", 1))
    assert shape(ask(bench, "b", "a", cursor=("b", 2))) == ([("b", 0, [2])], None)
    bench.topic("large", describe_topic_partitions.MOST_PARTITIONS + 1)
    assert shape(ask(bench, "large", limit=9_999))[1] == ("large", 2_000)


def test_errors_are_told_topic_by_topic() -> None:
    bench = Bench(2)
    bench.topic("a", 2)
    topics, _ = shape(ask(bench, "x", "a", "no topic!"))
    assert topics == [
        ("a", 0, [0, 1]),
        ("no topic!", InvalidTopicError.errno, []),
        ("x", UnknownTopicOrPartitionError.errno, []),
    ]
    assert shape(ask(bench, "a", cursor=("x", 0)))[0] == [("a", InvalidRequestError.errno, [])]
    assert shape(ask(bench, "a", cursor=("a", -1)))[0] == [("a", InvalidRequestError.errno, [])]


def test_a_partition_has_its_leader_and_replicas() -> None:
    bench = Bench(2)
    bench.topic("a")
    bench.cluster.set_alive(1, is_alive=False)
    partition = ask(bench, "a").topics[0].partitions[0]
    assert (partition.leader_id, partition.leader_epoch) == (2, 1)
    assert (partition.replica_nodes, partition.isr_nodes) == ([1, 2], [2])
    assert (partition.offline_replicas, partition.eligible_leader_replicas) == ([1], [])
    bench.cluster.set_alive(2, is_alive=False)
    assert ask(bench, "a").topics[0].partitions[0].error_code == LeaderNotAvailableError.errno
    bench.faults.fail(
        DescribeTopicPartitionsRequest,
        NotLeaderForPartitionError,
        topic_partition=TopicPartition("a", 0),
    )
    assert ask(bench, "a").topics[0].partitions[0].error_code == NotLeaderForPartitionError.errno
