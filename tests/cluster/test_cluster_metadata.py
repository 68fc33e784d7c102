"""The metadata under aiokafka's names says what a snapshot knows, and compares with aiokafka's."""

import pytest

from aiokafka_lite.cluster.cluster_metadata import (
    BrokerMetadata,
    ClusterMetadata,
    PartitionMetadata,
)
from aiokafka_lite.cluster.metadata.metadata_snapshot import bootstrap_snapshot, merge_metadata
from aiokafka_lite.errors import TopicAuthorizationFailedError, UnknownTopicOrPartitionError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.net.endpoint import parse_bootstrap
from aiokafka_lite.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

ORDERS = TopicPartition("orders", 0)
NEW = TopicPartition("orders", 1)


@pytest.fixture
def cluster() -> ClusterMetadata:
    """Two brokers; a topic with one leader for two partitions, Kafka's own topic, two errors."""
    response = MetadataResponse(
        brokers=[
            MetadataResponseBroker(node_id=1, host="a", port=9092, rack="east"),
            MetadataResponseBroker(node_id=2, host="b", port=9093),
        ],
        controller_id=2,
        topics=[
            MetadataResponseTopic(
                name="orders",
                partitions=[
                    MetadataResponsePartition(
                        partition_index=0, leader_id=1, replica_nodes=[1, 2], isr_nodes=[1]
                    ),
                    MetadataResponsePartition(
                        partition_index=1, leader_id=-1, replica_nodes=[2], isr_nodes=[]
                    ),
                ],
            ),
            MetadataResponseTopic(name="__consumer_offsets", is_internal=True),
            MetadataResponseTopic(name="hidden", error_code=TopicAuthorizationFailedError.errno),
            MetadataResponseTopic(name="gone", error_code=UnknownTopicOrPartitionError.errno),
        ],
    )
    before = bootstrap_snapshot(parse_bootstrap("a:9092"))
    snapshot = merge_metadata(before, response, partial=False)
    return ClusterMetadata(lambda: snapshot)


def test_nodes(cluster: ClusterMetadata) -> None:
    first = BrokerMetadata(nodeId=1, host="a", port=9092, rack="east")
    second = BrokerMetadata(nodeId=2, host="b", port=9093, rack=None)
    assert cluster.brokers() == {first, second}
    assert cluster.broker_metadata(1) == first
    assert cluster.broker_metadata(3) is None
    assert cluster.controller == second


def test_topics(cluster: ClusterMetadata) -> None:
    assert cluster.topics() == {"orders"}
    assert cluster.topics(exclude_internal_topics=False) == {"orders", "__consumer_offsets"}
    assert cluster.internal_topics == {"__consumer_offsets"}
    assert cluster.unauthorized_topics == {"hidden"}


def test_partitions(cluster: ClusterMetadata) -> None:
    assert cluster.partitions_for_topic("orders") == {0, 1}
    assert cluster.available_partitions_for_topic("orders") == {0}
    assert cluster.leader_for_partition(ORDERS) == 1
    assert cluster.leader_for_partition(NEW) == -1
    assert cluster.partition_metadata(ORDERS) == PartitionMetadata(
        topic="orders", partition=0, leader=1, replicas=[1, 2], isr=[1], error=None
    )
    assert cluster.partitions_for_broker(1) == {ORDERS}
    assert cluster.partitions_for_broker(2) is None


@pytest.mark.parametrize("topic", ["gone", "hidden", "never asked for"])
def test_what_is_not_known_is_none(cluster: ClusterMetadata, topic: str) -> None:
    assert cluster.partitions_for_topic(topic) is None
    assert cluster.available_partitions_for_topic(topic) is None
    assert cluster.leader_for_partition(TopicPartition(topic, 0)) is None
    assert cluster.leader_for_partition(TopicPartition("orders", 7)) is None


def test_without_a_client_nothing_is_known() -> None:
    assert ClusterMetadata().brokers() == ClusterMetadata().topics() == set()
    assert ClusterMetadata().controller is None
