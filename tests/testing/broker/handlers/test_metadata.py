"""Metadata: what clients learn of nodes, topics and leaders."""

from uuid import UUID

import pytest

from aiokafka_lite.errors import (
    InvalidTopicError,
    LeaderNotAvailableError,
    RebootstrapRequiredError,
    UnknownTopicIdError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from aiokafka_lite.testing.broker.handlers import metadata
from tests.testing.broker.bench import Bench


def ask(
    bench: Bench, *names: str, version: int = 13, topic_id: UUID | None = None, **fields: bool
) -> MetadataResponse:
    topics = [MetadataRequestTopic(name=name) for name in names]
    if topic_id is not None:
        topics.append(MetadataRequestTopic(name=None, topic_id=topic_id))
    return bench.ask(metadata.HANDLER, MetadataRequest(topics=topics, **fields), version)


def test_nodes_leaders_epochs_and_ids_are_told() -> None:
    bench = Bench(3)
    topic = bench.topic(partitions=2)
    answer = ask(bench, "t")
    assert [(b.node_id, b.host, b.port, b.rack) for b in answer.brokers] == [
        (1, "127.0.0.1", 9001, "r1"),
        (2, "127.0.0.1", 9002, "r2"),
        (3, "127.0.0.1", 9003, "r3"),
    ]
    assert (answer.controller_id, answer.cluster_id) == (1, bench.cluster.cluster_id)
    (told,) = answer.topics
    assert (told.name, told.topic_id, told.error_code) == ("t", topic.topic_id, 0)
    assert [(p.partition_index, p.leader_id, p.leader_epoch) for p in told.partitions] == [
        (0, 1, 0),
        (1, 2, 0),
    ]
    assert told.partitions[1].replica_nodes == [2, 3, 1]


@pytest.mark.parametrize("version", range(1, 14))
def test_every_version_is_answered(version: int) -> None:
    bench = Bench()
    bench.topic()
    assert ask(bench, "t", "new", version=version).topics[0].partitions[0].leader_id == 1
    unknown = ask(bench, "a b", version=version).topics[0]
    assert (unknown.name, unknown.error_code) == ("a b", InvalidTopicError.errno)


def test_null_asks_for_all_topics_and_an_empty_list_for_none() -> None:
    bench = Bench()
    bench.topic("a")
    bench.topic("b")
    everything = bench.ask(metadata.HANDLER, MetadataRequest(topics=None), 12)
    assert [topic.name for topic in everything.topics] == ["a", "b"]
    assert ask(bench).topics == []


def test_a_topic_is_created_when_it_is_asked_for() -> None:
    """Kafka answers first that it is being created; not where nobody would move the time on."""
    bench = Bench(num_partitions=3)
    assert len(ask(bench, "at-once").topics[0].partitions) == 3
    bench.clock.is_moved_by_hand = False
    first = ask(bench, "new").topics[0]
    assert (first.error_code, first.partitions) == (UnknownTopicOrPartitionError.errno, [])
    assert len(ask(bench, "new").topics[0].partitions) == 3


@pytest.mark.parametrize(("broker_allows", "client_allows"), [(True, False), (False, True)])
def test_a_topic_is_not_created_against_the_will_of_broker_or_client(
    broker_allows: bool, client_allows: bool
) -> None:
    bench = Bench(auto_create_topics=broker_allows)
    answer = ask(bench, "new", allow_auto_topic_creation=client_allows)
    assert answer.topics[0].error_code == UnknownTopicOrPartitionError.errno
    assert bench.cluster.topics == {}


def test_impossible_names_are_told_even_when_nothing_may_be_created() -> None:
    answer = ask(Bench(), "a b", allow_auto_topic_creation=False)
    assert answer.topics[0].error_code == InvalidTopicError.errno


def test_topics_are_found_by_id_from_version_12_on() -> None:
    bench = Bench()
    topic = bench.topic()
    assert ask(bench, topic_id=topic.topic_id, version=12).topics[0].name == "t"
    unknown = ask(bench, topic_id=UUID(int=1), version=12).topics[0]
    assert (unknown.error_code, unknown.name) == (UnknownTopicIdError.errno, None)
    assert unknown.topic_id == UUID(int=1)


def test_stopped_nodes_are_missing_and_their_replicas_offline() -> None:
    bench = Bench(2)
    bench.topic()
    bench.cluster.set_alive(1, is_alive=False)
    answer = ask(bench, "t")
    assert [broker.node_id for broker in answer.brokers] == [2]
    partition = answer.topics[0].partitions[0]
    assert (partition.leader_id, partition.leader_epoch) == (2, 1)
    assert (partition.isr_nodes, partition.offline_replicas) == ([2], [1])


def test_a_partition_without_a_leader_says_so() -> None:
    bench = Bench(2)
    bench.cluster.add_topic(bench.cluster.new_topic("t", assignments={0: [2]}))
    bench.cluster.set_alive(2, is_alive=False)
    partition = ask(bench, "t").topics[0].partitions[0]
    assert (partition.error_code, partition.leader_id) == (LeaderNotAvailableError.errno, -1)


def test_injected_errors_hit_the_answer_the_topic_or_the_partition() -> None:
    bench = Bench()
    bench.topic(partitions=2)
    bench.faults.fail(MetadataRequest, LeaderNotAvailableError)
    assert ask(bench, "t").topics[0].error_code == LeaderNotAvailableError.errno
    bench.faults.fail(
        MetadataRequest, LeaderNotAvailableError, topic_partition=TopicPartition("t", 1)
    )
    answer = ask(bench, "t").topics[0]
    assert (answer.error_code, [p.error_code for p in answer.partitions]) == (0, [0, 5])
    bench.faults.fail(MetadataRequest, RebootstrapRequiredError)
    assert ask(bench, "t").error_code == RebootstrapRequiredError.errno
    assert ask(bench, "t").error_code == 0


def test_authorized_operations_are_told_on_demand() -> None:
    bench = Bench()
    bench.topic()
    assert ask(bench, "t").topics[0].topic_authorized_operations == -(2**31)
    answer = ask(bench, "t", include_topic_authorized_operations=True)
    assert answer.topics[0].topic_authorized_operations == 0b1101_1111_1000
    answer = ask(bench, "t", version=8, include_cluster_authorized_operations=True)
    assert answer.cluster_authorized_operations > 0
