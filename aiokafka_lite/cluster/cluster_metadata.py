"""The metadata of a cluster under aiokafka's names, for programs that read `client.cluster`.

It holds no metadata: each call reads a `MetadataSnapshot`. Does not wait.
"""

from collections.abc import Callable
from typing import NamedTuple

from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot, TopicMetadata
from aiokafka_lite.errors import BrokerResponseError, TopicAuthorizationFailedError
from aiokafka_lite.model import Node, TopicPartition
from aiokafka_lite.private_reads import with_private_reads

NO_SNAPSHOT_YET = MetadataSnapshot(
    version=0, nodes={}, controller_id=None, cluster_id=None, topics={}, topic_names={}
)
"""A cluster of which nothing is known."""


class BrokerMetadata(NamedTuple):
    """A broker, under aiokafka's names of the fields."""

    nodeId: int  # noqa: N815 - aiokafka's name
    host: str
    port: int
    rack: str | None


class PartitionMetadata(NamedTuple):
    """A partition, under aiokafka's names of the fields."""

    topic: str
    partition: int
    leader: int
    """The node id of the leader; -1: none."""
    replicas: list[int]
    isr: list[int]
    error: type[BrokerResponseError] | None


@with_private_reads(
    "cluster",
    "_brokers _partitions _broker_partitions is_bootstrap add_listener remove_listener"
    " request_update update_metadata failed_update with_partitions",
)
class ClusterMetadata:
    """The nodes, topics and leaders that a client knows at the time of each call.

    `newest` returns the snapshot to read. `fetch_all_metadata` returns one with a fixed snapshot.
    """

    def __init__(self, newest: Callable[[], MetadataSnapshot] = lambda: NO_SNAPSHOT_YET) -> None:
        self._newest = newest

    def __repr__(self) -> str:
        return f"<ClusterMetadata brokers={len(self.brokers())} topics={len(self.topics(False))}>"

    # Nodes…

    def brokers(self) -> set[BrokerMetadata]:
        """Return the brokers. Before the first metadata these are `bootstrap_servers`, with ids
        from -1 downwards.
        """
        return {_broker(node) for node in self._newest().nodes.values()}

    def broker_metadata(self, broker_id: int) -> BrokerMetadata | None:
        """Return the broker with this node id; None if it is not known."""
        node = self._newest().nodes.get(broker_id)
        return None if node is None else _broker(node)

    @property
    def controller(self) -> BrokerMetadata | None:
        """The controller of the cluster; None if no broker has named it."""
        controller_id = self._newest().controller_id
        return None if controller_id is None else self.broker_metadata(controller_id)

    # Topics…

    def topics(self, exclude_internal_topics: bool = True) -> set[str]:
        """Return the topics that exist, of those that the client asks about."""
        return {
            name
            for name, topic in self._newest().topics.items()
            if topic.error is None and not (exclude_internal_topics and topic.is_internal)
        }

    @property
    def internal_topics(self) -> set[str]:
        """Kafka's own topics, such as __consumer_offsets."""
        return {name for name, topic in self._newest().topics.items() if topic.is_internal}

    @property
    def unauthorized_topics(self) -> set[str]:
        """The topics that the client may not describe."""
        refused = TopicAuthorizationFailedError
        return {name for name, topic in self._newest().topics.items() if topic.error is refused}

    # Partitions…

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        """Return the partitions of the topic; None if the topic is not known."""
        known = self._known(topic)
        return None if known is None else set(known.partition_ids)

    def available_partitions_for_topic(self, topic: str) -> set[int] | None:
        """Return the partitions that have a leader; None if the topic is not known."""
        known = self._known(topic)
        return None if known is None else set(known.available)

    def leader_for_partition(self, partition: TopicPartition) -> int | None:
        """Return the node id of the leader, -1 if there is none, None if the partition is not
        known.
        """
        described = self.partition_metadata(partition)
        return None if described is None else described.leader

    def partition_metadata(self, partition: TopicPartition) -> PartitionMetadata | None:
        """Return what is known of the partition; None if it is not known. Not in aiokafka."""
        topic, number = partition
        known = self._known(topic)
        described = None if known is None else known.partitions.get(number)
        if described is None:
            return None
        replicas, isr = list(described.replicas), list(described.isr)
        return PartitionMetadata(topic, number, described.leader_id, replicas, isr, described.error)

    def partitions_for_broker(self, broker_id: int) -> set[TopicPartition] | None:
        """Return the partitions that the broker leads; None if it leads none."""
        led = {
            TopicPartition(name, number)
            for name, topic in self._newest().topics.items()
            if topic.error is None
            for number, partition in topic.partitions.items()
            if partition.leader_id == broker_id
        }
        return led or None

    def _known(self, topic: str) -> TopicMetadata | None:
        known = self._newest().topics.get(topic)
        return None if known is None or known.error is not None else known


def _broker(node: Node) -> BrokerMetadata:
    return BrokerMetadata(node.node_id, node.host, node.port, node.rack)


__all__ = ["NO_SNAPSHOT_YET", "BrokerMetadata", "ClusterMetadata", "PartitionMetadata"]
