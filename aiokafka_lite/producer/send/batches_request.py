"""A Produce request of drained batches, which is written without an object for each part. Does not
wait.
"""

import struct
from collections.abc import Mapping
from functools import lru_cache
from struct import Struct
from typing import Any
from uuid import UUID

from aiokafka_lite.codec.writer import unsigned_varint_bytes
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch
from aiokafka_lite.producer.send.produce_bytes import Parts, request_parts
from aiokafka_lite.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)

_ACKS_AND_TIMEOUT = Struct(">hi")


class BatchesRequest(ProduceRequest):
    """A Produce request whose fields are made only if somebody asks for them."""

    __slots__ = ("_batches", "_head", "_told", "_told_version", "_topic_ids", "_wires")

    def __init__(
        self,
        batches: list[ProducerBatch],
        wires: list[memoryview],
        topic_ids: dict[str, UUID],
        transactional_id: str | None,
        acks: int,
        timeout_ms: int,
    ) -> None:
        """`topic_ids`: of the topics of the batches, in their order."""
        self._batches = batches
        self._wires = wires
        self._topic_ids = topic_ids
        self._head = (transactional_id, acks, timeout_ms)
        self._told: dict[str, bytes] = {}
        self._told_version = -1

    def encode(self, version: int) -> Parts:
        head = _head_bytes(*self._head) if version in FLAT_VERSIONS else None
        if head is None:
            return super().encode(version)
        return request_parts(head, self.told_in(version), self._batches, self._wires)

    def told_in(self, version: int) -> dict[str, bytes]:
        """Return the bytes that tell each topic in requests and responses of a flexible version."""
        if version != self._told_version:
            self._told_version = version
            self._told = topics_told(self._topic_ids, version)
        return self._told

    def __getattr__(self, name: str) -> Any:
        """Make the fields. Called for those alone."""
        if name not in _FIELDS:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        self.transactional_id, self.acks, self.timeout_ms = self._head
        topics = {
            topic: TopicProduceData(name=topic, topic_id=topic_id, partition_data=[])
            for topic, topic_id in self._topic_ids.items()
        }
        for batch, wire in zip(self._batches, self._wires, strict=True):
            topic, partition = batch.topic_partition
            data = PartitionProduceData(index=partition, records=wire)
            topics[topic].partition_data.append(data)
        self.topic_data = list(topics.values())
        return getattr(self, name)


FLAT_VERSIONS = frozenset(
    version for version in range(64) if version in ProduceRequest.flexible & ProduceRequest.versions
)
"""The versions that are written from the batches, and read without a message."""
_FIELDS = frozenset(("transactional_id", "acks", "timeout_ms", "topic_data"))
BatchesRequest.__name__ = ProduceRequest.__name__  # which is what errors and logs name


def topics_told(topic_ids: Mapping[str, UUID], version: int) -> dict[str, bytes]:
    """Return the bytes that tell each topic in requests and responses of a flexible version."""
    if version >= ProduceRequest.topic_ids_since:
        return {topic: topic_id.bytes for topic, topic_id in topic_ids.items()}
    return {topic: _compact(topic) for topic in topic_ids}


def _compact(text: str) -> bytes:
    encoded = text.encode()
    return unsigned_varint_bytes(len(encoded) + 1) + encoded


@lru_cache(maxsize=16)
def _head_bytes(transactional_id: str | None, acks: int, timeout_ms: int) -> bytes | None:
    """Return what comes before the topics; None for a value that does not fit its field."""
    named = b"\0" if transactional_id is None else _compact(transactional_id)
    try:
        return named + _ACKS_AND_TIMEOUT.pack(acks, timeout_ms)
    except struct.error:
        return None


__all__ = ["FLAT_VERSIONS", "BatchesRequest", "topics_told"]
