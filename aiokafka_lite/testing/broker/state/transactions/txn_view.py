"""A transactional id at one moment, for the asserts of tests: `EmbeddedBroker.transaction()`."""

from dataclasses import dataclass

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import (
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    TransactionMetadata,
    TxnState,
)


@dataclass(frozen=True, slots=True)
class TransactionView:
    """A transactional id; an unknown one is DEAD and empty."""

    transactional_id: str
    state: TxnState = TxnState.DEAD
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH
    timeout_ms: int = -1
    partitions: frozenset[TopicPartition] = frozenset()
    """The partitions of the transaction that have no marker yet."""
    groups: frozenset[str] = frozenset()
    """The groups whose offsets are part of the transaction."""
    coordinator: int | None = None
    """The coordinating node; None without one."""


def view_of(metadata: TransactionMetadata, coordinator: int | None) -> TransactionView:
    """Return the transactional id's present state."""
    return TransactionView(
        metadata.transactional_id,
        metadata.state,
        metadata.producer_id,
        metadata.producer_epoch,
        metadata.timeout_ms,
        frozenset(metadata.partitions),
        frozenset(metadata.groups),
        coordinator,
    )


__all__ = ["TransactionView", "view_of"]
