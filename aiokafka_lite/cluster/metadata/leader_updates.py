"""What the metadata learns about leaders from other responses than Metadata.

Fetch, Produce and share responses name new leaders and their addresses (hints). Committed and
listed offsets carry leader epochs. A snapshot is replaced, never changed.
Source: KIP-951, KIP-320, Metadata.updatePartitionLeadership, Metadata.updateLastSeenEpochIfNewer.
Does not wait.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from aiokafka_lite.cluster.metadata.metadata_snapshot import (
    LeaderAndEpoch,
    MetadataSnapshot,
    PartitionMetadata,
    make_snapshot,
    rebuild_topic,
)
from aiokafka_lite.model import Node, TopicPartition
from aiokafka_lite.protocol.messages._leader import LeaderIdAndEpoch, NodeEndpoint

if TYPE_CHECKING:
    from aiokafka_lite.protocol.messages import _share

UpdateLeaders = Callable[
    [Mapping[TopicPartition, LeaderAndEpoch], Iterable[Node]], Collection[TopicPartition]
]
"""Takes hints and the addresses that came with them; returns the partitions with a new leader."""


def leader_hints(
    named: "Iterable[tuple[TopicPartition, LeaderIdAndEpoch | _share.LeaderIdAndEpoch]]",
) -> dict[TopicPartition, LeaderAndEpoch]:
    """Return the leaders that a response names, without those of an unknown id or epoch."""
    return {
        tp: LeaderAndEpoch(leader.leader_id, leader.leader_epoch)
        for tp, leader in named
        if leader.leader_id >= 0 and leader.leader_epoch >= 0
    }


def hinted_nodes(endpoints: Iterable[NodeEndpoint]) -> list[Node]:
    """Return the addresses of the leaders that a response names."""
    return [Node(each.node_id, each.host, each.port, each.rack) for each in endpoints]


def merge_leaders(
    before: MetadataSnapshot,
    leaders: Mapping[TopicPartition, LeaderAndEpoch],
    nodes: Iterable[Node],
) -> tuple[MetadataSnapshot, frozenset[TopicPartition]]:
    """Return the snapshot after hints of new leaders, and the partitions that have changed.

    A hint is used if its epoch is newer than the known one. Its leader must be a known node or one
    of `nodes`, and the snapshot must describe the partition (2b-9). Without such a hint, `before`
    itself is returned.
    """
    endpoints = {node.node_id: node for node in nodes}
    changed: defaultdict[str, dict[int, PartitionMetadata]] = defaultdict(dict)
    for tp, leader in leaders.items():
        described = _described(before, tp)
        if (
            described is not None
            and leader.node_id is not None
            and leader.epoch > before.topics[tp.topic].seen_epochs.get(tp.partition, -1)
            and (leader.node_id in endpoints or leader.node_id in before.nodes)
        ):
            changed[tp.topic][tp.partition] = described._replace(
                leader_id=leader.node_id, leader_epoch=leader.epoch, error=None
            )
    if not changed:
        return before, frozenset()
    named = {entry.leader_id for entries in changed.values() for entry in entries.values()}
    known = {**before.nodes, **{id_: node for id_, node in endpoints.items() if id_ in named}}
    topics = dict(before.topics)
    for name, entries in changed.items():
        topic = topics[name]
        epochs = {index: entry.leader_epoch for index, entry in entries.items()}
        topics[name] = rebuild_topic(
            topic, known, {**topic.partitions, **entries}, {**topic.seen_epochs, **epochs}
        )
    after = make_snapshot(
        before.version + 1, known, before.controller_id, before.cluster_id, topics
    )
    updated = {
        TopicPartition(name, index) for name, entries in changed.items() for index in entries
    }
    return after, frozenset(updated)


def is_newer_epoch(
    snapshot: MetadataSnapshot, topic_partition: TopicPartition, leader_epoch: int
) -> bool:
    """Return whether an epoch that was seen elsewhere is ahead of the snapshot (2c-4, 2f-10).

    False if the snapshot has no epoch of the partition. The caller refreshes the metadata and keeps
    the leader until then: the epoch may stem from another cluster.
    """
    topic = snapshot.topics.get(topic_partition.topic)
    return topic is not None and (
        -1 < topic.seen_epochs.get(topic_partition.partition, -1) < leader_epoch
    )


def _described(snapshot: MetadataSnapshot, tp: TopicPartition) -> PartitionMetadata | None:
    topic = snapshot.topics.get(tp.topic)
    return None if topic is None else topic.partitions.get(tp.partition)


__all__ = ["UpdateLeaders", "hinted_nodes", "is_newer_epoch", "leader_hints", "merge_leaders"]
