"""Adds the histograms of clients to what an exporter of OpenTelemetry's SDK sends.

    exporter = HistogramExporter(OTLPMetricExporter())
    provider = MeterProvider([PeriodicExportingMetricReader(exporter)])
    metrics = OpenTelemetryMetrics(provider, histograms=exporter)

The SDK needs some 10 µs for each value of a histogram. Here the client counts the values in buckets
of its own, and the exporter adds the counts. They are cumulative since the exporter was made.
Does not wait.
"""

from collections.abc import Iterator
from typing import Any

from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricExporter,
    MetricExportResult,
    MetricsData,
    ResourceMetrics,
    ScopeMetrics,
)
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.observe.messaging_conventions import (
    SCOPE,
    exported_name,
    exported_text,
    exported_unit,
    metric_attributes,
)
from aiokafka_lite.observe.metric_store import HistogramValue, MetricStore
from aiokafka_lite.version import __version__


class HistogramExporter(MetricExporter):
    """An exporter around another one, for `OpenTelemetryMetrics(histograms=…)`."""

    def __init__(self, exporter: MetricExporter, *, clock: Clock = SYSTEM_CLOCK) -> None:
        super().__init__(exporter._preferred_temporality, exporter._preferred_aggregation)
        self._exporter = exporter
        self._clock = clock
        self._began_ns = int(clock.time() * 1e9)
        self._stores: dict[str, MetricStore] = {}

    def store_of(self, client_id: str) -> MetricStore:
        """Return what keeps the histograms of the clients with this name."""
        return self._stores.setdefault(client_id, MetricStore())

    def export(
        self, metrics_data: MetricsData, timeout_millis: float = 10_000, **options: Any
    ) -> MetricExportResult:
        """Export the metrics and the histograms. Raises: as the other exporter."""
        if not metrics_data.resource_metrics:  # not even a counter of ours
            return self._exporter.export(metrics_data, timeout_millis, **options)
        first, *others = metrics_data.resource_metrics
        scope = ScopeMetrics(InstrumentationScope(SCOPE, __version__), list(self._metrics()), "")
        scopes = [*first.scope_metrics, scope]
        with_ours = ResourceMetrics(first.resource, scopes, first.schema_url)
        told = MetricsData([with_ours, *others])
        return self._exporter.export(told, timeout_millis, **options)

    def force_flush(self, timeout_millis: float = 10_000) -> bool:
        """As the other exporter."""
        return self._exporter.force_flush(timeout_millis)

    def shutdown(self, timeout_millis: float = 30_000, **options: Any) -> None:
        """As the other exporter."""
        self._exporter.shutdown(timeout_millis, **options)

    def _metrics(self) -> Iterator[Metric]:
        """Yield a metric for each exported name: two of ours may share one."""
        now_ns = int(self._clock.time() * 1e9)
        found: dict[str, tuple[HistogramValue, list[HistogramDataPoint]]] = {}
        for client_id, store in self._stores.copy().items():
            for value in store.histograms():
                _, points = found.setdefault(exported_name(value.metric), (value, []))
                points.append(self._point(client_id, value, now_ns))
        for name, (value, points) in found.items():
            unit, text = exported_unit(value.metric), exported_text(value.metric)
            yield Metric(name, text, unit, Histogram(points, AggregationTemporality.CUMULATIVE))

    def _point(self, client_id: str, value: HistogramValue, now_ns: int) -> HistogramDataPoint:
        return HistogramDataPoint(
            attributes=metric_attributes(value.metric, value.labels, client_id),
            start_time_unix_nano=self._began_ns,
            time_unix_nano=now_ns,
            count=sum(value.counts),
            sum=value.total,
            bucket_counts=value.counts,
            explicit_bounds=value.metric.buckets,
            min=value.least,
            max=value.most,
        )


__all__ = ["HistogramExporter"]
