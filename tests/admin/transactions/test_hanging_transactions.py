"""Which open transactions hang (KIP-664)."""

import pytest

from aiokafka_lite.admin import (
    HangingTransaction,
    ProducerState,
    TransactionDescription,
    TransactionListing,
)
from aiokafka_lite.admin.transactions.hanging_transactions import (
    OpenTransaction,
    hanging,
    old_transactions,
)
from aiokafka_lite.errors import TransactionalIdAuthorizationFailed, TransactionalIdNotFoundError
from aiokafka_lite.model import TopicPartition

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
LISTING = TransactionListing("tx", 7, "Ongoing")
OPEN = OpenTransaction(T0, ProducerState(7, 3, 0, 100, None, 4))


def describing(*partitions: TopicPartition) -> dict[str, TransactionDescription]:
    return {"tx": TransactionDescription(1, "Ongoing", 7, 3, 1000, 5, frozenset(partitions))}


def test_only_open_transactions_without_a_late_record_are_looked_at() -> None:
    old = ProducerState(7, 0, 0, 99, None, 4)
    states = [old, old._replace(last_timestamp=100), old._replace(
        current_transaction_start_offset=None
    )]  # fmt: skip
    assert old_transactions({T0: states, T1: []}, before_ms=100) == [OpenTransaction(T0, old)]


def test_what_the_coordinator_knows_does_not_hang() -> None:
    assert hanging([OPEN], [LISTING], describing(T0, T1)) == []


def test_what_the_coordinator_has_ended_hangs() -> None:
    found = [HangingTransaction(T0, OPEN.producer, "tx")]
    assert hanging([OPEN], [LISTING], describing(T1)) == found
    assert hanging([OPEN], [LISTING], {"tx": TransactionalIdNotFoundError()}) == found


def test_what_no_coordinator_knows_hangs() -> None:
    assert hanging([OPEN], [], {}) == [HangingTransaction(T0, OPEN.producer, None)]


def test_what_cannot_be_described_is_an_error() -> None:
    with pytest.raises(TransactionalIdAuthorizationFailed):
        hanging([OPEN], [LISTING], {"tx": TransactionalIdAuthorizationFailed()})
