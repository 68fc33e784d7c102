"""The state of one partition's idempotent producers, and the checks based on it.

For each producer id it has the epoch, and the sequences and offsets of the last five batches. Five
is how many requests a producer may have in flight. Does not wait. Source: KIP-98, KIP-360, KIP-664,
KIP-1228, storage/internals/log/{ProducerStateManager,ProducerAppendInfo}.java.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from aiokafka_lite.errors import (
    InvalidProducerEpoch,
    OutOfOrderSequenceNumber,
    TransactionCoordinatorFenced,
)

BATCHES_REMEMBERED = 5
MAX_SEQUENCE = 2**31 - 1


@dataclass(frozen=True, slots=True)
class AppendedBatch:
    """An appended batch: its sequences, and what the response to a repetition says."""

    first_sequence: int
    last_sequence: int
    base_offset: int
    timestamp_ms: int
    """The newest one of the batch in the log."""


class ActiveProducer(NamedTuple):
    """A producer as administrators see it; -1 stands for what it does not have."""

    producer_id: int
    epoch: int
    last_sequence: int
    last_timestamp: int
    coordinator_epoch: int


@dataclass(slots=True)
class _ProducerState:
    epoch: int
    last_timestamp: int = -1
    coordinator_epoch: int = -1
    batches: deque[AppendedBatch] = field(default_factory=lambda: deque(maxlen=BATCHES_REMEMBERED))


@dataclass(slots=True)
class _Verifying:
    """A producer whose part in a transaction is being verified."""

    epoch: int
    lowest_sequence: int
    is_v2: bool


def last_sequence_of(first_sequence: int, record_count: int) -> int:
    """Return the sequence of a batch's last record; 2^31-1 is followed by 0."""
    return (first_sequence + record_count - 1) % (MAX_SEQUENCE + 1)


class ProducerStates:
    """The idempotent producers of one partition."""

    __slots__ = ("_by_producer_id", "_verifying")

    def __init__(self) -> None:
        self._by_producer_id: dict[int, _ProducerState] = {}
        self._verifying: dict[int, _Verifying] = {}
        """Producer id -> a batch that was not appended yet, or was refused."""

    def check(
        self, producer_id: int, epoch: int, first_sequence: int, record_count: int
    ) -> AppendedBatch | None:
        """Return None if the batch may be appended, or the earlier batch that it repeats.

        A producer that is unknown here may start at any sequence.

        Raises: InvalidProducerEpoch for an epoch below the newest one; OutOfOrderSequenceNumber if
        the batch does not follow the last one.
        """
        state = self._by_producer_id.get(producer_id)
        if state is None:
            self._check_lowest(producer_id, first_sequence)
            return None
        self.check_epoch(producer_id, epoch)
        self._check_lowest(producer_id, first_sequence)
        if epoch > state.epoch:
            if first_sequence != 0:
                raise OutOfOrderSequenceNumber(
                    f"producer {producer_id} began epoch {epoch} at sequence {first_sequence}; "
                    "a new epoch begins at sequence 0"
                )
            return None
        last_sequence = last_sequence_of(first_sequence, record_count)
        for batch in state.batches:
            if (batch.first_sequence, batch.last_sequence) == (first_sequence, last_sequence):
                return batch
        expected = last_sequence_of(state.batches[-1].last_sequence, 2) if state.batches else 0
        if first_sequence != expected:
            raise OutOfOrderSequenceNumber(
                f"producer {producer_id} epoch {epoch} sent sequence {first_sequence}; "
                f"{expected} comes next"
            )
        return None

    def check_epoch(self, producer_id: int, epoch: int) -> None:
        """Raise InvalidProducerEpoch for an epoch below the newest one."""
        state = self._by_producer_id.get(producer_id)
        if state is not None and epoch < state.epoch:
            raise InvalidProducerEpoch(
                f"producer {producer_id} sent epoch {epoch}, but epoch {state.epoch} was seen"
            )

    def verifying(
        self, producer_id: int, epoch: int, first_sequence: int, *, is_v2: bool = False
    ) -> None:
        """Announce a batch that opens a transaction here.

        If it is refused, no later batch may be the first. In transactions V2 the first one has
        sequence 0, unless the epoch has batches here. Source: VerificationStateEntry,
        ProducerAppendInfo.checkSequence; KIP-890.
        """
        known = self._verifying.get(producer_id)
        if known is None:
            known = self._verifying[producer_id] = _Verifying(epoch, first_sequence, is_v2)
        if epoch > known.epoch:
            known.epoch, known.lowest_sequence = epoch, first_sequence
        elif epoch == known.epoch:
            known.lowest_sequence = min(known.lowest_sequence, first_sequence)

    def _check_lowest(self, producer_id: int, first_sequence: int) -> None:
        verifying = self._verifying.get(producer_id)
        if verifying is None:
            return
        if verifying.is_v2 and first_sequence and producer_id not in self._by_producer_id:
            raise OutOfOrderSequenceNumber(
                f"producer {producer_id} sent sequence {first_sequence}; "
                "0 comes first in transactions V2"
            )
        if first_sequence > verifying.lowest_sequence:
            raise OutOfOrderSequenceNumber(
                f"producer {producer_id} sent sequence {first_sequence}; "
                f"{verifying.lowest_sequence} was refused before and comes first"
            )

    def record(
        self,
        producer_id: int,
        epoch: int,
        batch: AppendedBatch,
        *,
        is_transactional: bool = False,
    ) -> None:
        """Record an appended batch. A new epoch drops the batches of the old one."""
        if is_transactional:
            self._verifying.pop(producer_id, None)
        state = self._in_epoch(producer_id, epoch)
        state.last_timestamp = batch.timestamp_ms
        state.batches.append(batch)

    def _in_epoch(self, producer_id: int, epoch: int) -> _ProducerState:
        state = self._by_producer_id.get(producer_id)
        if state is None:
            state = self._by_producer_id[producer_id] = _ProducerState(epoch)
        elif state.epoch != epoch:
            state.epoch = epoch
            state.batches.clear()
        return state

    def check_marker(
        self, producer_id: int, epoch: int, coordinator_epoch: int, *, ends_v2: bool
    ) -> None:
        """Raise unless a transaction marker may be written.

        `ends_v2`: it ends an open transaction of V2, whose markers have an epoch of their own.

        Raises: InvalidProducerEpoch for an epoch that is over; TransactionCoordinatorFenced for an
        older coordinator than that of the last marker.
        """
        state = self._by_producer_id.get(producer_id)
        if state is None:
            return
        if epoch < state.epoch or (ends_v2 and epoch == state.epoch):
            raise InvalidProducerEpoch(
                f"a marker of producer {producer_id} has epoch {epoch}, "
                f"but epoch {state.epoch} was seen"
            )
        if coordinator_epoch < state.coordinator_epoch:
            raise TransactionCoordinatorFenced(
                f"a marker of producer {producer_id} has coordinator epoch {coordinator_epoch}, "
                f"but {state.coordinator_epoch} was seen"
            )

    def record_marker(
        self, producer_id: int, epoch: int, coordinator_epoch: int, timestamp_ms: int
    ) -> None:
        """Record a transaction marker with `epoch`.

        Older epochs are fenced from now on, and a newer one begins at sequence 0.
        """
        self._verifying.pop(producer_id, None)
        known = self.epoch_of(producer_id)
        state = self._in_epoch(producer_id, epoch if known is None else max(epoch, known))
        state.last_timestamp = timestamp_ms
        state.coordinator_epoch = coordinator_epoch

    def epoch_of(self, producer_id: int) -> int | None:
        """Return the newest epoch of a producer here; None for an unknown one."""
        state = self._by_producer_id.get(producer_id)
        return None if state is None else state.epoch

    def active(self) -> Iterator[ActiveProducer]:
        """Iterate over the producers. Source: UnifiedLog.activeProducers."""
        for producer_id, state in self._by_producer_id.items():
            yield ActiveProducer(
                producer_id,
                state.epoch,
                state.batches[-1].last_sequence if state.batches else -1,
                state.last_timestamp,
                state.coordinator_epoch,
            )

    def forget(self, producer_id: int) -> None:
        """Drop a producer, as the broker does after a long inactivity."""
        self._by_producer_id.pop(producer_id, None)


__all__ = ["ActiveProducer", "AppendedBatch", "ProducerStates", "last_sequence_of"]
