"""Owns what is known of one record on the append path. Does not wait."""

from aiokafka_lite.producer.accumulator.partition_queue import PartitionQueue
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch
from aiokafka_lite.producer.batch.record_ack import RecordAck
from aiokafka_lite.producer.batch.record_fields import Headers
from aiokafka_lite.producer.partition.topic_routes import TopicRoute


class Appending:
    """One encoded record and the queue it goes to. Made once for a call of `send`."""

    __slots__ = (
        "began_s",
        "headers",
        "key",
        "needs_pause",
        "queue",
        "size",
        "sticky_route",
        "timestamp_ms",
        "value",
    )

    def __init__(
        self,
        queue: PartitionQueue,
        sticky_route: TopicRoute | None,
        timestamp_ms: int,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
        began_s: float,
    ) -> None:
        self.queue = queue
        self.sticky_route = sticky_route
        """The route whose sticky partition may change while the record is appended; None: the
        record stays in its queue.
        """
        self.timestamp_ms = timestamp_ms
        self.key = key
        self.value = value
        self.headers = headers
        self.began_s = began_s
        """When the call began, monotonic. It may wait max_block_ms from then on."""
        self.size = 0
        """The record's upper bound in bytes, once it was checked."""
        self.needs_pause = False
        """The call lets other tasks run before it opens a batch."""

    def place_in(self, batch: ProducerBatch) -> RecordAck | None:
        """Append the record to a batch; None: the batch has no room."""
        key, value = self.key, self.value
        index = batch.append(self.timestamp_ms, key, value, self.headers)
        if index is None:
            return None
        return RecordAck(
            batch,
            index,
            self.timestamp_ms,
            -1 if key is None else len(key),
            -1 if value is None else len(value),
        )

    def place_in_open(self) -> RecordAck | None:
        """Append the record to the open batch of its queue; None: there is none, or no room."""
        batch = self.queue.open_batch
        return None if batch is None else self.place_in(batch)


__all__ = ["Appending"]
