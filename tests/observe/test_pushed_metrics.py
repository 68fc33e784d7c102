"""Which metrics are pushed, under which names, and what a broker is told of a sum."""

import pytest

from aiokafka_lite.metrics.counters import Counters
from aiokafka_lite.metrics.observed_client import ClientKind, ObservedClient
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.observe.pushed_metrics import PushedMetrics, Reading, SumLedger

P0 = TopicPartition("t", 0)


def heard(kind: ClientKind) -> tuple[PushedMetrics, Counters]:
    counters = Counters()
    client = ObservedClient(kind, "me", None, lambda: None)
    metrics = PushedMetrics(client, counters, 0.0)
    counters.add(metrics)
    return metrics, counters


def values(metrics: PushedMetrics, now_s: float) -> dict[str, float]:
    return {each.name.removeprefix("org.apache.kafka."): each.value for each in metrics.read(now_s)}


def test_times_are_milliseconds_and_belong_to_the_time_since_the_reading_before() -> None:
    metrics, counters = heard("producer")
    counters.connected(1, 0.1)
    counters.request_answered(1, 0, 0.010, 50)
    counters.request_answered(1, 0, 0.030, 50)
    counters.batch_sent(P0, 5, 0.004)
    counters.throttled(1, 0.5)
    read = values(metrics, 10.0)
    assert read["producer.node.request.latency.avg"] == pytest.approx(20)
    assert read["producer.node.request.latency.max"] == pytest.approx(30)
    assert read["producer.record.queue.time.max"] == pytest.approx(4)
    assert read["producer.produce.throttle.time.avg"] == pytest.approx(250), "of two requests"
    assert read["producer.produce.throttle.time.max"] == pytest.approx(500)
    assert read["producer.connection.creation.rate"] == pytest.approx(0.1)
    assert read["producer.connection.creation.total"] == 1
    again = values(metrics, 20.0)
    assert again["producer.connection.creation.total"] == 1
    assert again["producer.connection.creation.rate"] == 0
    assert "producer.node.request.latency.avg" not in again, "nothing was answered"


def test_the_required_metrics_come_first() -> None:
    metrics, counters = heard("consumer")
    counters.request_answered(1, 1, 0.5, 50)
    counters.committed(1, 0.002)
    counters.rebalanced(1, 1, 3.0)
    names = [each.name.removeprefix("org.apache.kafka.consumer.") for each in metrics.read(1.0)]
    assert names[:12] == [
        "connection.creation.rate",
        "connection.creation.total",
        "node.request.latency.avg",
        "node.request.latency.max",
        "coordinator.commit.latency.avg",
        "coordinator.commit.latency.max",
        "coordinator.rebalance.latency.avg",
        "coordinator.rebalance.latency.max",
        "coordinator.rebalance.latency.total",
        "fetch.manager.fetch.latency.avg",
        "fetch.manager.fetch.latency.max",
        "response.total",
    ]


def test_a_ledger_tells_differences_of_what_it_has_told() -> None:
    ledger = SumLedger(100.0)
    readings = [Reading("sum", 5, True), Reading("other", 7, True), Reading("gauge", 3)]
    points = ledger.points(readings, lambda _: True, is_delta=True)
    assert [(each.value, each.since_s) for each in points] == [(5, 100), (7, 100), (3, None)]
    ledger.tell(readings, points[:1], 110.0)  # the others did not fit
    later = [Reading("sum", 6, True), Reading("other", 9, True), Reading("gauge", 4)]
    points = ledger.points(later, lambda _: True, is_delta=True)
    assert [(each.value, each.since_s) for each in points] == [(1, 110), (9, 100), (4, None)]
    points = ledger.points(later, lambda name: name == "sum", is_delta=False)
    assert [(each.value, each.since_s) for each in points] == [(6, 100)]
