"""Counters add up what an observer hears; the tests of `statistics()` see them in a client."""

from aiokafka_lite.metrics.counters import Counters
from aiokafka_lite.metrics.statistics import NetworkStatistics
from aiokafka_lite.model import TopicPartition


def test_events_are_counted_and_their_sizes_summed_up() -> None:
    counters = Counters()
    counters.connected(1, 0.25)
    for size in (100, 50):
        counters.request_answered(1, 0, 0.25, size)
        counters.batch_acknowledged(TopicPartition("t", 0), 3, size)
        counters.records_fetched(1, size)
        counters.rebalanced(7, 2)
        counters.committed(2)
    assert counters.network() == NetworkStatistics(1, 2, 150, 0.5)
    assert (counters.acknowledged_batches, counters.acknowledged_records) == (2, 6)
    assert counters.acknowledged_bytes == 150
    assert (counters.fetches, counters.fetched_bytes) == (2, 150)
    assert (counters.rebalances, counters.commits) == (2, 2)


def test_a_value_that_was_taken_does_not_change() -> None:
    counters = Counters()
    taken = counters.network()
    counters.connected(1, 0.25)
    assert taken == NetworkStatistics(0, 0, 0, 0.0)
