"""A Produce request of drained batches, which is written without an object for each part. Does not
wait.
"""

import struct
from collections.abc import Iterable
from functools import lru_cache
from struct import Struct
from typing import Any
from uuid import UUID

from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.codec.parts import Parts
from aiokafka_lite.codec.writer import unsigned_varint_bytes
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch
from aiokafka_lite.producer.send.produce_bytes import request_parts
from aiokafka_lite.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from aiokafka_lite.schema.field_types import ZERO_UUID

_ACKS_AND_TIMEOUT = Struct(">hi")


class ProduceTerms:
    """What all requests of a producer say of themselves."""

    __slots__ = ("acks", "head", "timeout_ms", "transactional_id")

    def __init__(self, transactional_id: str | None, acks: int, timeout_ms: int) -> None:
        """`timeout_ms`: how long the leader waits for other replicas."""
        self.transactional_id = transactional_id
        self.acks = acks
        self.timeout_ms = timeout_ms
        self.head = _head_bytes(transactional_id, acks, timeout_ms)
        """Its bytes in a flexible version; None for a value that does not fit its field."""


class ProducedTopics:
    """The topics of requests, and the bytes that tell them. One for all requests of a topic, while
    the metadata is the same.
    """

    __slots__ = ("_told", "_told_version", "has_all_ids", "ids")

    def __init__(self, ids: dict[str, UUID]) -> None:
        """`ids`: of the topics of the batches, in their order."""
        self.ids = ids
        self.has_all_ids = ZERO_UUID not in ids.values()
        self._told: dict[str, bytes] = {}
        self._told_version = -1

    def told_in(self, version: int) -> dict[str, bytes]:
        """Return the bytes that tell each topic in requests and responses of a flexible version."""
        if version != self._told_version:
            self._told_version = version
            if version >= ProduceRequest.topic_ids_since:
                self._told = {topic: topic_id.bytes for topic, topic_id in self.ids.items()}
            else:
                self._told = {topic: _compact(topic) for topic in self.ids}
        return self._told


def topics_of(batches: Iterable[ProducerBatch], snapshot: MetadataSnapshot) -> ProducedTopics:
    """Return the topics of the batches of a request."""
    topics = dict.fromkeys([batch.topic_partition[0] for batch in batches])
    return ProducedTopics({topic: snapshot.topic_id(topic) for topic in topics})


def usual_parts(
    terms: ProduceTerms,
    topics: ProducedTopics,
    batches: list[ProducerBatch],
    wires: list[memoryview],
    version: int,
) -> Parts | None:
    """Return the parts of a request of a flexible version; None: the message has to be encoded."""
    if terms.head is None or version not in FLAT_VERSIONS:
        return None
    return request_parts(terms.head, topics.told_in(version), batches, wires)


class BatchesRequest(ProduceRequest):
    """A Produce request whose fields are made only if somebody asks for them."""

    __slots__ = ("_batches", "_terms", "_topics", "_wires")

    def __init__(
        self,
        terms: ProduceTerms,
        topics: ProducedTopics,
        batches: list[ProducerBatch],
        wires: list[memoryview],
    ) -> None:
        """`wires`: the bytes of each batch."""
        self._terms = terms
        self._topics = topics
        self._batches = batches
        self._wires = wires

    def encode(self, version: int) -> Parts:
        parts = usual_parts(self._terms, self._topics, self._batches, self._wires, version)
        return super().encode(version) if parts is None else parts

    def __getattr__(self, name: str) -> Any:
        """Make the fields. Called for those alone."""
        if name not in _FIELDS:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        terms = self._terms
        self.transactional_id = terms.transactional_id
        self.acks = terms.acks
        self.timeout_ms = terms.timeout_ms
        topics = {
            topic: TopicProduceData(name=topic, topic_id=topic_id, partition_data=[])
            for topic, topic_id in self._topics.ids.items()
        }
        for batch, wire in zip(self._batches, self._wires, strict=True):
            topic, partition = batch.topic_partition
            data = PartitionProduceData(index=partition, records=memoryview(wire))
            topics[topic].partition_data.append(data)
        self.topic_data = list(topics.values())
        return getattr(self, name)


FLAT_VERSIONS = frozenset(
    version for version in range(64) if version in ProduceRequest.flexible & ProduceRequest.versions
)
"""The versions that are written from the batches, and read without a message."""
_FIELDS = frozenset(("transactional_id", "acks", "timeout_ms", "topic_data"))
BatchesRequest.__name__ = ProduceRequest.__name__  # which is what errors and logs name


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


__all__ = [
    "FLAT_VERSIONS",
    "BatchesRequest",
    "ProduceTerms",
    "ProducedTopics",
    "topics_of",
    "usual_parts",
]
