"""Asks the coordinator before a node writes for a transaction, and chooses the node's error code.

Clients of transactions V1 have added the partition before, so the node only verifies that. In V2
the write itself adds it (KIP-890). Does not wait. Source: AddPartitionsToTxnManager,
ReplicaManager.handleProduceAppend.
"""

from enum import Enum

from aiokafka_lite.errors import (
    BrokerResponseError,
    ConcurrentTransactions,
    GroupCoordinatorNotAvailableError,
    InvalidProducerEpoch,
    InvalidTxnState,
    ProducerFenced,
    TransactionAbortableError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker.state.transactions.txn_coordinator import TxnCoordinator
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import TxnProducerId


class Enlistment(Enum):
    """What the version of a request allows: the node's action and its error codes."""

    VERIFY = 1
    """Verify; a partition outside the transaction is INVALID_TXN_STATE."""
    VERIFY_ABORTABLE = 2
    """Verify; a partition outside the transaction is TRANSACTION_ABORTABLE (KIP-1050)."""
    ADD = 3
    """Add (transactions V2)."""


def enlistment_of(version: int, *, abortable_since: int, transactions_v2_since: int) -> Enlistment:
    """Return what a request of this version of its API allows."""
    if version >= transactions_v2_since:
        return Enlistment.ADD
    return Enlistment.VERIFY_ABORTABLE if version >= abortable_since else Enlistment.VERIFY


def enlist(
    coordinator: TxnCoordinator,
    transactional_id: str,
    producer: TxnProducerId,
    member: TopicPartition | str,
    enlistment: Enlistment,
) -> None:
    """Return if `producer` may write to a partition, or commit offsets of a group, in its
    transaction.

    Raises: InvalidProducerEpoch for a fenced one; InvalidProducerIdMapping; ConcurrentTransactions;
    GroupCoordinatorNotAvailableError; InvalidTxnState or TransactionAbortableError for what is not
    part of the transaction.
    """
    if coordinator.nodes.node_of(transactional_id) is None:
        raise GroupCoordinatorNotAvailableError(f"no node coordinates {transactional_id!r}")
    try:
        if enlistment is not Enlistment.ADD:
            takes_part = coordinator.takes_part(transactional_id, producer, member)
        else:
            takes_part = True
            if isinstance(member, str):
                coordinator.add(transactional_id, producer, groups=(member,))
            else:
                coordinator.add(transactional_id, producer, partitions=(member,))
    except ProducerFenced as error:
        # A producer must learn of its fencing from the coordinator, not from a late batch.
        raise InvalidProducerEpoch(f"{producer} has been fenced") from error
    if not takes_part:
        refusal: type[BrokerResponseError] = (
            InvalidTxnState if enlistment is Enlistment.VERIFY else TransactionAbortableError
        )
        raise refusal(f"{member} does not take part in the transaction of {transactional_id!r}")


def is_retried_by_old_clients(error: BrokerResponseError, enlistment: Enlistment) -> bool:
    """Return whether the response has NOT_ENOUGH_REPLICAS in place of this error.

    Producers certainly retry that code, without looking for other leaders.
    """
    return isinstance(error, GroupCoordinatorNotAvailableError) or (
        isinstance(error, ConcurrentTransactions) and enlistment is not Enlistment.ADD
    )


__all__ = ["Enlistment", "enlist", "enlistment_of", "is_retried_by_old_clients"]
