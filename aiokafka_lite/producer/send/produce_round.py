"""One Produce request of drained batches, and its response as a result per batch. Does not wait.

Nearly every response says that all batches are written. `read` reads it in one go, without an
object for each part of the message. Any other response is decoded as a message.
"""

from typing import Any

from aiokafka_lite.cluster.metadata.leader_updates import leader_hints
from aiokafka_lite.cluster.metadata.metadata_snapshot import LeaderAndEpoch
from aiokafka_lite.errors import for_code
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.net.exchange import Exchange
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch
from aiokafka_lite.producer.send.batches_request import (
    FLAT_VERSIONS,
    BatchesRequest,
    ProducedTopics,
    ProduceTerms,
)
from aiokafka_lite.producer.send.produce_bytes import read_written
from aiokafka_lite.protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
)


class ProduceRound(Exchange):
    """One Produce request, what is needed to read its response, and who takes its outcome."""

    request: ProduceRequest

    __slots__ = (
        "_topics",
        "batches",
        "begun_at_s",
        "bytes_on_their_way",
        "is_of_one_record",
        "lone_number",
        "node",
        "size_in_bytes",
    )

    def __init__(
        self,
        terms: ProduceTerms,
        topics: ProducedTopics,
        batches: list[ProducerBatch],
        wires: list[memoryview],
        max_version: int | None = None,
        node: Any = None,
    ) -> None:
        """`wires`: the bytes of each batch. `max_version`: the newest that the transaction's
        protocol allows; None: any. An unknown id asks for names. `node`: the `NodeSender` that
        takes the outcome.
        """
        if max_version is None and not topics.has_all_ids:
            max_version = ProduceRequest.topic_ids_since - 1
        request = BatchesRequest(terms, topics, batches, wires)
        super().__init__(request, max_version, terms.acks != 0)
        self._topics = topics
        self.batches = batches
        self.node = node
        self.lone_number = 0
        """Its number among the requests to its node, if it has one record and was sent alone; else
        0.
        """
        self.size_in_bytes = 0
        """The bytes of its batches."""
        for wire in wires:
            self.size_in_bytes += len(wire)
        self.bytes_on_their_way = 0
        """Those of the batches on their way to the node when it was sent, its own included."""
        self.begun_at_s = 0.0
        """When it was handed to the connection, which may send it later (monotonic)."""
        self.is_of_one_record = len(batches) == 1 and batches[0].record_count == 1

    def ended(self, response: Any, error: BaseException | None) -> None:
        if self.node is not None:
            self.node.round_is_over(self, response, error)
        Exchange.ended(self, response, error)

    def read(self, frame: memoryview, version: int) -> Any:
        """Read a response: the places of the batches if it says that all are written, else the
        message. `frame` begins with the correlation id.
        """
        if version in FLAT_VERSIONS:
            written = read_written(frame, self._topics.told_in(version), self.batches)
            if written is not None:
                return written
        return Exchange.read(self, frame, version)

    def results(
        self, response: ProduceResponse
    ) -> list[tuple[ProducerBatch, PartitionProduceResponse | None]]:
        """Return what the broker says of each batch, in the order of the batches; None: nothing."""
        names = {topic_id: name for name, topic_id in self._topics.ids.items()}
        found: dict[tuple[str | None, int], PartitionProduceResponse] = {}
        for topic in response.responses:
            name = topic.name or names.get(topic.topic_id)
            for result in topic.partition_responses:
                found[name, result.index] = result
        return [(batch, found.get(batch.topic_partition)) for batch in self.batches]

    def leader_hints(self, response: ProduceResponse) -> dict[TopicPartition, LeaderAndEpoch]:
        """Return the leaders that the broker names instead of itself (KIP-951)."""
        return leader_hints(
            (batch.topic_partition, result.current_leader)
            for batch, result in self.results(response)
            if result is not None and for_code(result.error_code).invalid_metadata
        )


__all__ = ["ProduceRound"]
