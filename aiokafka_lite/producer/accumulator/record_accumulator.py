"""Owns the batches that are not acknowledged, in a queue for each partition, and when they may be
sent. Does not wait. Memory comes from the `BufferPool` and goes back there.

The last batch of a queue takes records until it has no room. The first is sent next. A batch that
is sent again goes back to the front, before all batches that were first drained after it.

Whatever allocates or calls may run a finalizer, a log handler or a signal handler, which may send.
So a batch has its first record before it is queued, and each batch that is drained is closed. No
loop runs over a live dict or deque. What is found in a snapshot is looked at again before its use.
"""

from collections.abc import Callable
from collections.abc import Set as AbstractSet

from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.concurrency.backoff import ExponentialBackoff
from aiokafka_lite.light_named_tuple import NamedTuple
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.accumulator.batch_sizes import BatchSizes
from aiokafka_lite.producer.accumulator.incomplete_batches import IncompleteBatches
from aiokafka_lite.producer.accumulator.partition_queue import NodePace, NodeQueues, PartitionQueue
from aiokafka_lite.producer.accumulator.sequence_numbers import SequenceNumbers
from aiokafka_lite.producer.batch.batch_split import split_batch
from aiokafka_lite.producer.batch.buffer_pool import BufferPool
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch
from aiokafka_lite.producer.producer_config import ProducerConfig
from aiokafka_lite.record.batch_builder import RecordBatchBuilder

LeaderOf = Callable[[TopicPartition], tuple[int | None, int]]
"""Partition -> (node id of its leader or None, leader epoch)."""


_AT_ONCE = float("-inf")


class Readiness(NamedTuple):
    """The nodes to send to at one moment."""

    node_ids: AbstractSet[int]
    """Leaders with at least one batch that is due."""
    delay_s: float | None
    """Seconds until the next batch is due; None: no batch lingers or is in backoff."""
    leaderless_topics: AbstractSet[str]
    """Topics with batches for a partition whose leader is not known."""


_NOTHING_WAITS = Readiness(frozenset(), None, frozenset())


class RecordAccumulator:
    """The records of one producer from `send` to their outcome."""

    def __init__(
        self,
        config: ProducerConfig,
        pool: BufferPool,
        *,
        backoff: ExponentialBackoff,
        sequences: SequenceNumbers | None,
    ) -> None:
        self._pool = pool
        self._backoff = backoff
        self._sequences = sequences
        self.sizes = BatchSizes(config)
        """Decides how large batches are."""
        self.incomplete = IncompleteBatches(config.delivery_timeout_ms / 1000)
        """The batches without outcome, oldest first."""
        self._max_request_size = config.max_request_size
        self._linger_s = config.linger_ms / 1000
        self._keeps_order_by_muting = config.max_in_flight_requests_per_connection == 1
        self._compression = config.compression
        self._compresses = config.compression is not CompressionType.NONE
        self._compression_level = config.compression_level
        self._is_transactional = config.transactional_id is not None
        self._queues: dict[TopicPartition, PartitionQueue] = {}
        self._filled: dict[PartitionQueue, None] = {}
        self._of_node: dict[int, NodeQueues] = {}
        self._look_for_aged_s = 0.0
        """When an open batch may be too old for more records."""
        self._drain_number = 0
        self._closed_by: Exception | None = None

    @property
    def has_waiting(self) -> bool:
        """Whether any batch is queued."""
        return bool(self._filled)

    # Filling…

    def queue_of(
        self, topic_partition: TopicPartition, leader: tuple[int | None, int]
    ) -> PartitionQueue:
        """Return the partition's queue, and make it for that leader and epoch if there is none."""
        queue = self._queues.get(topic_partition)
        if queue is None:
            made = PartitionQueue(topic_partition)
            queue = self._queues.setdefault(topic_partition, made)
            if queue is made:
                self._lead(queue, leader)
        return queue

    def new_builder(self, buffer: bytearray) -> RecordBatchBuilder:
        """Return what writes records into `buffer`, as this producer sends them."""
        return RecordBatchBuilder(
            buffer, self._compression, self._compression_level, self._is_transactional
        )

    def new_batch(
        self,
        queue: PartitionQueue,
        buffer: bytearray,
        now_s: float,
        builder: RecordBatchBuilder | None = None,
    ) -> ProducerBatch:
        """Return a batch for the queue, of records that `builder` has or that are still to come.
        The pool has counted `buffer`.
        """
        if builder is None:
            builder = self.new_builder(buffer)
        return ProducerBatch(queue.topic_partition, builder, buffer, now_s)

    def add(self, batch: ProducerBatch) -> PartitionQueue:
        """Add a batch that has records to the end of its queue, and return the queue. Unless it is
        closed it is the open one.

        Raises: the cause of `close`, once closed. The memory of the batch is free then.
        """
        if self._closed_by is not None:
            self.discard(batch)
            raise self._closed_by
        queue = self._queues[batch.topic_partition]
        former = queue.open_batch
        self.incomplete.add(batch)
        while queue.open_batch is not None:
            queue.close_open_batch()
        # From here on nothing else runs until the batch is in its place.
        if not batch.is_done:
            batch.is_queued = True
            if not batch.is_closed:
                queue.open_batch = batch
            queue.batches.append(batch)
            self._note_filled(queue)
            if former is not None:
                self._save_memory(former)
            return queue
        error = batch.error_of(0)
        assert error is not None
        raise error

    def discard(self, batch: ProducerBatch) -> None:
        """Free the memory of a batch that was not added."""
        self._release(batch, reusable=True)

    def grow(self, queue: PartitionQueue, record_bytes: int) -> int | None:
        """Give the full open batch of a queue memory for another record of at most `record_bytes`
        bytes. It is due from then on. Return how many bytes it got; None: there is no such batch,
        it does not grow, or nothing is free.
        """
        batch = queue.open_batch
        if batch is None:
            return None
        size = self.sizes.for_grown(queue, batch, record_bytes)
        before = batch.buffer
        if size is None or before is None:
            return None
        if size == len(before):
            return 0 if batch.grow_into(before) else None
        buffer = self._pool.take_nowait(size)
        if buffer is None:
            return None
        if batch.buffer is not before or not batch.grow_into(buffer):  # it was sent meanwhile
            self._pool.give(buffer)
            return None
        self._pool.give(before)
        return size - len(before)

    def close_full(self, queue: PartitionQueue) -> None:
        """Let the open batch of a queue take no more records, while it waits to be sent."""
        batch = queue.open_batch
        queue.close_open_batch()
        if batch is not None:
            self._save_memory(batch)

    def _save_memory(self, batch: ProducerBatch) -> None:
        """Give back what a closed batch does not use of its buffer, where memory gets scarce.

        Values that it refers to are counted with it, so the room that it has for them is memory
        twice.
        """
        if self._pool.is_scarce() and batch.wastes_memory():
            self._settle(batch)

    def _settle(self, batch: ProducerBatch) -> None:
        """Give back the buffer of a closed batch, which goes on in memory of its own size."""
        buffer = batch.leave_buffer()
        if buffer is not None:
            self._pool.shrink(buffer, batch.reserved_bytes)

    def close_aged(self, now_s: float) -> float | None:
        """Close the open batches that are too old for more records: these would expire too early.
        Return the seconds until the next may be that old; None: nothing is queued.

        What is queued and can be sent is sent before.
        """
        if not self._filled:
            return None
        if self._look_for_aged_s <= now_s:
            self._look_for_aged_s = now_s + self.sizes.oldest_open_s
            for queue in list(self._filled):
                batch = queue.open_batch
                if batch is None:
                    continue
                aged_s = batch.created_s + self.sizes.oldest_open_s
                if aged_s <= now_s:
                    queue.close_open_batch()
                    if batch.wastes_memory():
                        self._settle(batch)
                elif aged_s < self._look_for_aged_s:
                    self._look_for_aged_s = aged_s
        return self._look_for_aged_s - now_s

    # What may be sent…

    def pace_of(self, node_id: int) -> NodePace:
        """Return the pace of a node."""
        return self._node(node_id).pace

    def was_late(self, node_id: int) -> None:
        """Learn that a node did not answer in time. It gets usual batches until it answers."""
        node = self._node(node_id)
        node.pace.was_late()
        for queue in list(node.filled):
            if queue.open_batch is not None:
                self.sizes.end_backlog(queue)

    def set_leaders(self, leader_of: LeaderOf) -> None:
        """Follow new metadata."""
        for queue in list(self._queues.values()):
            self._lead(queue, leader_of(queue.topic_partition))

    def _lead(self, queue: PartitionQueue, leader: tuple[int | None, int]) -> None:
        leader_id, queue.leader_epoch = leader
        if leader_id == queue.leader_id:
            return
        node = None if leader_id is None else self._node(leader_id)
        former_id, queue.leader_id = queue.leader_id, leader_id
        queue.pace = None if node is None else node.pace
        if former_id is not None:
            former = self._of_node[former_id]
            former.filled.pop(queue, None)
        if node is not None:
            queue.turn = node.turns
            node.turns += 1
            if queue.batches:
                node.filled[queue] = None

    def _node(self, node_id: int) -> NodeQueues:
        node = self._of_node.get(node_id)
        if node is None:
            node = self._of_node.setdefault(node_id, NodeQueues(self.sizes.new_pace()))
        return node

    def _note_filled(self, queue: PartitionQueue) -> None:
        """Note that the queue has batches, unless a call in the middle has taken them again."""
        if not queue.batches:
            return
        self._filled[queue] = None
        if queue.leader_id is not None:
            node = self._of_node[queue.leader_id]
            node.filled[queue] = None

    def _note_left(self, queue: PartitionQueue) -> None:
        """Note that a batch has left the queue. The open batch may be the first now."""
        if queue.batches:
            if queue.batches[0] is queue.open_batch:
                self.sizes.end_backlog(queue)
            return
        self._filled.pop(queue, None)
        if queue.leader_id is not None:
            node = self._of_node[queue.leader_id]
            node.filled.pop(queue, None)
        self._note_filled(queue)  # a call in the middle may have added a batch

    def ready(self, now_s: float) -> Readiness:
        """Return the nodes with a batch that is due at `now_s` (monotonic), and when the next is.

        A batch is due when it is full or has lingered for linger_ms, and during a flush, a close or
        a wait for memory; but not while it is muted or in backoff. Source: 2d-7.
        """
        if not self._filled:
            return _NOTHING_WAITS
        node_ids: set[int] = set()
        leaderless: set[str] = set()
        next_s: float | None = None
        for queue in list(self._filled):
            if queue.leader_id is None:
                leaderless.add(queue.topic_partition.topic)
                continue
            if queue.leader_id in node_ids:
                continue
            due_s = self.due_at(queue)
            if due_s is None:
                continue
            if due_s <= now_s:
                node_ids.add(queue.leader_id)
            elif next_s is None or due_s < next_s:
                next_s = due_s
        delay_s = None if next_s is None else next_s - now_s
        return Readiness(node_ids, delay_s, leaderless)

    def due_at(self, queue: PartitionQueue) -> float | None:
        """Return when the queue's first batch is due; None: not before something else happens."""
        if not queue.batches:
            return None
        batch = queue.batches[0]
        if queue.is_muted or not (self._sequences is None or self._sequences.may_send(batch)):
            return None
        if batch.attempts:
            # A new leader is tried at once (KIP-951).
            is_moved = queue.leader_epoch != batch.leader_epoch
            return _AT_ONCE if is_moved else batch.retry_at_s
        if batch.is_closed or batch.is_grown or self._hurries:
            return _AT_ONCE
        return batch.created_s + self._linger_s

    @property
    def _hurries(self) -> bool:
        return self._closed_by is not None or self.incomplete.is_flushing or self._pool.waiting > 0

    def drain(self, node_id: int, now_s: float) -> list[ProducerBatch]:
        """Take the batches of one request to a node. They are in flight from now on.

        Takes at most one batch of each partition, and at most max_request_size in all, or a single
        larger batch. Nor does it take more than may be on the way to the node, except a batch that
        goes alone. If one batch is due the others go with it, also before their linger_ms is
        over. A drain goes on where the last one stopped, so no partition starves. Source: 2d-9.
        """
        node = self._of_node.get(node_id)
        if node is None:
            return []
        pace = node.pace
        most = min(self._max_request_size, pace.most_bytes - pace.bytes_on_their_way)
        if most <= 0:
            return []
        is_alone = not pace.bytes_on_their_way
        taken: list[tuple[PartitionQueue, ProducerBatch]] = []
        size = next_turn = 0
        is_due = is_full = False
        for queue in node.in_turn():
            due_s = self.due_at(queue)
            if due_s is None:
                continue
            batch = queue.batches[0]
            if due_s > now_s and batch.attempts:
                continue
            is_due = is_due or due_s <= now_s
            if not is_full:
                batch_size = self.sizes.in_request(batch)
                if size + batch_size <= most or (is_alone and not taken):
                    size += batch_size
                    taken.append((queue, batch))
                    continue
                is_full = True
                next_turn = queue.turn
            if is_due:
                break
        if not is_due:
            return []
        node.next_turn = next_turn
        return [batch for queue, batch in taken if self._take(queue, batch)]

    def has_more(self, node_id: int) -> bool:
        """Return whether batches for this node are queued, due or not."""
        node = self._of_node.get(node_id)
        return node is not None and bool(node.filled)

    def has_others(self, node_id: int) -> bool:
        """Return whether batches are queued that are not for this node."""
        node = self._of_node.get(node_id)
        return len(self._filled) > (0 if node is None else len(node.filled))

    def _take(self, queue: PartitionQueue, batch: ProducerBatch) -> bool:
        """Take the first batch of a queue. Return False if it is the first no more."""
        batch.close()
        if batch is queue.open_batch:
            queue.close_open_batch()
        if not queue.batches or queue.batches[0] is not batch:
            return False
        queue.batches.popleft()
        batch.is_queued = False
        self._note_left(queue)
        if not batch.drain_number:
            self._drain_number += 1
            batch.drain_number = self._drain_number
        if self._sequences is not None:
            self._sequences.assign(batch)
        queue.is_muted = self._keeps_order_by_muting
        batch.leader_epoch = queue.leader_epoch
        batch.attempts += 1
        batch.is_in_flight = True
        return True

    def seal(self, batch: ProducerBatch) -> memoryview:
        """Return the bytes to send of a drained batch as a part, and compress it the first time.

        A compressed batch gives its buffer back at once. The pool counts its new size. Where memory
        gets scarce, a batch that does not use much of its buffer does the same.
        """
        if not self._compresses:
            self._save_memory(batch)
            return batch.part()
        is_new = not batch.is_sealed
        part = batch.part()
        if is_new:
            queue = self._queues[batch.topic_partition]
            self.sizes.was_compressed(queue, batch.uncompressed_size, len(part))
            buffer, batch.buffer = batch.buffer, None
            before, batch.reserved_bytes = batch.reserved_bytes, len(part)
            batch.reserved_bytes = min(batch.reserved_bytes, before)
            if buffer is not None:
                self._pool.shrink(buffer, batch.reserved_bytes)
            else:
                self._pool.give_bytes(before - batch.reserved_bytes)
        return part

    def waiting_queues(self) -> list[PartitionQueue]:
        """Return the queues that have batches."""
        return list(self._filled)

    # What became of it…

    def landed(self, batch: ProducerBatch, reusable: bool) -> None:
        """Note that the request with this batch has ended.

        `reusable` False: the connection may still read the bytes.
        """
        batch.is_in_flight = False
        self._queues[batch.topic_partition].is_muted = False
        if batch.is_done:
            self._release(batch, reusable)

    def retry(self, batch: ProducerBatch, now_s: float) -> None:
        """Queue a batch again after its request has ended. It is due after its backoff."""
        batch.retry_at_s = now_s + self._backoff.delay(batch.attempts - 1)
        self._put_back(batch)

    def _put_back(self, batch: ProducerBatch) -> None:
        """Queue a batch that was drained before, by the order of the first drains."""
        queue = self._queues[batch.topic_partition]
        turn = (batch.drain_number, batch.piece_number)
        while True:
            others, at = list(queue.batches), 0
            for other in others:
                if not other.drain_number or (other.drain_number, other.piece_number) > turn:
                    break
                at += 1
            if not at or (queue.batches and queue.batches[0] is others[0]):
                break  # nothing was sent meanwhile
        batch.is_queued = True
        queue.batches.insert(at, batch)
        self._note_filled(queue)

    def split(self, batch: ProducerBatch) -> None:
        """Replace a batch that a broker found too large by smaller ones (2d-14).

        The refused request does not count as an attempt. The pieces share the counted memory of the
        batch, so no call waits for memory to send what was accepted. The additional bytes of their
        headers are not counted. The batch is done when its last piece is, so waiters need not know.
        """
        topic = batch.topic_partition.topic
        piece_bytes = self.sizes.usual_of(topic)
        self.sizes.was_too_large(topic, batch.size_in_bytes)
        batch.attempts -= 1
        pieces = split_batch(batch, piece_bytes, self.new_builder)
        left = batch.reserved_bytes
        for piece in pieces:
            piece.reserved_bytes = min(piece.size_in_bytes, left)
            left -= piece.reserved_bytes
        if self._sequences is not None:
            self._sequences.split(batch, pieces)
        self.incomplete.replace(batch, pieces)
        for piece in pieces:
            self._put_back(piece)
        buffer = batch.buffer
        kept_bytes = batch.reserved_bytes - left
        batch.drop_bytes()
        if buffer is not None:
            self._pool.shrink(buffer, kept_bytes)
        else:
            self._pool.give_bytes(left)

    def forget(self, batch: ProducerBatch) -> None:
        """Drop a batch that has its outcome. Its memory goes back when no request reads it."""
        if self.incomplete.remove(batch) and not batch.is_in_flight:
            self._unqueue(self._queues[batch.topic_partition], batch)
            self._release(batch, reusable=True)

    def _unqueue(self, queue: PartitionQueue, batch: ProducerBatch) -> None:
        if batch is queue.open_batch:
            queue.close_open_batch()
        if batch.is_queued:
            queue.batches.remove(batch)
            batch.is_queued = False
            self._note_left(queue)

    def _release(self, batch: ProducerBatch, reusable: bool) -> None:
        buffer, reserved = batch.buffer, batch.reserved_bytes
        batch.drop_bytes()
        if buffer is not None:
            self._pool.give(buffer, reusable=reusable)
        elif reserved:
            self._pool.give_bytes(reserved)

    # Closing…

    def close(self, cause: Exception) -> None:
        """Make every batch due from now on, and fail calls that wait for memory with `cause`."""
        self._closed_by = cause
        self._pool.close(cause)

    def fail_unsent(self, error: Exception, *, is_wanted: bool = False) -> None:
        """Fail the batches that were never drained (2d'-3).

        `is_wanted`: the user has aborted the transaction, so the errors are not logged.
        """
        for batch in self.incomplete:
            if not batch.drain_number:
                batch.close()
                batch.fail(error)
                if is_wanted:
                    batch.error_of(0)
                self.forget(batch)

    def fail_all(self, error: Exception) -> None:
        """Fail every batch without outcome, in flight or not."""
        for batch in self.incomplete:
            self.give_up(batch, error)

    def give_up(self, batch: ProducerBatch, error: Exception) -> None:
        """Fail a batch without outcome, in flight or not."""
        batch.close()
        if self._sequences is not None:
            self._sequences.abandoned(batch)  # else later batches would wait for it
        batch.fail(error)
        self.forget(batch)


__all__ = ["LeaderOf", "Readiness", "RecordAccumulator"]
