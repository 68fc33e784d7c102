"""The OffsetForLeaderEpoch conversation: its request, and what an answer means (2c-3)."""

import pytest

from aiokafka_lite.cluster.metadata.metadata_snapshot import LeaderAndEpoch
from aiokafka_lite.consumer.position.epoch_questions import (
    EpochEnd,
    EpochQuestion,
    build_request,
    question_of,
    read_response,
)
from aiokafka_lite.consumer.position.partition_state import FetchState, PartitionState
from aiokafka_lite.errors import (
    BrokerResponseError,
    FencedLeaderEpochError,
    KafkaStorageError,
    LeaderNotAvailableError,
    NotLeaderForPartitionError,
    OffsetNotAvailableError,
    ReplicaNotAvailableError,
    TopicAuthorizationFailedError,
    UnknownError,
    UnknownLeaderEpochError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)
from tests.consumer.batches import tps

P0, P1 = tps(0, 1)


def answer(*partitions: EpochEndOffset) -> OffsetForLeaderEpochResponse:
    return OffsetForLeaderEpochResponse(
        topics=[OffsetForLeaderTopicResult(topic="t", partitions=list(partitions))]
    )


def test_2c_3_the_request_carries_the_offsets_epoch_and_the_leaders_as_a_consumer() -> None:
    request = build_request(
        {
            P0: EpochQuestion(7, 3, LeaderAndEpoch(1, 5)),
            P1: EpochQuestion(8, 4, LeaderAndEpoch(1, 6)),
        }
    )
    assert request.replica_id == -1
    (topic,) = request.topics
    assert topic.topic == "t"
    assert [
        (asked.partition, asked.leader_epoch, asked.current_leader_epoch)
        for asked in topic.partitions
    ] == [(0, 3, 5), (1, 4, 6)]


def test_2c_2_without_a_known_leader_there_is_nobody_to_ask() -> None:
    state = PartitionState(P0, FetchState.AWAIT_VALIDATION, offset=7, offset_epoch=3)
    assert question_of(state) is None
    state.leader = LeaderAndEpoch(None, 5)
    assert question_of(state) is None
    state.leader = LeaderAndEpoch(1, 5)
    assert question_of(state) == (7, 3, (1, 5))


def test_2c_3_the_end_of_an_epoch_may_be_undefined() -> None:
    outcome = read_response(
        answer(
            EpochEndOffset(partition=0, leader_epoch=3, end_offset=9),
            EpochEndOffset(partition=1, leader_epoch=-1, end_offset=-1),
        ),
        [P0, P1],
    )
    assert outcome.ends == {P0: EpochEnd(3, 9), P1: EpochEnd(-1, -1)}
    assert outcome.ends[P0].is_defined
    assert not outcome.ends[P1].is_defined
    assert not EpochEnd(-1, 9).is_defined


@pytest.mark.parametrize(
    "error",
    [
        NotLeaderForPartitionError,
        ReplicaNotAvailableError,
        KafkaStorageError,
        OffsetNotAvailableError,
        LeaderNotAvailableError,
        FencedLeaderEpochError,
        UnknownLeaderEpochError,
        UnknownTopicOrPartitionError,
        UnknownError,
    ],
)
def test_2c_7_errors_are_retried_even_unexpected_ones(error: type[BrokerResponseError]) -> None:
    outcome = read_response(answer(EpochEndOffset(partition=0, error_code=error.errno)), [P0, P1])
    assert outcome.to_retry == {P0: error, P1: UnknownTopicOrPartitionError}


def test_2c_7_a_verdict_on_the_users_rights_is_for_the_user() -> None:
    code = TopicAuthorizationFailedError.errno
    outcome = read_response(answer(EpochEndOffset(partition=0, error_code=code)), [P0])
    assert "t-0" in str(outcome.refused[P0])
    assert not outcome.to_retry


def test_what_nobody_asked_is_ignored() -> None:
    outcome = read_response(answer(EpochEndOffset(partition=1, leader_epoch=1, end_offset=2)), [P0])
    assert outcome.ends == {}
