"""The partitions of a member, as the descriptions of the newer groups name them."""

from collections.abc import Iterable

from aiokafka_lite.protocol.messages._group_assignment import Assignment, TopicPartitions
from aiokafka_lite.testing.broker.state.cluster_state import ClusterState
from aiokafka_lite.testing.broker.state.groups.consumer_group_member import TopicIdPartition


def assignment_of(partitions: Iterable[TopicIdPartition], cluster: ClusterState) -> Assignment:
    """Return partitions by topic, without those of topics that do not exist any more."""
    by_topic: dict[str, TopicPartitions] = {}
    for topic_id, index in sorted(partitions):
        name = cluster.topic_name(topic_id)
        if name is not None:
            topic = by_topic.setdefault(name, TopicPartitions(topic_id=topic_id, topic_name=name))
            topic.partitions.append(index)
    return Assignment(topic_partitions=[*by_topic.values()])


__all__ = ["assignment_of"]
