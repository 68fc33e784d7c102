"""Owns the numbers that a producer or consumer keeps of its own work, as plain ints and floats.

`statistics` has the frozen values that are made from them. The counters also pass each event on to
the observers of the client, of which most clients have none. Does not wait.
"""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from aiokafka_lite.checks.quoted import quoted, trace_of
from aiokafka_lite.metrics.observer import Observer
from aiokafka_lite.model import TopicPartition

if TYPE_CHECKING:
    from aiokafka_lite.metrics.observed_client import ClientKind, ObservedClient
    from aiokafka_lite.metrics.statistics import (
        ConsumerStatistics,
        NetworkStatistics,
        ProducerStatistics,
    )

logger = logging.getLogger(__name__)


class WorkCounts:
    """The numbers that grow with each request, and who hears of the events besides."""

    __slots__ = (
        "acknowledged_batches",
        "acknowledged_bytes",
        "acknowledged_records",
        "is_heard",
        "observers",
        "response_bytes",
        "response_time_s",
        "responses",
    )

    def __init__(self) -> None:
        self.is_heard = False
        self.observers: tuple[Observer, ...] = ()
        """Those that hear the events besides."""
        self.responses = 0
        self.response_bytes = 0
        self.response_time_s = 0.0
        self.acknowledged_batches = 0
        self.acknowledged_records = 0
        self.acknowledged_bytes = 0

    def response_counted(self, took_s: float, size: int) -> None:
        """Count a response. No observer hears of it."""
        self.responses += 1
        self.response_bytes += size
        self.response_time_s += took_s

    def batches_counted(self, batches: int, records: int, size: int) -> None:
        """Count batches that were acknowledged, in one call. No observer hears of them."""
        self.acknowledged_batches += batches
        self.acknowledged_records += records
        self.acknowledged_bytes += size


class Counters(WorkCounts, Observer):
    """Counts the events of one client since it was made, and passes them on."""

    __slots__ = (
        "commits",
        "connections",
        "describe",
        "fetched_bytes",
        "fetches",
        "read_bytes",
        "rebalances",
        "throttle_time_s",
    )

    def __init__(self) -> None:
        super().__init__()
        self.describe: Callable[[], ObservedClient] | None = None
        """Returns what an observer learns of the client; None before the client starts."""
        self.connections = 0
        self.throttle_time_s = 0.0
        self.fetches = 0
        self.fetched_bytes = 0
        self.read_bytes: dict[TopicPartition, int] = {}
        """The bytes of records that were decoded."""
        self.rebalances = 0
        self.commits = 0

    def observe(
        self,
        observer: Observer | None,
        kind: "ClientKind",
        client_id: str,
        group_id: str | None = None,
        statistics: "Callable[[], ProducerStatistics | ConsumerStatistics | None]" = lambda: None,
    ) -> None:
        """Tell the observer of the options, if there is one, that the client starts, and pass the
        events on to the observer that it returns.
        """

        def describe() -> "ObservedClient":
            from aiokafka_lite.metrics.observed_client import ObservedClient  # noqa: PLC0415

            return ObservedClient(kind, client_id, group_id, statistics)

        self.describe = describe
        if observer is not None:
            self.add(observer.of_client(describe()))

    def add(self, observer: Observer) -> None:
        """Pass the events from now on to `observer`, too."""
        self.observers += (observer,)
        self.is_heard = True

    def remove(self, observer: Observer) -> None:
        """Pass no more events to `observer`."""
        self.observers = tuple(each for each in self.observers if each is not observer)
        self.is_heard = bool(self.observers)

    def closed(self) -> None:
        self._pass_on("closed")
        self.observers = ()
        self.is_heard = False

    def connected(self, node_id: int, took_s: float) -> None:
        self.connections += 1
        if self.observers:
            self._pass_on("connected", node_id, took_s)

    def disconnected(self, node_id: int) -> None:
        self._pass_on("disconnected", node_id)

    def all_brokers_down(self, error: BaseException) -> None:
        self._pass_on("all_brokers_down", error)

    def request_answered(self, node_id: int, api_key: int, took_s: float, size: int) -> None:
        self.response_counted(took_s, size)
        for observer in self.observers:
            try:
                observer.request_answered(node_id, api_key, took_s, size)
            except Exception as error:  # noqa: BLE001  it is logged
                self._drop(observer, "request_answered", error)

    def throttled(self, node_id: int, throttle_s: float) -> None:
        self.throttle_time_s += throttle_s
        self._pass_on("throttled", node_id, throttle_s)

    def failed(self, activity: str, error: BaseException) -> None:
        self._pass_on("failed", activity, error)

    def batch_sent(self, topic_partition: TopicPartition, records: int, queued_s: float) -> None:
        for observer in self.observers:
            try:
                observer.batch_sent(topic_partition, records, queued_s)
            except Exception as error:  # noqa: BLE001  it is logged
                self._drop(observer, "batch_sent", error)

    def batch_acknowledged(
        self,
        topic_partition: TopicPartition,
        records: int,
        size: int,
        uncompressed_size: int,
        took_s: float,
    ) -> None:
        self.batches_counted(1, records, size)
        for observer in self.observers:
            try:
                observer.batch_acknowledged(
                    topic_partition, records, size, uncompressed_size, took_s
                )
            except Exception as error:  # noqa: BLE001  it is logged
                self._drop(observer, "batch_acknowledged", error)

    def batch_retried(
        self, topic_partition: TopicPartition, records: int, error: BaseException
    ) -> None:
        self._pass_on("batch_retried", topic_partition, records, error)

    def batch_failed(
        self, topic_partition: TopicPartition, records: int, error: BaseException
    ) -> None:
        self._pass_on("batch_failed", topic_partition, records, error)

    def records_fetched(self, node_id: int, size: int) -> None:
        self.fetches += 1
        self.fetched_bytes += size
        if self.observers:
            self._pass_on("records_fetched", node_id, size)

    def records_read(
        self, topic_partition: TopicPartition, size: int, node_id: int, received_at_s: float
    ) -> None:
        self.read_bytes[topic_partition] = self.read_bytes.get(topic_partition, 0) + size
        if self.observers:
            self._pass_on("records_read", topic_partition, size, node_id, received_at_s)

    def records_returned(self, topic_partition: TopicPartition, records: int) -> None:
        for observer in self.observers:
            try:
                observer.records_returned(topic_partition, records)
            except Exception as error:  # noqa: BLE001  it is logged
                self._drop(observer, "records_returned", error)

    def rebalanced(self, generation: int, partitions: int, took_s: float) -> None:
        self.rebalances += 1
        self._pass_on("rebalanced", generation, partitions, took_s)

    def committed(self, partitions: int, took_s: float) -> None:
        self.commits += 1
        self._pass_on("committed", partitions, took_s)

    def network(self, *, open_connections: int = 0, in_flight: int = 0) -> "NetworkStatistics":
        """Return what was counted of connections and responses, with what the client holds now."""
        # A client whose statistics nobody reads does not pay for the import.
        from aiokafka_lite.metrics.statistics import NetworkStatistics  # noqa: PLC0415

        return NetworkStatistics(
            self.connections,
            self.responses,
            self.response_bytes,
            self.response_time_s,
            self.throttle_time_s,
            open_connections,
            in_flight,
        )

    def _pass_on(self, event: str, *about: object) -> None:
        """Report an event to each observer. The events of batches do this by themselves, faster."""
        for observer in self.observers:
            try:
                getattr(observer, event)(*about)
            except Exception as error:  # noqa: BLE001  it is logged
                self._drop(observer, event, error)

    def _drop(self, observer: Observer, event: str, error: Exception) -> None:
        """Pass no more events to an observer that raised an error: the client goes on."""
        self.remove(observer)
        logger.error(
            "%s raised an error when it was told of %r, and hears no more of this client",
            quoted(observer),
            event,
            exc_info=trace_of(error),
        )


__all__ = ["Counters", "WorkCounts"]
