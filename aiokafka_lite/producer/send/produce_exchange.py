"""Turns drained batches into a Produce request, and its response into a result per batch.

Does not wait.

Nearly every response says that all batches are written. `read_written` reads it in one go, without
an object for each part of the message. Any other response is decoded as a message.
"""

from collections.abc import Iterator
from uuid import UUID

from aiokafka_lite.cluster.metadata.leader_updates import leader_hints
from aiokafka_lite.cluster.metadata.metadata_snapshot import LeaderAndEpoch, MetadataSnapshot
from aiokafka_lite.errors import for_code
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch
from aiokafka_lite.producer.send.batches_request import BatchesRequest
from aiokafka_lite.producer.send.produce_bytes import Written, read_written
from aiokafka_lite.protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
)
from aiokafka_lite.schema.field_types import ZERO_UUID


class ProduceExchange:
    """One Produce request and what is needed to read its response."""

    def __init__(
        self,
        batches: list[ProducerBatch],
        snapshot: MetadataSnapshot,
        *,
        required_acks: int,
        timeout_ms: int,
        wires: list[memoryview],
        transactional_id: str | None = None,
        max_version: int | None = None,
    ) -> None:
        """`wires`: the bytes of each batch. `timeout_ms`: how long the leader waits for others.
        `max_version`: the newest that the transaction's protocol allows; None: any.
        """
        self.batches = batches
        self.lone_number = 0
        """Its number among the requests to its node, if it has one record and was sent alone; else
        0.
        """
        self.is_of_one_record = len(batches) == 1 and batches[0].record_count == 1
        self._max_version = max_version
        topic_ids: dict[str, UUID] = {}
        for batch in batches:
            topic = batch.topic_partition[0]
            if topic not in topic_ids:
                topic_ids[topic] = snapshot.topic_id(topic)
        self._topic_ids = topic_ids
        self.request = BatchesRequest(
            batches,
            wires,
            topic_ids,
            transactional_id=transactional_id,
            acks=required_acks,
            timeout_ms=timeout_ms,
        )

    @property
    def max_version(self) -> int | None:
        """The newest version the request may have; None: any. An unknown id asks for names."""
        if self._max_version is None and ZERO_UUID in self._topic_ids.values():
            return ProduceRequest.topic_ids_since - 1
        return self._max_version

    def read_written(self, frame: memoryview, version: int) -> Written | None:
        """Return the places of the batches, if the response says that all are written.

        None: it says anything else. `frame` begins with the correlation id.
        """
        if version not in ProduceRequest.flexible:
            return None
        return read_written(frame, self.request.told_in(version), self.batches)

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


__all__ = ["ProduceExchange"]
