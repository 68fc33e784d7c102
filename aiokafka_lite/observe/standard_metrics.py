"""Owns how the events and the statistics of a client become the metrics of the standard set.

The exporters differ only in the sink that takes the values. Events of batches and requests are only
noted when they happen. `settle` turns many of them into values at once, for a third of the cost: it
runs after `SETTLE_AT` events, and before values are read. It waits only
for another thread that does the same.
"""

import functools
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol, TypeVar

from aiokafka_lite.metrics.observed_client import ObservedClient
from aiokafka_lite.metrics.observer import Observer
from aiokafka_lite.metrics.statistics import ConsumerStatistics, ProducerStatistics
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.observe import standard_set as metrics
from aiokafka_lite.observe.standard_set import Metric
from aiokafka_lite.protocol.api_key import api_name as _api_name

_TRIES = 5
SETTLE_AT = 100
"""How many events are noted at most before they become values."""
api_name = functools.cache(_api_name)
"""Kafka's name of an API: "Fetch" for 1."""


class Sink(Protocol):
    """Takes values. `labels` are those of the metric, in its order, without `client_id`."""

    def add(self, metric: Metric, amount: float, *labels: str) -> None:
        """Raise a counter."""

    def record(self, metric: Metric, value: float, *labels: str) -> None:
        """Count a value in a histogram."""

    def record_all(self, metric: Metric, values: Sequence[float], *labels: str) -> None:
        """Count values, at least one, in a histogram."""


class StandardMetrics(Observer):
    """Turns the events of one client into values for a sink."""

    def __init__(self, client: ObservedClient, sink: Sink) -> None:
        self.client = client
        self.is_closed = False
        self._sink = sink
        self._group = client.group_id or ""
        self._settling = threading.Lock()
        self._noted = 0
        self._answered: dict[tuple[int, int], list[tuple[float, int]]] = defaultdict(list)
        """By node and API: seconds and bytes of each response."""
        self._queued: dict[str, list[float]] = defaultdict(list)
        """By topic: seconds before each batch was sent."""
        self._acknowledged: dict[str, list[tuple[int, int, int, float]]] = defaultdict(list)
        """By topic: records, size, size before compression, and seconds of each batch."""
        self._fetched: dict[int, list[int]] = defaultdict(list)
        """By node: bytes of each Fetch response."""
        self._returned: dict[str, list[int]] = defaultdict(list)
        """By topic: records of each poll."""

    def closed(self) -> None:
        self.is_closed = True
        self.settle()

    def settle(self, *, can_wait: bool = True) -> None:
        """Turn the noted events into values. May run in any thread, while the client works. Without
        `can_wait` it leaves them to another thread that does it now.
        """
        if not self._settling.acquire(blocking=can_wait):
            return
        try:
            self._noted = 0
            for (node_id, api_key), responses in self._answered.copy().items():
                if taken := _taken(responses):
                    self._settle_responses(str(node_id), api_name(api_key), taken)
            for topic, queued in self._queued.copy().items():
                if waits := _taken(queued):
                    self._sink.record_all(metrics.QUEUE, waits, topic)
            for topic, batches in self._acknowledged.copy().items():
                if written := _taken(batches):
                    self._settle_batches(topic, written)
            for node_id, fetches in self._fetched.copy().items():
                if sizes := _taken(fetches):
                    self._sink.add(metrics.FETCHED_BYTES, sum(sizes), self._group, str(node_id))
                    self._sink.record_all(metrics.FETCH_BYTES, sizes, self._group)
            for topic, polls in self._returned.copy().items():
                if counts := _taken(polls):
                    self._sink.add(metrics.RETURNED_RECORDS, sum(counts), self._group, topic)
        finally:
            self._settling.release()

    def _settle_responses(self, node: str, api: str, noted: Sequence[tuple[float, int]]) -> None:
        times, sizes = zip(*noted, strict=True)
        self._sink.record_all(metrics.REQUEST, times, node, api)
        self._sink.add(metrics.RESPONSE_BYTES, sum(sizes), node, api)

    def _settle_batches(self, topic: str, noted: Sequence[tuple[int, int, int, float]]) -> None:
        sink = self._sink
        records, sizes, _, times = zip(*noted, strict=True)
        sink.add(metrics.SENT_RECORDS, sum(records), topic)
        sink.add(metrics.SENT_BYTES, sum(sizes), topic)
        sink.record_all(metrics.BATCH_BYTES, sizes, topic)
        sink.record_all(metrics.BATCH_RECORDS, records, topic)
        sink.record_all(metrics.DELIVERY, times, topic)
        if ratios := [size / before for _, size, before, _ in noted if before]:
            sink.record_all(metrics.COMPRESSION, ratios, topic)

    # Every client…

    def connected(self, node_id: int, took_s: float) -> None:
        self._sink.record(metrics.CONNECT, took_s, str(node_id))

    def disconnected(self, node_id: int) -> None:
        self._sink.add(metrics.DISCONNECTS, 1, str(node_id))

    def request_answered(self, node_id: int, api_key: int, took_s: float, size: int) -> None:
        self._answered[node_id, api_key].append((took_s, size))
        self._noted += 1
        if self._noted >= SETTLE_AT:
            self.settle(can_wait=False)

    def throttled(self, node_id: int, throttle_s: float) -> None:
        self._sink.add(metrics.THROTTLE, throttle_s, str(node_id))

    def failed(self, activity: str, error: BaseException) -> None:
        self._sink.add(metrics.ERRORS, 1, activity, type(error).__name__)

    # A producer…

    def batch_sent(self, topic_partition: TopicPartition, records: int, queued_s: float) -> None:  # noqa: ARG002
        self._queued[topic_partition.topic].append(queued_s)
        self._noted += 1
        if self._noted >= SETTLE_AT:
            self.settle(can_wait=False)

    def batch_acknowledged(
        self,
        topic_partition: TopicPartition,
        records: int,
        size: int,
        uncompressed_size: int,
        took_s: float,
    ) -> None:
        noted = (records, size, uncompressed_size, took_s)
        self._acknowledged[topic_partition.topic].append(noted)
        self._noted += 1
        if self._noted >= SETTLE_AT:
            self.settle(can_wait=False)

    def batch_retried(
        self, topic_partition: TopicPartition, records: int, error: BaseException
    ) -> None:
        self._sink.add(metrics.RETRIED_RECORDS, records, topic_partition.topic)
        self.failed("produce", error)

    def batch_failed(
        self, topic_partition: TopicPartition, records: int, error: BaseException
    ) -> None:
        self._sink.add(metrics.FAILED_RECORDS, records, topic_partition.topic)
        self.failed("produce", error)

    # A consumer…

    def records_fetched(self, node_id: int, size: int) -> None:
        self._fetched[node_id].append(size)
        self._noted += 1
        if self._noted >= SETTLE_AT:
            self.settle(can_wait=False)

    def records_returned(self, topic_partition: TopicPartition, records: int) -> None:
        self._returned[topic_partition.topic].append(records)
        self._noted += 1
        if self._noted >= SETTLE_AT:
            self.settle(can_wait=False)

    def rebalanced(self, generation: int, partitions: int, took_s: float) -> None:  # noqa: ARG002
        self._sink.record(metrics.REBALANCE, took_s, self._group)

    def committed(self, partitions: int, took_s: float) -> None:  # noqa: ARG002
        self._sink.record(metrics.COMMIT, took_s, self._group)


_Noted = TypeVar("_Noted")


def _taken(noted: list[_Noted]) -> list[_Noted]:
    """Take what is noted now. The client's loop may append meanwhile."""
    taken = noted[:]
    del noted[: len(taken)]
    return taken


class GaugeValue(NamedTuple):
    """The value of a gauge at one moment."""

    metric: Metric
    value: float
    labels: tuple[str, ...] = ()


class RunningClients:
    """The clients of one exporter that have not been closed, for their gauges."""

    __slots__ = ("_running",)

    def __init__(self) -> None:
        self._running: list[StandardMetrics] = []

    def add(self, client: StandardMetrics) -> None:
        """Note a client that starts, and forget those that were closed."""
        self._running = [*(each for each in self._running if not each.is_closed), client]

    def settle(self) -> None:
        """Turn the noted events of the clients into values. May run in any thread."""
        for each in self._running:
            each.settle()

    def gauges(self) -> dict[tuple[Metric, str, tuple[str, ...]], float]:
        """Return the values by metric, `client_id` and labels. Those of clients with the same
        `client_id` are added up. May run in any thread.
        """
        found: dict[tuple[Metric, str, tuple[str, ...]], float] = {}
        for each in self._running:
            if not each.is_closed:
                for metric, value, labels in gauges(each.client):
                    key = (metric, each.client.client_id, labels)
                    found[key] = found.get(key, 0) + value
        return found


def gauges(client: ObservedClient) -> Iterator[GaugeValue]:
    """Yield what a client holds now; nothing once it is gone. May run in any thread."""
    statistics = _statistics(client)
    if statistics is None:
        return
    yield GaugeValue(metrics.CONNECTIONS, statistics.network.open_connections)
    yield GaugeValue(metrics.IN_FLIGHT, statistics.network.requests_in_flight)
    if isinstance(statistics, ProducerStatistics):
        yield GaugeValue(metrics.BUFFER, statistics.buffer_bytes)
        yield GaugeValue(metrics.USED_BUFFER, statistics.used_buffer_bytes)
        yield GaugeValue(metrics.WAITING_CALLS, statistics.waiting_calls)
        yield GaugeValue(metrics.UNACKNOWLEDGED, statistics.unacknowledged_batches)
    else:
        yield from _consumer_gauges(statistics, client.group_id or "")


def _consumer_gauges(statistics: ConsumerStatistics, group: str) -> Iterator[GaugeValue]:
    yield GaugeValue(metrics.ASSIGNED, len(statistics.queue), (group,))
    yield GaugeValue(metrics.UNREAD, statistics.unread_bytes, (group,))
    if statistics.since_poll_s is not None:
        yield GaugeValue(metrics.SINCE_POLL, statistics.since_poll_s, (group,))
    for metric, values in ((metrics.LAG, statistics.lags), (metrics.LEAD, statistics.leads)):
        for (topic, partition), value in values.items():
            yield GaugeValue(metric, value, (group, topic, str(partition)))


def _statistics(client: ObservedClient) -> ProducerStatistics | ConsumerStatistics | None:
    """Ask again when the client's loop has changed a container meanwhile, in another thread."""
    for _ in range(_TRIES):
        try:
            return client.statistics()
        except RuntimeError:
            continue
    return None


__all__ = ["SETTLE_AT", "GaugeValue", "RunningClients", "Sink", "StandardMetrics", "gauges"]
