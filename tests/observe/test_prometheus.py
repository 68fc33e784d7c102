"""What Prometheus scrapes: the metrics of all clients, whether they run or have ended."""

import threading

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.observe.prometheus import PrometheusMetrics
from aiokafka_lite.observe.standard_set import STANDARD_SET
from tests.consumer.batches import tps
from tests.scenarios.consuming import consumer_of, embedded, fill

(P0,) = tps(0)


def scraped(registry: CollectorRegistry) -> dict[str, float]:
    """Return the samples by name and labels, in the words of the text format."""
    samples = {}
    for family in text_string_to_metric_families(generate_latest(registry).decode()):
        for sample in family.samples:
            labels = ",".join(f"{name}={value}" for name, value in sample.labels.items())
            samples[f"{sample.name}{{{labels}}}"] = sample.value
    return samples


async def test_a_scrape_has_counters_histograms_and_gauges() -> None:
    registry = CollectorRegistry()
    metrics = PrometheusMetrics(registry)
    assert scraped(registry) == {}
    async with embedded({"t": 1}) as broker:
        async with AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, client_id="p", observer=metrics
        ) as producer:
            for _ in range(3):
                await producer.send_and_wait("t", b"value")
            running = scraped(registry)
        assert running["kafka_producer_records_total{client_id=p,topic=t}"] == 3
        assert running["kafka_producer_batch_records_count{client_id=p,topic=t}"] == 3
        assert running["kafka_producer_batch_records_bucket{client_id=p,le=1,topic=t}"] == 3
        assert running["kafka_client_connections{client_id=p}"] >= 1
        assert running["kafka_client_request_seconds_count{api=Produce,client_id=p,node_id=1}"] == 3
        ended = scraped(registry)
        assert ended["kafka_producer_records_total{client_id=p,topic=t}"] == 3
        assert "kafka_client_connections{client_id=p}" not in ended


async def test_another_thread_scrapes_while_the_client_works() -> None:
    registry = CollectorRegistry()
    metrics = PrometheusMetrics(registry)
    found: list[dict[str, float]] = []
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 5)
        async with consumer_of(
            broker, "t", group_id="g", client_id="c", observer=metrics
        ) as consumer:
            await consumer.getone()
            thread = threading.Thread(target=lambda: found.append(scraped(registry)))
            thread.start()
            thread.join()
    (scrape,) = found
    assert scrape["kafka_consumer_lag{client_id=c,group=g,partition=0,topic=t}"] == 4
    assert scrape["kafka_consumer_assigned_partitions{client_id=c,group=g}"] == 1


async def test_clients_with_one_name_count_together() -> None:
    registry = CollectorRegistry()
    metrics = PrometheusMetrics(registry)
    async with embedded({"t": 1}) as broker:
        for _ in range(2):
            async with AIOKafkaProducer(
                bootstrap_servers=broker.bootstrap_servers, client_id="p", observer=metrics
            ) as producer:
                await producer.send_and_wait("t", b"value")
    assert scraped(registry)["kafka_producer_records_total{client_id=p,topic=t}"] == 2


def test_the_families_are_described_without_values() -> None:
    metrics = PrometheusMetrics(None)
    described = {family.name for family in metrics.describe()}
    assert described == {metric.name.removesuffix("_total") for metric in STANDARD_SET}
    assert list(metrics.collect()) == []
