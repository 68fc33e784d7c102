"""The steps of one transactional id, and what they do to ids and epochs."""

import itertools

import pytest

from aiokafka_lite.errors import IllegalStateError, ProducerFenced, UnknownError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import (
    ALLOWED_FROM,
    MAX_EPOCH,
    TransactionMetadata,
    TxnProducerId,
    TxnState,
    is_exhausted,
)

A0 = TopicPartition("a", 0)
NOW_MS = 5
NEW_IDS = itertools.count(100)


def fresh(epoch: int = 0) -> TransactionMetadata:
    """Initialised once, then set to an epoch."""
    metadata = TransactionMetadata("tx", 7, 1000)
    initialise(metadata)
    metadata.producer_epoch = epoch
    return metadata


def initialise(metadata: TransactionMetadata, *claim: int) -> tuple[int, int]:
    claimed = TxnProducerId(*claim) if claim else None
    metadata.initialise(1000, claimed, lambda: next(NEW_IDS))
    return metadata.producer


def ended(*, is_commit: bool, bumps_epoch: bool, epoch: int = 0) -> TransactionMetadata:
    metadata = fresh(epoch)
    metadata.add([A0], ["g"], NOW_MS)
    metadata.prepare(NOW_MS, is_commit=is_commit, bumps_epoch=bumps_epoch)
    return metadata


def test_the_first_initialisation_gives_epoch_0_and_the_next_ones_the_next() -> None:
    metadata = TransactionMetadata("tx", 7, 1000)
    assert (metadata.state, metadata.producer) == (TxnState.EMPTY, (7, -1))
    assert [initialise(metadata) for _ in range(3)] == [(7, 0), (7, 1), (7, 2)]


def test_a_claim_to_the_present_epoch_raises_it_and_repeated_it_changes_nothing() -> None:
    """InitProducerId with the present epoch raises it; repeated, it changes nothing (KIP-360)."""
    metadata = fresh(3)
    assert initialise(metadata, 7, 3) == (7, 4)
    assert initialise(metadata, 7, 3) == (7, 4)
    assert initialise(metadata, 7, 4) == (7, 5)
    for epoch in (3, 6):
        with pytest.raises(ProducerFenced, match="is over"):
            initialise(metadata, 7, epoch)


def test_who_was_initialised_anew_cannot_be_gone_on_from() -> None:
    metadata = fresh(3)
    initialise(metadata)
    with pytest.raises(ProducerFenced):
        initialise(metadata, 7, 3)


def test_any_claim_to_what_was_never_given_out_is_taken() -> None:
    metadata = TransactionMetadata("tx", 7, 1000)
    metadata.check_claim(TxnProducerId(1, 2))
    assert initialise(metadata, 1, 2) == (7, 0)


def test_claims_to_other_ids_are_fenced() -> None:
    metadata = fresh()
    metadata.check_claim(TxnProducerId(7, 99))
    with pytest.raises(ProducerFenced):
        metadata.check_claim(TxnProducerId(8, 0))


def test_the_last_epoch_but_one_is_followed_by_a_new_id() -> None:
    """2^15-1 is kept for fencing; who missed the answer may ask again."""
    metadata = fresh(MAX_EPOCH - 1)
    producer_id, epoch = initialise(metadata, 7, MAX_EPOCH - 1)
    assert (producer_id != 7, epoch) == (True, 0)
    metadata.check_claim(TxnProducerId(7, MAX_EPOCH - 1))
    assert initialise(metadata, 7, MAX_EPOCH - 1) == (producer_id, 0)
    with pytest.raises(ProducerFenced):
        metadata.check_claim(TxnProducerId(7, 3))


def test_a_claim_to_another_epoch_of_an_exhausted_id_is_an_error() -> None:
    with pytest.raises(UnknownError, match="no epoch left"):
        initialise(fresh(MAX_EPOCH), 7, MAX_EPOCH - 1)


def test_exhausted_epochs() -> None:
    assert [is_exhausted(epoch) for epoch in (0, 32765, 32766, 32767)] == [False, False, True, True]


def test_the_first_that_takes_part_begins_the_transaction() -> None:
    metadata = fresh()
    metadata.add([A0], [], NOW_MS)
    metadata.add([], ["g"], NOW_MS)
    assert metadata.state is TxnState.ONGOING
    assert (metadata.partitions, metadata.groups) == ({A0}, {"g"})


@pytest.mark.parametrize("is_commit", [True, False])
def test_ending_in_v1_keeps_the_epoch(*, is_commit: bool) -> None:
    metadata = ended(is_commit=is_commit, bumps_epoch=False)
    assert metadata.producer == metadata.after_completion() == (7, 0)
    assert metadata.partitions == {A0}
    metadata.complete()
    assert metadata.producer == (7, 0)
    assert metadata.state == ("CompleteCommit" if is_commit else "CompleteAbort")
    assert (metadata.partitions, metadata.groups) == (set(), set())


def test_ending_in_v2_raises_the_epoch_before_the_markers() -> None:
    """In V2 the epoch is raised before the markers are written (KIP-890)."""
    metadata = ended(is_commit=True, bumps_epoch=True)
    assert metadata.producer == metadata.after_completion() == (7, 1)
    metadata.complete()
    assert initialise(metadata, 7, 0) == (7, 1)


def test_ending_in_v2_changes_the_id_when_the_epochs_are_used_up() -> None:
    metadata = fresh(MAX_EPOCH - 1)
    metadata.add([A0], [], NOW_MS)
    metadata.prepare(NOW_MS, is_commit=True, bumps_epoch=True, next_producer_id=8)
    assert metadata.producer == (7, MAX_EPOCH), "the marker's"
    assert metadata.after_completion() == (8, 0)
    metadata.complete()
    assert (metadata.producer, metadata.previous_producer_id) == ((8, 0), 7)
    metadata.add([A0], [], NOW_MS)
    assert metadata.after_completion() == (8, 0)


def test_fencing_raises_the_epoch_for_nobody() -> None:
    metadata = fresh(3)
    metadata.add([A0], [], NOW_MS)
    metadata.fence()
    assert metadata.producer == (7, 4)
    metadata.prepare(NOW_MS, is_commit=False, bumps_epoch=False)
    metadata.complete()
    with pytest.raises(ProducerFenced):
        initialise(metadata, 7, 3)


def test_the_table_allows_no_other_step() -> None:
    """Source: TxnState.validPreviousStates."""
    assert set(ALLOWED_FROM) == set(TxnState)
    metadata = fresh()
    with pytest.raises(IllegalStateError, match=r"Empty.*cannot become PrepareCommit"):
        metadata.prepare(NOW_MS, is_commit=True, bumps_epoch=True)
    metadata.prepare(NOW_MS, is_commit=False, bumps_epoch=True)
    for step in (
        lambda: metadata.add([A0], [], NOW_MS),
        lambda: initialise(metadata),
        lambda: metadata.prepare(NOW_MS, is_commit=False, bumps_epoch=True),
    ):
        with pytest.raises(IllegalStateError):
            step()
    metadata.complete()
    with pytest.raises(IllegalStateError):
        metadata.complete()


def test_when_a_transaction_began() -> None:
    metadata = fresh()
    assert metadata.start_time_ms == -1
    metadata.add([A0], [], 5)
    metadata.add([], ["g"], 6)
    metadata.prepare(7, is_commit=True, bumps_epoch=True)
    metadata.complete()
    assert metadata.start_time_ms == 5
    metadata.prepare(8, is_commit=False, bumps_epoch=True)
    metadata.complete()
    assert metadata.start_time_ms == 8, "an abort without a transaction"
    initialise(metadata)
    assert metadata.start_time_ms == -1
