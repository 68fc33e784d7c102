"""Owns the values of counters and histograms between two readings, as plain numbers.

Any thread may write and read; a lock makes each writing whole.
"""

import threading
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from math import inf
from typing import NamedTuple

from aiokafka_lite.observe.standard_set import Metric


class _Distribution:
    """The values that a histogram has counted."""

    __slots__ = ("counts", "least", "most", "total")

    def __init__(self, buckets: int) -> None:
        self.counts = [0] * (buckets + 1)
        """How many values fell into each bucket; the last one has no upper bound."""
        self.total = 0.0
        """The sum of the values."""
        self.least = inf
        self.most = -inf

    def count(self, values: Sequence[float], bounds: Sequence[float]) -> None:
        """Count values, at least one. A bucket has those up to its bound.

        Where there are more values than bounds, each bound is looked up among the sorted values:
        a third of the cost.
        """
        ordered = sorted(values)
        if len(ordered) < len(bounds):
            for value in ordered:
                self.counts[bisect_left(bounds, value)] += 1
        else:
            counted = 0
            for bucket, bound in enumerate(bounds):
                below = bisect_right(ordered, bound, counted)
                self.counts[bucket] += below - counted
                counted = below
            self.counts[-1] += len(ordered) - counted
        self.total += sum(ordered)
        self.least = min(self.least, ordered[0])
        self.most = max(self.most, ordered[-1])


class CounterValue(NamedTuple):
    """The value of a counter."""

    metric: Metric
    labels: tuple[str, ...]
    value: float


class HistogramValue(NamedTuple):
    """The values of a histogram."""

    metric: Metric
    labels: tuple[str, ...]
    counts: tuple[int, ...]
    """How many values fell into each bucket, the infinite one last."""
    total: float
    least: float
    """The least of the values."""
    most: float
    """The greatest of the values."""


class MetricStore:
    """A sink of `StandardMetrics` that keeps the values of the clients with one `client_id`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counters: dict[tuple[Metric, tuple[str, ...]], float] = {}
        self._histograms: dict[tuple[Metric, tuple[str, ...]], _Distribution] = {}

    def add(self, metric: Metric, amount: float, *labels: str) -> None:
        """Raise a counter."""
        key = (metric, labels)
        with self._lock:
            self._counters[key] = self._counters.get(key, 0) + amount

    def record(self, metric: Metric, value: float, *labels: str) -> None:
        """Count a value in a histogram."""
        self.record_all(metric, (value,), *labels)

    def record_all(self, metric: Metric, values: Sequence[float], *labels: str) -> None:
        """Count values, at least one, in a histogram."""
        key, bounds = (metric, labels), metric.buckets
        with self._lock:
            found = self._histograms.get(key)
            if found is None:
                found = self._histograms[key] = _Distribution(len(bounds))
            found.count(values, bounds)

    def counters(self) -> Iterator[CounterValue]:
        """Yield the counters."""
        for (metric, labels), value in self._counters.copy().items():
            yield CounterValue(metric, labels, value)

    def histograms(self) -> Iterator[HistogramValue]:
        """Yield the histograms."""
        for (metric, labels), found in self._histograms.copy().items():
            with self._lock:
                counts, total = tuple(found.counts), found.total
                yielded = HistogramValue(metric, labels, counts, total, found.least, found.most)
            yield yielded


__all__ = ["CounterValue", "HistogramValue", "MetricStore"]
