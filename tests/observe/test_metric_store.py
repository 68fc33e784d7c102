"""The store adds up counters, and puts values into buckets as Prometheus counts them."""

from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.observe.metric_store import MetricStore
from aiokafka_lite.observe.standard_set import BATCH_RECORDS, SENT_RECORDS


def test_counters_add_up_for_each_set_of_labels() -> None:
    store = MetricStore()
    for topic, records in (("a", 2), ("b", 5), ("a", 3)):
        store.add(SENT_RECORDS, records, topic)
    assert list(store.counters()) == [(SENT_RECORDS, ("a",), 5), (SENT_RECORDS, ("b",), 5)]


def test_a_value_on_a_bound_belongs_to_the_bucket_below_it() -> None:
    store = MetricStore()
    for value in (1.0, 1.5, 5.0, 1e9):
        store.record(BATCH_RECORDS, value, "a")
    (found,) = store.histograms()
    assert found.counts[:3] == (1, 2, 0)
    assert found.counts[-1] == 1
    assert len(found.counts) == len(BATCH_RECORDS.buckets) + 1
    assert (found.metric, found.labels, found.total) == (BATCH_RECORDS, ("a",), 1e9 + 7.5)
    assert (found.least, found.most) == (1.0, 1e9)


@given(st.lists(st.sampled_from([0, *BATCH_RECORDS.buckets, 3.5, 1e9]), min_size=1, max_size=60))
def test_many_values_at_once_count_as_one_by_one(values: list[float]) -> None:
    together, alone = MetricStore(), MetricStore()
    together.record_all(BATCH_RECORDS, values, "a")
    for value in values:
        alone.record(BATCH_RECORDS, value, "a")
    (found,), (expected,) = together.histograms(), alone.histograms()
    assert (found.counts, found.least, found.most) == (
        expected.counts,
        expected.least,
        expected.most,
    )
    assert abs(found.total - expected.total) <= 1e-9 * expected.total
