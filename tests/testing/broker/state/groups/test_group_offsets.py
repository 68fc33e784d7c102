"""What a group has committed."""

import pytest

from aiokafka_lite.errors import OffsetMetadataTooLargeError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker.state.groups.group_offsets import GroupOffsets, StoredOffset

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)


def test_the_last_commit_counts() -> None:
    offsets = GroupOffsets(4)
    assert offsets.get(A0) is None
    offsets.commit(A0, StoredOffset(1))
    offsets.commit(A0, StoredOffset(0, 3, "note", 9))
    assert offsets.get(A0) == StoredOffset(0, 3, "note", 9)
    assert list(offsets) == [(A0, StoredOffset(0, 3, "note", 9))]


def test_metadata_that_is_too_long_changes_nothing() -> None:
    offsets = GroupOffsets(4)
    offsets.commit(A0, StoredOffset(1))
    with pytest.raises(OffsetMetadataTooLargeError, match="5 characters; at most 4"):
        offsets.commit(A0, StoredOffset(2, metadata="12345"))
    assert offsets.get(A0) == StoredOffset(1)


def test_a_deleted_topic_takes_its_offsets_along() -> None:
    offsets = GroupOffsets(4)
    for partition in (A0, A1, B0):
        offsets.commit(partition, StoredOffset(1))
    offsets.forget_topic("a")
    assert [partition for partition, _ in offsets] == [B0]


# In transactions…


def test_what_is_committed_in_a_transaction_counts_at_its_end() -> None:
    """Offsets of a transaction count once the transaction is committed (KIP-98, KIP-447)."""
    offsets = GroupOffsets(4)
    offsets.commit(A0, StoredOffset(1))
    offsets.commit_in_transaction(A0, StoredOffset(2), 7, 0)
    offsets.commit_in_transaction(A0, StoredOffset(3), 7, 0)
    offsets.commit_in_transaction(A1, StoredOffset(4), 8, 0)
    assert offsets.get(A0) == StoredOffset(1)
    assert [offsets.is_unstable(partition) for partition in (A0, A1, B0)] == [True, True, False]
    assert offsets.pending() == {A0: StoredOffset(3), A1: StoredOffset(4)}
    offsets.end_transaction(7, is_commit=True)
    offsets.end_transaction(8, is_commit=False)
    assert list(offsets) == [(A0, StoredOffset(3))]
    assert offsets.pending() == {}
    offsets.end_transaction(9, is_commit=True)


def test_the_later_commit_counts_whenever_the_transaction_ends() -> None:
    offsets = GroupOffsets(4)
    offsets.commit_in_transaction(A0, StoredOffset(1), 7, 0)
    offsets.commit_in_transaction(A0, StoredOffset(2), 8, 0)
    assert offsets.pending() == {A0: StoredOffset(2)}
    offsets.end_transaction(8, is_commit=True)
    offsets.end_transaction(7, is_commit=True)
    assert offsets.get(A0) == StoredOffset(2)
    offsets.commit_in_transaction(A0, StoredOffset(3), 7, 0)
    offsets.commit(A0, StoredOffset(4))
    offsets.end_transaction(7, is_commit=True)
    assert offsets.get(A0) == StoredOffset(4)


def test_a_producer_is_known_by_its_epoch_until_its_transaction_ends() -> None:
    offsets = GroupOffsets(4)
    offsets.commit_in_transaction(A0, StoredOffset(1), 7, 3)
    known = [(7, 3), (7, 4), (8, 3)]
    assert [offsets.has_transaction(*producer) for producer in known] == [True, False, False]
    offsets.end_transaction(7, is_commit=True)
    assert not offsets.has_transaction(7, 3)


def test_metadata_that_is_too_long_is_refused_in_a_transaction_too() -> None:
    offsets = GroupOffsets(4)
    with pytest.raises(OffsetMetadataTooLargeError):
        offsets.commit_in_transaction(A0, StoredOffset(2, metadata="12345"), 7, 0)
    assert not offsets.is_unstable(A0)


def test_a_deleted_topic_takes_its_pending_offsets_along() -> None:
    offsets = GroupOffsets(4)
    for partition in (A0, B0):
        offsets.commit_in_transaction(partition, StoredOffset(1), 7, 0)
    offsets.forget_topic("a")
    offsets.end_transaction(7, is_commit=True)
    assert [partition for partition, _ in offsets] == [B0]


def test_a_deleted_offset_may_come_back_by_a_transaction() -> None:
    offsets = GroupOffsets(4)
    offsets.commit(A0, StoredOffset(1))
    offsets.commit_in_transaction(A0, StoredOffset(2), 7, 0)
    offsets.delete(A0)
    offsets.delete(B0)
    assert offsets.get(A0) is None
    offsets.end_transaction(7, is_commit=True)
    assert offsets.get(A0) == StoredOffset(2)
