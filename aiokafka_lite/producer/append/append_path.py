"""Owns the steps of a record from the caller's hands into a batch (C3).

    locate   the route to the topic, and the queue of the record's partition
    encode   key, value and headers become bytes
    place    the record goes into the open batch of its queue
    room     there is none, or it is full: another batch is opened, and the record placed there

A record that finds everything ready is placed by `fast_append`, and takes these steps only to be
encoded. `send` waits for metadata, for its turn and for memory. `send_nowait` takes the same steps,
and raises where `send` waits.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.producer.accumulator.fast_append import FastAppend, TopicHold
from aiokafka_lite.producer.accumulator.partition_queue import PartitionQueue
from aiokafka_lite.producer.accumulator.record_accumulator import RecordAccumulator
from aiokafka_lite.producer.append.appending import Appending
from aiokafka_lite.producer.append.new_batches import NewBatches
from aiokafka_lite.producer.append.route_finder import RouteFinder
from aiokafka_lite.producer.append.send_order import LoneTurn, SendTurn
from aiokafka_lite.producer.append.waiting_serializers import WaitingSerializers
from aiokafka_lite.producer.batch.buffer_pool import BufferPool
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch
from aiokafka_lite.producer.batch.record_ack import RecordAck
from aiokafka_lite.producer.batch.record_fields import (
    Headers,
    RecordSerializers,
    check_not_empty,
    check_size,
    checked_timestamp,
)
from aiokafka_lite.producer.key_hash.murmur2 import KeyHashes
from aiokafka_lite.producer.partition.topic_routes import TopicRoute
from aiokafka_lite.producer.producer_config import (
    Partitioner,
    ProducerConfig,
    TopicPartitioner,
)
from aiokafka_lite.producer.producer_life import ProducerLife
from aiokafka_lite.record.batch_builder import RecordBatchBuilder, record_upper_bound

if TYPE_CHECKING:
    from aiokafka_lite.producer.partition.named_partitioners import NamedPartitioner
    from aiokafka_lite.producer.transaction.transaction_manager import TransactionManager


class AppendPath:
    """Appends records for one producer. `wake_sender()` makes the sender look at what is due.
    `send_at_once` and `leaves_at_once`: as of `NewBatches`.
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
        self._config = config
        self._clock = self.clock = client.clock
        self._life = life
        self._loop = client.loop
        self._most_record_bytes = min(config.max_request_size, config.buffer_memory)
        self.finder = finder
        self.routes = finder.routes
        self._order = finder.order
        self._new_batches = NewBatches(
            client,
            config,
            pool,
            accumulator,
            finder,
            life,
            transactions,
            wake_sender=wake_sender,
            send_at_once=send_at_once,
            leaves_at_once=leaves_at_once,
        )
        self.serializers = RecordSerializers(
            config.key_serializer, config.value_serializer, config.max_request_size
        )
        self._serializes = bool(self.serializers)
        self._encoded = WaitingSerializers(
            self.serializers, finder, client.clock, config.max_block_ms, client.waits
        )
        self._key_hashes = KeyHashes()
        self._named, self._partitioner = _partitioners(config)
        self.fast_append = FastAppend(
            self.routes.known,
            now=client.clock.time,
            has_partitioner=self._named is not None or self._partitioner is not None,
            ignores_keys=config.partitioner_ignore_keys,
            join_transaction=None if transactions is None else transactions.add_partition,
            hold=self.routes.hold,
            make_room=self._new_batches.make_room,
            make_sticky_room=self._new_batches.make_sticky_room,
            add_new=self._new_batches.add_new,
        )
        """Places records whose key and value are bytes, and that find everything ready."""

    def start(self) -> None:
        """Belong to the thread that the client was started in."""
        self.fast_append.thread_id = self._loop.thread_id
        self.fast_append.loop = self._loop.loop if self._config.required_acks else None
        self._loop.add_fork_listener(self._forked)

    def must_pause(self) -> bool:
        """Say whether the current task pauses before its next record, see `NewBatches`."""
        return self._new_batches.must_pause()

    def _forked(self) -> None:
        self.fast_append.thread_id = 0  # no thread has it, so each record comes to `send`

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
        """Append a record. As `AIOKafkaProducer.send`.

        `allow_empty`: also a record without key and value, which Kafka and Java's producer take.
        `hold` has kept later records of the topic back until this call runs. It is released here:
        every call before this one has run, and a call that waits holds the topic itself.
        """
        if hold is not None:
            hold.release()
        self._loop.check_thread()
        if self.routes.failure is not None:
            self.routes.refuse()
        began_s = self._clock.monotonic()
        if value is None and key is None and not allow_empty:
            check_not_empty(value, key)
        route = self.routes.known.get(topic) if topic.__class__ is str else None
        if self._serializes:
            route, key, value, frozen = await self._encoded.encode(
                topic, route, value, key, headers, began_s
            )
            ack = self.fast_append.append(topic, value, key, partition, timestamp_ms, frozen)
            if ack is not None:
                return ack
        else:
            if route is None:
                route = await self.finder.find(topic, began_s)
            key, value, frozen = self.serializers.encode(topic, value, key, headers)
        queue, sticky_route = self._locate(route, partition, key, value)
        if queue is None:
            assert partition is not None
            size = self._checked_size(key, value, frozen)
            async with self.finder.queue_to_come(topic, partition, began_s) as queue:
                timestamp_ms = self._timestamp(timestamp_ms)
                record = Appending(queue, None, timestamp_ms, key, value, frozen, began_s)
                record.size = size
                return await self._place_in_turn(record)
        if (
            sticky_route is None
            and queue.topic_partition not in self._order.lines
            and self._new_batches.must_pause()
        ):
            return await self._pause_and_place(queue, key, value, timestamp_ms, frozen, began_s)
        timestamp_ms = self._timestamp(timestamp_ms)
        record = Appending(queue, sticky_route, timestamp_ms, key, value, frozen, began_s)
        ack = self._place(record)
        if ack is None:
            ack = await self._wait_and_place(record)
        return ack

    def send_nowait(
        self,
        topic: str,
        value: Any,
        key: Any,
        partition: int | None,
        timestamp_ms: int | None,
        headers: Iterable[tuple[str, bytes | None]] | None,
    ) -> RecordAck:
        """Append a record, or raise what it would have to wait for."""
        self._loop.check_thread()
        if self.routes.failure is not None:
            self.routes.refuse()
        check_not_empty(value, key)
        route = self.finder.find_nowait(topic)
        key, value, frozen = self._encoded.encode_nowait(topic, value, key, headers)
        queue, sticky_route = self._locate(route, partition, key, value)
        if queue is None:
            self.finder.raise_no_partition_yet(route, partition)
        timestamp_ms = self._timestamp(timestamp_ms)
        record = Appending(queue, sticky_route, timestamp_ms, key, value, frozen, began_s=0.0)
        self._new_batches.join_transaction(queue)
        ack = record.place_in_open()
        if ack is not None:
            return ack
        record.size = self._checked_size(key, value, frozen)
        if queue.open_batch is not None:
            self._new_batches.leave_full(record)
            ack = record.place_in_open()
        return self._new_batches.open_or_raise(record) if ack is None else ack

    async def append_batch(
        self,
        topic: str,
        partition: int | None,
        builder: RecordBatchBuilder,
        buffer: bytearray,
    ) -> ProducerBatch:
        """Queue a batch that the user has filled, waiting until its memory is counted. Without a
        partition it goes where a record without key would go.

        Raises: as `send`. Cancelled: nothing was queued.
        """
        self._loop.check()
        if self.routes.failure is not None:
            self.routes.refuse()
        began_s = self._clock.monotonic()
        route = await self.finder.find(topic, began_s)
        size = builder.uncompressed_size
        if (
            partition is None
            and self._partitioner is None
            and (self._named is None or self._named.spreads(None))
        ):
            known: PartitionQueue | None = route.sticky_queue(size)
        else:
            known, _ = self._locate(route, partition, None, None)
        if size > self._most_record_bytes:
            self._raise_too_large(size)
        if known is None:
            assert partition is not None
            async with self.finder.queue_to_come(topic, partition, began_s) as queue:
                return await self._new_batches.queue_filled(queue, builder, buffer, began_s)
        async with self._turn(known, len(buffer), began_s):
            self._life.check_running()  # the call may have waited
            return await self._new_batches.queue_filled(known, builder, buffer, began_s)

    # The steps of a record, in their order…

    def _locate(
        self, route: TopicRoute, partition: int | None, key: bytes | None, value: bytes | None
    ) -> tuple[PartitionQueue | None, TopicRoute | None]:
        """Return the queue of a record, and the route if its partition is the sticky one (2d-4).

        No queue: the topic has no such partition yet. Raises: IllegalArgumentError for a value that
        is not a partition; the error of a partitioner.
        """
        if partition is not None:
            return self.finder.known_queue(route, partition), None
        if self._partitioner is not None:
            return route.queue_chosen_by(self._partitioner, key), None
        if self._named is not None:
            if not self._named.spreads(key):
                return route.queue(self._named.partition(key, route.count)), None
        elif key is not None and not self._config.partitioner_ignore_keys:
            return route.queue(self._key_hashes[key] % route.count), None
        return route.sticky_queue(0 if value is None else len(value)), route

    def _timestamp(self, timestamp_ms: int | None) -> int:
        """Return the time of a record: the given one, checked, or the present."""
        if timestamp_ms is None:
            return int(self._clock.time() * 1000)
        return checked_timestamp(timestamp_ms)

    def _place(self, record: Appending) -> RecordAck | None:
        """Append the record to the open batch of its queue, or to a new one; None: the call has to
        wait.
        """
        queue = record.queue
        self._new_batches.join_transaction(queue)
        is_free = queue.topic_partition not in self._order.lines
        if is_free and queue.open_batch is not None:
            ack = record.place_in(queue.open_batch)
            if ack is not None:
                return ack
        self._loop.check()
        record.size = self._checked_size(record.key, record.value, record.headers)
        return self._new_batches.open_now(record)

    async def _pause_and_place(
        self,
        queue: PartitionQueue,
        key: bytes | None,
        value: bytes | None,
        timestamp_ms: int | None,
        headers: Headers,
        began_s: float,
    ) -> RecordAck:
        """Let the sender run, then append. No call waits for the partition yet: those that come
        meanwhile are next.

        After the pause `fast_append` appends, as it does after no pause.
        """
        self._new_batches.join_transaction(queue)
        topic, partition = queue.topic_partition
        turn = LoneTurn(self._order, queue.topic_partition)
        try:
            await self._clock.sleep(0)
            turn.hold.release()  # the record is placed below, or the topic is held again
            ack = self.fast_append.append(topic, value, key, partition, timestamp_ms, headers)
            if ack is not None:
                return ack
            turn.hold = self.routes.hold(topic)
            self._life.check_running()  # the call has waited
            timestamp_ms = self._timestamp(timestamp_ms)
            record = Appending(queue, None, timestamp_ms, key, value, headers, began_s)
            record.size = self._checked_size(key, value, headers)
            return await self._place_in_turn(record)
        finally:
            turn.end()

    async def _wait_and_place(self, record: Appending) -> RecordAck:
        """Wait until the calls that came before in the partition are through, then append."""
        async with self._turn(record.queue, record.size, record.began_s):
            if record.needs_pause:
                await self._clock.sleep(0)
            self._life.check_running()  # the call may have waited
            return await self._place_in_turn(record)

    async def _place_in_turn(self, record: Appending) -> RecordAck:
        """Append a record that has the turn in its partition, waiting for memory.

        The call may have waited, so the transaction may have ended.
        """
        self._new_batches.join_transaction(record.queue)
        ack = record.place_in_open()
        if ack is not None:
            return ack
        record.sticky_route = None  # the turn is for this partition alone
        if record.queue.open_batch is not None:
            self._new_batches.leave_full(record)
        return await self._new_batches.open_when_room(record)

    def _turn(self, queue: PartitionQueue, size: int, began_s: float) -> SendTurn:
        """Return a context to enter once the calls that came before in the partition are through.

        It raises BufferExhaustedError after max_block_ms: the first of them waits for memory.
        """
        return self._order.turn(
            queue.topic_partition,
            self.finder.left_s(began_s),
            lambda: self._new_batches.exhausted(size),
        )

    def _checked_size(self, key: bytes | None, value: bytes | None, headers: Headers) -> int:
        """Return a record's upper bound in bytes. Raises: MessageSizeTooLargeError."""
        size = record_upper_bound(key, value, headers)
        if size > self._most_record_bytes:
            self._raise_too_large(size)
        return size

    def _raise_too_large(self, size: int) -> None:
        check_size(
            size,
            max_request_size=self._config.max_request_size,
            buffer_memory=self._config.buffer_memory,
        )


def _partitioners(
    config: ProducerConfig,
) -> "tuple[NamedPartitioner | None, Partitioner | TopicPartitioner | None]":
    """Return the partitioner that the user has named, and the one that the user has given."""
    if config.partitioner == "murmur2_random":  # the rule of a producer without a partitioner
        return None, None
    if not isinstance(config.partitioner, str):
        return None, config.partitioner
    from aiokafka_lite.producer.partition.named_partitioners import (  # noqa: PLC0415 - few name one
        NAMED_PARTITIONERS,
    )

    return NAMED_PARTITIONERS[config.partitioner], None


AppendPath.send.__qualname__ = "AIOKafkaProducer.send"  # which is what asyncio's warnings name

__all__ = ["AppendPath"]
