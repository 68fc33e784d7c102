"""Reassignments of partitions: which replicas come and go, and when a reassignment has ended.

Replication takes no time here: a new replica is in sync at once if its node runs. `hold` keeps new
replicas behind, and a node that is down keeps its own behind.

Source: ReplicationControlManager, PartitionReassignmentReplicas, PartitionReassignmentRevert;
KIP-455, KIP-860. Does not wait.
"""

from collections.abc import Collection, Iterator, Sequence

from aiokafka_lite.errors import (
    InvalidReplicationAssignmentError,
    InvalidReplicationFactorError,
    NoReassignmentInProgressError,
)
from aiokafka_lite.testing.broker.state.cluster_state import (
    NO_LEADER,
    BrokerPartition,
    ClusterState,
)


class Reassignments:
    """The reassignments of one cluster."""

    def __init__(self, cluster: ClusterState) -> None:
        self._cluster = cluster
        self._is_held = False
        cluster.watch(on_nodes=self._advance_all)

    def hold(self) -> None:
        """Keep new replicas behind from now on, so that no reassignment that adds any ends."""
        self._is_held = True

    def release(self) -> None:
        """Let new replicas catch up, at once."""
        self._is_held = False
        self._advance_all()

    def ongoing(self) -> Iterator[BrokerPartition]:
        """Yield the partitions whose reassignments have not ended."""
        for topic in self._cluster.topics.values():
            yield from (each for each in topic.partitions if each.is_reassigning)

    def start(
        self, partition: BrokerPartition, target: Sequence[int], *, may_change_count: bool = True
    ) -> None:
        """Give a partition other replicas, the preferred leader first.

        Raises: InvalidReplicationAssignmentError for unknown or repeated nodes;
        InvalidReplicationFactorError for another number of replicas, unless it may change.
        """
        self._check(target)
        before = [each for each in partition.replicas if each not in partition.adding]
        if not may_change_count and len(target) != len(before):
            raise InvalidReplicationFactorError(
                f"The replication factor is changed from {len(before)} to {len(target)}"
            )
        adding = sorted(set(target) - set(before))
        partition.catching_up |= set(adding) - set(partition.adding)
        partition.catching_up &= set(adding)
        partition.adding = tuple(adding)
        partition.removing = tuple(sorted(set(before) - set(target)))
        partition.replicas = [*target, *partition.removing]
        self._advance(partition)

    def cancel(self, partition: BrokerPartition) -> None:
        """Remove the replicas that were being added, and keep the others.

        Raises: NoReassignmentInProgressError; InvalidReplicationAssignmentError if only added
        replicas are in sync.
        """
        if not partition.is_reassigning:
            raise NoReassignmentInProgressError("No partition reassignment is in progress.")
        in_sync = set(self._cluster.in_sync_replicas(partition))
        if in_sync and in_sync <= set(partition.adding):
            raise InvalidReplicationAssignmentError(
                "Unable to revert partition assignment because it would require an unclean"
                " leader election"
            )
        self._settle(partition, partition.adding)

    def _check(self, target: Sequence[int]) -> None:
        if not target:
            raise InvalidReplicationAssignmentError(
                "The manual partition assignment includes an empty replica list."
            )
        for node_id in sorted(target):
            if list(target).count(node_id) > 1:
                raise InvalidReplicationAssignmentError(
                    f"The manual partition assignment includes the broker {node_id} more than once."
                )
            if node_id not in self._cluster.nodes:
                raise InvalidReplicationAssignmentError(
                    f"The manual partition assignment includes broker {node_id}, but no such broker"
                    " is registered."
                )

    def _advance_all(self) -> None:
        for partition in list(self.ongoing()):
            self._advance(partition)

    def _advance(self, partition: BrokerPartition) -> None:
        """Let replicas catch up, and end the reassignment if all that shall stay are in sync."""
        if not self._is_held:
            alive = {node.node_id for node in self._cluster.alive_nodes()}
            partition.catching_up -= alive
        in_sync = set(self._cluster.in_sync_replicas(partition))
        if partition.is_reassigning and in_sync >= set(partition.replicas) - set(
            partition.removing
        ):
            self._settle(partition, partition.removing)

    def _settle(self, partition: BrokerPartition, leaving: Collection[int]) -> None:
        partition.replicas = [each for each in partition.replicas if each not in leaving]
        partition.catching_up -= set(leaving)
        partition.adding = partition.removing = ()
        if leaving:  # a new epoch also if the leader stays, so that it drops their acks
            in_sync = self._cluster.in_sync_replicas(partition)
            stays = partition.leader in in_sync
            partition.lead(partition.leader if stays else (in_sync or [NO_LEADER])[0])


__all__ = ["Reassignments"]
