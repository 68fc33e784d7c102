"""What a group has committed."""

import pytest

from aiokafka_lite.errors import OffsetMetadataTooLargeError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker.state.group_offsets import CommittedOffset, GroupOffsets

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)


def test_the_last_commit_counts() -> None:
    offsets = GroupOffsets(4)
    assert offsets.get(A0) is None
    offsets.commit(A0, CommittedOffset(1))
    offsets.commit(A0, CommittedOffset(0, 3, "note", 9))
    assert offsets.get(A0) == CommittedOffset(0, 3, "note", 9)
    assert list(offsets) == [(A0, CommittedOffset(0, 3, "note", 9))]


def test_metadata_that_is_too_long_changes_nothing() -> None:
    offsets = GroupOffsets(4)
    offsets.commit(A0, CommittedOffset(1))
    with pytest.raises(OffsetMetadataTooLargeError, match="5 characters; at most 4"):
        offsets.commit(A0, CommittedOffset(2, metadata="12345"))
    assert offsets.get(A0) == CommittedOffset(1)


def test_a_deleted_topic_takes_its_offsets_along() -> None:
    offsets = GroupOffsets(4)
    for partition in (A0, A1, B0):
        offsets.commit(partition, CommittedOffset(1))
    offsets.forget_topic("a")
    assert [partition for partition, _ in offsets] == [B0]
