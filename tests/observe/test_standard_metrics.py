"""Clients in front of the embedded broker fill every metric of the standard set."""

import threading
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.errors import MessageSizeTooLargeError, NotLeaderForPartitionError
from aiokafka_lite.metrics.observed_client import ObservedClient
from aiokafka_lite.metrics.observer import Observer
from aiokafka_lite.observe import standard_metrics
from aiokafka_lite.observe.metric_store import MetricStore
from aiokafka_lite.observe.standard_metrics import (
    SETTLE_AT,
    RunningClients,
    StandardMetrics,
    gauges,
)
from aiokafka_lite.observe.standard_set import (
    DISCONNECTS,
    ERRORS,
    LAG,
    LEAD,
    QUEUE,
    RETRIED_RECORDS,
    RETURNED_RECORDS,
    SENT_RECORDS,
    SINCE_POLL,
    STANDARD_SET,
    THROTTLE,
    USED_BUFFER,
    Metric,
)
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import tps
from tests.scenarios.consuming import consumer_of, embedded, fill

(P0,) = tps(0)


class Keeper(Observer):
    """Keeps the values of all its clients in one store."""

    def __init__(self) -> None:
        self.store = MetricStore()
        self.clients: list[ObservedClient] = []
        self.running = RunningClients()

    def of_client(self, client: ObservedClient) -> Observer:
        self.clients.append(client)
        counting = StandardMetrics(client, self.store)
        self.running.add(counting)
        return counting

    def gauges(self) -> dict[tuple[Metric, tuple[str, ...]], float]:
        return {
            (metric, labels): value
            for client in self.clients
            for metric, value, labels in gauges(client)
        }

    def counter(self, wanted: Metric, *labels: str) -> float:
        self.running.settle()
        return sum(
            value
            for metric, found, value in self.store.counters()
            if metric is wanted and (not labels or found == labels)
        )


async def test_clients_fill_the_whole_standard_set() -> None:
    keeper = Keeper()
    clock = FakeClock(autojump_threshold_s=0.1)
    options: dict[str, Any] = {"observer": keeper, "clock": clock}
    async with embedded({"t": 1}) as broker:
        broker.faults.fail(ProduceRequest, NotLeaderForPartitionError)
        broker.faults.throttle(FetchRequest, 1)
        async with AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, linger_ms=60_000, **options
        ) as producer:
            for _ in range(3):
                await producer.send("t", b"v" * 100)
            assert keeper.gauges()[USED_BUFFER, ()] > 300
            await producer.flush()
            assert keeper.gauges()[USED_BUFFER, ()] == 0
            broker.create_topic("small", 1, configs={"max.message.bytes": "100"})
            ack = await producer.send("small", b"v" * 1000)
            await producer.flush()
            assert isinstance(ack.exception(), MessageSizeTooLargeError)
        assert keeper.counter(SENT_RECORDS, "t") == 3
        assert keeper.counter(RETRIED_RECORDS, "t") == 3
        assert keeper.counter(ERRORS, "produce", "NotLeaderForPartitionError") == 1
        assert keeper.counter(ERRORS, "produce", "MessageSizeTooLargeError") == 1
        (queued,) = [
            found
            for found in keeper.store.histograms()
            if found.metric is QUEUE and found.labels == ("t",)
        ]
        assert sum(queued.counts) == 2  # one for each attempt

        async with consumer_of(broker, "t", group_id="g", **options) as consumer:
            await consumer.getone()
            seen = keeper.gauges()
            assert seen[LAG, ("g", "t", "0")] == 2
            assert seen[LEAD, ("g", "t", "0")] == 1
            assert seen[SINCE_POLL, ("g",)] == 0
            await consumer.commit()
        assert keeper.counter(THROTTLE) == 0.001
    told = {found.metric.name for found in keeper.store.counters()}
    told |= {found.metric.name for found in keeper.store.histograms()}
    told |= {metric.name for metric, _ in seen}
    told |= {metric.name for metric in STANDARD_SET if "producer_buffer" in metric.name}
    missing = {metric.name for metric in STANDARD_SET} - told
    assert missing <= {
        DISCONNECTS.name,
        "kafka_producer_waiting_calls",
        "kafka_producer_unacknowledged_batches",
    }


def test_noted_events_become_values_by_themselves_after_some_time() -> None:
    keeper = Keeper()
    observer = keeper.of_client(ObservedClient("producer", "p", None, lambda: None))
    for number in range(SETTLE_AT):
        assert not list(keeper.store.counters())
        if number % 2:
            observer.batch_acknowledged(P0, 3, 100, 200, 0.5)
        else:
            observer.batch_sent(P0, 3, 0.25)
    told = {(found.metric.name, found.labels): found for found in keeper.store.histograms()}
    waits = told["kafka_producer_queue_seconds", ("t",)]
    assert (sum(waits.counts), waits.total) == (SETTLE_AT / 2, SETTLE_AT / 8)
    ratios = told["kafka_producer_compression_ratio", ("t",)]
    assert ratios.counts[4] == SETTLE_AT / 2
    assert keeper.counter(SENT_RECORDS) == 3 * SETTLE_AT / 2
    keeper.running.settle()
    assert keeper.counter(SENT_RECORDS) == 3 * SETTLE_AT / 2, "each event counts once"


class Interrupted(list[int]):
    """A list to which another thread appends between two steps of the one that takes from it."""

    def __getitem__(self, at: Any) -> Any:
        found = super().__getitem__(at)
        self.append(1)
        return found


def test_what_is_noted_while_a_thread_takes_is_kept_for_the_next_time() -> None:
    noted = Interrupted([1, 1])
    assert standard_metrics._taken(noted) == [1, 1]
    assert noted == [1]


@pytest.mark.parametrize("event", ["batch_sent", "request_answered", "fetched", "returned"])
def test_no_kind_of_event_is_noted_without_bound(event: str) -> None:
    keeper = Keeper()
    observer = keeper.of_client(ObservedClient("consumer", "c", "g", lambda: None))
    report = {
        "batch_sent": lambda: observer.batch_sent(P0, 1, 0.5),
        "request_answered": lambda: observer.request_answered(1, 3, 0.5, 100),
        "fetched": lambda: observer.records_fetched(1, 100),
        "returned": lambda: observer.records_returned(P0, 1),
    }[event]
    for _ in range(SETTLE_AT - 1):
        report()
    assert not [*keeper.store.counters(), *keeper.store.histograms()]
    report()
    assert [*keeper.store.counters(), *keeper.store.histograms()]


def test_events_count_once_while_other_threads_read() -> None:
    keeper = Keeper()
    observer = keeper.of_client(ObservedClient("consumer", "c", "g", lambda: None))
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            keeper.running.settle()

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(10_000):
        observer.records_returned(P0, 1)
    stop.set()
    for thread in threads:
        thread.join()
    assert keeper.counter(RETURNED_RECORDS, "g", "t") == 10_000


async def test_a_connection_that_is_lost_is_counted_and_one_that_is_closed_is_not() -> None:
    keeper = Keeper()
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 1)
        broker.faults.cut(FetchRequest)
        clock = FakeClock(autojump_threshold_s=0.1)  # of the pause before the next connection
        async with consumer_of(broker, "t", observer=keeper, clock=clock) as consumer:
            await consumer.getone()
            assert keeper.counter(DISCONNECTS) == 1
            assert keeper.counter(ERRORS, "fetch", "KafkaConnectionError") == 1
    assert keeper.counter(DISCONNECTS) == 1
