"""What users read of failed refreshes: a warning per class of error and minute, and errors."""

import logging

import pytest

from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.cluster.metadata.refresh_failures import RefreshFailures, why_leaderless
from aiokafka_lite.errors import (
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    LeaderNotAvailableError,
    NodeNotReadyError,
    UnknownTopicOrPartitionError,
)
from tests.consumer.batches import tps
from tests.consumer.cluster import cluster

P0, P9 = tps(0, 9)
LOST = KafkaConnectionError("lost")


@pytest.mark.parametrize(
    ("failures", "warnings"),
    [
        ([(LOST, 0.0), (LOST, 1.0), (LOST, 59.0)], 1),
        ([(LOST, 0.0), (NodeNotReadyError("x"), 1.0)], 2),
        ([(LOST, 0.0), (LOST, 60.0), (LOST, 61.0)], 2),
    ],
)
def test_an_outage_warns_once_per_class_of_error_and_minute(
    failures: list[tuple[KafkaError, float]], warnings: int, caplog: pytest.LogCaptureFixture
) -> None:
    known = RefreshFailures("c")
    with caplog.at_level(logging.DEBUG):
        for error, now_s in failures:
            known.note(error, now_s, is_closing=False)
    levels = [record.levelno for record in caplog.records]
    assert levels.count(logging.WARNING) == warnings
    assert len(levels) == len(failures)


def test_a_success_ends_the_outage_and_the_next_one_warns_again_after_a_minute(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Brokers may flap."""
    known = RefreshFailures("c")
    with caplog.at_level(logging.INFO):
        known.ended()
        known.note(LOST, 0.0, is_closing=False)
        assert known.because() == "; last failure: lost"
        known.ended()
        assert known.because() == ""
        known.note(LOST, 5.0, is_closing=False)
        known.ended()
        known.note(LOST, 60.0, is_closing=False)
    assert [record.getMessage() for record in caplog.records] == [
        "c: metadata refresh failed, it goes on trying: lost",
        "c: metadata is up to date again",
        "c: metadata refresh failed, it goes on trying: lost",
    ]


def test_a_client_that_closes_does_not_warn(caplog: pytest.LogCaptureFixture) -> None:
    RefreshFailures("c").note(LOST, 0.0, is_closing=True)
    assert not [each for each in caplog.records if each.levelno >= logging.WARNING]


@pytest.mark.parametrize(
    ("said", "error", "text"),
    [
        (None, KafkaTimeoutError, "no metadata of topic 't' within 3 s; last failure: lost"),
        (LeaderNotAvailableError, KafkaTimeoutError, "has no partitions after 3 s"),
        (UnknownTopicOrPartitionError, UnknownTopicOrPartitionError, "create the topic"),
    ],
)
def test_a_topic_without_partitions_says_what_is_known(
    said: type[LeaderNotAvailableError] | None, error: type[KafkaError], text: str
) -> None:
    known = RefreshFailures("c")
    known.note(LOST, 0.0, is_closing=False)
    found = known.of_topic("t", said, 3)
    assert type(found) is error
    assert text in str(found)


def test_what_is_left_of_a_callers_time_is_told_in_milliseconds() -> None:
    found = RefreshFailures("c").of_topic("t", None, 0.99997)
    assert "no metadata of topic 't' within 1 s;" in str(found)


@pytest.mark.parametrize(
    ("snapshot", "words"),
    [
        (cluster({}), "no broker has described the topic yet"),
        (
            cluster({}, errors={"t": UnknownTopicOrPartitionError.errno}),
            "UNKNOWN_TOPIC_OR_PARTITION",
        ),
        (cluster({P9: 1}), "the topic has 1 partitions"),
        (cluster({P0: -1}), "it has no leader"),
    ],
)
def test_the_metadata_says_why_a_partition_has_no_leader(
    snapshot: MetadataSnapshot, words: str
) -> None:
    assert words in why_leaderless(P0, snapshot)
