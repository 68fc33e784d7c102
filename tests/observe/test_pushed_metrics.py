"""Which metrics are pushed, under which names, and what a broker is told of a sum."""

from typing import Any

import pytest

from aiokafka_lite.metrics.counters import Counters
from aiokafka_lite.metrics.observed_client import ClientKind, ObservedClient
from aiokafka_lite.metrics.statistics import ConsumerStatistics, ProducerStatistics
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


def test_the_rate_of_compression_is_that_of_records() -> None:
    """Without the header of 61 bytes, which no codec makes smaller, as in Java."""
    counters = Counters()
    statistics = ProducerStatistics(counters.network(), 0, 0, 0, 0, 0, 0, 0)
    client = ObservedClient("producer", "me", None, lambda: statistics)
    metrics = PushedMetrics(client, counters, 0.0)
    counters.add(metrics)
    counters.batch_acknowledged(P0, 5, 61 + 50, 61 + 200, 0.1)
    counters.batch_acknowledged(P0, 5, 61 + 100, 61 + 100, 0.1)
    counters.batch_acknowledged(P0, 5, 61, 0, 0.1)  # not known
    assert values(metrics, 10.0)["producer.compression.rate.avg"] == pytest.approx(0.625)


def test_bytes_are_those_of_records_and_belong_to_responses_and_topics() -> None:
    """What is fetched has codecs and headers of batches, which Java does not count."""
    network = Counters().network()
    nothing: Any = ((), (), (), 0, {}, {}, None, 0.0, frozenset[int](), network, 0, 0, 0, 0, 0)
    statistics = ConsumerStatistics(*nothing)
    counters = Counters()
    client = ObservedClient("consumer", "me", None, lambda: statistics)
    metrics = PushedMetrics(client, counters, 0.0)
    counters.records_read(P0, 7, 1, 4.0)  # before anybody listens
    counters.add(metrics)
    counters.records_fetched(1, 5_000)
    for tp, size, node_id, at_s in (
        (P0, 100, 1, 5.0),
        (TopicPartition("u", 0), 30, 1, 5.0),
        (P0, 1_000, 2, 5.0),  # of another node
        (P0, 50, 1, 5.0),
        (P0, 10, 1, 6.0),  # the next response
    ):
        counters.records_read(tp, size, node_id, at_s)

    def read(now_s: float) -> dict[tuple[str, str], float]:
        fetches = "org.apache.kafka.consumer.fetch.manager."
        return {
            (each.name.removeprefix(fetches), dict(each.labels).get("topic", "")): each.value
            for each in metrics.read(now_s)
        }

    found = read(10.0)
    total = {topic: found["bytes.consumed.total", topic] for topic in ("", "t", "u")}
    assert total == {"": 1_197, "t": 1_167, "u": 30}
    assert found["fetch.size.max", ""] == found["fetch.size.max", "t"] == 1_000
    assert found["fetch.size.avg", ""] == pytest.approx((180 + 1_000 + 10) / 3)
    assert found["fetch.size.avg", "t"] == pytest.approx((150 + 1_000 + 10) / 3)
    assert found["fetch.size.avg", "u"] == 30
    later = read(20.0)
    assert later["bytes.consumed.total", ""] == 1_197
    assert ("fetch.size.max", "") not in later
