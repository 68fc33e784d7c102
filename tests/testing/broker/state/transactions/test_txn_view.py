"""A transactional id at one moment."""

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import (
    TransactionMetadata,
    TxnState,
)
from aiokafka_lite.testing.broker.state.transactions.txn_view import TransactionView, view_of

T0 = TopicPartition("t", 0)
NOW_MS = 5


def test_a_view_does_not_change_with_its_transaction() -> None:
    metadata = TransactionMetadata("tx", 7, 1000)
    metadata.producer_epoch = 3
    metadata.add([T0], ["g"], NOW_MS)
    view = view_of(metadata, 2)
    assert view == TransactionView(
        "tx", TxnState.ONGOING, 7, 3, 1000, frozenset({T0}), frozenset({"g"}), 2
    )
    metadata.prepare(NOW_MS, is_commit=True, bumps_epoch=True)
    metadata.complete()
    assert (view.state, view.partitions) == (TxnState.ONGOING, frozenset({T0}))
    assert view_of(metadata, None) == TransactionView("tx", TxnState.COMPLETE_COMMIT, 7, 4, 1000)


def test_a_transactional_id_that_is_not_known_is_dead() -> None:
    view = TransactionView("tx")
    assert (view.state, view.producer_id, view.producer_epoch) == ("Dead", -1, -1)
