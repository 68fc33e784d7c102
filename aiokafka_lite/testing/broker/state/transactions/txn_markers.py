"""Ends transactions in their partitions and groups: it writes markers and settles offsets.

A partition without a leader gets its marker once it has one again. A deleted topic needs none. The
transaction is complete after the last marker. Does not wait. Source:
TransactionMarkerChannelManager, KafkaApis.handleWriteTxnMarkersRequest.
"""

from collections.abc import Callable
from dataclasses import dataclass

from aiokafka_lite.clock import Clock
from aiokafka_lite.errors import UnknownTopicOrPartitionError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.record.control_record import ControlRecordType, build_control_batch
from aiokafka_lite.testing.broker.state.cluster_state import (
    NO_LEADER,
    BrokerPartition,
    ClusterState,
)
from aiokafka_lite.testing.broker.state.groups.group_coordinators import GroupCoordinators
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import (
    TransactionMetadata,
    TxnProducerId,
    TxnState,
)


@dataclass(eq=False, slots=True)
class _TxnEnding:
    """A transaction whose markers are being written."""

    metadata: TransactionMetadata
    on_complete: Callable[[], object]


class TransactionMarkers:
    """The markers of a cluster's transactions that are still to be written."""

    def __init__(
        self,
        cluster: ClusterState,
        groups: GroupCoordinators,
        clock: Clock,
        coordinator_epoch_of: Callable[[str], int] = lambda _: 0,
    ) -> None:
        """`coordinator_epoch_of` returns the epoch of a transactional id's coordinator."""
        self._cluster = cluster
        self._groups = groups
        self._clock = clock
        self._endings: list[_TxnEnding] = []
        self._coordinator_epoch_of = coordinator_epoch_of
        self._is_held = False
        cluster.watch(on_nodes=self.write, on_topic_deleted=lambda _: self.write())

    def end(self, metadata: TransactionMetadata, on_complete: Callable[[], object]) -> None:
        """Write the markers of a prepared transaction, as far as possible now.

        `metadata` loses each partition and group that has its marker. `on_complete` is called after
        the last one, possibly at once.
        """
        self._endings.append(_TxnEnding(metadata, on_complete))
        self.write()

    def hold(self) -> None:
        """Write no more markers until `release`."""
        self._is_held = True

    def release(self) -> None:
        """Write the withheld markers; later markers are written at once."""
        self._is_held = False
        self.write()

    def write(self) -> None:
        """Write every marker that can be written."""
        if self._is_held:
            return
        for ending in tuple(self._endings):
            self._write(ending.metadata)
            if not ending.metadata.partitions and not ending.metadata.groups:
                self._endings.remove(ending)
                ending.on_complete()

    def _write(self, metadata: TransactionMetadata) -> None:
        is_commit = metadata.state is TxnState.PREPARE_COMMIT
        for topic_partition in sorted(metadata.partitions):
            if self._write_to(topic_partition, metadata, is_commit=is_commit):
                metadata.partitions.discard(topic_partition)
        for group_id in sorted(metadata.groups):
            group = self._groups.find(group_id)
            if group is not None:
                group.offsets.end_transaction(metadata.producer_id, is_commit=is_commit)
            metadata.groups.discard(group_id)

    def _write_to(
        self, topic_partition: TopicPartition, metadata: TransactionMetadata, *, is_commit: bool
    ) -> bool:
        try:
            partition = self._cluster.partition(topic_partition)
        except UnknownTopicOrPartitionError:
            return True
        if partition.leader == NO_LEADER:
            return False
        write_marker(
            partition,
            metadata.producer,
            is_commit=is_commit,
            coordinator_epoch=self._coordinator_epoch_of(metadata.transactional_id),
            timestamp_ms=int(self._clock.time() * 1000),
        )
        return True


def write_marker(
    partition: BrokerPartition,
    producer: TxnProducerId,
    *,
    is_commit: bool,
    coordinator_epoch: int,
    timestamp_ms: int,
) -> None:
    """Append the marker of a transaction, unchecked."""
    partition.producers.record_marker(*producer, coordinator_epoch, timestamp_ms)
    partition.append(
        build_control_batch(
            ControlRecordType.COMMIT if is_commit else ControlRecordType.ABORT,
            base_offset=0,
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            timestamp_ms=timestamp_ms,
            coordinator_epoch=coordinator_epoch,
        )
    )


__all__ = ["TransactionMarkers", "write_marker"]
