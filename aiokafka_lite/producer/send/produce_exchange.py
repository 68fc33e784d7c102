"""Turns drained batches into a Produce request, and its response into a result per batch.

Does not wait.

Nearly every response says that all batches of one topic are written. `read_written` reads it in
one go, without an object for each part of the message. Any other response is decoded as a message.
"""

from collections.abc import Iterator, Sequence
from struct import Struct
from uuid import UUID

from aiokafka_lite.cluster.metadata.leader_updates import leader_hints
from aiokafka_lite.cluster.metadata.metadata_snapshot import LeaderAndEpoch, MetadataSnapshot
from aiokafka_lite.errors import for_code
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch
from aiokafka_lite.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from aiokafka_lite.schema.field_types import ZERO_UUID

Written = list[tuple[ProducerBatch, int, int, int]]
"""Each batch of a request with its base offset, log append time and log start offset."""

_RESULT = Struct(">ihqqq3s")
"""Index, error code, base offset, log append time, log start offset; then errors of records, text
and tags."""
_NO_ERRORS = b"\x01\0\0"
_NO_THROTTLE = bytes(6)
"""The end of the response: tags of the topic, throttle time, tags of the response."""
_CORRELATION_ID_BYTES = 4
_FIRST_USUAL = 9  # the first flexible version
_MOST = 126
"""So many partitions have a count of one byte."""


class ProduceExchange:
    """One Produce request and what is needed to read its response."""

    def __init__(
        self,
        batches: Sequence[ProducerBatch],
        snapshot: MetadataSnapshot,
        *,
        required_acks: int,
        timeout_ms: int,
        wires: Sequence[memoryview],
        transactional_id: str | None = None,
        max_version: int | None = None,
    ) -> None:
        """`wires`: the bytes of each batch. `timeout_ms`: how long the leader waits for others.
        `max_version`: the newest that the transaction's protocol allows; None: any.
        """
        self.batches = batches
        self._max_version = max_version
        self._topic_ids: dict[str, UUID] = {}
        topics: dict[str, TopicProduceData] = {}
        for batch, wire in zip(batches, wires, strict=True):
            name, partition = batch.topic_partition
            topic = topics.get(name)
            if topic is None:
                topic_id = self._topic_ids[name] = snapshot.topic_id(name)
                topic = topics[name] = TopicProduceData(
                    name=name, topic_id=topic_id, partition_data=[]
                )
            topic.partition_data.append(PartitionProduceData(index=partition, records=wire))
        self.request = ProduceRequest(
            transactional_id=transactional_id,
            acks=required_acks,
            timeout_ms=timeout_ms,
            topic_data=list(topics.values()),
        )

    @property
    def max_version(self) -> int | None:
        """The newest version the request may have; None: any. An unknown id asks for names."""
        if self._max_version is None and ZERO_UUID in self._topic_ids.values():
            return ProduceRequest.topic_ids_since - 1
        return self._max_version

    def read_written(self, frame: memoryview, version: int) -> Written | None:
        """Return the places of the batches, if the response says that all are written.

        None: it says anything else, or is not of one topic. `frame` begins with the correlation id.
        """
        batches = self.batches
        count = len(batches)
        if len(self._topic_ids) != 1 or version < _FIRST_USUAL or count > _MOST:
            return None
        ((name, topic_id),) = self._topic_ids.items()
        if version < ProduceRequest.topic_ids_since:
            encoded = name.encode()
            told = bytes((len(encoded) + 1,)) + encoded if len(encoded) <= _MOST else b""
        else:
            told = topic_id.bytes
        head = b"\0\x02%b%c" % (told, count + 1)
        begin = _CORRELATION_ID_BYTES + len(head)
        end = begin + count * _RESULT.size
        if frame[_CORRELATION_ID_BYTES:begin] != head or frame[end:] != _NO_THROTTLE:
            return None
        written = []
        results = _RESULT.iter_unpack(frame[begin:end])
        for batch, (index, error, base, time_ms, start, rest) in zip(batches, results, strict=True):
            if index != batch.topic_partition.partition or error or rest != _NO_ERRORS:
                return None
            written.append((batch, base, time_ms, start))
        return written

    def results(
        self, response: ProduceResponse
    ) -> Iterator[tuple[ProducerBatch, PartitionProduceResponse | None]]:
        """Yield what the broker says of each batch, in the order of the batches; None: nothing."""
        names = {topic_id: name for name, topic_id in self._topic_ids.items()}
        found: dict[tuple[str | None, int], PartitionProduceResponse] = {}
        for topic in response.responses:
            name = topic.name or names.get(topic.topic_id)
            for result in topic.partition_responses:
                found[name, result.index] = result
        for batch in self.batches:
            yield batch, found.get(batch.topic_partition)

    def leader_hints(self, response: ProduceResponse) -> dict[TopicPartition, LeaderAndEpoch]:
        """Return the leaders that the broker names instead of itself (KIP-951)."""
        return leader_hints(
            (batch.topic_partition, result.current_leader)
            for batch, result in self.results(response)
            if result is not None and for_code(result.error_code).invalid_metadata
        )


__all__ = ["ProduceExchange", "Written"]
