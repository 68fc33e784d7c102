"""Errors of partitions name them; leaders count only beside errors that say so."""

from aiokafka_lite.cluster.metadata.metadata_snapshot import LeaderAndEpoch
from aiokafka_lite.errors import (
    InvalidRecordStateError,
    NotLeaderForPartitionError,
)
from aiokafka_lite.protocol.messages._share import LeaderIdAndEpoch
from aiokafka_lite.share.share_answers import error_about, leaders_named
from tests.share.share_kafka import TP


def test_an_error_names_its_partition_and_what_the_broker_said() -> None:
    error = error_about(TP, InvalidRecordStateError.errno, "not acquired")
    assert isinstance(error, InvalidRecordStateError)
    assert "t-0: not acquired" in str(error)


def test_a_leader_counts_beside_an_error_that_it_has_moved() -> None:
    moved, late = NotLeaderForPartitionError(), InvalidRecordStateError()
    leader, nobody = LeaderIdAndEpoch(leader_id=2, leader_epoch=5), LeaderIdAndEpoch()
    assert leaders_named([(TP, moved, leader)]) == {TP: LeaderAndEpoch(2, 5)}
    assert leaders_named([(TP, late, leader), (TP, moved, nobody)]) == {}
