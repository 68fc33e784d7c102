"""Tests of `record/cursor/aborted_transactions.py`."""

import pytest

from aiokafka_lite.record.batch_header import TRANSACTIONAL, BatchHeader
from aiokafka_lite.record.control_record import ControlRecordType
from aiokafka_lite.record.cursor.aborted_transactions import AbortedTransactions


def data_batch(first, last, producer_id, attributes=TRANSACTIONAL):
    return BatchHeader(
        first, 100, 0, 2, 0, attributes, last - first, 0, 0, producer_id, 0, 0, last - first + 1
    )


def is_hidden(transactions, header):
    transactions.advance_to(header)
    return transactions.hides(header)


def test_batch_is_hidden_from_its_transactions_first_offset_to_the_abort_marker():
    """A batch is hidden from its transaction's first offset to the abort marker (E3, 2b-18)."""
    transactions = AbortedTransactions([(7, 10)])
    assert not is_hidden(transactions, data_batch(5, 9, 7))
    assert is_hidden(transactions, data_batch(10, 12, 7))
    assert not is_hidden(transactions, data_batch(13, 14, 8))
    assert is_hidden(transactions, data_batch(15, 16, 7))
    transactions.see_marker(7, ControlRecordType.ABORT)
    assert not is_hidden(transactions, data_batch(18, 19, 7))


def test_first_offset_counts_up_to_the_batchs_last_offset():
    """An aborted transaction counts from a first offset that compaction may have taken (2b-18)."""
    transactions = AbortedTransactions([(7, 12)])
    assert is_hidden(transactions, data_batch(10, 12, 7))


def test_order_of_the_brokers_list_means_nothing():
    """The client sorts aborted transactions by first offset (E2)."""
    transactions = AbortedTransactions([(7, 30), (8, 0), (7, 0)])
    assert is_hidden(transactions, data_batch(0, 1, 7))
    transactions.see_marker(7, ControlRecordType.ABORT)
    assert not is_hidden(transactions, data_batch(10, 11, 7))
    assert is_hidden(transactions, data_batch(30, 31, 7))


@pytest.mark.parametrize("control", [ControlRecordType.COMMIT, 2, 99])
def test_other_markers_end_nothing(control):
    transactions = AbortedTransactions([(7, 0)])
    transactions.advance_to(data_batch(0, 0, 7))
    transactions.see_marker(7, control)
    transactions.see_marker(8, ControlRecordType.ABORT)
    assert is_hidden(transactions, data_batch(5, 6, 7))


def test_batch_outside_transactions_is_never_hidden():
    assert not is_hidden(AbortedTransactions([(7, 0)]), data_batch(0, 1, 7, attributes=0))
