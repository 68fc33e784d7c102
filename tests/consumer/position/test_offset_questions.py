"""The ListOffsets conversation: F3 (by leader), E1 (isolation) and the errors of 2c-7."""

import pytest

from aiokafka_lite.consumer.position.offset_questions import (
    ListedOffset,
    OffsetQuestion,
    build_request,
    group_by_leader,
    is_expected,
    read_response,
)
from aiokafka_lite.errors import (
    BrokerResponseError,
    FencedLeaderEpochError,
    InvalidTimestampError,
    LeaderNotAvailableError,
    NotLeaderForPartitionError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
    UnsupportedForMessageFormatError,
)
from aiokafka_lite.protocol.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from tests.consumer.batches import tps
from tests.consumer.cluster import cluster

P0, P1, P2 = tps(0, 1, 2)
LATEST = -1


def answer(*partitions: ListOffsetsPartitionResponse) -> ListOffsetsResponse:
    topic = ListOffsetsTopicResponse(name="t", partitions=list(partitions))
    return ListOffsetsResponse(topics=[topic])


def failed(error: type[BrokerResponseError], partition: int = 0) -> ListOffsetsPartitionResponse:
    return ListOffsetsPartitionResponse(partition_index=partition, error_code=error.errno)


def test_f3_partitions_are_grouped_by_their_leader() -> None:
    wanted = [(P0, LATEST), (P1, LATEST), (P2, -2)]
    questions = group_by_leader(wanted, cluster({P0: 1, P1: 2, P2: 1}))
    assert questions.by_node == {
        1: {P0: OffsetQuestion(LATEST, 3), P2: OffsetQuestion(-2, 3)},
        2: {P1: OffsetQuestion(LATEST, 3)},
    }
    assert questions.leaderless == []


def test_partitions_without_a_leader_are_told_apart() -> None:
    questions = group_by_leader([(P0, LATEST), (P1, LATEST)], cluster({P0: -1}))
    assert questions.by_node == {}
    assert questions.leaderless == [P0, P1]


@pytest.mark.parametrize("read_committed", [True, False])
def test_e1_the_request_carries_isolation_epoch_and_timestamp(read_committed: bool) -> None:
    request = build_request(
        {P0: OffsetQuestion(LATEST, 3), P1: OffsetQuestion(-2, 4)},
        read_committed=read_committed,
        timeout_ms=70,
    )
    assert request.isolation_level == int(read_committed)
    assert (request.replica_id, request.timeout_ms) == (-1, 70)
    (topic,) = request.topics
    assert topic.name == "t"
    assert [
        (asked.partition_index, asked.timestamp, asked.current_leader_epoch)
        for asked in topic.partitions
    ] == [(0, LATEST, 3), (1, -2, 4)]


def test_offsets_come_with_timestamp_and_epoch() -> None:
    response = answer(
        ListOffsetsPartitionResponse(partition_index=0, offset=7, timestamp=8, leader_epoch=9)
    )
    outcome = read_response(response, {P0: OffsetQuestion(LATEST, 3)})
    assert outcome.offsets == {P0: ListedOffset(7, 8, 9)}


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (NotLeaderForPartitionError, True),
        (LeaderNotAvailableError, True),
        (FencedLeaderEpochError, True),
        (UnknownTopicOrPartitionError, True),
        (InvalidTimestampError, False),
    ],
)
def test_2c_7_errors_are_retried_even_unexpected_ones(
    error: type[BrokerResponseError], expected: bool
) -> None:
    outcome = read_response(answer(failed(error)), {P0: OffsetQuestion(LATEST, 3)})
    assert outcome.to_retry == {P0: error}
    assert is_expected(error) is expected


def test_2c_7_a_partition_missing_in_the_answer_is_retried() -> None:
    outcome = read_response(answer(), {P0: OffsetQuestion(LATEST, 3)})
    assert outcome.to_retry == {P0: UnknownTopicOrPartitionError}


def test_2c_7_a_verdict_on_the_users_rights_is_for_the_user() -> None:
    outcome = read_response(
        answer(failed(TopicAuthorizationFailedError)), {P0: OffsetQuestion(LATEST, 3)}
    )
    assert "t-0" in str(outcome.refused[P0])


def test_2c_7_an_old_log_format_gives_no_result_and_no_error() -> None:
    outcome = read_response(
        answer(failed(UnsupportedForMessageFormatError)), {P0: OffsetQuestion(LATEST, 3)}
    )
    assert outcome.unanswerable == [P0]
    assert not outcome.to_retry


def test_what_nobody_asked_is_ignored() -> None:
    outcome = read_response(
        answer(
            ListOffsetsPartitionResponse(partition_index=0, offset=1),
            ListOffsetsPartitionResponse(partition_index=1, offset=1),
        ),
        {P0: OffsetQuestion(LATEST, 3)},
    )
    assert list(outcome.offsets) == [P0]
