"""Open and aborted transactions of a partition (E1, E2)."""

from aiokafka_lite.testing.broker.state.log.transaction_index import TransactionIndex


def test_first_unstable_offset_is_that_of_the_oldest_open_transaction() -> None:
    index = TransactionIndex()
    assert index.first_unstable_offset() is None
    index.append_data(7, 10)
    index.append_data(8, 12)
    index.append_data(7, 15)
    assert index.first_unstable_offset() == 10
    index.append_marker(7, 20, is_commit=True)
    assert index.first_unstable_offset() == 12


def test_only_aborted_transactions_that_meet_the_range_are_listed() -> None:
    index = TransactionIndex()
    for first, last in ((0, 4), (10, 14), (20, 24)):
        index.append_data(7, first)
        index.append_marker(7, last, is_commit=False)
    index.append_data(7, 30)
    index.append_marker(7, 34, is_commit=True)
    assert index.aborted_between(4, 10) == [(7, 0)]
    assert index.aborted_between(5, 21) == [(7, 10), (7, 20)]
    assert index.aborted_between(25, 99) == []


def test_a_marker_without_an_open_transaction_aborts_nothing() -> None:
    index = TransactionIndex()
    index.append_marker(7, 3, is_commit=False)
    assert index.aborted_between(0, 99) == []


def test_transactions_below_the_start_of_the_log_are_forgotten() -> None:
    index = TransactionIndex()
    for first, last in ((0, 4), (10, 14)):
        index.append_data(7, first)
        index.append_marker(7, last, is_commit=False)
    index.drop_before(5)
    assert index.aborted_between(0, 99) == [(7, 10)]


def test_what_was_cut_off_the_end_of_the_log_is_forgotten() -> None:
    index = TransactionIndex()
    index.append_data(7, 0)
    index.append_marker(7, 4, is_commit=False)
    index.append_data(8, 3)
    index.append_data(9, 6)
    index.drop_from(4)
    assert index.aborted_between(0, 99) == []
    assert index.first_unstable_offset() == 0, "its marker is gone"
    index.drop_from(3)
    index.append_marker(7, 3, is_commit=True)
    assert index.first_unstable_offset() is None


def test_a_transaction_is_open_from_its_first_batch_to_its_marker() -> None:
    index = TransactionIndex()
    assert not index.is_open(7)
    index.append_data(7, 0)
    assert (index.is_open(7), index.is_open(8)) == (True, False)
    index.append_marker(7, 1, is_commit=True)
    assert not index.is_open(7)


def test_the_start_of_an_open_transaction() -> None:
    index = TransactionIndex()
    index.append_data(7, 3)
    index.append_data(7, 5)
    assert (index.start_of(7), index.start_of(8)) == (3, None)
    index.append_marker(7, 6, is_commit=True)
    assert index.start_of(7) is None
