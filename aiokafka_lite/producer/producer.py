"""The public producer: it appends records to batches and returns their acks.

`send` waits only for metadata, for memory and for its turn. The `Sender` sends the batches. Its
tasks do not hold this class: a producer that is dropped without `stop()` warns, and its queued
records are sent all the same.
"""

import asyncio
import logging
import random
import warnings
from collections.abc import AsyncIterator, Coroutine, Iterable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Self
from uuid import UUID

from aiokafka_lite.checks.offset_arguments import OffsetsToCommit, checked_group, checked_offsets
from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.cluster.client_config import DefaultInt
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.shared_options import SharedClient, host_and_options
from aiokafka_lite.concurrency.anyio_shield import anyio_shield
from aiokafka_lite.concurrency.client_loop import refuse_pickling
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.life import LifeState
from aiokafka_lite.concurrency.running_loop import running_loop
from aiokafka_lite.errors import (
    IllegalOperation,
    KafkaError,
    KafkaTimeoutError,
)
from aiokafka_lite.model import ConsumerGroupMetadata, RecordMetadata
from aiokafka_lite.options.constructor import check_names, declare_options
from aiokafka_lite.private_reads import with_private_reads
from aiokafka_lite.producer.accumulator.fast_append import SendPaths, done_by_leaf
from aiokafka_lite.producer.append.bulk_ack import BulkAck
from aiokafka_lite.producer.append.bulk_send import BulkSend
from aiokafka_lite.producer.batch.record_ack import BatchAck, RecordAck
from aiokafka_lite.producer.key_hash.murmur2 import KeyHashes
from aiokafka_lite.producer.producer_config import ProducerConfig
from aiokafka_lite.producer.producer_engine import ProducerEngine
from aiokafka_lite.serialization import K_contra, V_contra

if TYPE_CHECKING:
    from typing import Unpack

    from aiokafka_lite.client import AIOKafkaClient
    from aiokafka_lite.metrics.explanation import Explanation
    from aiokafka_lite.metrics.statistics import ProducerStatistics
    from aiokafka_lite.producer.append.arrow.arrow_ack import ArrowAck
    from aiokafka_lite.producer.append.manual_batch import BatchBuilder
    from aiokafka_lite.producer.producer_options import ProducerOptions
    from aiokafka_lite.producer.transaction.transaction_manager import TransactionManager
    from aiokafka_lite.serialization import AnySerializer

logger = logging.getLogger(__name__)

Header = tuple[str, bytes | None]


_TO_CLOSE = "await its stop(), or use it as `async with producer:`"


@with_private_reads(
    "producer",
    "_closed _sender _txn_manager _message_accumulator _partitioner _metadata _source_traceback"
    " _compression_type _max_request_size _request_timeout_ms",
)
class AIOKafkaProducer(SendPaths, Generic[K_contra, V_contra]):
    """Sends records to a Kafka cluster.

        async with AIOKafkaProducer(bootstrap_servers="...") as producer:
            ack = await producer.send("orders", b"value", key=b"key")   # queued
            metadata = await ack                                        # written

    The options are aiokafka's, and those of Java that aiokafka does not have. Their defaults are
    Java 4's. Type checkers take the types of keys and values from the serializers; without one
    they are bytes-like. The constructor does no I/O and needs no running loop; everything else
    belongs to the loop of `start()`.

    `client` is an AIOKafkaClient whose connections the producer shares; its options are those of
    the connections. `loop` and `api_version` have no effect; `clock` and `rng` are for tests.
    docs/options.md
    describes the other options.

    Raises: KafkaConfigurationError, a ValueError, naming every wrong option at once.
    Warns: DeprecationWarning for options without effect.
    """

    # With places for all that it sets, an instance has no dictionary until a program sets more.
    # Interpreters from 3.12 on keep the place of a method, as of `send`, only for such instances.
    __slots__ = (
        "__orig_class__",
        "__weakref__",
        "_clock",
        "_config",
        "_engine",
        "_host",
        "_is_answered",
        "_loop",
        "_max_block_s",
        "_rng",
    )

    if TYPE_CHECKING:  # of `with_private_reads`
        _closed: bool

    def __init__(
        self,
        *,
        loop: asyncio.AbstractEventLoop | None = None,
        api_version: str | None = None,
        clock: Clock | None = None,
        rng: random.Random | None = None,
        client: SharedClient | None = None,
        **options: "Unpack[ProducerOptions[K_contra, V_contra]]",
    ) -> None:
        _warn_of_unused(loop=loop, api_version=api_version)
        check_names(self, AIOKafkaProducer.__init__, ProducerConfig, options)
        self._host, given = host_and_options(self, client, options)
        self._config = ProducerConfig(**given)
        self._clock = clock if clock is not None else SYSTEM_CLOCK
        self._max_block_s = self._config.max_block_ms / 1000
        self._is_answered = self._config.required_acks != 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._rng = rng if rng is not None else random.Random()
        self._build_engine()

    def _build_engine(self) -> None:
        self._engine = ProducerEngine(
            self._config, clock=self._clock, rng=self._rng, host=self._host
        )
        self._fast_append = self._engine.fast_append_of_send()
        self._path = self._engine.path_of_send()

    @property
    def kafka_client(self) -> KafkaClient:
        """The connections and the metadata of this producer. Not in aiokafka."""
        return self._engine.client

    @property
    def client(self) -> "AIOKafkaClient":
        """The same under aiokafka's names: metadata, brokers, health checks."""
        from aiokafka_lite.client import AIOKafkaClient  # noqa: PLC0415 - few programs ask for it

        name = type(self).__name__
        return AIOKafkaClient.of(self._config, lambda: self.kafka_client, name)

    # aiokafka's names of its inside, which FastStream, OpenTelemetry and health checks read…

    @property
    def _key_serializer(self) -> "AnySerializer[K_contra] | None":
        return self._config.key_serializer

    @property
    def _value_serializer(self) -> "AnySerializer[V_contra] | None":
        return self._config.value_serializer

    def _partition(
        self,
        topic: str,
        partition: int | None,
        _key: object,
        _value: object,
        serialized_key: bytes | None,
        _serialized_value: bytes | None,
    ) -> int | None:
        """Return the partition of such a record; None if it is chosen when the record is sent."""
        config = self._config
        if partition is not None or serialized_key is None:
            return partition
        if config.partitioner is not None or config.partitioner_ignore_keys:
            return None
        known = self.kafka_client.metadata.snapshot.partition_ids(topic)
        return known[KeyHashes()[serialized_key] % len(known)] if known else None

    def __repr__(self) -> str:
        engine = getattr(self, "_engine", None)  # absent when the constructor raised
        return f"<{type(self).__name__}, not made>" if engine is None else repr(engine.life)

    def __reduce__(self) -> NoReturn:
        refuse_pickling(self)

    # Life…

    async def start(self) -> None:
        """Connect to the cluster. A producer is started once; a failed start may be repeated.

        Raises: KafkaConnectionError naming each bootstrap address and what happened there;
        IllegalStateError when it was started before; ProducerClosed when it was stopped before or
        meanwhile. Cancelled: as if it had failed, nothing stays behind.
        """
        engine = self._engine
        engine.life.to(LifeState.STARTING)
        try:
            self._loop = running_loop()
            engine.observe()
            await engine.client.start()
            engine.append_path.start()
            engine.life.check_starting()
            engine.sender.start()
            if engine.transactions is not None:
                await self._start_transactions(engine, engine.transactions)
            engine.life.check_starting()
            engine.life.to(LifeState.RUNNING)
        except KafkaError:
            engine.life.check_starting()  # after a stop, the rest is a consequence
            raise
        finally:
            if engine.life.state is LifeState.STARTING:  # what was closed cannot start again
                self._build_engine()

    def is_healthy(self) -> bool:
        """Say whether the producer runs and can reach a broker, for a readiness probe.

        False before start() and after stop(); after a failure that only a new producer mends; and
        while no broker can be reached. A client that has no open connection looks for a broker in
        the background, and the next call tells. Does not wait. Not in aiokafka.

        Raises: IllegalStateError in another event loop or thread.
        """
        engine = self._engine
        if engine.life.state is not LifeState.RUNNING or not engine.client.is_healthy():
            return False
        return engine.transactions is None or not engine.transactions.status.is_fatal

    async def client_instance_id(self, timeout_ms: int | None = None) -> UUID:
        """Return the id under which the brokers' metrics know this client (KIP-714). Not in
        aiokafka.

        It waits for the id at most `timeout_ms`; None: default_api_timeout_ms. Raises:
        UnsupportedVersionError if no connected broker takes metrics; KafkaTimeoutError;
        IllegalStateError with enable_metrics_push=False, and unless the producer runs;
        ValueError for a negative timeout. Cancelled: nothing stays behind.
        """
        self._engine.life.check_running()
        return await self._engine.client.metrics_push.instance_id(timeout_ms)

    async def _start_transactions(
        self, engine: ProducerEngine, transactions: "TransactionManager"
    ) -> None:
        try:
            await self._init_transactions(transactions)
        except BaseException:
            with anyio_shield():
                await engine.sender.close(0)
            raise

    async def _init_transactions(self, transactions: "TransactionManager") -> None:
        await transactions.init(self._max_block_s)

    async def stop(self, timeout_ms: int | None = DefaultInt(30_000)) -> None:
        """Send the queued records, for at most `timeout_ms`, and close everything. Idempotent.

        The default is `stop_timeout_ms`; with None, `delivery_timeout_ms` is the only bound.
        Records not acknowledged by then fail with ProducerClosed. `send` raises from now on.
        After the end of its event loop nothing is left to close.

        Raises: IllegalStateError in another event loop than that of start(), while that one runs.
        Cancelled: the records that are left fail at once, and closing goes on.
        """
        if isinstance(timeout_ms, DefaultInt):
            timeout_ms = self._config.stop_timeout_ms
        engine, life = self._engine, self._engine.life
        if life.state is LifeState.NEW:
            life.to(LifeState.STOPPED)
            return
        if life.state is not LifeState.STOPPED:
            if engine.client.loop.has_ended:
                life.to(LifeState.STOPPED)
                engine.routes.close()
                logger.warning("%r: its event loop has ended before stop()", self)
                return
            engine.client.loop.check()
            life.to(LifeState.STOPPING)
            try:
                await engine.sender.close(None if timeout_ms is None else timeout_ms / 1000)
            finally:
                life.to(LifeState.STOPPED)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # Shielded: a cancelled anyio scope around the block would cancel every await of stop().
        with anyio_shield():
            await self.stop()

    def __del__(self) -> None:
        engine: ProducerEngine | None = getattr(self, "_engine", None)  # None: __init__ raised
        if engine is None or engine.client.loop.is_of_parent:
            return
        if self._engine.life.state in (LifeState.STARTING, LifeState.RUNNING):
            message = f"Unclosed AIOKafkaProducer {self!r}: {_TO_CLOSE}"
            warnings.warn(message, ResourceWarning, stacklevel=2, source=self)
            if self._loop is not None and not self._loop.is_closed():
                context = {"producer": self, "message": "Unclosed AIOKafkaProducer"}
                self._loop.call_exception_handler({**context, "remedy": _TO_CLOSE})
                self._loop.call_soon_threadsafe(self._engine.sender.close_soon)

    # Sending…

    @done_by_leaf
    async def send(
        self,
        topic: str,
        value: V_contra | None = None,
        key: K_contra | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: Iterable[Header] | None = None,
    ) -> RecordAck:
        """Queue a record; return its ack, which is awaited for the RecordMetadata.

        `value` None is a tombstone. With `key` None the partitioner chooses the partition. A record
        without both is an AssertionError, as in aiokafka. No serializer is given None.
        `timestamp_ms` None is the present time, and -1 makes a record without a timestamp. Talks to
        no broker; waits for the topic's metadata and for memory, max_block_ms at most, and now and
        then lets other tasks run. The records of a partition are written in the order of the calls,
        also of calls that wait, as those of `asyncio.gather` do.

        Raises: ProducerClosed; IllegalStateError before start(), and in another loop or thread;
        UnknownTopicOrPartitionError or KafkaTimeoutError without metadata in time;
        AuthenticationFailedError, once for each attempt to connect that failed so;
        SerializationError (a TypeError); IllegalArgumentError; MessageSizeTooLargeError;
        BufferExhaustedError (a KafkaTimeoutError). After an error nothing is queued. The ack raises
        later errors. `asyncio.run_coroutine_threadsafe(producer.send(...), loop)` sends from
        another thread. Cancelled: nothing was queued if the call had to wait. Otherwise the call
        itself may have queued the record, before the await.
        """
        raise NotImplementedError

    @done_by_leaf
    def send_nowait(
        self,
        topic: str,
        value: V_contra | None = None,
        key: K_contra | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: Iterable[Header] | None = None,
    ) -> RecordAck:
        """Queue a record as `send` does, or raise instead of waiting.

        A task that calls it on and on without an `await` keeps the sender from running. Its record
        goes before those of `send` calls that still wait.

        Raises: as `send`; KafkaTimeoutError without metadata, which is then asked for;
        BufferExhaustedError without memory; IllegalStateError with an interceptor whose on_send is
        async. After an error nothing is queued.
        """
        raise NotImplementedError

    async def send_many(
        self,
        topic: str,
        records: Iterable[V_contra | tuple[K_contra | None, V_contra | None] | None],
        partition: int | None = None,
        *,
        timestamp_ms: int | None = None,
        headers: Iterable[Header] | None = None,
    ) -> BulkAck:
        """Queue many records; return one handle for all, which is awaited for their outcome.

        `records`: an iterable of values or of (key, value) tuples, read while records are queued.
        To send a 2-tuple as a value, wrap it: (None, value). A record without both is (None, None).
        The other arguments apply to every record, and None means the same as for `send`; records
        appended together have one timestamp. Waits for metadata and for the memory of each batch,
        max_block_ms at most each time, and now and then lets other tasks run.

        Raises: as `send`, at the first record that fails; a note of the error says how many records
        were queued before it. Those are sent. Cancelled: the same.
        """
        bulk = BulkSend(
            self._engine.append_path,
            self._engine.records,
            topic,
            partition=partition,
            timestamp_ms=timestamp_ms,
            headers=headers,
        )
        with self._one_transaction():
            return await bulk.send(records)

    async def send_arrow(
        self,
        data: Any,
        topic: str | None = None,
        *,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        allow_empty: bool = True,
    ) -> "ArrowAck":
        """Queue the rows of Arrow data; return one handle for all, awaited for their outcome.

        `data` is a pyarrow RecordBatch or Table, a Polars DataFrame, or anything else with an Arrow
        PyCapsule interface; a stream is read while its batches are queued. The columns are value
        and key (binary or string; one of them is needed), and optionally headers, partition,
        timestamp and topic. The columns offset and timestamp_type of `getmany_arrow` may stay: its
        result can be sent unchanged. An argument wins over the column of the same name. A null is
        what None is for `send`. A record without a timestamp keeps none: it has -1 ms, or a null
        and the timestamp_type -1. A row without key and value is sent, too, unless `allow_empty` is
        False. Serializers, interceptors and a partitioner are called for each row.

        Rows with a partition or a key keep their order in the partition, and so do rows without
        them; in a topic of one partition all rows do. Waits for metadata and for the memory of each
        batch, max_block_ms at most each time, and now and then lets other tasks run.

        Raises: SerializationError, with nothing queued, for a column that is unknown, missing or of
        a wrong type; ImportError without pyarrow, which the pure Python build needs; as `send`, at
        the first row that fails; a note of the error says how many rows were queued before it.
        Those are sent. Cancelled: the same.
        """
        # Only this call needs it.
        from aiokafka_lite.producer.append.arrow.arrow_send import ArrowSend  # noqa: PLC0415

        self._engine.life.check_running()
        sending = ArrowSend(
            self._engine.append_path,
            self._engine.records,
            self._config,
            self._clock,
            topic=topic,
            partition=partition,
            timestamp_ms=timestamp_ms,
            allow_empty=allow_empty,
        )
        with self._one_transaction():
            return await sending.send(data)

    def create_batch(self) -> "BatchBuilder":
        """Return an empty batch of max_batch_size, to be filled by hand and given to `send_batch`.

        `send_batch` counts its memory.
        """
        from aiokafka_lite.producer.append.manual_batch import BatchBuilder  # noqa: PLC0415 - rare

        accumulator, path = self._engine.accumulator, self._engine.append_path
        return BatchBuilder(
            accumulator.new_builder,
            accumulator.sizes.usual_bytes,
            path.serializers,
            self._clock.time,
        )

    async def send_batch(
        self, batch: "BatchBuilder", topic: str, *, partition: int | None
    ) -> BatchAck:
        """Queue a batch made by `create_batch`; return its ack, which is awaited for the
        RecordMetadata of its first record. With `partition` None it goes where a record without key
        would go, whatever its keys. Interceptors are not called.

        Raises: as `send`; IllegalArgumentError for a batch without records; IllegalStateError for
        one that was sent before. After an error nothing is queued. Cancelled: nothing was queued.
        """
        with self._one_transaction():
            builder, buffer = batch._take()
            try:
                sent = await self._engine.append_path.append_batch(
                    topic, partition, builder, buffer
                )
            except BaseException:
                batch._give_back()
                raise
        return BatchAck(sent, batch._first_timestamp_ms)

    @done_by_leaf
    async def send_and_wait(
        self,
        topic: str,
        value: V_contra | None = None,
        key: K_contra | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: Iterable[Header] | None = None,
    ) -> RecordMetadata:
        """Send a record and wait until it is written; return its metadata, None with acks=0.

        As `send`, the call itself may have queued the record, before the await.

        Raises: as `send`, and why the record was not written. Cancelled: it may be written.
        """
        raise NotImplementedError

    def _written_by_send(self, *record: Any) -> Coroutine[Any, Any, RecordMetadata]:
        if asyncio._get_running_loop() is self._loop:
            return self._written(self.send(*record))
        return self._sent_elsewhere(*record)

    async def _sent_elsewhere(self, *record: Any) -> RecordMetadata:
        self._engine.client.loop.check()
        return await self._written(self.send(*record))

    async def _written(self, sending: Coroutine[Any, Any, RecordAck]) -> RecordMetadata:
        metadata = await (await sending)
        # As aiokafka: with acks=0 there is no response, and no other user has to expect None.
        return metadata if self._is_answered else None  # type: ignore[return-value]

    async def flush(self, timeout_ms: int | None = None) -> None:
        """Return when every record sent before this call is written or has failed; at once after
        stop(), which has waited for that.

        That takes delivery_timeout_ms at most, whatever the brokers do.

        Raises: KafkaTimeoutError after `timeout_ms`; AuthenticationFailedError, once, when a node
        does not accept the client any more, and its records wait on; ProducerClosed while stop()
        runs; IllegalStateError before start(). Cancelled: the records are sent all the same.
        """
        if self._engine.life.state is LifeState.STOPPED:
            return
        self._engine.life.check_running()
        try:
            async with deadline(self._clock, None if timeout_ms is None else timeout_ms / 1000):
                await self._engine.sender.flush()
        except TimeoutError:
            raise KafkaTimeoutError(
                f"flush() did not end within timeout_ms={timeout_ms}: "
                f"{len(self._engine.accumulator.incomplete)} batches are not acknowledged"
            ) from None
        self._engine.client.check()

    async def partitions_for(self, topic: str) -> set[int]:
        """Return the partitions of `topic`, waiting for its metadata for max_block_ms at most.

        Raises: as `send` without metadata. Cancelled: nothing stays behind.
        """
        route = await self._engine.append_path.finder.find(topic, self._clock.monotonic())
        return set(route.partitions)

    def statistics(self) -> "ProducerStatistics":
        """Return what the producer holds now, and counts of what it has done. Does not wait."""
        return self._engine.statistics()

    def explain(self) -> "tuple[Explanation, ...]":
        """Return why records are not written yet: first what concerns the whole producer, then a
        value for each partition whose records have no outcome. `str()` of each is a sentence.

        Asks no broker. Does not wait.
        """
        from aiokafka_lite.producer.send_explanation import explain_producer  # noqa: PLC0415

        return explain_producer(self._config, self._engine)

    # Transactions…

    async def begin_transaction(self) -> None:
        """Begin a transaction. Records sent from now on become visible only by its commit.

        A call of `send` or `send_and_wait` belongs to the transaction that is open at the call; one
        of `send_many`, `send_arrow` or `send_batch` to that which is open when it is first awaited.
        Each raises NoTransactionError, an IllegalOperation, when no transaction is open, or when it
        still waits at the end of its transaction; it queues nothing then.

        Raises: IllegalOperation without transactional_id; IllegalStateError when a transaction is
        open; ProducerFenced when another producer has taken over the transactional id.
        Cancelled: no transaction has begun.
        """
        self._in_transactions().begin()

    async def commit_transaction(self) -> None:
        """Wait until all records of the transaction are written, then commit it.

        Raises: KafkaTimeoutError after `max_block_ms`, while the commit goes on: call again to wait
        for it; the error of a record or of the transaction, after which only abort_transaction()
        is possible; ProducerFenced and other fatal errors, after which only stop() is possible,
        also if the coordinator has aborted the transaction after `transaction_timeout_ms`; as
        `begin_transaction`. A record's error may be a DeliveryTimeoutError, a kind of
        KafkaTimeoutError: catch it first. Cancelled: the commit goes on; call again for its result.
        """
        await self._in_transactions().commit(self._max_block_s)

    async def abort_transaction(self) -> None:
        """Abort the transaction. Its records that were not sent yet fail at once.

        Raises: as `commit_transaction`. Cancelled: as `commit_transaction`.
        """
        await self._in_transactions().abort(self._max_block_s)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Self]:
        """Use as `async with producer.transaction():`. It begins a transaction, commits it at the
        end of the block, and aborts it when the block raises.
        """
        transactions = self._in_transactions()
        transactions.begin()
        try:
            yield self
        except BaseException:
            if not transactions.status.is_fatal and self._engine.life.state is LifeState.RUNNING:
                with anyio_shield():
                    await self._abort_after_error()
            raise
        try:
            await self.commit_transaction()
        except KafkaError:
            if transactions.status.has_failed and not transactions.status.is_fatal:
                await self.abort_transaction()
            raise

    async def _abort_after_error(self) -> None:
        """Abort the transaction. A failure is logged: the user gets the error of the block."""
        try:
            await self.abort_transaction()
        except KafkaError as error:
            logger.warning("%r: the transaction was not aborted: %s", self, error)

    async def send_offsets_to_transaction(
        self, offsets: OffsetsToCommit, group_id: str | ConsumerGroupMetadata
    ) -> None:
        """Commit offsets of a consumer group as part of the transaction.

        `offsets`: as for `commit()` of the consumer; without any, nothing is done. `group_id`: the
        group's name, or better the consumer's `group_metadata()`: the group then refuses offsets of
        a member that it no longer has (KIP-447). That needs Kafka 2.5.

        Raises: UnsupportedVersionError for `group_metadata()` and older brokers, with nothing done;
        CommitFailedError when the group no longer has the member, after which the
        transaction can only be aborted; NoTransactionError outside of a transaction; ValueError,
        TypeError or IllegalArgumentError, with nothing done, for a malformed group or malformed
        offsets; as `commit_transaction`. Cancelled: the request goes on.
        """
        transactions = self._in_transactions()
        transactions.check_may_send()
        group = checked_group(group_id)
        given: object = offsets
        if isinstance(given, Mapping) and not given:
            return
        await transactions.send_offsets(checked_offsets(offsets), group, self._max_block_s)

    def _one_transaction(self) -> AbstractContextManager[None]:
        """Return a context that ties a call to the open transaction; without transactions it does
        nothing.
        """
        transactions = self._engine.transactions
        if transactions is None:
            return nullcontext()
        self._engine.life.check_running()
        sends = transactions.sends
        return sends.call(sends.number)

    def _in_transactions(self) -> "TransactionManager":
        transactions = self._engine.transactions
        if transactions is None:
            raise IllegalOperation("You need to configure transactional_id to use transactions")
        self._engine.life.check_running()
        return transactions


for waiting in AIOKafkaProducer._written, AIOKafkaProducer._sent_elsewhere:
    waiting.__qualname__ = "AIOKafkaProducer.send_and_wait"  # as in `AppendPath.send`
declare_options(AIOKafkaProducer, ProducerConfig)


def _warn_of_unused(**options: object) -> None:
    for name, value in options.items():
        if value is not None:
            warnings.warn(
                f"{name} has no effect any more; leave it out", DeprecationWarning, stacklevel=3
            )


__all__ = ["AIOKafkaProducer"]
