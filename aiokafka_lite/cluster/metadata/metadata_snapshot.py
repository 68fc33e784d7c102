"""The metadata of a cluster at one time, and the rules that make the next snapshot from a response.

A snapshot has nodes, topics, partitions and leaders. It is immutable, so that anyone may keep it.
Clients ask for the partitions of a topic, and those with a leader, once per record. So a snapshot
computes them once per topic, and a topic that has not changed keeps its objects. Does not wait.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from operator import attrgetter
from types import MappingProxyType
from uuid import UUID

from aiokafka_lite.errors import BrokerResponseError, UnknownTopicOrPartitionError, for_code
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.light_named_tuple import NamedTuple
from aiokafka_lite.model import Node, TopicPartition
from aiokafka_lite.net.endpoint import Endpoint
from aiokafka_lite.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from aiokafka_lite.schema.field_types import ZERO_UUID


class LeaderAndEpoch(NamedTuple):
    """The leader of a partition in the metadata."""

    node_id: int | None
    """None: no leader, or a leader whose address is not in the metadata."""

    epoch: int
    """-1: not known."""


NO_LEADER = LeaderAndEpoch(None, -1)


class PartitionMetadata(NamedTuple):
    """One partition as a broker described it."""

    partition: int
    leader_id: int
    """-1: none, or not known. The metadata may lack the address of this node; `LeaderAndEpoch` has
    None then.
    """

    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline_replicas: tuple[int, ...]
    error: type[BrokerResponseError] | None


@dataclass(frozen=True, slots=True)
class TopicMetadata:
    """One topic as a broker described it, and what clients ask about it."""

    name: str
    topic_id: UUID
    """`ZERO_UUID` if the broker has no ids (before 2.8), or does not know the topic."""

    is_internal: bool
    error: type[BrokerResponseError] | None
    partitions: Mapping[int, PartitionMetadata]
    seen_epochs: Mapping[int, int]
    """The highest leader epoch seen, by partition. It stays if a response has only an error for the
    topic, unless the error says that a topic without id does not exist.
    """

    leaders: Mapping[int, LeaderAndEpoch] = field(repr=False)
    partition_ids: tuple[int, ...] = field(repr=False)
    """All partitions, ascending."""

    available: tuple[int, ...] = field(repr=False)
    """The partitions that have a leader, ascending."""

    partition_set: frozenset[int] = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class MetadataSnapshot:
    """A cluster at one time, with the topics that the client has asked about."""

    version: int
    """Grows by 1 with each snapshot of one client. Two snapshots of the same version are the same.
    """

    nodes: Mapping[int, Node]
    """By node id. Before the first metadata: the seeds, with ids from -1 downwards."""

    controller_id: int | None
    cluster_id: str | None
    topics: Mapping[str, TopicMetadata]
    """Also the topics for which a broker returned an error; see `TopicMetadata.error`."""

    topic_names: Mapping[UUID, str] = field(repr=False)

    def partitions_for(self, topic: str) -> frozenset[int] | None:
        """Return all partitions of `topic`, None if it is not known."""
        known = self.topics.get(topic)
        return None if known is None or known.error is not None else known.partition_set

    def partition_ids(self, topic: str) -> tuple[int, ...]:
        """Return all partitions of `topic`, ascending; empty if the topic is not known. Each call
        returns the same object.
        """
        known = self.topics.get(topic)
        return () if known is None else known.partition_ids

    def available_partitions(self, topic: str) -> tuple[int, ...]:
        """Return the partitions of `topic` with a leader, ascending; each time the same object."""
        known = self.topics.get(topic)
        return () if known is None else known.available

    def leader(self, topic_partition: TopicPartition) -> LeaderAndEpoch:
        """Return the leader of the partition; `NO_LEADER` if none is known."""
        topic, partition = topic_partition
        known = self.topics.get(topic)
        return NO_LEADER if known is None else known.leaders.get(partition, NO_LEADER)

    def is_online(self, topic_partition: TopicPartition, node_id: int) -> bool:
        """Return whether the node is known, and the metadata does not call its replica offline."""
        topic, partition = topic_partition
        known = self.topics.get(topic)
        described = None if known is None else known.partitions.get(partition)
        return (
            node_id in self.nodes
            and described is not None
            and node_id not in described.offline_replicas
        )

    def topic_id(self, topic: str) -> UUID:
        """Return the id of the topic; `ZERO_UUID` if it is not known."""
        known = self.topics.get(topic)
        return ZERO_UUID if known is None else known.topic_id

    def topic_name(self, topic_id: UUID) -> str | None:
        """Return the name of the topic with this id; None if it is not known."""
        return self.topic_names.get(topic_id)

    def topic_error(self, topic: str) -> type[BrokerResponseError] | None:
        """Return the error that a broker returned for the topic; None if there was none, or if the
        client has not asked.
        """
        known = self.topics.get(topic)
        return None if known is None else known.error

    def is_internal(self, topic: str) -> bool:
        """Return whether the topic is one of Kafka's own, such as __consumer_offsets."""
        known = self.topics.get(topic)
        return known is not None and known.is_internal


def bootstrap_snapshot(endpoints: Sequence[Endpoint], *, version: int = 0) -> MetadataSnapshot:
    """Return the snapshot before any metadata: the seeds as nodes -1, -2, … and no topics."""
    nodes = {
        -index: Node(-index, endpoint.host, endpoint.port)
        for index, endpoint in enumerate(endpoints, start=1)
    }
    return make_snapshot(version, nodes, None, None, {})


def merge_metadata(
    before: MetadataSnapshot,
    response: MetadataResponse,
    *,
    partial: bool,
    reliable_epochs: bool = True,
) -> MetadataSnapshot:
    """Return the snapshot after `response`.

    `partial`: the request named only some topics, and the others stay as they were. Otherwise the
    topics that the response does not name are forgotten.
    `reliable_epochs`: the response has version `MetadataRequest.reliable_epochs_since` or newer;
    the leader epochs of an older version are not kept.

    The leader epoch of a (topic id, partition) never goes back. An older answer leaves the
    partition as it was, unless the topic id has changed (2f-10). A partition that only an older
    answer describes is kept without a leader. With another cluster id, nothing known before stays.
    Source: KIP-320, KIP-516, MetadataSnapshot.mergeWith, Metadata.updateLatestMetadata.
    """
    nodes = {
        broker.node_id: Node(broker.node_id, broker.host, broker.port, broker.rack)
        for broker in response.brokers
    }
    known = before.topics
    if None not in (before.cluster_id, response.cluster_id) and (
        before.cluster_id != response.cluster_id
    ):
        known = {}
    topics: dict[str, TopicMetadata] = {}
    if partial:
        same_nodes = nodes.keys() == before.nodes.keys()
        topics = dict(known) if same_nodes else _with_nodes(known, nodes)
    for described in response.topics:
        if (
            described.name is None
        ):  # only in responses to requests by topic id, which no client sends
            continue
        earlier = known.get(described.name)
        topics[described.name] = _topic(described, earlier, nodes, reliable_epochs)
    controller_id = response.controller_id if response.controller_id in nodes else None
    return make_snapshot(before.version + 1, nodes, controller_id, response.cluster_id, topics)


def forget_topics(before: MetadataSnapshot, keep: Callable[[str], bool]) -> MetadataSnapshot:
    """Return a snapshot without the topics that `keep` refuses; `before` itself if all stay."""
    topics = {name: topic for name, topic in before.topics.items() if keep(name)}
    if len(topics) == len(before.topics):
        return before
    return make_snapshot(
        before.version + 1, before.nodes, before.controller_id, before.cluster_id, topics
    )


def without_nodes(before: MetadataSnapshot) -> MetadataSnapshot:
    """Return a snapshot with the same topics, and without nodes and leaders."""
    topics = _with_nodes(before.topics, {})
    return make_snapshot(before.version + 1, {}, None, before.cluster_id, topics)


def is_equivalent(first: MetadataSnapshot, second: MetadataSnapshot) -> bool:
    """Return whether both have the same nodes, controller and topics, so that the later one said
    nothing new (2f-9).
    """
    return (
        first.nodes == second.nodes
        and first.controller_id == second.controller_id
        and first.cluster_id == second.cluster_id
        and first.topics == second.topics
    )


def make_snapshot(
    version: int,
    nodes: Mapping[int, Node],
    controller_id: int | None,
    cluster_id: str | None,
    topics: Mapping[str, TopicMetadata],
) -> MetadataSnapshot:
    """Return a snapshot with these topics, which may be those of another snapshot."""
    names = {topic.topic_id: name for name, topic in topics.items() if topic.topic_id != ZERO_UUID}
    return MetadataSnapshot(
        version=version,
        nodes=MappingProxyType(dict(nodes)),
        controller_id=controller_id,
        cluster_id=cluster_id,
        topics=MappingProxyType(dict(topics)),
        topic_names=MappingProxyType(names),
    )


def _topic(
    described: MetadataResponseTopic,
    earlier: TopicMetadata | None,
    nodes: Mapping[int, Node],
    reliable_epochs: bool,
) -> TopicMetadata:
    """Return a topic after a response described it, by the rule of `merge_metadata`."""
    name = described.name
    assert name is not None
    topic_id = described.topic_id
    if earlier is not None and _is_recreated(earlier.topic_id, topic_id):
        earlier = None
    if described.error_code and topic_id == ZERO_UUID and earlier is not None:
        topic_id = earlier.topic_id
    error = for_code(described.error_code) if described.error_code else None
    seen_epochs = dict(earlier.seen_epochs) if earlier is not None else {}
    if error is UnknownTopicOrPartitionError and topic_id == ZERO_UUID:
        seen_epochs = {}  # without an id, nothing else tells a new topic of that name apart
    partitions: dict[int, PartitionMetadata] = {}
    for answer in sorted(described.partitions, key=_index_of):
        index = answer.partition_index
        epoch = answer.leader_epoch if reliable_epochs else -1
        if epoch >= 0 and epoch < seen_epochs.get(index, -1):
            # This broker is behind. The partition exists; the next refresh names its leader.
            before = earlier.partitions.get(index) if earlier is not None else None
            partitions[index] = before or _partition(answer, -1)._replace(leader_id=-1)
            continue
        if epoch >= 0:
            seen_epochs[index] = epoch
        else:
            seen_epochs.pop(index, None)
        partitions[index] = _partition(answer, epoch)
    topic = _assemble(
        nodes,
        name=name,
        topic_id=topic_id,
        is_internal=described.is_internal,
        error=error,
        partitions=partitions,
        seen_epochs=seen_epochs,
    )
    return earlier if earlier is not None and earlier == topic else topic


_index_of = attrgetter("partition_index")


def _is_recreated(known_id: UUID, new_id: UUID) -> bool:
    return ZERO_UUID not in (known_id, new_id) and known_id != new_id


def _partition(answer: MetadataResponsePartition, epoch: int) -> PartitionMetadata:
    return PartitionMetadata(  # by position, because topics have thousands of them
        answer.partition_index,
        answer.leader_id,
        epoch,
        tuple(answer.replica_nodes),
        tuple(answer.isr_nodes),
        tuple(answer.offline_replicas),
        for_code(answer.error_code) if answer.error_code else None,
    )


def _assemble(
    nodes: Mapping[int, Node],
    *,
    name: str,
    topic_id: UUID,
    is_internal: bool,
    error: type[BrokerResponseError] | None,
    partitions: Mapping[int, PartitionMetadata],
    seen_epochs: Mapping[int, int],
) -> TopicMetadata:
    shared: dict[tuple[int, int], LeaderAndEpoch] = {}  # many partitions have an equal one
    leaders: dict[int, LeaderAndEpoch] = {}
    for index, entry in partitions.items():
        named = entry.leader_id, entry.leader_epoch
        leader = shared.get(named)
        if leader is None:
            leader_id, epoch = named
            leader = LeaderAndEpoch(leader_id if leader_id in nodes else None, epoch)
            shared[named] = leader
        leaders[index] = leader
    ids = tuple(sorted(partitions))
    return TopicMetadata(
        name=name,
        topic_id=topic_id,
        is_internal=is_internal,
        error=error,
        partitions=MappingProxyType(dict(partitions)),
        seen_epochs=MappingProxyType(dict(seen_epochs)),
        leaders=MappingProxyType(leaders),
        partition_ids=ids,
        available=tuple(index for index in ids if leaders[index].node_id is not None),
        partition_set=frozenset(ids),
    )


def _with_nodes(
    topics: Mapping[str, TopicMetadata], nodes: Mapping[int, Node]
) -> dict[str, TopicMetadata]:
    """Return the topics with their leaders looked up again, because the nodes have changed."""
    return {
        name: rebuild_topic(topic, nodes, topic.partitions, topic.seen_epochs)
        for name, topic in topics.items()
    }


def rebuild_topic(
    topic: TopicMetadata,
    nodes: Mapping[int, Node],
    partitions: Mapping[int, PartitionMetadata],
    seen_epochs: Mapping[int, int],
) -> TopicMetadata:
    """Return the topic with these partitions, and with leaders that are among `nodes`."""
    return _assemble(
        nodes,
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.is_internal,
        error=topic.error,
        partitions=partitions,
        seen_epochs=seen_epochs,
    )


__all__ = [
    "NO_LEADER",
    "LeaderAndEpoch",
    "MetadataSnapshot",
    "PartitionMetadata",
    "TopicMetadata",
    "bootstrap_snapshot",
    "forget_topics",
    "is_equivalent",
    "make_snapshot",
    "merge_metadata",
    "rebuild_topic",
    "without_nodes",
]
