"""What Prometheus scrapes of the queries whose reports it was told."""

import pytest

from tests.conftest import NO_SPARK

pytest.importorskip("pyspark", reason=NO_SPARK)

from prometheus_client import CollectorRegistry, generate_latest

from aiokafka_lite.spark.listener import LagReport
from aiokafka_lite.spark.prometheus import StreamMetrics
from tests.spark.support.topics import T0, T1


def scraped(registry: CollectorRegistry) -> set[str]:
    lines = generate_latest(registry).decode().splitlines()
    return {line.removeprefix("kafka_lite_stream_") for line in lines if line[0] != "#"}


def test_lag_is_that_of_the_last_batch_and_the_rest_adds_up() -> None:
    registry = CollectorRegistry()
    metrics = StreamMetrics(registry)
    first = {"addBatch": 1.5, "latestOffset": 0.5}
    metrics(LagReport(query="q", batch=0, lag={T0: 9, T1: 4}, rows=5, bytes=10, seconds=first))
    metrics(LagReport(query="q", batch=1, lag={T0: 3, T1: 0}, rows=2, seconds={"addBatch": 1.0}))
    metrics(LagReport(query="q", batch=2, lag={T0: 3, T1: 1}))  # idle
    metrics(LagReport(query="other", batch=7, lag={T0: 1}))
    assert scraped(registry) == {
        'lag{partition="0",query="q",topic="t"} 3.0',
        'lag{partition="1",query="q",topic="t"} 1.0',
        'lag{partition="0",query="other",topic="t"} 1.0',
        'batch{query="q"} 2.0',
        'batch{query="other"} 7.0',
        'batches_total{query="q"} 2.0',
        'batches_total{query="other"} 0.0',
        'rows_total{query="q"} 7.0',
        'rows_total{query="other"} 0.0',
        'bytes_total{query="q"} 10.0',
        'phase_seconds_total{phase="addBatch",query="q"} 2.5',
        'phase_seconds_total{phase="latestOffset",query="q"} 0.5',
    }
    metrics.forget("q")
    metrics.forget("unknown")
    assert scraped(registry) == {
        'lag{partition="0",query="other",topic="t"} 1.0',
        'batch{query="other"} 7.0',
        'batches_total{query="other"} 0.0',
        'rows_total{query="other"} 0.0',
    }


def test_the_caller_may_register_it() -> None:
    metrics = StreamMetrics(None)
    registry = CollectorRegistry()
    registry.register(metrics)
    metrics(LagReport(query="q", batch=0, lag={}))
    assert 'batch{query="q"} 0.0' in scraped(registry)
