"""Batches and accumulators for the producer's unit tests."""

import random
from typing import Any

from aiokafka_lite.concurrency.backoff import ExponentialBackoff
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.accumulator.partition_queue import NodePace, PartitionQueue
from aiokafka_lite.producer.accumulator.record_accumulator import RecordAccumulator
from aiokafka_lite.producer.accumulator.sequence_numbers import SequenceNumbers
from aiokafka_lite.producer.batch.buffer_pool import BufferPool
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch
from aiokafka_lite.producer.producer_config import ProducerConfig
from aiokafka_lite.record.batch_builder import RecordBatchBuilder, record_upper_bound
from aiokafka_lite.record.batch_reader import RecordCursor

TP = TopicPartition("orders", 0)


def make_batch(
    records: int = 1,
    *,
    tp: TopicPartition = TP,
    created_s: float = 0.0,
    closed: bool = True,
    twin: Any = None,
) -> ProducerBatch:
    """A batch with `records` records of value b"v"; of a `twin` of `tests.producer.twins`."""
    buffer = bytearray(1024)
    if twin is None:
        batch = ProducerBatch(tp, RecordBatchBuilder(buffer), buffer, created_s)
    else:
        batch = twin.ProducerBatch(tp, twin.RecordBatchBuilder(buffer), buffer, created_s)
    for index in range(records):
        assert batch.append(1000 + index, None, b"v", ()) == index
    if closed:
        batch.close()
    return batch


def values(wire: memoryview) -> list[bytes | None]:
    """The values of the records in a batch, its CRC checked."""
    cursor = RecordCursor(bytes(wire), topic="orders", partition=0, fetch_offset=0)
    return [record.value for record in cursor.take(10_000)]


def prove_fast(pace: NodePace) -> NodePace:
    """Let a node have answered so fast that nothing holds batches back."""
    for _ in range(2):
        pace.was_answered(2**30, 0.001)
    return pace


class Shelf:
    """An accumulator with its pool, and partitions whose leaders a test sets."""

    def __init__(self, *, sequences: SequenceNumbers | None = None, **options: Any) -> None:
        options.setdefault("linger_ms", 100)
        options.setdefault("max_batch_size", 200)
        self.config = ProducerConfig(**options)
        self.pool = BufferPool(self.config.buffer_memory, *self.config.batch_sizes)
        self.accumulator = RecordAccumulator(
            self.config,
            self.pool,
            backoff=ExponentialBackoff(0.1, 1.0, jitter=0.0, rng=random.Random(1)),
            sequences=sequences,
        )
        self.leaders: dict[TopicPartition, tuple[int | None, int]] = {}
        for node_id in range(1, 4):
            prove_fast(self.accumulator.pace_of(node_id))

    def leader_of(self, tp: TopicPartition) -> tuple[int | None, int]:
        return self.leaders.get(tp, (1, 0))

    def queue(self, partition: int = 0, topic: str = "orders") -> PartitionQueue:
        tp = TopicPartition(topic, partition)
        return self.accumulator.queue_of(tp, self.leader_of(tp))

    def set_leader(self, partition: int, node_id: int | None, epoch: int = 0) -> None:
        self.leaders[TopicPartition("orders", partition)] = (node_id, epoch)
        self.accumulator.set_leaders(self.leader_of)

    def append(
        self, value: bytes = b"v", *, partition: int = 0, now_s: float = 0.0
    ) -> ProducerBatch:
        """Put a record where `send` would; return its batch."""
        queue = self.queue(partition)
        if queue.open_batch is not None:
            if queue.open_batch.append(0, None, value, ()) is not None:
                return queue.open_batch
            queue.close_open_batch()
        size = self.accumulator.sizes.for_new(queue, record_upper_bound(None, value))
        buffer = self.pool.take_nowait(size)
        assert buffer is not None
        batch = self.accumulator.new_batch(queue, buffer, now_s)
        assert batch.append(0, None, value, ()) == 0
        self.accumulator.add(batch)
        return batch

    def append_within_bounds(self, value: bytes, *, partition: int, now_s: float) -> None:
        """The same; a batch that is begun holds no more memory than those before it use."""
        waiting_bytes = sum(batch.reserved_bytes for batch in self.queue(partition).batches)
        batch = self.append(value, partition=partition, now_s=now_s)
        needed_bytes = max(self.config.usual_batch_bytes, record_upper_bound(None, value))
        most_bytes = max(needed_bytes, waiting_bytes + waiting_bytes // 7)
        assert batch.next_index > 1 or batch.reserved_bytes <= most_bytes

    def drain(self, node_id: int = 1, now_s: float = 0.0) -> list[ProducerBatch]:
        return self.accumulator.drain(node_id, now_s)

    def succeed(self, batch: ProducerBatch, base_offset: int = 0) -> None:
        self.accumulator.landed(batch, reusable=True)
        batch.succeed(base_offset)
        self.accumulator.forget(batch)
