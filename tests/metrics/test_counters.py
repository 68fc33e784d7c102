"""Counters add up what an observer hears; the tests of `statistics()` see them in a client."""

import inspect
from collections.abc import Callable

import pytest

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.metrics.counters import Counters, WorkCounts
from aiokafka_lite.metrics.observer import Observer
from aiokafka_lite.metrics.statistics import NetworkStatistics
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka


def test_events_are_counted_and_their_sizes_summed_up() -> None:
    counters = Counters()
    counters.connected(1, 0.25)
    for size in (100, 50):
        counters.request_answered(1, 0, 0.25, size)
        counters.batch_acknowledged(TopicPartition("t", 0), 3, size, 2 * size, 0.5)
        counters.throttled(1, 0.125)
        counters.records_fetched(1, size)
        counters.rebalanced(7, 2, 0.5)
        counters.committed(2, 0.5)
    assert counters.network() == NetworkStatistics(1, 2, 150, 0.5, 0.25, 0, 0)
    assert (counters.acknowledged_batches, counters.acknowledged_records) == (2, 6)
    assert counters.acknowledged_bytes == 150
    assert (counters.fetches, counters.fetched_bytes) == (2, 150)
    assert (counters.rebalances, counters.commits) == (2, 2)


def test_a_value_that_was_taken_does_not_change() -> None:
    counters = Counters()
    taken = counters.network()
    counters.connected(1, 0.25)
    assert taken == NetworkStatistics(0, 0, 0, 0.0, 0.0, 0, 0)


class Listener(Observer):
    """Writes down the events it is told of, and raises at one of them."""

    def __init__(self, raises_at: str = "") -> None:
        self.heard: list[str] = []
        self._raises_at = raises_at

    def throttled(self, node_id: int, throttle_s: float) -> None:
        self._hear("throttled")

    def connected(self, node_id: int, took_s: float) -> None:
        self._hear("connected")

    def closed(self) -> None:
        self._hear("closed")

    def _hear(self, event: str) -> None:
        self.heard.append(event)
        if event == self._raises_at:
            raise ValueError("not today")


def test_an_observer_that_raises_hears_no_more_and_the_others_do(
    caplog: pytest.LogCaptureFixture,
) -> None:
    counters = Counters()
    broken, sound = Listener(raises_at="throttled"), Listener()
    for each in (broken, sound):
        counters.observe(each, "consumer", "me", "g")
    counters.throttled(1, 0.5)
    counters.connected(1, 0.5)
    assert (broken.heard, sound.heard) == (["throttled"], ["throttled", "connected"])
    (record,) = caplog.records
    assert "hears no more of this client" in record.message
    assert counters.is_heard
    counters.remove(sound)
    assert not counters.is_heard


def test_the_end_is_told_once() -> None:
    counters, listener = Counters(), Listener()
    counters.add(listener)
    counters.closed()
    counters.closed()
    counters.connected(1, 0.5)
    assert listener.heard == ["closed"]


def test_every_event_is_passed_on() -> None:
    """An event that the counters forget to pass on reaches no observer."""
    events = {
        name: method
        for name, method in vars(Observer).items()
        if inspect.isfunction(method) and name != "of_client" and not name.startswith("__")
    }
    told: list[tuple[str, tuple[object, ...]]] = []

    def note(name: str) -> Callable[..., None]:
        return lambda _self, *about: told.append((name, about))

    notebook = type("Notebook", (Observer,), {name: note(name) for name in events})
    for name, method in events.items():
        counters = Counters()
        counters.add(notebook())
        about = tuple(range(1, len(inspect.signature(method).parameters)))
        getattr(counters, name)(*about)
        assert told.pop() == (name, about)
        assert not told


def test_responses_and_batches_are_added_up() -> None:
    counts = WorkCounts()
    for size in (100, 2**33):
        counts.response_counted(0.25, size)
        counts.batches_counted(4, 100, size)
    assert (counts.responses, counts.response_bytes) == (2, 2**33 + 100)
    assert counts.response_time_s == 0.5
    assert (counts.acknowledged_batches, counts.acknowledged_records) == (8, 200)
    assert counts.acknowledged_bytes == 2**33 + 100


class SizeListener(Observer):
    """Adds up the sizes that it hears of."""

    def __init__(self) -> None:
        self.responses = self.response_bytes = 0

    def request_answered(self, node_id: int, api_key: int, took_s: float, size: int) -> None:
        self.responses += 1
        self.response_bytes += size


def test_responses_are_counted_alike_with_and_without_an_observer() -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("orders")
        counted = []
        for listener in (SizeListener(), None):
            producer = AIOKafkaProducer(**kafka.client_options, observer=listener)
            async with producer:
                before = producer.statistics().network
                heard = (listener.responses, listener.response_bytes) if listener else (0, 0)
                for _ in range(3):
                    await producer.send_and_wait("orders", b"v", partition=0)
                after = producer.statistics().network
                counted.append(
                    (
                        after.responses - before.responses,
                        after.response_bytes - before.response_bytes,
                    )
                )
                if listener is not None:
                    told = (listener.responses - heard[0], listener.response_bytes - heard[1])
                    assert counted == [told]
        assert counted[0][0] > 0
        assert counted[0][1] > 0

    run_virtual_kafka(main)
