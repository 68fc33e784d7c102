"""A tracer and a meter whose exports stay in memory, for the tests of traces and metrics."""

from typing import Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


class Traces:
    """The providers, and what they have exported."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self.provider = TracerProvider(shutdown_on_exit=False)
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.tracer = self.provider.get_tracer("tests")
        self._reader = InMemoryMetricReader()
        self.meters = MeterProvider([self._reader], shutdown_on_exit=False)

    def spans(self, name: str) -> list[ReadableSpan]:
        """Return the ended spans of a name."""
        return [span for span in self._exporter.get_finished_spans() if span.name == name]

    def points(self) -> dict[str, list[Any]]:
        """Return the data points of each metric."""
        data = self._reader.get_metrics_data()
        return {
            metric.name: list(metric.data.data_points)
            for resource in (data.resource_metrics if data is not None else ())
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }


def place_of(span: ReadableSpan) -> tuple[int, int]:
    """Return the ids of the trace and of the span."""
    assert span.context is not None
    return span.context.trace_id, span.context.span_id


def links_of(span: ReadableSpan) -> list[tuple[int, int]]:
    """Return the ids of the spans that a span has links to."""
    return [(link.context.trace_id, link.context.span_id) for link in span.links]


def attributes_of(span: ReadableSpan) -> dict[str, Any]:
    """Return the attributes of a span."""
    return dict(span.attributes or {})
