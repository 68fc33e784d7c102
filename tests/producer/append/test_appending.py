from aiokafka_lite.producer.append.appending import Appending
from tests.producer.batches import Shelf, make_batch


def test_a_record_without_an_open_batch_is_not_placed() -> None:
    record = Appending(Shelf().queue(), None, 5, None, b"v", (), 0.0)
    assert record.place_in_open() is None


def test_a_record_is_placed_in_the_open_batch_of_its_queue() -> None:
    shelf = Shelf()
    batch = shelf.append(b"first")
    ack = Appending(shelf.queue(), None, 5, b"key", None, (), 0.0).place_in_open()
    assert ack is not None
    assert ack._batch_and_index == (batch, 1)
    assert ack.timestamp_ms == 5
    assert (ack.serialized_key_size, ack.serialized_value_size) == (3, -1)


def test_a_record_that_does_not_fit_stays_out() -> None:
    """A batch without room for a record is left as it is (C5)."""
    batch = make_batch(1, closed=False)
    record = Appending(Shelf().queue(), None, 5, None, b"v" * 2000, (), 0.0)
    assert record.place_in(batch) is None
    assert batch.next_index == 1
