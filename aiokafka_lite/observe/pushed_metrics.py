"""Owns which metrics a client pushes to the brokers, under Java's names and in Java's units.

A sum counts since the client was made. An average, a maximum or a rate is that of the time since
the push before. Does not wait. Source: KIP-714; ProducerMetrics, ConsumerMetrics, SenderMetrics and
their kin in `kafka-clients`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from aiokafka_lite.metrics.counters import Counters
from aiokafka_lite.metrics.observed_client import ClientKind, ObservedClient
from aiokafka_lite.metrics.observer import Observer
from aiokafka_lite.metrics.statistics import ConsumerStatistics, ProducerStatistics
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.observe.otlp_metrics import MetricPoint
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.record.batch_header import HEADER_BYTES

PREFIXES: Final[dict[ClientKind, str]] = {
    "producer": "org.apache.kafka.producer.",
    "consumer": "org.apache.kafka.consumer.",
    "admin": "org.apache.kafka.admin.client.",
}
"""What the names of a client's metrics begin with."""

Labels = tuple[tuple[str, str], ...]


class Reading(NamedTuple):
    """What a metric shows at one moment."""

    name: str
    value: float
    is_sum: bool = False
    """Whether it only grows; otherwise it is a gauge."""
    labels: Labels = ()


class _Values:
    """The values of one kind since the push before: how many, their sum, and the greatest."""

    __slots__ = ("count", "most", "total")

    def __init__(self) -> None:
        self.count = 0
        self.total = 0.0
        self.most = 0.0

    def add(self, value: float) -> None:
        self.count += 1
        self.total += value
        self.most = max(self.most, value)

    def read(self, name: str, labels: Labels = (), *, times: float = 1000.0) -> Iterator[Reading]:
        """Yield average and maximum, `times` as much; nothing without a value."""
        if self.count:
            yield Reading(f"{name}.avg", self.total / self.count * times, False, labels)
            yield Reading(f"{name}.max", self.most * times, False, labels)


class _Window:
    """What happened since the push before."""

    def __init__(self, began_s: float, connections: int, idle_s: float) -> None:
        self.began_s = began_s
        self.idle_s = idle_s
        """How long polls had waited before."""
        self.connections = connections
        """How many were opened before."""
        self.by_node: dict[int, _Values] = defaultdict(_Values)
        self.main_request = _Values()
        """Produce requests of a producer, Fetch requests of a consumer."""
        self.throttled = _Values()
        self.queued = _Values()
        self.batch_bytes = _Values()
        self.compression = _Values()
        self.fetched: dict[str | None, _Values] = defaultdict(_Values)
        """By topic, and None for whole responses: the bytes of records in a Fetch response."""
        self.committed = _Values()
        self.rebalanced = _Values()


class PushedMetrics(Observer):
    """Hears the events of one client, and reads its metrics."""

    def __init__(self, client: ObservedClient, counters: Counters, now_s: float) -> None:
        self._client = client
        self._counters = counters
        self._prefix = PREFIXES[client.kind]
        self._main_api = ApiKey.PRODUCE if client.kind == "producer" else ApiKey.FETCH
        self._window = _Window(now_s, 0, _idle_s(client.statistics()))
        self._rebalance_s = 0.0
        self._by_topic: dict[tuple[str, str], float] = defaultdict(float)
        """Name and topic -> a sum."""
        self._reading: dict[int, tuple[float, dict[str, int]]] = {}
        """Node -> when its response came whose records are read, and their bytes by topic."""

    def read(self, now_s: float) -> list[Reading]:
        """Return the metrics, those that KIP-714 requires first, and begin a new window."""
        statistics, connections = self._client.statistics(), self._counters.connections
        for node_id in [*self._reading]:
            self._end_response(node_id)
        window, self._window = self._window, _Window(now_s, connections, _idle_s(statistics))
        required = [*self._connections(window, now_s), *self._required(window, statistics, now_s)]
        others = self._others(window, statistics)
        return [each._replace(name=self._prefix + each.name) for each in (*required, *others)]

    def _connections(self, window: _Window, now_s: float) -> Iterator[Reading]:
        opened = self._counters.connections
        if now_s > window.began_s:
            rate = (opened - window.connections) / (now_s - window.began_s)
            yield Reading("connection.creation.rate", rate)
        yield Reading("connection.creation.total", opened, True)
        for node_id, values in window.by_node.items():
            yield from values.read("node.request.latency", (("node_id", f"node-{node_id}"),))

    def _required(
        self,
        window: _Window,
        statistics: ProducerStatistics | ConsumerStatistics | None,
        now_s: float,
    ) -> Iterator[Reading]:
        if self._client.kind == "producer":
            yield from _throttle("produce.throttle.time", window)
            yield from window.queued.read("record.queue.time")
        elif self._client.kind == "consumer":
            yield from window.committed.read("coordinator.commit.latency")
            yield from window.rebalanced.read("coordinator.rebalance.latency")
            total_ms = self._rebalance_s * 1000
            yield Reading("coordinator.rebalance.latency.total", total_ms, True)
            yield from window.main_request.read("fetch.manager.fetch.latency")
            if isinstance(statistics, ConsumerStatistics):
                assigned = len(statistics.queue)
                yield Reading("coordinator.assigned.partitions", assigned)
                if now_s > window.began_s:
                    idle = (_idle_s(statistics) - window.idle_s) / (now_s - window.began_s)
                    yield Reading("poll.idle.ratio.avg", idle)

    def _others(
        self, window: _Window, statistics: ProducerStatistics | ConsumerStatistics | None
    ) -> Iterator[Reading]:
        counters = self._counters
        yield Reading("response.total", counters.responses, True)
        yield Reading("incoming.byte.total", counters.response_bytes, True)
        if statistics is not None:
            yield Reading("connection.count", statistics.network.open_connections)
        if isinstance(statistics, ProducerStatistics):
            yield from self._of_producer(window, statistics)
        elif isinstance(statistics, ConsumerStatistics):
            yield from self._of_consumer(window, statistics)

    def _of_producer(self, window: _Window, statistics: ProducerStatistics) -> Iterator[Reading]:
        yield Reading("requests.in.flight", statistics.network.requests_in_flight)
        yield from window.main_request.read("request.latency")
        for name in ("record.send.total", "record.retry.total", "record.error.total"):
            yield Reading(name, self._over_topics(name), True)
        yield from window.batch_bytes.read("batch.size", times=1)
        yield from _average_only(window.compression.read("compression.rate", times=1))
        free_bytes = statistics.buffer_bytes - statistics.used_buffer_bytes
        yield Reading("buffer.total.bytes", statistics.buffer_bytes)
        yield Reading("buffer.available.bytes", free_bytes)
        yield Reading("waiting.threads", statistics.waiting_calls)
        yield from self._topics("topic.")

    def _of_consumer(self, window: _Window, statistics: ConsumerStatistics) -> Iterator[Reading]:
        fetches = "fetch.manager."
        if statistics.since_poll_s is not None:
            yield Reading("last.poll.seconds.ago", statistics.since_poll_s)
        yield Reading("coordinator.commit.total", statistics.commits, True)
        yield Reading("coordinator.rebalance.total", statistics.rebalances, True)
        yield from _throttle(f"{fetches}fetch.throttle.time", window)
        yield Reading(f"{fetches}fetch.total", statistics.fetches, True)
        for name, values in window.fetched.items():
            labels = () if name is None else (("topic", name),)
            yield from values.read(f"{fetches}fetch.size", labels, times=1)
        by_topic: dict[str, int] = defaultdict(int)
        for (topic, _), size in self._counters.read_bytes.items():
            by_topic[topic] += size
        yield Reading(f"{fetches}bytes.consumed.total", sum(by_topic.values()), True)
        for topic, size in by_topic.items():
            yield Reading(f"{fetches}bytes.consumed.total", size, True, (("topic", topic),))
        yield Reading(f"{fetches}records.consumed.total", statistics.returned_records, True)
        if statistics.lags:
            yield Reading(f"{fetches}records.lag.max", max(statistics.lags.values()))
        if statistics.leads:
            yield Reading(f"{fetches}records.lead.min", min(statistics.leads.values()))
        yield from self._topics(fetches)
        for what, distances in (("lag", statistics.lags), ("lead", statistics.leads)):
            for (topic, partition), value in distances.items():
                place = (("topic", topic), ("partition", str(partition)))
                yield Reading(f"{fetches}records.{what}", value, False, place)

    def _topics(self, prefix: str) -> Iterator[Reading]:
        for (name, topic), value in self._by_topic.copy().items():
            yield Reading(prefix + name, value, True, (("topic", topic),))

    def _over_topics(self, wanted: str) -> float:
        return sum(value for (name, _), value in self._by_topic.copy().items() if name == wanted)

    # The events…

    def request_answered(self, node_id: int, api_key: int, took_s: float, size: int) -> None:  # noqa: ARG002
        self._window.by_node[node_id].add(took_s)
        if api_key == self._main_api:
            self._window.main_request.add(took_s)

    def throttled(self, node_id: int, throttle_s: float) -> None:  # noqa: ARG002
        self._window.throttled.add(throttle_s)

    def batch_sent(self, topic_partition: TopicPartition, records: int, queued_s: float) -> None:
        self._window.queued.add(queued_s)
        # As Java's: what goes into requests, another attempt included.
        self._by_topic["record.send.total", topic_partition.topic] += records

    def batch_acknowledged(
        self,
        topic_partition: TopicPartition,
        records: int,  # noqa: ARG002
        size: int,
        uncompressed_size: int,
        took_s: float,  # noqa: ARG002
    ) -> None:
        topic = topic_partition.topic
        self._by_topic["byte.total", topic] += size
        self._window.batch_bytes.add(size)
        if uncompressed_size > HEADER_BYTES:  # of records alone, as Java has it
            ratio = (size - HEADER_BYTES) / (uncompressed_size - HEADER_BYTES)
            self._window.compression.add(ratio)

    def batch_retried(
        self,
        topic_partition: TopicPartition,
        records: int,
        error: BaseException,  # noqa: ARG002
    ) -> None:
        self._by_topic["record.retry.total", topic_partition.topic] += records

    def batch_failed(
        self,
        topic_partition: TopicPartition,
        records: int,
        error: BaseException,  # noqa: ARG002
    ) -> None:
        self._by_topic["record.error.total", topic_partition.topic] += records

    def records_read(
        self, topic_partition: TopicPartition, size: int, node_id: int, received_at_s: float
    ) -> None:
        came_at_s, by_topic = self._reading.get(node_id, (received_at_s, {}))
        if came_at_s != received_at_s:
            self._end_response(node_id)
            by_topic = {}
        topic = topic_partition.topic
        by_topic[topic] = by_topic.get(topic, 0) + size
        self._reading[node_id] = (received_at_s, by_topic)

    def _end_response(self, node_id: int) -> None:
        _, by_topic = self._reading.pop(node_id)
        self._window.fetched[None].add(sum(by_topic.values()))
        for topic, size in by_topic.items():
            self._window.fetched[topic].add(size)

    def records_returned(self, topic_partition: TopicPartition, records: int) -> None:
        self._by_topic["records.consumed.total", topic_partition.topic] += records

    def rebalanced(self, generation: int, partitions: int, took_s: float) -> None:  # noqa: ARG002
        self._rebalance_s += took_s
        self._window.rebalanced.add(took_s)

    def committed(self, partitions: int, took_s: float) -> None:  # noqa: ARG002
        self._window.committed.add(took_s)


def _throttle(name: str, window: _Window) -> Iterator[Reading]:
    """Yield the throttle of the main requests. Those without a throttle count as 0."""
    values = window.throttled
    if answers := max(window.main_request.count, values.count):
        yield Reading(f"{name}.avg", values.total / answers * 1000)
        yield Reading(f"{name}.max", values.most * 1000)


def _idle_s(statistics: ProducerStatistics | ConsumerStatistics | None) -> float:
    return statistics.poll_idle_s if isinstance(statistics, ConsumerStatistics) else 0.0


def _average_only(readings: Iterable[Reading]) -> Iterator[Reading]:
    return (each for each in readings if each.name.endswith(".avg"))


class SumLedger:
    """Remembers what the brokers know of each sum, so that a push can tell the difference."""

    def __init__(self, began_s: float) -> None:
        """`began_s`: when the client was made, in seconds since 1970."""
        self._began_s = began_s
        self._told: dict[tuple[str, Labels], tuple[float, float]] = {}
        """Name and labels -> the value that was told, and when."""

    def points(
        self, readings: Iterable[Reading], wants: Callable[[str], bool], *, is_delta: bool
    ) -> list[MetricPoint]:
        """Return what to push of the wanted readings."""
        return [self._point(each, is_delta=is_delta) for each in readings if wants(each.name)]

    def _point(self, reading: Reading, *, is_delta: bool) -> MetricPoint:
        name, value, is_sum, labels = reading
        if not is_sum:
            return MetricPoint(name, value, labels)
        if not is_delta:
            return MetricPoint(name, value, labels, self._began_s)
        told, since_s = self._told.get((name, labels), (0.0, self._began_s))
        return MetricPoint(name, value - told, labels, since_s)

    def tell(
        self, readings: Iterable[Reading], pushed: Iterable[MetricPoint], now_s: float
    ) -> None:
        """Note that the brokers know the pushed ones of these readings."""
        names = {(point.name, point.labels) for point in pushed}
        for name, value, is_sum, labels in readings:
            if is_sum and (name, labels) in names:
                self._told[name, labels] = (value, now_s)


__all__ = ["PREFIXES", "PushedMetrics", "Reading", "SumLedger"]
