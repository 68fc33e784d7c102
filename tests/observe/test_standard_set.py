"""The declarations of metrics keep the rules of Prometheus, and agree with the page for users."""

import re

from aiokafka_lite.observe.standard_set import STANDARD_SET
from tests.support.documents import OBSERVABILITY


def test_names_end_with_their_unit_and_counters_with_total() -> None:
    for metric in STANDARD_SET:
        assert metric.name.endswith("_total") == (metric.kind == "counter"), metric.name
        assert bool(metric.buckets) == (metric.kind == "histogram")
        assert list(metric.buckets) == sorted(set(metric.buckets))
        name = metric.name.removesuffix("_total")
        if metric.unit == "s":
            assert name.endswith("_seconds")
        if metric.unit == "By":
            assert "_bytes" in name
    assert len({metric.name for metric in STANDARD_SET}) == len(STANDARD_SET)


def test_the_page_has_a_row_for_each_metric() -> None:
    row = r"^\| `(kafka_\w+)` \| (\w+) \| ([^|]+) \| ([^|]*) \| ([^|]+) \|$"
    rows = re.findall(row, OBSERVABILITY.read_text(), re.MULTILINE)
    assert [(name, kind, unit, text) for name, kind, unit, _, text in rows] == [
        (metric.name, metric.kind, metric.unit, metric.text) for metric in STANDARD_SET
    ]
    assert [re.findall(r"`(\w+)`", labels) for _, _, _, labels, _ in rows] == [
        list(metric.labels) for metric in STANDARD_SET
    ]
