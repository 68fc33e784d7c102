"""Turns drained batches into a Produce request, and its response into a result per batch.

Does not wait.

Nearly every response says that all batches are written. `read_usual` reads it in one go, without
an object for each part of the message. Any other response is decoded as a message.
"""

from collections.abc import Callable
from typing import Any

from aiokafka_lite.cluster.metadata.leader_updates import leader_hints
from aiokafka_lite.cluster.metadata.metadata_snapshot import LeaderAndEpoch
from aiokafka_lite.codec.parts import Parts
from aiokafka_lite.errors import for_code
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.net.answer_callback import Answer
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch
from aiokafka_lite.producer.send.batches_request import (
    FLAT_VERSIONS,
    BatchesRequest,
    ProducedTopics,
    ProduceTerms,
    usual_parts,
)
from aiokafka_lite.producer.send.produce_bytes import Written, read_written
from aiokafka_lite.protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
)

OnProduced = Callable[["ProduceExchange", ProduceResponse | Written | None, Exception | None], None]
"""`on_answer(exchange, response, error)`, as `answer_callback.OnAnswer`."""


class ProduceExchange(Answer):
    """One Produce request, what is needed to read its response, and who takes its outcome."""

    __slots__ = (
        "_on_answer",
        "_terms",
        "_topics",
        "_wires",
        "batches",
        "bytes_on_their_way",
        "is_of_one_record",
        "lone_number",
        "max_version",
        "node",
        "request",
        "sent_at_s",
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
        on_answer: OnProduced | None = None,
    ) -> None:
        """`wires`: the bytes of each batch. `max_version`: the newest that the transaction's
        protocol allows; None: any. `node`: what the sender knows of the node. `on_answer`: takes
        the outcome.
        """
        super().__init__()
        self._terms = terms
        self._topics = topics
        self._wires = wires
        self.batches = batches
        self.node = node
        self._on_answer = on_answer
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
        self.sent_at_s = 0.0
        self.is_of_one_record = len(batches) == 1 and batches[0].record_count == 1
        if max_version is None and not topics.has_all_ids:
            max_version = ProduceRequest.topic_ids_since - 1
        self.max_version = max_version
        """The newest version the request may have; None: any. An unknown id asks for names."""
        self.request = BatchesRequest(terms, topics, batches, wires)

    def answered(self, response: Any, error: Exception | None) -> None:
        if self._on_answer is not None:
            self._on_answer(self, response, error)

    def write_usual(self, version: int) -> Parts | None:
        return usual_parts(self._terms, self._topics, self.batches, self._wires, version)

    def read_usual(self, frame: memoryview, version: int) -> Written | None:
        """Return the places of the batches, if the response says that all are written.

        None: it says anything else. `frame` begins with the correlation id.
        """
        if version not in FLAT_VERSIONS:
            return None
        return read_written(frame, self._topics.told_in(version), self.batches)

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


__all__ = ["OnProduced", "ProduceExchange"]
