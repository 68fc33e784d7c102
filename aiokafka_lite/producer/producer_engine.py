"""Owns the parts of a producer and the order in which they are made.

Each part is given those it uses, and none is changed afterwards.

Nothing here knows the facade, so a producer that is dropped without `stop()` is noticed at once.
An engine is started once: after a start that failed the producer makes another.
"""

import random
import weakref
from typing import TYPE_CHECKING

from aiokafka_lite.clock import Clock
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.concurrency.wakeup import Wakeup
from aiokafka_lite.metrics.counters import Counters
from aiokafka_lite.producer.accumulator.fast_append import FastAppend
from aiokafka_lite.producer.accumulator.record_accumulator import RecordAccumulator
from aiokafka_lite.producer.accumulator.sequence_numbers import SequenceNumbers
from aiokafka_lite.producer.append.append_path import AppendPath
from aiokafka_lite.producer.append.producer_interceptors import (
    InterceptedPath,
    ProducerInterceptors,
)
from aiokafka_lite.producer.append.route_finder import RouteFinder
from aiokafka_lite.producer.batch.buffer_pool import BufferPool
from aiokafka_lite.producer.partition.partition_loads import NodePatience
from aiokafka_lite.producer.partition.topic_routes import TopicRoutes
from aiokafka_lite.producer.producer_config import ProducerConfig
from aiokafka_lite.producer.producer_life import ProducerLife
from aiokafka_lite.producer.send.sender import Sender

if TYPE_CHECKING:
    from aiokafka_lite.metrics.statistics import ProducerStatistics
    from aiokafka_lite.producer.append.transactional_path import TransactionalPath
    from aiokafka_lite.producer.transaction.transaction_manager import TransactionManager
    from aiokafka_lite.producer.transaction.transaction_scope import TransactionScope


class ProducerEngine:
    """The parts of one producer: batches, sequence numbers, accumulator, sender, append path."""

    def __init__(
        self,
        config: ProducerConfig,
        *,
        clock: Clock,
        rng: random.Random,
        host: KafkaClient | None = None,
    ) -> None:
        self._config = config
        self.counters = Counters()
        self.client = KafkaClient(
            config,
            clock=clock,
            rng=rng,
            name=config.client_id,
            max_in_flight=config.max_in_flight_requests_per_connection,
            metadata_max_idle_ms=config.metadata_max_idle_ms,
            observer=self.counters,
            host=host,
        )
        self.life = ProducerLife(self.client, config.client_id)
        kept_sizes = {*config.batch_sizes, *config.batch_bytes_by_topic.values()}
        self.pool = BufferPool(config.buffer_memory, *kept_sizes)
        scope = None if config.transactional_id is None else _new_scope()
        self.sequences = sequences = (
            SequenceNumbers(scope, config.client_id) if config.is_idempotent else None
        )
        self.accumulator = RecordAccumulator(
            config, self.pool, backoff=self.client.retry_backoff, sequences=sequences
        )
        self.routes = TopicRoutes(
            self.accumulator,
            share_bytes=config.max_batch_size,
            rng=rng,
            is_adaptive=config.partitioner_adaptive_partitioning_enable,
            patience=NodePatience(config.partitioner_availability_timeout_ms),
            rack=config.client_rack if config.partitioner_rack_aware else None,
        )
        wakeup = Wakeup()
        self.transactions: TransactionManager | None = None
        if scope is not None and sequences is not None:
            parts = (self.client, config, self.accumulator, sequences, scope)
            self.transactions = _transaction_manager()(*parts, wake_sender=wakeup.set)
        self.sender = Sender(
            self.client,
            config,
            self.accumulator,
            self.routes,
            sequences,
            self.transactions,
            wakeup,
        )
        self.append_path = AppendPath(
            self.client,
            config,
            self.pool,
            self.accumulator,
            RouteFinder(self.client, config, self.routes, self.life),
            self.life,
            self.transactions,
            wake_sender=wakeup.set,
            send_at_once=None if config.linger_ms else self.sender.batches.send_at_once,
            leaves_at_once=self.sender.batches.sends_at_once,
        )
        self.records: AppendPath | InterceptedPath = self.append_path
        """Calls the interceptors, if there are any, then appends the record."""
        if config.interceptors:
            interceptors = ProducerInterceptors(config.interceptors)
            self.records = InterceptedPath(self.append_path, interceptors)

    @property
    def is_plain(self) -> bool:
        """Whether there are neither serializers nor interceptors."""
        return self.records is self.append_path and not self.append_path.serializers

    def observe(self) -> None:
        """Tell the observer of the options, if there is one, that the producer starts."""
        engine = weakref.ref(self)
        self.counters.observe(
            self._config.observer,
            "producer",
            self._config.client_id,
            statistics=lambda: None if (alive := engine()) is None else alive.statistics(),
        )

    def statistics(self) -> "ProducerStatistics":
        """Return what the producer holds now, and counts of what it has done."""
        from aiokafka_lite.metrics.statistics import ProducerStatistics  # noqa: PLC0415

        counters = self.counters
        open_connections, in_flight = self.client.network.usage()
        return ProducerStatistics(
            network=counters.network(open_connections=open_connections, in_flight=in_flight),
            buffer_bytes=self.pool.total_bytes,
            used_buffer_bytes=self.pool.used_bytes,
            waiting_calls=self.pool.waiting,
            unacknowledged_batches=len(self.accumulator.incomplete),
            acknowledged_batches=counters.acknowledged_batches,
            acknowledged_records=counters.acknowledged_records,
            acknowledged_bytes=counters.acknowledged_bytes,
        )

    def fast_append_of_send(self) -> FastAppend:
        """Return what `send` tries first. With serializers or interceptors it appends nothing."""
        if self.is_plain:
            return self.append_path.fast_append
        return FastAppend({}, now=self.client.clock.time)

    def path_of_send(self) -> "AppendPath | InterceptedPath | TransactionalPath":
        """Return what appends the other records of `send`. In a transactional producer it ties each
        call to the open transaction.
        """
        if self.transactions is None:
            return self.records
        path = _transactional_path()
        return path(self.records, self.transactions.sends, self.life.check_running)


# Few producers have transactions, so what belongs to them is imported at its first use.


def _new_scope() -> "TransactionScope":
    from aiokafka_lite.producer.transaction.transaction_scope import (  # noqa: PLC0415
        TransactionScope,
    )

    return TransactionScope()


def _transaction_manager() -> "type[TransactionManager]":
    from aiokafka_lite.producer.transaction.transaction_manager import (  # noqa: PLC0415
        TransactionManager,
    )

    return TransactionManager


def _transactional_path() -> "type[TransactionalPath]":
    from aiokafka_lite.producer.append.transactional_path import (  # noqa: PLC0415
        TransactionalPath,
    )

    return TransactionalPath


__all__ = ["ProducerEngine"]
