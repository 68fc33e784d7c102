"""Owns one picture of a cluster at one time: nodes, topics, partitions, leaders; and the rules
that make the next picture out of a Metadata response. Pictures are immutable, so that anyone may
keep one. It does not wait.

What is asked per record (the partitions of a topic, those with a leader) is computed once per
picture and topic, and a topic that a response does not touch keeps its objects.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple
from uuid import UUID

from aiokafka_lite.errors import BrokerResponseError, UnknownTopicOrPartitionError, for_code
from aiokafka_lite.model import Node, TopicPartition
from aiokafka_lite.net.endpoint import Endpoint
from aiokafka_lite.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from aiokafka_lite.schema.field_types import ZERO_UUID


class LeaderAndEpoch(NamedTuple):
    """Who leads a partition, as far as the metadata says."""

    node_id: int | None
    """None: no leader, or one whose address is not in the metadata."""

    epoch: int
    """-1: not known."""


NO_LEADER = LeaderAndEpoch(None, -1)


class PartitionMetadata(NamedTuple):
    """One partition as a broker described it."""

    partition: int
    leader_id: int
    """-1: none, or not known. The node may be missing from the metadata's nodes; `LeaderAndEpoch`
    accounts for that.
    """

    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline_replicas: tuple[int, ...]
    error: type[BrokerResponseError] | None


@dataclass(frozen=True, slots=True)
class TopicMetadata:
    """One topic as a broker described it, with what clients ask about it computed in advance."""

    name: str
    topic_id: UUID
    """`ZERO_UUID` when the broker knows no ids (before 2.8) or not this topic."""

    is_internal: bool
    error: type[BrokerResponseError] | None
    partitions: Mapping[int, PartitionMetadata]
    seen_epochs: Mapping[int, int]
    """Highest leader epoch seen per partition; outlives an answer that has only an error for the
    topic, unless it says of a topic without id that it does not exist.
    """

    leaders: Mapping[int, LeaderAndEpoch] = field(repr=False)
    partition_ids: tuple[int, ...] = field(repr=False)
    """All partitions, ascending."""

    available: tuple[int, ...] = field(repr=False)
    """The partitions that have a leader, ascending."""

    partition_set: frozenset[int] = field(repr=False)


@dataclass(frozen=True, slots=True)
class MetadataSnapshot:
    """A cluster at one time. Partial knowledge is normal: a topic nobody asked about is not in
    it.
    """

    version: int
    """Grows by 1 with each picture of one client; compare it to see whether anything may have
    changed.
    """

    nodes: Mapping[int, Node]
    """By node id. Before the first metadata came: the seeds, with ids from -1 downwards."""

    controller_id: int | None
    cluster_id: str | None
    topics: Mapping[str, TopicMetadata]
    """Also those a broker answered with an error; see `TopicMetadata.error`."""

    topic_names: Mapping[UUID, str] = field(repr=False)

    def partitions_for(self, topic: str) -> frozenset[int] | None:
        """Return all partitions of `topic`, None if it is not known."""
        known = self.topics.get(topic)
        return None if known is None or known.error is not None else known.partition_set

    def partition_ids(self, topic: str) -> tuple[int, ...]:
        """Return all partitions of `topic`, ascending; empty if it is not known. The same object
        each time.
        """
        known = self.topics.get(topic)
        return () if known is None else known.partition_ids

    def available_partitions(self, topic: str) -> tuple[int, ...]:
        """Return the partitions of `topic` with a leader, ascending. The same object each time."""
        known = self.topics.get(topic)
        return () if known is None else known.available

    def leader(self, topic_partition: TopicPartition) -> LeaderAndEpoch:
        """Return who leads the partition; `NO_LEADER` when nobody is known to."""
        topic, partition = topic_partition
        known = self.topics.get(topic)
        return NO_LEADER if known is None else known.leaders.get(partition, NO_LEADER)

    def is_online(self, topic_partition: TopicPartition, node_id: int) -> bool:
        """Return whether the node is there and does not lack the partition, as far as is known."""
        topic, partition = topic_partition
        known = self.topics.get(topic)
        described = None if known is None else known.partitions.get(partition)
        return (
            node_id in self.nodes
            and described is not None
            and node_id not in described.offline_replicas
        )

    def topic_id(self, topic: str) -> UUID:
        """Return the topic's id, `ZERO_UUID` when it is not known."""
        known = self.topics.get(topic)
        return ZERO_UUID if known is None else known.topic_id

    def topic_name(self, topic_id: UUID) -> str | None:
        """Return the name behind a topic id, None when it is not known."""
        return self.topic_names.get(topic_id)

    def topic_error(self, topic: str) -> type[BrokerResponseError] | None:
        """Return what a broker said instead of describing the topic; None: nothing wrong, or
        never asked.
        """
        known = self.topics.get(topic)
        return None if known is None else known.error

    def is_internal(self, topic: str) -> bool:
        """Return whether the topic is one of Kafka's own, such as __consumer_offsets."""
        known = self.topics.get(topic)
        return known is not None and known.is_internal


def bootstrap_snapshot(endpoints: Sequence[Endpoint], *, version: int = 0) -> MetadataSnapshot:
    """Return the picture before any metadata came: the seeds as nodes -1, -2, …, nothing else."""
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
        if described.name is None:  # only answers to questions by topic id, which we do not ask
            continue
        earlier = known.get(described.name)
        topics[described.name] = _topic(described, earlier, nodes, reliable_epochs)
    controller_id = response.controller_id if response.controller_id in nodes else None
    return make_snapshot(before.version + 1, nodes, controller_id, response.cluster_id, topics)


def forget_topics(before: MetadataSnapshot, keep: Callable[[str], bool]) -> MetadataSnapshot:
    """Return the picture without the topics that `keep` refuses; `before` itself when all stay."""
    topics = {name: topic for name, topic in before.topics.items() if keep(name)}
    if len(topics) == len(before.topics):
        return before
    return make_snapshot(
        before.version + 1, before.nodes, before.controller_id, before.cluster_id, topics
    )


def without_nodes(before: MetadataSnapshot) -> MetadataSnapshot:
    """Return the picture with its topics, and without any node that might lead them."""
    topics = _with_nodes(before.topics, {})
    return make_snapshot(before.version + 1, {}, None, before.cluster_id, topics)


def is_equivalent(first: MetadataSnapshot, second: MetadataSnapshot) -> bool:
    """Return whether both say the same of nodes, controller and each topic: the later one was no
    news (2f-9).
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
    """Return a picture with these topics, which may be those of another picture."""
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
    """Return what is known of a topic after a broker described it, following the epoch rule."""
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
        seen_epochs = {}  # without an id, nothing else tells the next topic of that name from it
    partitions: dict[int, PartitionMetadata] = {}
    for answer in sorted(described.partitions, key=lambda entry: entry.partition_index):
        index = answer.partition_index
        epoch = answer.leader_epoch if reliable_epochs else -1
        if epoch >= 0 and epoch < seen_epochs.get(index, -1):
            # A broker that is behind. The partition is there; its leader the next refresh tells.
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


def _is_recreated(known_id: UUID, new_id: UUID) -> bool:
    return ZERO_UUID not in (known_id, new_id) and known_id != new_id


def _partition(answer: MetadataResponsePartition, epoch: int) -> PartitionMetadata:
    return PartitionMetadata(
        partition=answer.partition_index,
        leader_id=answer.leader_id,
        leader_epoch=epoch,
        replicas=tuple(answer.replica_nodes),
        isr=tuple(answer.isr_nodes),
        offline_replicas=tuple(answer.offline_replicas),
        error=for_code(answer.error_code) if answer.error_code else None,
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
    leaders = {
        index: LeaderAndEpoch(
            entry.leader_id if entry.leader_id in nodes else None, entry.leader_epoch
        )
        for index, entry in partitions.items()
    }
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
    """Return the topics with their leaders looked up again, because nodes came or went."""
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
    """Return the topic with these partitions, their leaders looked up among `nodes`."""
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
