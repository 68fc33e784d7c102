"""Reads Spark's report of a batch, the JSON of its progress. Does not wait."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

COUNTED: Final = "kafka-lite counted"
"""The name of an observation whose metric `rows` is the number of records, where the rows of a
source stand for several records each."""
SIZES: Final = "kafka-lite sizes"
"""The name of an observation whose metric `bytes` is the size of the records."""


_OFFSETS: Final = ("startOffset", "endOffset", "latestOffset")


def read_report(text: str) -> dict[str, Any]:
    """Return a report from its JSON, in the form that a classic session gives it.

    Over Spark Connect offsets are texts, and observed metrics have their names in a schema.
    """
    report: dict[str, Any] = json.loads(text)
    for source in report.get("sources", ()):
        for name in _OFFSETS:
            if isinstance(source.get(name), str):
                with suppress(ValueError):  # another source's, which has its own form
                    source[name] = json.loads(source[name])
    observed = report.get("observedMetrics") or {}
    report["observedMetrics"] = {name: _by_name(metrics) for name, metrics in observed.items()}
    return report


def _by_name(metrics: Mapping[str, Any]) -> Mapping[str, Any]:
    if metrics.keys() != {"values", "schema"} or not isinstance(metrics["schema"], dict):
        return metrics
    names = [field["name"] for field in metrics["schema"]["fields"]]
    return dict(zip(names, metrics["values"], strict=True))


def rows_of(report: Mapping[str, Any]) -> int:
    """Return how many records the batch of a report has read."""
    counted = (report.get("observedMetrics") or {}).get(COUNTED)
    if counted is not None:
        return int(counted.get("rows") or 0)
    # Spark Connect has the rows of each source, and no sum of them.
    return sum(int(each.get("numInputRows") or 0) for each in report["sources"])


def rows_per_s(report: Mapping[str, Any]) -> float:
    """Return how many records a second the batch of a report has read."""
    if COUNTED not in (report.get("observedMetrics") or {}):
        return float(report.get("processedRowsPerSecond") or 0.0)
    taken_ms = report["durationMs"].get("triggerExecution") or 0
    return rows_of(report) * 1000 / taken_ms if taken_ms else 0.0


def bytes_of(report: Mapping[str, Any]) -> int | None:
    """Return the bytes of keys and values; None if nothing observes them."""
    sizes = (report.get("observedMetrics") or {}).get(SIZES)
    return None if sizes is None else int(sizes.get("bytes") or 0)


def seconds_of(report: Mapping[str, Any]) -> dict[str, float]:
    """Return how long the parts of a trigger took, by Spark's names for them."""
    return {name: ms / 1000 for name, ms in (report.get("durationMs") or {}).items()}


__all__ = [
    "COUNTED",
    "SIZES",
    "bytes_of",
    "read_report",
    "rows_of",
    "rows_per_s",
    "seconds_of",
]
