"""Exports lag, rows and times of streaming queries to Prometheus (the extra `prometheus`).

    metrics = StreamMetrics()
    spark.streams.addListener(LagReporter(metrics))

It lives where the listener does: in the driver, or in a client of Spark Connect. Does not wait.
"""

from collections.abc import Iterable, Iterator
from threading import Lock
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import REGISTRY, Collector, CollectorRegistry

from aiokafka_lite.spark.listener import LagReport

_PREFIX: Final = "kafka_lite_stream"


class StreamMetrics(Collector):
    """A callback for `LagReporter`, and a collector of the reports of any number of queries.

    `registry` None: nothing is registered; the caller registers the object where it likes.
    """

    def __init__(self, registry: CollectorRegistry | None = REGISTRY) -> None:
        self._lock = Lock()
        self._newest: dict[str, LagReport] = {}
        self._batches: dict[str, int] = {}
        self._rows: dict[str, int] = {}
        self._bytes: dict[str, int] = {}
        self._seconds: dict[tuple[str, str], float] = {}
        if registry is not None:
            registry.register(self)

    def __call__(self, report: LagReport) -> None:
        """Take over the report of a batch."""
        query = report.query
        with self._lock:
            self._newest[query] = report
            self._batches[query] = self._batches.get(query, 0) + report.is_batch
            self._rows[query] = self._rows.get(query, 0) + report.rows
            if report.bytes is not None:
                self._bytes[query] = self._bytes.get(query, 0) + report.bytes
            for phase, seconds in report.seconds.items():
                self._seconds[query, phase] = self._seconds.get((query, phase), 0.0) + seconds

    def forget(self, query: str) -> None:
        """Drop the values of a query that has ended, given as reports name it."""
        with self._lock:
            for kept in (self._newest, self._batches, self._rows, self._bytes):
                kept.pop(query, None)
            for key in [each for each in self._seconds if each[0] == query]:
                del self._seconds[key]

    def describe(self) -> Iterable[Family]:
        """Return the families without values, so that registering reads nothing."""
        return list(self._families().values())

    def collect(self) -> Iterator[Family]:
        """Yield the families with their values now."""
        families = self._families()
        with self._lock:
            for query, report in self._newest.items():
                families["batch"].add_metric([query], report.batch)
                for tp, lag in report.lag.items():
                    families["lag"].add_metric([query, tp.topic, str(tp.partition)], lag)
            for name, found in (
                ("batches", self._batches),
                ("rows", self._rows),
                ("bytes", self._bytes),
            ):
                for query, value in found.items():
                    families[name].add_metric([query], value)
            for (query, phase), seconds in self._seconds.items():
                families["phase_seconds"].add_metric([query, phase], seconds)
        yield from families.values()

    def _families(self) -> dict[str, CounterMetricFamily | GaugeMetricFamily]:
        gauges = {
            "lag": (
                "Offsets between the end of a batch and the end of the log.",
                ["topic", "partition"],
            ),
            "batch": ("Number of the last batch.", []),
        }
        counters = {
            "batches": ("Batches that have ended.", []),
            "rows": ("Records that batches have read.", []),
            "bytes": ("Bytes of their keys and values, if observe_sizes() counts them.", []),
            "phase_seconds": ("Time of the parts of triggers, by Spark's names.", ["phase"]),
        }
        made: dict[str, CounterMetricFamily | GaugeMetricFamily] = {}
        for name, (text, labels) in gauges.items():
            made[name] = GaugeMetricFamily(f"{_PREFIX}_{name}", text, labels=["query", *labels])
        for name, (text, labels) in counters.items():
            made[name] = CounterMetricFamily(f"{_PREFIX}_{name}", text, labels=["query", *labels])
        return made


__all__ = ["StreamMetrics"]
