"""Owns the way of a record from the caller's hands into a batch, step by step (C3).

A record that finds everything ready goes the short way of `short_way`, and comes here only to be
serialized; all others go step by step. It waits for metadata and for memory; `send_nowait` raises
instead.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.errors import BufferExhaustedError
from aiokafka_lite.producer.accumulator.record_accumulator import PartitionQueue, RecordAccumulator
from aiokafka_lite.producer.accumulator.short_way import ShortWay, TopicHold
from aiokafka_lite.producer.append.route_finder import RouteFinder
from aiokafka_lite.producer.append.send_order import SendTurn
from aiokafka_lite.producer.batch.buffer_pool import BufferPool
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch
from aiokafka_lite.producer.batch.record_ack import RecordAck
from aiokafka_lite.producer.batch.record_fields import (
    Headers,
    RecordSerializers,
    check_bytes,
    check_not_empty,
    check_size,
    checked_timestamp,
    freeze_headers,
)
from aiokafka_lite.producer.partition.partitioner import KeyHashes
from aiokafka_lite.producer.partition.topic_routes import TopicRoute
from aiokafka_lite.producer.producer_config import ProducerConfig
from aiokafka_lite.producer.producer_life import ProducerLife
from aiokafka_lite.producer.transaction.transaction_manager import TransactionManager
from aiokafka_lite.record.batch_builder import RecordBatchBuilder, record_upper_bound

_TURN_BYTES = 131_072
"""After so much memory in new batches `send` lets the sender have a look at them."""


class AppendPath:
    """Appends records for one producer. `wake_sender()` has it look at what is due."""

    def __init__(
        self,
        client: KafkaClient,
        config: ProducerConfig,
        pool: BufferPool,
        accumulator: RecordAccumulator,
        finder: RouteFinder,
        life: ProducerLife,
        transactions: TransactionManager | None,
        *,
        wake_sender: Callable[[], object],
    ) -> None:
        self._client = client
        self._config = config
        self._clock = client.clock
        self._pool = pool
        self._accumulator = accumulator
        self._life = life
        self._loop = client.loop
        self._transactions = transactions
        self._wake_sender = wake_sender
        self.finder = finder
        self.order = finder.order
        self.routes = finder.routes
        self.serializers = RecordSerializers(config.key_serializer, config.value_serializer)
        self._filling_task = 0
        """The id of the one that last had to begin a batch; a later task may have the same."""
        self._filled_bytes = 0
        """Memory of the batches that were begun since then, or since its last pause."""
        self._key_hashes = KeyHashes()
        self.short_way = ShortWay(
            self.routes.known,
            now=client.clock.time,
            key_hashes=self._key_hashes,
            has_partitioner=config.partitioner is not None,
            ignores_keys=config.partitioner_ignore_keys,
            join_transaction=None if transactions is None else transactions.add_partition,
            hold=self.routes.hold,
        )
        """For records whose key and value are bytes."""

    def start(self) -> None:
        """Belong to the thread that the client was started in."""
        self.short_way.thread_id = self._loop.thread_id

    # The whole way…

    async def send(
        self,
        topic: str,
        value: Any,
        key: Any,
        partition: int | None,
        timestamp_ms: int | None,
        headers: Iterable[tuple[str, bytes | None]] | None,
        *,
        allow_empty: bool = False,
        hold: TopicHold | None = None,
    ) -> RecordAck:
        """Append a record. As `AIOKafkaProducer.send`; `allow_empty`: even one without both key
        and value, which Kafka takes, and Java's producer. `hold` is released: what was called
        before this runs, and what waits holds the topic itself.
        """
        if hold is not None:
            hold.release()
        self._loop.check_thread()
        began_s = self._clock.monotonic()
        if not allow_empty:
            check_not_empty(value, key)
        route = self.routes.known.get(topic) if topic.__class__ is str else None
        if route is None:
            route = await self.finder.find(topic, began_s)
        key_bytes, value_bytes, frozen = self.to_bytes(topic, value, key, headers)
        if self.serializers:
            ack = self.short_way.append(
                topic, value_bytes, key_bytes, partition, timestamp_ms, frozen
            )
            if ack is not None:
                return ack
        sticky_route = None
        if partition is not None:
            known = self.finder.known_queue(route, partition)
            if known is None:
                size = self._checked_size(key_bytes, value_bytes, frozen)
                async with self.finder.queue_to_come(topic, partition, began_s) as queue:
                    timestamp_ms = self.timestamp(timestamp_ms)
                    return await self._append_in_turn(
                        queue, size, timestamp_ms, key_bytes, value_bytes, frozen, began_s
                    )
            queue = known
        else:
            queue, sticky_route = self.choose(route, key_bytes, value_bytes)
        timestamp_ms = self.timestamp(timestamp_ms)
        self.join_transaction(queue)
        if not self.order.has_waiting(queue.topic_partition):
            ack = self._append_to_open(queue, timestamp_ms, key_bytes, value_bytes, frozen)
            if ack is not None:
                return ack
        return await self._append_in_new_batch(
            sticky_route, queue, timestamp_ms, key_bytes, value_bytes, frozen, began_s
        )

    def send_nowait(
        self,
        topic: str,
        value: Any,
        key: Any,
        partition: int | None,
        timestamp_ms: int | None,
        headers: Iterable[tuple[str, bytes | None]] | None,
    ) -> RecordAck:
        """Append a record, or raise what it would have waited for."""
        self._loop.check_thread()
        check_not_empty(value, key)
        route = self.finder.find_nowait(topic)
        key_bytes, value_bytes, frozen = self.to_bytes(topic, value, key, headers)
        sticky_route = None
        if partition is not None:
            queue = self.finder.queue_nowait(route, partition)
        else:
            queue, sticky_route = self.choose(route, key_bytes, value_bytes)
        timestamp_ms = self.timestamp(timestamp_ms)
        self.join_transaction(queue)
        ack = self._append_to_open(queue, timestamp_ms, key_bytes, value_bytes, frozen)
        if ack is not None:
            return ack
        size = self._checked_size(key_bytes, value_bytes, frozen)
        queue = self._leave_full_batch(sticky_route, queue)
        ack = self._append_to_open(queue, timestamp_ms, key_bytes, value_bytes, frozen)
        if ack is not None:
            return ack
        self.join_transaction(queue)
        buffer = self._pool.take_nowait(self._accumulator.new_batch_bytes(queue, size))
        if buffer is None:
            size = max(size, self._accumulator.batch_bytes)
            buffer = self._pool.take_nowait(size)
        if buffer is None:
            self._wake_sender()
            raise BufferExhaustedError(
                f"no room for a batch of {size} bytes, and send_nowait() does not wait for it: "
                f"{self._pool.used_bytes} of buffer_memory={self._pool.total_bytes} bytes hold "
                f"records the brokers have not acknowledged; raise buffer_memory, or await send()"
            )
        return self._open_with(queue, buffer, timestamp_ms, key_bytes, value_bytes, frozen)

    # Its steps…

    def to_bytes(
        self,
        topic: str,
        value: Any,
        key: Any,
        headers: Iterable[tuple[str, bytes | None]] | None,
    ) -> tuple[bytes | None, bytes | None, Headers]:
        """Return key, value and headers as they will be sent. Raises SerializationError."""
        if not self.serializers:
            return check_bytes("key", key), check_bytes("value", value), freeze_headers(headers)
        listed = list(freeze_headers(headers))
        key_bytes = self.serializers.to_bytes("key", topic, listed, key)
        value_bytes = self.serializers.to_bytes("value", topic, listed, value)
        return key_bytes, value_bytes, freeze_headers(listed)

    def choose(
        self, route: TopicRoute, key: bytes | None, value: bytes | None
    ) -> tuple[PartitionQueue, TopicRoute | None]:
        """Return the queue for a record without explicit partition, and the route again if it is
        the sticky one (2d-4).
        """
        partitioner = self._config.partitioner
        if partitioner is not None:
            return route.queue_chosen_by(partitioner, key), None
        if key is not None and not self._config.partitioner_ignore_keys:
            return route.queues[self._key_hashes[key] % route.count], None
        return route.sticky_queue(0 if value is None else len(value)), route

    def timestamp(self, timestamp_ms: int | None) -> int:
        """Return the time of a record: the one given, checked, or now."""
        if timestamp_ms is None:
            return int(self._clock.time() * 1000)
        return checked_timestamp(timestamp_ms)

    def join_transaction(self, queue: PartitionQueue) -> None:
        """Make the partition part of the transaction, if there are transactions."""
        if self._transactions is not None:
            self._transactions.add_partition(queue.topic_partition)

    def _append_to_open(
        self,
        queue: PartitionQueue,
        timestamp_ms: int,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
    ) -> RecordAck | None:
        batch = queue.open_batch
        if batch is None:
            return None
        index = batch.append(timestamp_ms, key, value, headers)
        return None if index is None else _ack(batch, index, timestamp_ms, key, value)

    # A new batch…

    async def _append_in_new_batch(
        self,
        sticky_route: TopicRoute | None,
        queue: PartitionQueue,
        timestamp_ms: int,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
        began_s: float,
    ) -> RecordAck:
        """Append a record for which there is no batch or no room, waiting for memory.

        `sticky_route`: as `choose` has it. Raises MessageSizeTooLargeError, BufferExhaustedError.
        """
        self._loop.check()
        size = self._checked_size(key, value, headers)
        pauses = self._has_had_its_turn()
        if not self.order.has_waiting(queue.topic_partition):
            queue = self._leave_full_batch(sticky_route, queue)
            if not pauses and not self.order.has_waiting(queue.topic_partition):
                ack = self._append_to_open(queue, timestamp_ms, key, value, headers)
                if ack is not None:
                    return ack
                buffer = self._pool.take_nowait(self._accumulator.new_batch_bytes(queue, size))
                if buffer is not None:
                    self._join_with(buffer, queue)
                    return self._open_with(queue, buffer, timestamp_ms, key, value, headers)
        async with self._turn(queue, size, began_s):
            if pauses:
                await self._clock.sleep(0)
            self._life.check_running()  # the call may have waited
            return await self._append_in_turn(
                queue, size, timestamp_ms, key, value, headers, began_s
            )

    def _turn(self, queue: PartitionQueue, size: int, began_s: float) -> SendTurn:
        """Return what to enter once those that waited for the partition before are through.

        Raises BufferExhaustedError then: memory is what the first of them waits for.
        """
        return self.order.turn(
            queue.topic_partition,
            self.finder.left_s(began_s),
            lambda: self._pool.exhausted(size, self._config.max_block_ms),
        )

    async def _append_in_turn(
        self,
        queue: PartitionQueue,
        size: int,
        timestamp_ms: int,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
        began_s: float,
    ) -> RecordAck:
        """Append a record whose turn in its partition it is. The call may have waited: the
        transaction may have ended, or the partition be another.
        """
        self.join_transaction(queue)
        ack = self._append_to_open(queue, timestamp_ms, key, value, headers)
        if ack is not None:
            return ack
        self._leave_full_batch(None, queue)
        buffer = await self.take_memory(self._accumulator.new_batch_bytes(queue, size), began_s)
        # send_nowait(), which waits for nobody, may have made a batch meanwhile (C5).
        ack = self._append_to_open(queue, timestamp_ms, key, value, headers)
        if ack is not None:
            self._pool.give(buffer)
            return ack
        self._join_with(buffer, queue)
        return self._open_with(queue, buffer, timestamp_ms, key, value, headers)

    def _join_with(self, buffer: bytearray, queue: PartitionQueue) -> None:
        """Make the partition part of the transaction, or give the memory back."""
        try:
            self.join_transaction(queue)
        except BaseException:
            self._pool.give(buffer)
            raise

    def _has_had_its_turn(self) -> bool:
        """Return whether the task has filled much memory without a pause: one that never has to
        wait must not keep the sender from running. Of many tasks each comes to its end by itself.
        """
        task = id(asyncio.current_task(self._loop.loop))
        if task == self._filling_task and self._filled_bytes < _TURN_BYTES:
            return False
        is_over = task == self._filling_task
        self._filling_task = task
        self._filled_bytes = 0
        return is_over

    def _checked_size(self, key: bytes | None, value: bytes | None, headers: Headers) -> int:
        """Return a record's upper bound. Raises MessageSizeTooLargeError."""
        size = record_upper_bound(key, value, headers)
        check_size(
            size,
            max_request_size=self._config.max_request_size,
            buffer_memory=self._config.buffer_memory,
        )
        return size

    def _leave_full_batch(
        self, sticky_route: TopicRoute | None, queue: PartitionQueue
    ) -> PartitionQueue:
        """Close a batch that has no room; return where the record goes now."""
        if queue.open_batch is not None:
            if self._concerns_sender(queue):
                self._wake_sender()
            queue.close_open_batch()
            if sticky_route is not None:
                sticky_route.sticky.batch_is_full()
                queue = sticky_route.sticky_queue(0)
        return queue

    def _concerns_sender(self, queue: PartitionQueue) -> bool:
        """Return whether the last batch of a queue may be due, or will be: no other delays it.
        Whoever counts how long a node keeps batches waiting has to be asked often.
        """
        return len(queue.batches) == 1 or self.routes.patience.is_on

    async def take_memory(self, size: int, began_s: float | None) -> bytearray:
        """Return memory for a batch, waiting what is left of max_block_ms for it."""
        buffer = self._pool.take_nowait(size)
        if buffer is not None:
            return buffer
        self._life.check_running()
        self._wake_sender()  # what lies here is sent at once while somebody waits for its memory
        buffer = await self._pool.take(
            size,
            clock=self._clock,
            timeout_s=self.finder.left_s(began_s),
            max_block_ms=self._config.max_block_ms,
        )
        try:
            self._life.check_running()  # it may have been stopped since the memory was granted
        except BaseException:
            self._pool.give(buffer)
            raise
        return buffer

    def _open_with(
        self,
        queue: PartitionQueue,
        buffer: bytearray,
        timestamp_ms: int,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
    ) -> RecordAck:
        batch = self._accumulator.open_batch(queue, buffer, self._clock.monotonic())
        index = batch.append(timestamp_ms, key, value, headers)
        assert index is not None, "the first record of a batch has room"
        self._filled_bytes += len(buffer)
        self._client.metadata.add_topic(queue.topic_partition.topic)
        if self._concerns_sender(queue):
            self._wake_sender()
        return _ack(batch, index, timestamp_ms, key, value)

    async def append_batch(
        self,
        topic: str,
        partition: int,
        builder: RecordBatchBuilder,
        buffer: bytearray,
    ) -> ProducerBatch:
        """Queue a batch that was filled elsewhere, waiting for its memory to be counted.

        Raises: as `send`. Cancelled: nothing was queued.
        """
        self._loop.check()
        began_s = self._clock.monotonic()
        route = await self.finder.find(topic, began_s)
        known = self.finder.known_queue(route, partition)
        size = len(buffer)
        check_size(
            builder.uncompressed_size,
            max_request_size=self._config.max_request_size,
            buffer_memory=self._config.buffer_memory,
        )
        if known is None:
            async with self.finder.queue_to_come(topic, partition, began_s) as queue:
                return await self._append_batch_in_turn(queue, builder, buffer, began_s)
        async with self._turn(known, size, began_s):
            self._life.check_running()  # the call may have waited
            return await self._append_batch_in_turn(known, builder, buffer, began_s)

    async def _append_batch_in_turn(
        self,
        queue: PartitionQueue,
        builder: RecordBatchBuilder,
        buffer: bytearray,
        began_s: float,
    ) -> ProducerBatch:
        self.join_transaction(queue)
        counted = await self.take_memory(len(buffer), began_s)
        self._join_with(counted, queue)  # the call has waited
        return self._queue_batch(queue, builder, buffer)

    def _queue_batch(
        self, queue: PartitionQueue, builder: RecordBatchBuilder, buffer: bytearray
    ) -> ProducerBatch:
        # `buffer` is what comes back to the pool; the one it gave only counted.
        batch = self._accumulator.append_batch(queue, builder, buffer, self._clock.monotonic())
        batch.close()
        self._filled_bytes += len(buffer)
        self._client.metadata.add_topic(queue.topic_partition.topic)
        self._wake_sender()
        return batch


AppendPath.send.__qualname__ = "AIOKafkaProducer.send"  # which is what asyncio's warnings name


def _ack(
    batch: ProducerBatch, index: int, timestamp_ms: int, key: bytes | None, value: bytes | None
) -> RecordAck:
    return RecordAck(
        batch,
        index,
        timestamp_ms,
        -1 if key is None else len(key),
        -1 if value is None else len(value),
    )


__all__ = ["AppendPath"]
