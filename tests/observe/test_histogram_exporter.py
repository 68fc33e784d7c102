"""The exporter around another one adds the histograms, and passes everything else on."""

from typing import Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import (
    MetricExporter,
    MetricExportResult,
    MetricsData,
    PeriodicExportingMetricReader,
)

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.observe.histogram_exporter import HistogramExporter
from aiokafka_lite.observe.opentelemetry import OpenTelemetryMetrics
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.scenarios.consuming import consumer_of, embedded

NEVER_MS = float("inf")


class Kept(MetricExporter):
    """Keeps what was exported, by name."""

    def __init__(self) -> None:
        super().__init__()
        self.metrics: dict[str, Any] = {}
        self.calls: list[str] = []

    def export(
        self, metrics_data: MetricsData, timeout_millis: float = 10_000, **_: Any
    ) -> MetricExportResult:
        for resource in metrics_data.resource_metrics:
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    assert metric.name not in self.metrics, "one metric for each name"
                    self.metrics[metric.name] = metric
        return MetricExportResult.SUCCESS

    def force_flush(self, timeout_millis: float = 10_000) -> bool:
        self.calls.append("force_flush")
        return True

    def shutdown(self, timeout_millis: float = 30_000, **_: Any) -> None:
        self.calls.append("shutdown")


async def test_histograms_are_exported_beside_counters_and_gauges() -> None:
    kept, clock = Kept(), FakeClock()
    exporter = HistogramExporter(kept, clock=clock)
    reader = PeriodicExportingMetricReader(exporter, export_interval_millis=NEVER_MS)
    provider = MeterProvider([reader], shutdown_on_exit=False)
    observer = OpenTelemetryMetrics(provider, histograms=exporter)
    began_ns = int(clock.time() * 1e9)
    async with embedded({"t": 1}) as broker:
        async with AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, client_id="p", observer=observer
        ) as producer:
            for _ in range(3):
                await producer.send_and_wait("t", b"value")
        async with consumer_of(
            broker, "t", group_id="g", client_id="c", observer=observer
        ) as consumer:
            await consumer.getone()
            await consumer.commit()
            await clock.advance(5)
            assert provider.force_flush()
        provider.shutdown()
    assert kept.metrics["messaging.client.sent.messages"].data.data_points[0].value == 3
    (size,) = kept.metrics["kafka.producer.batch_records"].data.data_points
    assert (size.count, size.sum, size.min, size.max) == (3, 3, 1, 1)
    assert size.bucket_counts[0] == 3
    assert len(size.bucket_counts) == len(size.explicit_bounds) + 1
    assert size.attributes["messaging.client.id"] == "p"
    assert size.start_time_unix_nano == began_ns
    assert size.time_unix_nano == began_ns + 5_000_000_000
    operations = kept.metrics["messaging.client.operation.duration"]
    assert operations.unit == "s"
    assert {
        point.attributes["messaging.operation.name"]: point.count
        for point in operations.data.data_points
    } == {"send": 3, "commit": 1}
    assert kept.calls[-1] == "shutdown"
    assert "force_flush" in kept.calls


def test_a_provider_without_other_metrics_exports_nothing() -> None:
    kept = Kept()
    exporter = HistogramExporter(kept)
    reader = PeriodicExportingMetricReader(exporter, export_interval_millis=NEVER_MS)
    provider = MeterProvider([reader], shutdown_on_exit=False)
    assert provider.force_flush()
    provider.shutdown()
    assert kept.metrics == {}
    assert exporter.export(MetricsData([])) is MetricExportResult.SUCCESS
