"""Owns the opening of batches for `send`: pauses, memory, the partition's part in the transaction,
and the wake-up of the sender.

It waits only for memory.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.errors import BufferExhaustedError
from aiokafka_lite.producer.accumulator.fast_append import RECORD_OVERHEAD
from aiokafka_lite.producer.accumulator.partition_queue import PartitionQueue
from aiokafka_lite.producer.accumulator.record_accumulator import RecordAccumulator
from aiokafka_lite.producer.append.appending import Appending
from aiokafka_lite.producer.append.route_finder import RouteFinder
from aiokafka_lite.producer.batch.buffer_pool import BufferPool
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch
from aiokafka_lite.producer.batch.record_ack import RecordAck
from aiokafka_lite.producer.batch.record_fields import Headers
from aiokafka_lite.producer.partition.topic_routes import TopicRoute
from aiokafka_lite.producer.producer_config import ProducerConfig
from aiokafka_lite.producer.producer_life import ProducerLife
from aiokafka_lite.record.batch_builder import RecordBatchBuilder, record_upper_bound

if TYPE_CHECKING:
    from aiokafka_lite.producer.transaction.transaction_manager import TransactionManager

_TURN_BYTES = 524_288
"""After so much memory in new batches a task that sends lets the sender run.

So a burst of four thousand records of 100 bytes has no pause. A loop that only sends those keeps
other tasks waiting for about a millisecond, as each takes some 0.25 us. With records of a few bytes
it may be five. After half as much memory a record of 1 KB cost a twentieth more. A pause is a turn
of the loop, and of the partition's line. A thousand tasks that send one record each end without a
pause, which would be a turn of the loop for each.
"""
_NOTED_FOR = 0.00001
"""A topic is noted as in use once in a hundredth of metadata_max_idle_ms, and not for each batch.
Seconds for each of its milliseconds."""


class NewBatches:
    """Opens batches in a producer's queues. `wake_sender()` makes the sender look at them.
    `send_at_once(queue)` is called after a batch was added. It sends the batch if
    `leaves_at_once(queue)`, so that the sender need not look.
    """

    def __init__(
        self,
        client: KafkaClient,
        config: ProducerConfig,
        pool: BufferPool,
        accumulator: RecordAccumulator,
        finder: RouteFinder,
        life: ProducerLife,
        transactions: "TransactionManager | None",
        *,
        wake_sender: Callable[[], object],
        send_at_once: Callable[[PartitionQueue], object] | None = None,
        leaves_at_once: Callable[[PartitionQueue], bool] = lambda _: False,
    ) -> None:
        self._client = client
        self._clock = client.clock
        self._config = config
        self._pool = pool
        self._accumulator = accumulator
        self._finder = finder
        self._life = life
        self._transactions = transactions
        self._wake_sender = wake_sender
        self._send_at_once = send_at_once
        self._leaves_at_once = leaves_at_once
        self._patience = finder.routes.patience
        self._most_record_bytes = min(config.max_request_size, config.buffer_memory)
        self._used_topic = ""
        """The topic of the newest batch, which is noted as in use until `_used_until_s`."""
        self._used_until_s = 0.0
        self._filling_task = 0
        """The id of the task that last had to open a batch; a later task may have the same id."""
        self._filled_bytes = 0
        """Memory of the batches that this task opened since its last pause."""

    def make_room(
        self,
        queue: PartitionQueue,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
        waits: bool,
    ) -> ProducerBatch | None:
        """Return a batch with room for a record: the queue's open one, which has grown, or a new
        one for `add_new`.

        None: the record has to wait or is too large, and nothing was done. `fast_append` calls it
        and places the record at once. So a record that opens a batch needs no coroutine. Not for
        the sticky partition, which may change then. `waits`: the caller waits for the outcome, so
        it lets the sender run. Raises: as `ClientLoop.check`.
        """
        size = self._size_now(key, value, headers, waits)
        if size < 0:
            return None
        batch = self._grown(queue, size)
        if batch is not None:
            return batch
        buffer = self._pool.take_nowait(self._accumulator.sizes.for_new(queue, size))
        if buffer is None:
            return None
        if queue.open_batch is not None and self._concerns_sender(queue):
            self._wake_sender()  # that batch is full
        return self._new(queue, buffer)

    def make_sticky_room(
        self,
        route: TopicRoute,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
        waits: bool,
    ) -> ProducerBatch | None:
        """As `make_room`, for a record whose sticky partition has no open batch with room.

        The partition may change then, also if there is no memory and the record has to wait. If
        the next one has an open batch, that is returned, with room or not.
        """
        size = self._size_now(key, value, headers, waits)
        if size < 0:
            return None
        sticky = route.sticky
        queue: PartitionQueue = route.queue(sticky.current)
        if queue.open_batch is not None:
            self._close_full(queue)
            sticky.batch_is_full(RECORD_OVERHEAD + (0 if value is None else len(value)))
            queue = route.queue(sticky.settle(route.choices))
            if queue.open_batch is not None:
                return queue.open_batch
        buffer = self._pool.take_nowait(self._accumulator.sizes.for_new(queue, size))
        return None if buffer is None else self._new(queue, buffer)

    def _new(self, queue: PartitionQueue, buffer: bytearray) -> ProducerBatch:
        return self._accumulator.new_batch(queue, buffer, self._clock.monotonic())

    def add_new(self, batch: ProducerBatch) -> None:
        """Add a new batch, in which a record was placed, to its queue; it is the open one then.

        Another batch may have been opened since `batch` was made, by a finalizer that sends. That
        one is before it, and closed. Raises: as `join_transaction`, and as `RecordAccumulator.add`.
        The memory is given back then.
        """
        try:
            self.join_transaction(batch)
        except BaseException:
            self._accumulator.discard(batch)
            raise
        size = batch.reserved_bytes
        queue = self._accumulator.add(batch)
        self._filled_bytes += size
        topic = queue.topic_partition[0]
        if batch.created_s >= self._used_until_s or topic != self._used_topic:
            self._client.metadata.add_topic(topic)
            self._used_topic = topic
            self._used_until_s = batch.created_s + self._config.metadata_max_idle_ms * _NOTED_FOR
        if self._concerns_sender(queue) and not self._leaves_at_once(queue):
            self._wake_sender()
        if self._send_at_once is not None:
            self._send_at_once(queue)

    def _size_now(
        self, key: bytes | None, value: bytes | None, headers: Headers, waits: bool
    ) -> int:
        """Return the upper bound of a record, in bytes; -1: the call has to pause first, or the
        record is too large.
        """
        loop = self._client.loop
        task = asyncio.current_task(loop.loop)
        if task is None:  # a task of the loop is in the loop; to ask for it is a system call
            loop.check()
        if not waits:
            if id(task) != self._filling_task:
                self._filling_task = id(task)
                self._filled_bytes = 0
            elif self._filled_bytes >= _TURN_BYTES:
                return -1
        size = record_upper_bound(key, value, headers)
        return -1 if size > self._most_record_bytes else size

    def must_pause(self) -> bool:
        """Say whether the current task has opened batches of _TURN_BYTES. It pauses before it opens
        another, and is counted anew: one that never waits would keep the sender from running.
        Another task than the last one is counted from here on.
        """
        task = id(asyncio.current_task(self._client.loop.loop))
        is_filling = task == self._filling_task
        if is_filling and self._filled_bytes < _TURN_BYTES:
            return False
        self._filling_task = task
        self._filled_bytes = 0
        return is_filling

    def open_now(self, record: Appending) -> RecordAck | None:
        """Open a batch with the record; None: the call has to pause, or to wait for its turn or for
        memory.

        The record has no room in the open batch of its queue. A task pauses as `must_pause` says.
        With many tasks each one waits soon anyway.
        """
        record.needs_pause = self.must_pause()
        lines = self._finder.order.lines
        if record.queue.topic_partition in lines:
            return None
        ack = self._grow(record)
        if ack is not None:
            return ack
        if record.queue.open_batch is not None:
            self.leave_full(record)
            if record.needs_pause or record.queue.topic_partition in lines:
                return None
            ack = record.place_in_open()
        elif record.needs_pause:
            return None
        return self.open(record) if ack is None else ack

    def _grow(self, record: Appending) -> RecordAck | None:
        """Append the record to the full open batch of its queue, which grows. None: it does not.

        A batch of the sticky partition does not grow: the next records go to another partition.
        """
        if record.needs_pause or record.sticky_route is not None:
            return None
        batch = self._grown(record.queue, record.size)
        return None if batch is None else record.place_in(batch)

    def _grown(self, queue: PartitionQueue, size: int) -> ProducerBatch | None:
        """Return the full open batch of a queue, with memory for a record of `size` more: it waits
        for the sender anyway. None: there is no such batch, or it takes no more.
        """
        more_bytes = self._accumulator.grow(queue, size)
        if more_bytes is None:
            return None
        self._filled_bytes += more_bytes
        if self._concerns_sender(queue):
            self._wake_sender()
        return queue.open_batch

    def leave_full(self, record: Appending) -> None:
        """Close the open batch of the record's queue, which has no room for it. The sticky
        partition may change then.
        """
        self._close_full(record.queue)
        if record.sticky_route is not None:
            record.sticky_route.sticky.batch_is_full()
            record.queue = record.sticky_route.sticky_queue(0)

    def _close_full(self, queue: PartitionQueue) -> None:
        if self._concerns_sender(queue):
            self._wake_sender()
        self._accumulator.close_full(queue)

    def open(self, record: Appending) -> RecordAck | None:
        """Open a batch with the record; None: there is no memory for it now."""
        size = self._accumulator.sizes.for_new(record.queue, record.size)
        buffer = self._pool.take_nowait(size)
        return None if buffer is None else self._open_in(buffer, record)

    def open_or_raise(self, record: Appending) -> RecordAck:
        """Open a batch with the record, of the usual size if there is no memory for a larger one.

        Raises: BufferExhaustedError if there is no memory for that either.
        """
        ack = self.open(record)
        if ack is not None:
            return ack
        topic = record.queue.topic_partition.topic
        size = max(record.size, self._accumulator.sizes.usual_of(topic))
        buffer = self._pool.take_nowait(size)
        if buffer is not None:
            return self._open_in(buffer, record)
        self._wake_sender()
        raise BufferExhaustedError(
            f"no room for a batch of {size} bytes, and send_nowait() does not wait for it: "
            f"{self._pool.used_bytes} of buffer_memory={self._pool.total_bytes} bytes hold "
            f"records the brokers have not acknowledged; raise buffer_memory, or await send()"
        )

    async def open_when_room(self, record: Appending) -> RecordAck:
        """Open a batch with the record, waiting for memory.

        Raises: as `_take`. Cancelled: as `_take`.
        """
        size = self._accumulator.sizes.for_new(record.queue, record.size)
        buffer = await self._take(size, record.began_s)
        # send_nowait() does not wait its turn: it may have opened a batch meanwhile (C5).
        ack = record.place_in_open()
        if ack is not None:
            self._pool.give(buffer)
            return ack
        return self._open_in(buffer, record)

    async def queue_filled(
        self, queue: PartitionQueue, builder: RecordBatchBuilder, buffer: bytearray, began_s: float
    ) -> ProducerBatch:
        """Queue a batch that the user has filled, waiting until its memory is counted.

        `buffer` goes back to the pool later on. The buffer that was taken only counted.
        Raises: as `_take`. Cancelled: as `_take`.
        """
        self.join_transaction(queue)
        await self._take(len(buffer), began_s)
        batch = self._accumulator.new_batch(queue, buffer, self._clock.monotonic(), builder)
        batch.close()
        self.add_new(batch)
        self._wake_sender()
        return batch

    def join_transaction(self, of: PartitionQueue | ProducerBatch) -> None:
        """Make the partition part of the open transaction, if the producer is transactional."""
        if self._transactions is not None:
            self._transactions.add_partition(of.topic_partition)

    def exhausted(self, size: int) -> BufferExhaustedError:
        """Return the error for a call that had to wait too long for `size` bytes."""
        return self._pool.exhausted(size, self._config.max_block_ms)

    def _open_in(self, buffer: bytearray, record: Appending) -> RecordAck:
        batch = self._new(record.queue, buffer)
        ack = record.place_in(batch)
        assert ack is not None, "the first record of a batch has room"
        self.add_new(batch)
        return ack

    async def _take(self, size: int, began_s: float | None) -> bytearray:
        """Return memory for a batch, waiting for it until max_block_ms after `began_s`.

        Raises: BufferExhaustedError; as `ProducerLife.check_running`. Cancelled: nothing is taken.
        """
        buffer = self._pool.take_nowait(size)
        if buffer is not None:
            return buffer
        self._life.check_running()
        self._wake_sender()  # while a call waits for memory, queued batches are due at once
        buffer = await self._pool.take(
            size,
            clock=self._clock,
            timeout_s=self._finder.left_s(began_s),
            max_block_ms=self._config.max_block_ms,
        )
        try:
            self._life.check_running()  # stop() may have been called since the memory was granted
        except BaseException:
            self._pool.give(buffer)
            raise
        return buffer

    def _concerns_sender(self, queue: PartitionQueue) -> bool:
        """Say whether the sender must look at a queue that has got a new batch.

        It must if the batch is the only one, or if the waiting times of nodes are measured.
        """
        return len(queue.batches) == 1 or self._patience.is_on


__all__ = ["NewBatches"]
