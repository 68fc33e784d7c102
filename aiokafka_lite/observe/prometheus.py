"""Exports the metrics of clients to Prometheus, through prometheus-client (the extra `prometheus`).

    metrics = PrometheusMetrics()
    consumer = AIOKafkaConsumer("orders", observer=metrics)

The collector reads the values when Prometheus scrapes, in whatever thread that is. The values of
clients that were closed stay: counters must never fall. Does not wait.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import REGISTRY, Collector, CollectorRegistry

from aiokafka_lite.metrics.observed_client import ObservedClient
from aiokafka_lite.metrics.observer import Observer
from aiokafka_lite.observe.metric_store import HistogramValue, MetricStore
from aiokafka_lite.observe.standard_metrics import RunningClients, StandardMetrics
from aiokafka_lite.observe.standard_set import STANDARD_SET, Metric


class PrometheusMetrics(Observer, Collector):
    """An observer for any number of clients, and the collector of their metrics.

    `registry` None: nothing is registered; the caller registers the object where it likes. Clients
    with the same `client_id` count together.
    """

    __slots__ = ("_running", "_stores")

    def __init__(self, registry: CollectorRegistry | None = REGISTRY) -> None:
        self._stores: dict[str, MetricStore] = {}
        self._running = RunningClients()
        if registry is not None:
            registry.register(self)

    def of_client(self, client: ObservedClient) -> Observer:
        """Return the observer that counts the events of one client."""
        store = self._stores.setdefault(client.client_id, MetricStore())
        counting = StandardMetrics(client, store)
        self._running.add(counting)
        return counting

    def describe(self) -> Iterable[Family]:
        """Return the families without values, so that registering reads nothing."""
        return [_family(metric) for metric in STANDARD_SET]

    def collect(self) -> Iterator[Family]:
        """Yield the families that have values now."""
        self._running.settle()
        families: dict[Metric, Any] = {metric: _family(metric) for metric in STANDARD_SET}
        for client_id, store in self._stores.copy().items():
            for metric, labels, value in store.counters():
                families[metric].add_metric([client_id, *labels], value)
            for found in store.histograms():
                _add_histogram(families[found.metric], client_id, found)
        for (metric, client_id, labels), value in self._running.gauges().items():
            families[metric].add_metric([client_id, *labels], value)
        yield from (family for family in families.values() if family.samples)


_Families = CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily
_FAMILIES: Mapping[str, Callable[..., _Families]] = {
    "counter": CounterMetricFamily,
    "gauge": GaugeMetricFamily,
    "histogram": HistogramMetricFamily,
}


def _family(metric: Metric) -> _Families:
    return _FAMILIES[metric.kind](metric.name, metric.text, labels=["client_id", *metric.labels])


def _add_histogram(family: _Families, client_id: str, found: HistogramValue) -> None:
    assert isinstance(family, HistogramMetricFamily)
    bounds = [*(f"{bound:g}" for bound in found.metric.buckets), "+Inf"]
    buckets = list(zip(bounds, accumulate(found.counts), strict=True))
    family.add_metric([client_id, *found.labels], buckets, found.total)


__all__ = ["PrometheusMetrics"]
