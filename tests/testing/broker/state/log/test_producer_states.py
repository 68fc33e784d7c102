"""The broker's side of idempotence (KIP-98, KIP-360)."""

import pytest

from aiokafka_lite.errors import (
    InvalidProducerEpoch,
    OutOfOrderSequenceNumber,
    TransactionCoordinatorFenced,
)
from aiokafka_lite.testing.broker.state.log.producer_states import (
    MAX_SEQUENCE,
    AppendedBatch,
    ProducerStates,
    last_sequence_of,
)


def append(states: ProducerStates, epoch: int, first: int, count: int, offset: int) -> None:
    assert states.check(7, epoch, first, count) is None
    last = last_sequence_of(first, count)
    states.record(7, epoch, AppendedBatch(first, last, offset, 1))


def test_batches_in_sequence_are_taken() -> None:
    states = ProducerStates()
    append(states, 0, 0, 3, 0)
    append(states, 0, 3, 2, 3)
    append(states, 0, 5, 1, 5)


def test_an_unknown_producer_may_start_anywhere() -> None:
    append(ProducerStates(), 3, 1234, 1, 0)


def test_a_repeated_batch_is_found_among_the_last_five() -> None:
    states = ProducerStates()
    for i in range(6):
        append(states, 0, i, 1, 100 + i)
    found = [states.check(7, 0, i, 1) for i in range(1, 6)]
    assert [batch.base_offset for batch in found if batch] == [101, 102, 103, 104, 105]


def test_a_batch_older_than_the_last_five_is_out_of_order() -> None:
    states = ProducerStates()
    for i in range(6):
        append(states, 0, i, 1, i)
    with pytest.raises(OutOfOrderSequenceNumber, match="6 comes next"):
        states.check(7, 0, 0, 1)


def test_a_gap_is_out_of_order() -> None:
    states = ProducerStates()
    append(states, 0, 0, 3, 0)
    with pytest.raises(OutOfOrderSequenceNumber, match="3 comes next"):
        states.check(7, 0, 4, 1)


def test_sequence_wraps_from_the_largest_to_0() -> None:
    """Sequence numbers wrap from 2^31-1 to 0 (2d-11)."""
    states = ProducerStates()
    append(states, 0, MAX_SEQUENCE - 1, 2, 0)
    append(states, 0, 0, 1, 2)
    other = ProducerStates()
    append(other, 0, MAX_SEQUENCE, 3, 0)
    append(other, 0, 2, 1, 3)


def test_an_older_epoch_is_fenced() -> None:
    states = ProducerStates()
    append(states, 2, 0, 1, 0)
    with pytest.raises(InvalidProducerEpoch, match="epoch 1, but epoch 2"):
        states.check(7, 1, 1, 1)


def test_a_new_epoch_begins_at_sequence_0() -> None:
    states = ProducerStates()
    append(states, 0, 0, 5, 0)
    with pytest.raises(OutOfOrderSequenceNumber, match="a new epoch begins at sequence 0"):
        states.check(7, 1, 5, 1)
    append(states, 1, 0, 1, 5)
    append(states, 1, 1, 1, 6)


def test_producers_do_not_disturb_each_other() -> None:
    states = ProducerStates()
    append(states, 0, 0, 5, 0)
    assert states.check(8, 0, 0, 1) is None


def test_a_forgotten_producer_may_start_anywhere() -> None:
    states = ProducerStates()
    append(states, 0, 0, 5, 0)
    states.forget(7)
    append(states, 0, 77, 1, 5)


# Transactions…


def test_a_marker_begins_its_epoch_at_sequence_0() -> None:
    """ProducerAppendInfo.appendEndTxnMarker; in V1 the epoch and its sequences go on."""
    states = ProducerStates()
    states.record_marker(7, 3, 0, 1)
    assert (states.epoch_of(7), states.epoch_of(8)) == (3, None)
    with pytest.raises(OutOfOrderSequenceNumber, match="0 comes next"):
        states.check(7, 3, 5, 1)
    with pytest.raises(InvalidProducerEpoch):
        states.check(7, 2, 0, 1)
    append(states, 3, 0, 2, 0)
    states.record_marker(7, 3, 0, 1)
    append(states, 3, 2, 1, 3)
    states.record_marker(7, 4, 0, 1)
    with pytest.raises(OutOfOrderSequenceNumber):
        states.check(7, 4, 3, 1)
    append(states, 4, 0, 1, 5)


def test_what_was_refused_comes_before_those_that_follow_it() -> None:
    """VerificationStateEntry, KIP-890."""
    states = ProducerStates()
    for sequence in (3, 2, 4):
        states.verifying(7, 0, sequence)
    with pytest.raises(OutOfOrderSequenceNumber, match="2 was refused before"):
        states.check(7, 0, 3, 1)
    assert states.check(8, 0, 3, 1) is None
    append(states, 0, 2, 1, 0)
    with pytest.raises(OutOfOrderSequenceNumber, match="2 was refused before"):
        states.check(7, 0, 3, 1)  # the one appended was outside the transaction
    states.record(7, 0, AppendedBatch(3, 3, 1, 1), is_transactional=True)
    append(states, 0, 4, 1, 2)


def test_in_transactions_v2_a_producer_that_is_not_known_begins_at_sequence_0() -> None:
    """ProducerAppendInfo.checkSequence."""
    states = ProducerStates()
    states.verifying(7, 0, 3, is_v2=True)
    with pytest.raises(OutOfOrderSequenceNumber, match="0 comes first"):
        states.check(7, 0, 3, 1)
    append(states, 0, 0, 1, 0)
    states.record(7, 0, AppendedBatch(1, 1, 1, 1), is_transactional=True)
    states.verifying(7, 0, 2, is_v2=True)
    append(states, 0, 2, 1, 2)


def test_a_newer_epoch_is_verified_anew() -> None:
    states = ProducerStates()
    states.verifying(7, 0, 2)
    states.verifying(7, 1, 5)
    states.verifying(7, 0, 0)
    with pytest.raises(OutOfOrderSequenceNumber, match="5 was refused before"):
        states.check(7, 1, 6, 1)
    states.record_marker(7, 2, 0, 1)
    append(states, 2, 0, 1, 0)


def test_producers_as_administrators_see_them() -> None:
    """ProducerStateEntry: a new epoch drops the sequence and keeps the coordinator's epoch."""
    states = ProducerStates()
    assert list(states.active()) == []
    states.record(7, 0, AppendedBatch(0, 4, 0, 1000))
    assert list(states.active()) == [(7, 0, 4, 1000, -1)]
    states.record_marker(7, 0, 3, 2000)
    assert list(states.active()) == [(7, 0, 4, 2000, 3)]
    states.record(7, 1, AppendedBatch(0, 0, 6, 3000))
    assert list(states.active()) == [(7, 1, 0, 3000, 3)]
    states.record_marker(7, 2, 3, 4000)
    states.record_marker(8, 5, 0, 4000)
    assert list(states.active()) == [(7, 2, -1, 4000, 3), (8, 5, -1, 4000, 0)]


def test_markers_of_an_epoch_or_of_a_coordinator_that_is_over_are_refused() -> None:
    """ProducerAppendInfo.checkProducerEpoch and checkCoordinatorEpoch; KIP-1228."""
    states = ProducerStates()
    states.check_marker(7, 0, 0, ends_v2=True)
    states.record_marker(7, 2, 3, 1)
    states.check_marker(7, 2, 3, ends_v2=False)
    states.check_marker(7, 3, 4, ends_v2=True)
    with pytest.raises(InvalidProducerEpoch, match="epoch 2 was seen"):
        states.check_marker(7, 1, 3, ends_v2=False)
    with pytest.raises(InvalidProducerEpoch):
        states.check_marker(7, 2, 3, ends_v2=True)
    with pytest.raises(TransactionCoordinatorFenced, match="but 3 was seen"):
        states.check_marker(7, 2, 2, ends_v2=False)
