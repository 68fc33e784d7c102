"""Owns what metadata learns of leaders from others than Metadata responses: hints in the answers to
fetches and produces, and epochs that offsets carry. Pictures stay immutable. It does not wait.

Source: KIP-951, KIP-320, Metadata.updatePartitionLeadership, Metadata.updateLastSeenEpochIfNewer.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from aiokafka_lite.cluster.metadata_snapshot import (
    LeaderAndEpoch,
    MetadataSnapshot,
    PartitionMetadata,
    make_snapshot,
    rebuild_topic,
)
from aiokafka_lite.model import Node, TopicPartition


def merge_leaders(
    before: MetadataSnapshot,
    leaders: Mapping[TopicPartition, LeaderAndEpoch],
    nodes: Iterable[Node],
) -> tuple[MetadataSnapshot, frozenset[TopicPartition]]:
    """Return the picture after hints of new leaders, and the partitions that have changed.

    A hint is used when it names a leader and an epoch newer than what is known, the leader is one
    of `nodes` or known, and the partition was described before (2b-9). `before` itself when no hint
    is of use.
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
    """Return whether an epoch that was seen elsewhere is ahead of the picture (2c-4, 2f-10).

    False where no epoch is known. The picture keeps its leader all the same: an epoch out of
    another cluster, say, must not end every leadership for good.
    """
    topic = snapshot.topics.get(topic_partition.topic)
    return topic is not None and (
        -1 < topic.seen_epochs.get(topic_partition.partition, -1) < leader_epoch
    )


def _described(snapshot: MetadataSnapshot, tp: TopicPartition) -> PartitionMetadata | None:
    topic = snapshot.topics.get(tp.topic)
    return None if topic is None else topic.partitions.get(tp.partition)


__all__ = ["is_newer_epoch", "merge_leaders"]
