"""Metrics become a message of OpenTelemetry's protocol that another reader understands."""

import pytest

from aiokafka_lite.observe.otlp_metrics import MetricPoint, encode_metrics
from tests.support.otlp import read_metrics

NOW_S = 1_700_000_000.25


@pytest.mark.parametrize("is_delta", [True, False])
def test_gauges_and_sums_keep_values_labels_and_times(is_delta: bool) -> None:
    long = "ä" * 200  # its length needs two bytes
    points = [
        MetricPoint("a.gauge", -1.5, (("topic", long),)),
        MetricPoint("a.sum", 7, (("topic", "t"), ("partition", "0")), NOW_S - 10),
        MetricPoint("a.sum", 8, (), NOW_S - 20),
    ]
    message = encode_metrics(
        points, resource={"group_id": "g"}, scope=("lib", "1"), now_s=NOW_S, is_delta=is_delta
    )
    pushed = read_metrics(message)
    assert (pushed.resource, pushed.scope) == ({"group_id": "g"}, ("lib", "1"))
    (gauge,) = pushed.points["a.gauge"]
    assert (gauge.value, gauge.labels, gauge.kind) == (-1.5, {"topic": long}, "gauge")
    assert (gauge.at_s, gauge.since_s) == (NOW_S, None)
    first, second = pushed.points["a.sum"]
    assert (first.value, first.labels) == (7, {"topic": "t", "partition": "0"})
    assert (first.at_s, first.since_s) == (NOW_S, NOW_S - 10)
    assert (second.value, second.labels, second.since_s) == (8, {}, NOW_S - 20)
    assert first.kind == second.kind == ("delta" if is_delta else "cumulative")


def test_no_points_are_an_empty_message() -> None:
    assert encode_metrics([], resource={}, scope=("", ""), now_s=0, is_delta=True) == b""
