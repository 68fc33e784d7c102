"""What the calls about producers and transactions take and return. Does not wait."""

from typing import NamedTuple

from aiokafka_lite.model import TopicPartition


class ProducerState(NamedTuple):
    """A producer as the log of a partition knows it."""

    producer_id: int
    producer_epoch: int
    last_sequence: int
    """Of its last record in that epoch; -1 without one."""
    last_timestamp: int
    """Of its last batch or marker, in milliseconds since 1970; -1 without one."""
    coordinator_epoch: int | None
    """The coordinator's epoch in the producer's last marker; None without one."""
    current_transaction_start_offset: int | None
    """The first offset of its open transaction; None without one."""


class TransactionListing(NamedTuple):
    """A transactional id in a list."""

    transactional_id: str
    producer_id: int
    state: str
    """ "Ongoing", "CompleteCommit", …"""


class TransactionDescription(NamedTuple):
    """A transactional id as its coordinator knows it."""

    coordinator_id: int
    """The node that coordinates it."""
    state: str
    """ "Ongoing", "CompleteCommit", …"""
    producer_id: int
    producer_epoch: int
    transaction_timeout_ms: int
    """After so long the coordinator aborts a transaction."""
    transaction_start_time_ms: int | None
    """When the last transaction began, in milliseconds since 1970; None: it has begun none."""
    topic_partitions: frozenset[TopicPartition]
    """The partitions of the transaction that have no marker yet. Those of "__consumer_offsets"
    stand for groups."""


class AbortTransactionSpec(NamedTuple):
    """A transaction in one partition that `abort_transaction` is to end."""

    topic_partition: TopicPartition
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int


class ProducerIdAndEpoch(NamedTuple):
    """The identity that fences all earlier producers of a transactional id."""

    producer_id: int
    producer_epoch: int


class HangingTransaction(NamedTuple):
    """A transaction that is open in a partition, and that no coordinator will end."""

    topic_partition: TopicPartition
    producer: ProducerState
    transactional_id: str | None
    """Whose producer it is; None if no coordinator knows the producer."""

    @property
    def to_abort(self) -> AbortTransactionSpec:
        """What ends it: the argument for `abort_transaction`."""
        return AbortTransactionSpec(
            self.topic_partition,
            self.producer.producer_id,
            self.producer.producer_epoch,
            self.producer.coordinator_epoch or 0,
        )


__all__ = [
    "AbortTransactionSpec",
    "HangingTransaction",
    "ProducerIdAndEpoch",
    "ProducerState",
    "TransactionDescription",
    "TransactionListing",
]
