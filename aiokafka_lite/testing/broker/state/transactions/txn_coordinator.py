"""The transaction coordinator of a cluster: checks who may begin, extend and end a transaction.

One object serves all nodes. `coordinator_nodes.py` knows which node coordinates a transactional id.
`txn_metadata.py` defines the steps, `txn_markers.py` writes the markers. The injected clock ends
transactions that take too long. Does not wait. Source: TxnCoordinator; KIP-98, KIP-360,
KIP-588, KIP-890.
"""

from collections.abc import Callable, Collection, Iterator

from aiokafka_lite.clock import Clock
from aiokafka_lite.errors import (
    ConcurrentTransactions,
    InvalidProducerIdMapping,
    InvalidRequestError,
    InvalidTransactionTimeout,
    InvalidTxnState,
    ProducerFenced,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker.state.broker_options import BrokerOptions
from aiokafka_lite.testing.broker.state.cluster_features import TRANSACTION_VERSION
from aiokafka_lite.testing.broker.state.cluster_state import ClusterState
from aiokafka_lite.testing.broker.state.groups.coordinator_nodes import CoordinatorNodes
from aiokafka_lite.testing.broker.state.groups.group_coordinators import GroupCoordinators
from aiokafka_lite.testing.broker.state.groups.group_timers import GroupTimers
from aiokafka_lite.testing.broker.state.transactions.txn_markers import TransactionMarkers
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import (
    MAX_EPOCH,
    NO_PRODUCER_ID,
    PREPARING,
    TransactionMetadata,
    TxnProducerId,
    TxnState,
)
from aiokafka_lite.testing.broker.state.transactions.txn_view import TransactionView, view_of

_COMPLETE = {
    True: TxnState.COMPLETE_COMMIT,
    False: TxnState.COMPLETE_ABORT,
}
_PREPARED = {True: TxnState.PREPARE_COMMIT, False: TxnState.PREPARE_ABORT}


class TxnCoordinator:
    """All transactional ids of one cluster."""

    def __init__(
        self,
        cluster: ClusterState,
        groups: GroupCoordinators,
        options: BrokerOptions,
        clock: Clock,
        on_change: Callable[[], object] = lambda: None,
    ) -> None:
        """`on_change` is called when a timeout has ended a transaction."""
        self.options = options
        self.nodes = CoordinatorNodes(cluster, on_move=self._resume)
        self.markers = TransactionMarkers(cluster, groups, clock, self.nodes.epoch_of)
        self._cluster = cluster
        self._clock = clock
        self._timers = GroupTimers(clock, on_change)
        self._by_id: dict[str, TransactionMetadata] = {}

    def close(self) -> None:
        """Stop every timer."""
        self._timers.clear()

    def view(self, transactional_id: str) -> TransactionView:
        """Return a transactional id's present state; an unknown one is DEAD."""
        coordinator = self.nodes.node_of(transactional_id)
        metadata = self._by_id.get(transactional_id)
        if metadata is None:
            return TransactionView(transactional_id, coordinator=coordinator)
        return view_of(metadata, coordinator)

    def coordinated_by(self, node_id: int) -> Iterator[TransactionMetadata]:
        """Iterate over the transactional ids of a node."""
        for transactional_id, metadata in self._by_id.items():
            if self.nodes.node_of(transactional_id) == node_id:
                yield metadata

    def find(self, transactional_id: str) -> TransactionMetadata | None:
        """Return what is known of a transactional id; None for an unknown one."""
        return self._by_id.get(transactional_id)

    def _now_ms(self) -> int:
        return int(self._clock.time() * 1000)

    # InitProducerId…

    def init_producer_id(
        self, transactional_id: str, timeout_ms: int, claim: TxnProducerId | None
    ) -> TxnProducerId:
        """Return the id and epoch for a producer that begins, or continues from `claim` (KIP-360).

        An open transaction is aborted first, and the producer has to ask again.

        Raises: InvalidTransactionTimeout, ProducerFenced and ConcurrentTransactions.
        """
        longest_ms = self.options.transaction_max_timeout_ms
        if not 0 < timeout_ms <= longest_ms:
            raise InvalidTransactionTimeout(
                f"a transaction may take 1 to {longest_ms} ms, got {timeout_ms}"
            )
        metadata = self._by_id.get(transactional_id)
        if metadata is None:
            producer_id = self._cluster.new_producer_id()
            metadata = TransactionMetadata(transactional_id, producer_id, timeout_ms)
            self._by_id[transactional_id] = metadata
            self.nodes.settle(transactional_id)
        if claim is not None:
            metadata.check_claim(claim)
        if metadata.state in PREPARING:
            raise ConcurrentTransactions(f"{metadata!r} is being ended")
        if metadata.state is TxnState.ONGOING:
            self._abort_and_fence(metadata)
            raise ConcurrentTransactions(f"{metadata!r} had to be aborted first")
        metadata.initialise(timeout_ms, claim, self._cluster.new_producer_id)
        return metadata.producer

    # AddPartitionsToTxn, AddOffsetsToTxn…

    def add(
        self,
        transactional_id: str,
        producer: TxnProducerId,
        *,
        partitions: Collection[TopicPartition] = (),
        groups: Collection[str] = (),
    ) -> None:
        """Add partitions, and the offsets of groups, to the transaction.

        Raises: InvalidRequestError, InvalidProducerIdMapping, ProducerFenced or
        ConcurrentTransactions.
        """
        metadata = self._open(transactional_id, producer)
        is_new = metadata.state is not TxnState.ONGOING
        metadata.add(partitions, groups, self._now_ms())
        if is_new:
            self._timers.schedule(
                transactional_id, metadata.timeout_ms, lambda: self._expire(metadata)
            )

    def takes_part(
        self, transactional_id: str, producer: TxnProducerId, member: TopicPartition | str
    ) -> bool:
        """Return whether a partition, or a group by its id, is part of it. Raises: as `add`."""
        metadata = self._open(transactional_id, producer)
        return member in (metadata.groups if isinstance(member, str) else metadata.partitions)

    def _open(self, transactional_id: str, producer: TxnProducerId) -> TransactionMetadata:
        metadata = self._find(transactional_id)
        _check_id(metadata, producer)
        if metadata.producer_epoch != producer.producer_epoch:
            raise ProducerFenced(f"{producer} is not in use; {metadata.producer} is")
        if metadata.state in PREPARING:
            raise ConcurrentTransactions(f"{metadata!r} is being ended")
        return metadata

    def _find(self, transactional_id: str) -> TransactionMetadata:
        if not transactional_id:
            raise InvalidRequestError("a transaction needs a transactional id")
        metadata = self._by_id.get(transactional_id)
        if metadata is None:
            raise InvalidProducerIdMapping(f"no producer has the id {transactional_id!r}")
        return metadata

    # EndTxn…

    def end(
        self,
        transactional_id: str,
        producer: TxnProducerId,
        *,
        is_commit: bool,
        bumps_epoch: bool,
    ) -> TxnProducerId:
        """End the transaction, and return the producer's next id and epoch.

        `bumps_epoch`: the client takes the next epoch from the response. So no batch of this
        transaction can arrive in the next one (KIP-890).

        Raises: InvalidRequestError, InvalidProducerIdMapping, ProducerFenced,
        ConcurrentTransactions or InvalidTxnState.
        """
        metadata = self._find(transactional_id)
        is_repeated = _check_end_v2 if bumps_epoch else _check_end_v1
        if is_repeated(metadata, producer, is_commit=is_commit):
            return metadata.producer
        return self._end(metadata, is_commit=is_commit, bumps_epoch=bumps_epoch)

    def _end(
        self, metadata: TransactionMetadata, *, is_commit: bool, bumps_epoch: bool
    ) -> TxnProducerId:
        next_producer_id = NO_PRODUCER_ID
        if bumps_epoch and metadata.has_exhausted_epochs:
            next_producer_id = self._cluster.new_producer_id()
        metadata.prepare(
            self._now_ms(),
            is_commit=is_commit,
            bumps_epoch=bumps_epoch,
            next_producer_id=next_producer_id,
        )
        going_on = metadata.after_completion()
        self._timers.cancel(metadata.transactional_id)
        self.markers.end(metadata, metadata.complete)
        return going_on

    # Timeouts and failures…

    def _expire(self, metadata: TransactionMetadata) -> None:
        """Abort a transaction that took too long, unless no node coordinates it."""
        if self.nodes.node_of(metadata.transactional_id) is not None:
            self._abort_and_fence(metadata)

    def _resume(self, transactional_id: str, _: int | None, node_id: int | None) -> None:
        """Handle a change of coordinator: the new one aborts what expired meanwhile."""
        metadata = self._by_id.get(transactional_id)
        if (
            node_id is not None
            and metadata is not None
            and metadata.state is TxnState.ONGOING
            and transactional_id not in self._timers.names
        ):
            self._abort_and_fence(metadata)

    def _abort_and_fence(self, metadata: TransactionMetadata) -> None:
        is_v2 = self._cluster.features.level(TRANSACTION_VERSION) >= 2
        if not is_v2:
            metadata.fence()
        self._end(metadata, is_commit=False, bumps_epoch=is_v2)


def _check_id(metadata: TransactionMetadata, producer: TxnProducerId) -> None:
    if metadata.producer_id != producer.producer_id:
        raise InvalidProducerIdMapping(
            f"{metadata.transactional_id!r} has the producer id {metadata.producer_id}, "
            f"not {producer.producer_id}"
        )


def _check_end_v1(
    metadata: TransactionMetadata, producer: TxnProducerId, *, is_commit: bool
) -> bool:
    """Return whether the transaction has already ended in this way.

    Source: endTransactionWithTV1.
    """
    _check_id(metadata, producer)
    if metadata.producer_epoch != producer.producer_epoch:
        raise ProducerFenced(f"{producer} is not in use; {metadata.producer} is")
    _check_not_ending(metadata, is_commit=is_commit)
    if metadata.state not in (TxnState.ONGOING, _COMPLETE[is_commit]):
        raise _impossible_end(metadata, is_commit=is_commit)
    return metadata.state is _COMPLETE[is_commit]


def _check_end_v2(
    metadata: TransactionMetadata, producer: TxnProducerId, *, is_commit: bool
) -> bool:
    """Return whether this very request has already ended the previous transaction in this way.

    A transaction that has not begun may be aborted, to get the next epoch. Source: endTransaction.
    """
    has_overflown = (
        metadata.previous_producer_id == producer.producer_id
        and producer.producer_epoch == MAX_EPOCH - 1
        and metadata.producer_epoch == 0
    )
    is_repeated = has_overflown or metadata.producer_epoch == producer.producer_epoch + 1
    if not has_overflown:
        _check_id(metadata, producer)
    state = metadata.state
    is_current = metadata.producer_epoch == producer.producer_epoch
    if state in PREPARING:
        is_valid = metadata.producer_epoch == producer.producer_epoch + 1
    elif state in _COMPLETE.values():
        is_valid = is_repeated or is_current
    else:
        is_valid = is_current
    if not is_valid:
        raise ProducerFenced(f"{producer} is not in use; {metadata.producer} is")
    _check_not_ending(metadata, is_commit=is_commit)
    if is_repeated and state is not _COMPLETE[is_commit]:
        raise _impossible_end(metadata, is_commit=is_commit)
    if not is_repeated and is_commit and state is not TxnState.ONGOING:
        raise _impossible_end(metadata, is_commit=is_commit)
    return is_repeated


def _check_not_ending(metadata: TransactionMetadata, *, is_commit: bool) -> None:
    if metadata.state in PREPARING:
        if metadata.state is _PREPARED[is_commit]:
            raise ConcurrentTransactions(f"{metadata!r} is being ended")
        raise _impossible_end(metadata, is_commit=is_commit)


def _impossible_end(metadata: TransactionMetadata, *, is_commit: bool) -> InvalidTxnState:
    return InvalidTxnState(f"{metadata!r} cannot {'commit' if is_commit else 'abort'}")


__all__ = ["TxnCoordinator"]
