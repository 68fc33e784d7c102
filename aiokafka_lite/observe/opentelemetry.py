"""Exports metrics and traces of clients through OpenTelemetry (the extra `opentelemetry`).

    consumer = AIOKafkaConsumer("orders", observer=OpenTelemetryMetrics())
    tracing = KafkaTracing()

This file has the metrics; `kafka_tracing` has the traces. `messaging_conventions` has the names.
Counters and histograms are recorded at once, gauges when the provider reads. Without a provider the
global one is used. Does not wait.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from opentelemetry import metrics
from opentelemetry.metrics import CallbackOptions, Meter, MeterProvider, Observation

from aiokafka_lite.metrics.observed_client import ObservedClient
from aiokafka_lite.metrics.observer import Observer
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.observe.kafka_tracing import KafkaTracing
from aiokafka_lite.observe.messaging_conventions import (
    SCOPE,
    Attributes,
    exported_buckets,
    exported_name,
    exported_text,
    exported_unit,
    metric_attributes,
)
from aiokafka_lite.observe.metric_store import MetricStore
from aiokafka_lite.observe.standard_metrics import RunningClients, StandardMetrics
from aiokafka_lite.observe.standard_set import SENT_RECORDS, STANDARD_SET, Metric
from aiokafka_lite.version import __version__

if TYPE_CHECKING:
    from aiokafka_lite.observe.histogram_exporter import HistogramExporter  # needs the SDK

_Instrument = Callable[[float, Attributes], None]


class OpenTelemetryMetrics(Observer):
    """An observer for any number of clients, which records what they do.

    Clients with the same `client_id` count together. OpenTelemetry's SDK needs some 10 µs for each
    value of a histogram, and a batch has five. With `histograms=` an `HistogramExporter` they cost
    next to nothing; False leaves them out.
    """

    __slots__ = ("_exporter", "_instruments", "_running")

    def __init__(
        self,
        meter_provider: MeterProvider | None = None,
        *,
        histograms: "bool | HistogramExporter" = True,
    ) -> None:
        provider = meter_provider or metrics.get_meter_provider()
        meter = provider.get_meter(SCOPE, __version__)
        self._running = RunningClients()
        self._exporter = None if isinstance(histograms, bool) else histograms
        named: dict[str, _Instrument] = {}
        self._instruments: dict[Metric, _Instrument] = {}
        for metric in STANDARD_SET:
            name = exported_name(metric)
            if metric.kind == "gauge":
                read = [self._reader(metric)]
                meter.create_observable_gauge(name, read, metric.unit, metric.text)
            elif histograms is True or metric.kind == "counter":
                if name not in named:
                    named[name] = _instrument(meter, metric)
                self._instruments[metric] = named[name]

    def of_client(self, client: ObservedClient) -> Observer:
        """Return the observer that records the events of one client."""
        store = None if self._exporter is None else self._exporter.store_of(client.client_id)
        sink = _ClientSink(self._instruments, client.client_id, store)
        recording = _ConventionMetrics(client, sink)
        self._running.add(recording)
        return recording

    def _reader(self, wanted: Metric) -> Callable[[CallbackOptions], Iterable[Observation]]:
        def read(_options: CallbackOptions) -> Iterator[Observation]:
            self._running.settle()
            for (metric, client_id, labels), value in self._running.gauges().items():
                if metric is wanted:
                    yield Observation(value, metric_attributes(metric, labels, client_id))

        return read


def _instrument(meter: Meter, metric: Metric) -> _Instrument:
    name, unit, text = exported_name(metric), exported_unit(metric), exported_text(metric)
    if metric.kind == "counter":
        return meter.create_counter(name, unit, text).add
    buckets = exported_buckets(metric)
    return meter.create_histogram(
        name, unit, text, explicit_bucket_boundaries_advisory=buckets
    ).record


class _ClientSink:
    """Records the values of one client, whose attributes are made once."""

    def __init__(
        self,
        instruments: Mapping[Metric, _Instrument],
        client_id: str,
        store: MetricStore | None,
    ) -> None:
        self._store = store
        """Of the histograms, if not the SDK keeps them."""
        self._instruments = instruments
        self._client_id = client_id
        self._known: dict[tuple[Metric, tuple[str, ...], str], Attributes] = {}

    def add(self, metric: Metric, amount: float, *labels: str) -> None:
        self._instruments[metric](amount, self._attributes(metric, labels))

    def record(self, metric: Metric, value: float, *labels: str) -> None:
        self.record_all(metric, (value,), *labels)

    def record_all(self, metric: Metric, values: Sequence[float], *labels: str) -> None:
        record = self._instruments.get(metric)
        if self._store is not None:
            self._store.record_all(metric, values, *labels)
        elif record is not None:
            attributes = self._attributes(metric, labels)
            for value in values:
                record(value, attributes)

    def add_failed(self, metric: Metric, amount: float, error: str, *labels: str) -> None:
        """Raise a counter by what has ended with an error of this class."""
        self._instruments[metric](amount, self._attributes(metric, labels, error))

    def _attributes(self, metric: Metric, labels: tuple[str, ...], error: str = "") -> Attributes:
        key = (metric, labels, error)
        found = self._known.get(key)
        if found is None:
            found = metric_attributes(metric, labels, self._client_id)
            if error:
                found["error.type"] = error
            self._known[key] = found
        return found


class _ConventionMetrics(StandardMetrics):
    """Counts records that were given up as sent with an error, as the conventions ask."""

    def __init__(self, client: ObservedClient, sink: _ClientSink) -> None:
        super().__init__(client, sink)
        self._client_sink = sink

    def batch_failed(
        self, topic_partition: TopicPartition, records: int, error: BaseException
    ) -> None:
        super().batch_failed(topic_partition, records, error)
        self._client_sink.add_failed(
            SENT_RECORDS, records, type(error).__name__, topic_partition.topic
        )


__all__ = ["KafkaTracing", "OpenTelemetryMetrics"]
