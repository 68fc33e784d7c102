"""The table of transaction states (2d'-1), against a second one written down here."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.errors import (
    IllegalStateError,
    KafkaError,
    ProducerFenced,
    TransactionAbortableError,
)
from aiokafka_lite.producer.transaction.transaction_state import TransactionState, TransactionStatus

S = TransactionState

MAY_FOLLOW = {
    S.UNINITIALIZED: {S.INITIALIZING, S.FATAL_ERROR},
    S.INITIALIZING: {S.UNINITIALIZED, S.READY, S.ABORTABLE_ERROR, S.FATAL_ERROR},
    S.READY: {S.UNINITIALIZED, S.IN_TRANSACTION, S.FATAL_ERROR},
    S.IN_TRANSACTION: {S.COMMITTING, S.ABORTING, S.ABORTABLE_ERROR, S.FATAL_ERROR},
    S.COMMITTING: {
        S.UNINITIALIZED,
        S.READY,
        S.INITIALIZING,
        S.ABORTABLE_ERROR,
        S.FATAL_ERROR,
    },
    S.ABORTING: {S.READY, S.INITIALIZING, S.FATAL_ERROR},
    S.ABORTABLE_ERROR: {S.ABORTING, S.ABORTABLE_ERROR, S.UNINITIALIZED, S.FATAL_ERROR},
    S.FATAL_ERROR: {S.FATAL_ERROR},
}

OUTSIDE = (S.READY, S.UNINITIALIZED)


def status_in(state: TransactionState, error: KafkaError | None = None) -> TransactionStatus:
    status = TransactionStatus("t")
    status.state = state
    status.error = error
    return status


@given(st.sampled_from([*S]), st.sampled_from([*S]))
def test_each_move_is_allowed_or_changes_nothing(origin: S, target: S) -> None:
    """A transition that the table lacks raises and changes nothing (2d'-1)."""
    error = ProducerFenced("gone") if origin is S.FATAL_ERROR else None
    status = status_in(origin, error)
    if target in MAY_FOLLOW[origin]:
        status.to(target)
        assert status.state is target
        return
    with pytest.raises(ProducerFenced if error else IllegalStateError) as raised:
        status.to(target)
    assert status.state is origin
    if error is None:
        assert "'t'" in str(raised.value)
        assert origin.value in str(raised.value)


@given(st.lists(st.sampled_from([*S, "abortable", "fatal"]), max_size=30))
def test_what_was_fatal_once_stays(steps: list[S | str]) -> None:
    status = TransactionStatus("t")
    fatal: KafkaError | None = None
    for number, step in enumerate(steps):
        error = KafkaError(str(number))
        if step == "fatal":
            status.fail_fatally(error)
            fatal = fatal or error
        elif step == "abortable":
            status.fail_abortable(error, bump=False)
        elif isinstance(step, S) and step is not S.FATAL_ERROR:
            with suppress(KafkaError):
                status.to(step)
        assert status.is_fatal == (fatal is not None)
        if fatal is not None:
            assert status.error is fatal
            with pytest.raises(KafkaError) as raised:
                status.raise_error()
            assert raised.value is fatal


@pytest.mark.parametrize("state", S)
def test_an_abortable_error_fails_a_transaction_and_nothing_else(state: S) -> None:
    """An abortable error fails a transaction, and changes nothing while it is aborted (2d'-4)."""
    before = KafkaError("before")
    status = status_in(state, before if state in (S.ABORTABLE_ERROR, S.FATAL_ERROR) else None)
    error = TransactionAbortableError("x")
    status.fail_abortable(error, bump=False)
    if state in (*OUTSIDE, S.ABORTING, S.FATAL_ERROR):
        assert status.state is state
        assert status.error is not error
    else:
        assert status.state is S.ABORTABLE_ERROR
        assert status.error is (before if state is S.ABORTABLE_ERROR else error)
        assert status.has_failed
    assert not status.needs_epoch_bump


@pytest.mark.parametrize("state", S)
def test_a_bump_is_remembered_until_the_next_transaction(state: S) -> None:
    """The need of a new epoch is remembered until the next transaction (2d'-5)."""
    status = status_in(state)
    status.fail_abortable(KafkaError("gap"), bump=True)
    status.fail_abortable(KafkaError("another"), bump=False)
    before = status.needs_epoch_bump
    status.state = S.ABORTING
    status.to(S.READY)
    assert (before, status.needs_epoch_bump) == (True, False)
    assert status.error is None


@pytest.mark.parametrize("state", S)
def test_what_each_state_means(state: S) -> None:
    status = status_in(state)
    assert status.is_open == (state is S.IN_TRANSACTION)
    assert status.has_failed == (state in (S.ABORTABLE_ERROR, S.FATAL_ERROR))
    assert status.is_fatal == (state is S.FATAL_ERROR)
    status.raise_error()  # no error, nothing to raise
    assert state.name in repr(status)


def test_the_error_is_raised_only_while_it_holds() -> None:
    error = TransactionAbortableError("x")
    status = status_in(S.ABORTABLE_ERROR, error)
    with pytest.raises(TransactionAbortableError):
        status.raise_error()
    status.to(S.ABORTING)
    status.raise_error()
