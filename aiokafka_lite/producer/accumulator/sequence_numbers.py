"""Decides which batch may be sent next, under which producer id, epoch and sequence number, and
what a broker's complaint about them means. One for each idempotent producer. Does not wait.

A broker takes the batches of a producer and partition in the order of their sequence numbers, each
once. So a batch keeps its numbers. Only an epoch bump gives it new ones, which begin at 0 for each
partition. The bump waits until no request holds a batch of the partition, because it changes the
bytes of the batch. Source: TransactionManager, TxnPartitionMap; KIP-98, KIP-360.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Protocol
from uuid import UUID

from aiokafka_lite.errors import (
    DuplicateSequenceNumber,
    InvalidProducerEpoch,
    InvalidProducerIdMapping,
    KafkaError,
    OutOfOrderSequenceNumber,
    ProducerFenced,
    UnknownProducerId,
    UnknownTopicIdError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.light_named_tuple import NamedTuple
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.batch.producer_batch import NO_SEQUENCE, ProducerBatch
from aiokafka_lite.schema.field_types import ZERO_UUID

logger = logging.getLogger(__name__)

SEQUENCE_MASK = 0x7FFFFFFF
"""After 2^31-1 comes 0. Source: DefaultRecordBatch.incrementSequence."""
MAX_EPOCH = 0x7FFF
_NOTHING_ACKED = -1


class ProducerIdAndEpoch(NamedTuple):
    """The identity of a producer to the brokers."""

    producer_id: int
    epoch: int


NO_PRODUCER = ProducerIdAndEpoch(-1, -1)


class _PartitionSequence:
    """The sequence numbers of one partition."""

    __slots__ = (
        "in_flight",
        "is_known",
        "is_unresolved",
        "last_acked_sequence",
        "needs_restart",
        "next_sequence",
        "producer",
        "topic_id",
    )

    def __init__(self, topic_id: UUID = ZERO_UUID) -> None:
        self.topic_id = topic_id
        self.producer = NO_PRODUCER
        self.next_sequence = 0
        self.last_acked_sequence = _NOTHING_ACKED
        self.in_flight: list[ProducerBatch] = []
        """The batches with numbers and without outcome, by their numbers, also across a wrap."""
        self.is_known = False
        """The partition's log has a batch of this producer and epoch."""
        self.is_unresolved = False
        """A batch was given up, and may have been written or not."""
        self.needs_restart = False

    @property
    def expected_sequence(self) -> int:
        """The number that follows the newest acknowledged record."""
        return (self.last_acked_sequence + 1) & SEQUENCE_MASK

    @property
    def has_request_in_flight(self) -> bool:
        return any(batch.is_in_flight for batch in self.in_flight)

    def restart(self, producer: ProducerIdAndEpoch) -> None:
        """Number the batches without outcome from 0, as another producer."""
        self.producer = producer
        self.next_sequence = 0
        self.last_acked_sequence = _NOTHING_ACKED
        self.is_known = self.is_unresolved = self.needs_restart = False
        for batch in self.in_flight:
            batch.set_sequence(producer.producer_id, producer.epoch, self.next_sequence)
            self.next_sequence = (self.next_sequence + batch.record_count) & SEQUENCE_MASK


class TransactionGate(Protocol):
    """Decides which batches may be sent in the open transaction."""

    def may_send(self, topic_partition: TopicPartition) -> bool:
        """Return whether the transaction's coordinator knows of the partition."""

    def batch_is_sent(self) -> None:
        """Note that a batch is being sent."""


class SequenceNumbers:
    """The sequence numbers of one idempotent producer, for all partitions.

    With a `gate`, in transactions, it bumps no epoch. A gap fails the transaction instead, and the
    next transaction gets its epoch from the coordinator.
    """

    def __init__(self, gate: TransactionGate | None = None, client_id: str = "producer") -> None:
        self._gate = gate
        self._client_id = client_id
        self.producer = NO_PRODUCER
        self._topic_id: Callable[[str], UUID] = lambda _: ZERO_UUID
        self._partitions: dict[TopicPartition, _PartitionSequence] = {}
        self._troubled: dict[TopicPartition, _PartitionSequence] = {}
        """The partitions that are unresolved or need a restart."""

    @property
    def has_producer_id(self) -> bool:
        """Whether the producer has an id that is still valid."""
        return self.producer != NO_PRODUCER

    def set_producer(self, producer_id: int, epoch: int) -> None:
        """Take over the id and epoch of an InitProducerId response."""
        self.producer = ProducerIdAndEpoch(producer_id, epoch)

    def begin_epoch(self, producer_id: int, epoch: int) -> None:
        """Take over the id and epoch of a transaction's coordinator; every partition starts at 0
        (2d'-8).

        Every batch with numbers must have its outcome.
        """
        self.producer = ProducerIdAndEpoch(producer_id, epoch)
        self._partitions.clear()
        self._troubled.clear()

    def follow(self, topic_id: Callable[[str], UUID]) -> None:
        """Take over the ids of topics from new metadata; `ZERO_UUID` for a topic without id.

        A topic that was deleted and created again has no batches of the producer.
        """
        self._topic_id = topic_id
        for topic_partition, state in self._partitions.copy().items():
            present = topic_id(topic_partition.topic)
            if present not in (state.topic_id, ZERO_UUID):
                state.topic_id = present
                state.is_known = False

    # Sending…

    def may_send(self, batch: ProducerBatch) -> bool:
        """Return whether `batch`, the first in its queue, may be sent (2d-10). It may not:

        - without a producer id, and while the partition waits for a restart;
        - a new batch: while batches of an older epoch, or one that was given up, have no outcome;
        - a batch that was sent before: unless it is the oldest without outcome;
        - a second batch: before the first of its epoch, or of a topic that may have been created
          again, is acknowledged. A broker without state of the producer takes any number, so it
          would take the second batch although it has refused the first. Java does not wait here;
          tests with random faults found the case.
        """
        if self.producer == NO_PRODUCER:
            return False
        if self._gate is not None and not self._gate.may_send(batch.topic_partition):
            return False
        state = self._partitions.get(batch.topic_partition)
        if state is None:
            return True
        if state.needs_restart and (self._gate is None or not batch.has_sequence):
            return False  # in a lost transaction, batches that have numbers are sent to their end
        if batch.base_sequence != NO_SEQUENCE:
            return not state.in_flight or state.in_flight[0] is batch
        if state.is_unresolved:
            return False
        return not state.in_flight or (state.producer == self.producer and state.is_known)

    def is_in_transaction(self, topic_partition: TopicPartition) -> bool:
        """Return whether the coordinator knows that the transaction has the partition; True without
        transactions.
        """
        return self._gate is None or self._gate.may_send(topic_partition)

    def assign(self, batch: ProducerBatch) -> None:
        """Give a batch its numbers at its first drain. It keeps them (2d-11)."""
        if self._gate is not None:
            self._gate.batch_is_sent()
        if batch.base_sequence != NO_SEQUENCE:
            return
        state = self._partitions.get(batch.topic_partition)
        if state is None:
            topic_id = self._topic_id(batch.topic_partition.topic)
            state = self._partitions[batch.topic_partition] = _PartitionSequence(topic_id)
        if state.producer != self.producer and not state.in_flight:
            state.restart(self.producer)
        batch.set_sequence(self.producer.producer_id, self.producer.epoch, state.next_sequence)
        state.next_sequence = (state.next_sequence + batch.record_count) & SEQUENCE_MASK
        state.in_flight.append(batch)

    def settle(self) -> bool:
        """Resolve or restart the troubled partitions that have no request in flight.

        Call it before sending. Returns whether the open transaction has lost sequence numbers, so
        that it can only be aborted, with a new epoch. Without transactions the epoch is bumped
        here: epoch + 1; past 32767 `has_producer_id` becomes False (2d-18, 2d-20).
        """
        if not self._troubled:
            return False
        is_lost = False
        for topic_partition, state in self._troubled.copy().items():
            if state.is_unresolved and not state.in_flight:
                if state.next_sequence == state.expected_sequence:
                    state.is_unresolved = False  # all batches were written after all
                else:
                    self._need_restart(topic_partition, state)
                    is_lost = self._gate is not None
        quiet = [
            state
            for state in list(self._troubled.values())
            if state.needs_restart and not state.has_request_in_flight
        ]
        if self._gate is not None:
            quiet = []
        if quiet and any(state.producer == self.producer for state in quiet):
            self._bump_epoch()
        if self.has_producer_id:
            for state in quiet:
                state.restart(self.producer)
        for topic_partition, state in self._troubled.copy().items():
            is_over = not (state.needs_restart or state.is_unresolved)
            if is_over or (self._gate is not None and state.needs_restart):
                self._troubled.pop(topic_partition, None)
        return is_lost

    def _bump_epoch(self) -> None:
        producer_id, epoch = self.producer
        if epoch >= MAX_EPOCH:
            logger.info(
                "%s: producer id %d has used up its epochs; asking for another",
                *(self._client_id, producer_id),
            )
            self.producer = NO_PRODUCER
        elif self.has_producer_id:
            self.producer = ProducerIdAndEpoch(producer_id, epoch + 1)
            logger.info(
                "%s: producer id %d goes on with epoch %d", self._client_id, producer_id, epoch + 1
            )

    # Answers…

    def split(self, batch: ProducerBatch, pieces: Sequence[ProducerBatch]) -> None:
        """Replace a batch by its pieces, which have its numbers (2d-14)."""
        state = self._partitions.get(batch.topic_partition)
        if state is not None and batch in state.in_flight:
            at = state.in_flight.index(batch)
            state.in_flight[at : at + 1] = pieces

    def completed(self, batch: ProducerBatch) -> None:
        """Note that a batch was written, also one that has expired."""
        state = self._partitions.get(batch.topic_partition)
        if state is None or batch.base_sequence == NO_SEQUENCE:
            return
        _remove(state.in_flight, batch)
        producer_id, epoch = state.producer
        if batch.producer_epoch == epoch and batch.producer_id == producer_id:
            state.is_known = True
            last_sequence = batch.last_sequence
            ahead = (last_sequence - state.last_acked_sequence) & SEQUENCE_MASK
            if state.last_acked_sequence == _NOTHING_ACKED or ahead < SEQUENCE_MASK >> 1:
                state.last_acked_sequence = last_sequence

    def refused(self, batch: ProducerBatch, error: type[Exception]) -> None:
        """Note that a broker refused a batch for good: its numbers are not used (2d-19)."""
        state = self._give_up(batch)
        if state is None:
            return
        if issubclass(error, UnknownProducerId):
            # The broker has no state of the producer: it takes 0, and refuses the later batches.
            state.next_sequence = 0
            state.last_acked_sequence = _NOTHING_ACKED
            state.is_known = False
            return
        if (
            issubclass(error, _BAD_PRODUCER)
            and self.producer == state.producer
            and self._gate is None
        ):
            self.producer = NO_PRODUCER
        if self._gate is not None:
            state.needs_restart = True  # the error fails the transaction
        else:
            self._need_restart(batch.topic_partition, state)

    def abandoned(self, batch: ProducerBatch) -> None:
        """Note that a batch is given up and may have been written: its time or retries ran out.

        Its numbers may be used, so no new batch is sent before that is known (2d-13, 2d-20).
        """
        state = self._give_up(batch)
        if state is not None and not state.needs_restart:
            state.is_unresolved = True
            self._troubled[batch.topic_partition] = state

    def _give_up(self, batch: ProducerBatch) -> _PartitionSequence | None:
        """Forget a batch; return its partition's state, or None if the batch leaves no gap."""
        state = self._partitions.get(batch.topic_partition)
        if state is None or not batch.has_sequence:
            return None
        _remove(state.in_flight, batch)
        return state if (batch.producer_id, batch.producer_epoch) == state.producer else None

    def may_retry(
        self, batch: ProducerBatch, error: type[KafkaError], log_start_offset: int
    ) -> bool:
        """Return whether to send a refused batch again, after a restart if needed.

        `log_start_offset`: as in the response, -1 if unknown (2d-17).
        """
        state = self._partitions.get(batch.topic_partition)
        if self._gate is not None and self._ends_transaction(batch, state, error):
            return False
        if state is not None and issubclass(error, _NO_SUCH_TOPIC):
            state.is_known = False
        if state is not None and issubclass(error, UnknownProducerId):
            if log_start_offset != -1 and not batch.sequence_was_reset:
                self._need_restart(batch.topic_partition, state)
            return True
        if state is not None and issubclass(error, OutOfOrderSequenceNumber):
            # While an older batch is in flight or queued again, this one is sent after it.
            # Before the oldest there is a gap.
            if state.in_flight[0] is batch:
                self._need_restart(batch.topic_partition, state)
            return True
        return error.retriable and not issubclass(error, DuplicateSequenceNumber)

    def _ends_transaction(
        self, batch: ProducerBatch, state: _PartitionSequence | None, error: type[KafkaError]
    ) -> bool:
        """Return whether the batch needs a new epoch, which a transaction gets by an abort."""
        if issubclass(error, OutOfOrderSequenceNumber):
            return state is None or state.in_flight[0] is batch
        return issubclass(error, UnknownProducerId)

    def _need_restart(self, topic_partition: TopicPartition, state: _PartitionSequence) -> None:
        state.needs_restart = True
        if self._gate is None:
            self._troubled[topic_partition] = state


_NO_SUCH_TOPIC = (UnknownTopicIdError, UnknownTopicOrPartitionError)
_BAD_PRODUCER = (InvalidProducerEpoch, InvalidProducerIdMapping, ProducerFenced)


def _remove(batches: list[ProducerBatch], batch: ProducerBatch) -> None:
    if batches and batches[0] is batch:  # the usual case
        del batches[0]
    elif batch in batches:
        batches.remove(batch)


__all__ = [
    "MAX_EPOCH",
    "NO_PRODUCER",
    "SEQUENCE_MASK",
    "ProducerIdAndEpoch",
    "SequenceNumbers",
    "TransactionGate",
]
