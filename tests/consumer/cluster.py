"""Metadata as a broker would describe it, in one line."""

from uuid import UUID

from aiokafka_lite.cluster.metadata.metadata_snapshot import (
    MetadataSnapshot,
    bootstrap_snapshot,
    merge_metadata,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from tests.consumer.batches import TOPIC_ID


def cluster(
    leaders: dict[TopicPartition, int],
    topic_id: UUID = TOPIC_ID,
    *,
    before: MetadataSnapshot | None = None,
    errors: dict[str, int] | None = None,
) -> MetadataSnapshot:
    """Metadata with nodes 1 and 2 and these leaders (-1: none) in epoch 3; topics with an error
    code have no partitions.
    """
    topics: dict[str, MetadataResponseTopic] = {
        name: MetadataResponseTopic(name=name, error_code=code)
        for name, code in (errors or {}).items()
    }
    for tp, leader in leaders.items():
        topic = topics.setdefault(
            tp.topic, MetadataResponseTopic(name=tp.topic, topic_id=topic_id, partitions=[])
        )
        topic.partitions.append(
            MetadataResponsePartition(
                partition_index=tp.partition, leader_id=leader, leader_epoch=3
            )
        )
    response = MetadataResponse(
        brokers=[MetadataResponseBroker(node_id=n, host="h", port=9092) for n in (1, 2)],
        controller_id=1,
        topics=list(topics.values()),
    )
    return merge_metadata(before or bootstrap_snapshot([]), response, partial=False)
