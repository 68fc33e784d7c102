"""Metadata answers for the tests of this folder, in as few words as possible."""

import uuid
from collections.abc import Mapping, Sequence

from aiokafka_lite.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from aiokafka_lite.schema.field_types import ZERO_UUID

ID_A = uuid.UUID(int=0xA)
ID_B = uuid.UUID(int=0xB)


def partition(
    index: int, leader_id: int, epoch: int = 0, *, error_code: int = 0
) -> MetadataResponsePartition:
    return MetadataResponsePartition(
        error_code=error_code,
        partition_index=index,
        leader_id=leader_id,
        leader_epoch=epoch,
        replica_nodes=[1, 2],
        isr_nodes=[1],
        offline_replicas=[2],
    )


def topic(
    name: str,
    partitions: Sequence[MetadataResponsePartition] = (),
    *,
    topic_id: uuid.UUID = ZERO_UUID,
    error_code: int = 0,
    is_internal: bool = False,
) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        error_code=error_code,
        name=name,
        topic_id=topic_id,
        is_internal=is_internal,
        partitions=list(partitions),
    )


def answer(
    *topics: MetadataResponseTopic,
    nodes: Mapping[int, tuple[str, int]] | Sequence[int] = (1, 2),
    controller_id: int = 1,
    cluster_id: str | None = "cluster",
    error_code: int = 0,
    throttle_time_ms: int = 0,
) -> MetadataResponse:
    if not isinstance(nodes, Mapping):
        nodes = {node_id: (f"host{node_id}", 9092) for node_id in nodes}
    return MetadataResponse(
        throttle_time_ms=throttle_time_ms,
        brokers=[
            MetadataResponseBroker(node_id=node_id, host=host, port=port, rack=f"rack{node_id}")
            for node_id, (host, port) in nodes.items()
        ],
        cluster_id=cluster_id,
        controller_id=controller_id,
        topics=list(topics),
        error_code=error_code,
    )
