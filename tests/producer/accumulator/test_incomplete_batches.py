from aiokafka_lite.producer.accumulator.incomplete_batches import IncompleteBatches
from tests.producer.batches import make_batch


def test_batches_are_counted_until_they_have_an_outcome() -> None:
    incomplete = IncompleteBatches(30.0)
    first, second = make_batch(), make_batch()
    incomplete.add(first)
    incomplete.add(second)
    assert incomplete.batches == [first, second]
    assert incomplete.remove(first)
    assert not incomplete.remove(first)
    assert list(incomplete) == [second]
    assert len(incomplete) == 1


def test_pieces_stand_where_their_batch_stood() -> None:
    """The pieces of a split batch take its place among the older and the newer ones (2d-14)."""
    incomplete = IncompleteBatches(30.0)
    before, batch, after = make_batch(), make_batch(2), make_batch()
    for each in (before, batch, after):
        incomplete.add(each)
    pieces = [make_batch(), make_batch()]
    incomplete.replace(batch, pieces)
    assert incomplete.batches == [before, *pieces, after]


def test_a_batch_expires_after_the_delivery_timeout() -> None:
    """A batch expires `delivery_timeout_ms` after it was created (2d-13)."""
    incomplete = IncompleteBatches(30.0)
    assert incomplete.next_expiry_s is None
    assert list(incomplete.expired(1000.0)) == []
    batches = [make_batch(created_s=created_s) for created_s in (5.0, 6.0, 7.0)]
    for batch in batches:
        incomplete.add(batch)
    assert incomplete.next_expiry_s == 35.0
    assert list(incomplete.expired(34.9)) == []
    assert list(incomplete.expired(36.0)) == batches[:2]


def test_batches_may_be_removed_while_those_that_expired_are_looked_at() -> None:
    incomplete = IncompleteBatches(30.0)
    batches = [make_batch() for _ in range(3)]
    for batch in batches:
        incomplete.add(batch)
    for batch in incomplete.expired(31.0):
        assert incomplete.remove(batch)
    assert not incomplete


def test_a_flush_waits_for_the_batches_before_it() -> None:
    """Flushes may overlap; every batch is due until the last one ends (2d-21)."""
    incomplete = IncompleteBatches(30.0)
    batch = make_batch()
    incomplete.add(batch)
    assert not incomplete.is_flushing
    assert incomplete.begin_flush() == [batch]
    incomplete.add(make_batch())
    incomplete.begin_flush()
    incomplete.end_flush()
    assert incomplete.is_flushing
    incomplete.end_flush()
    assert not incomplete.is_flushing
