"""Which topics a pattern may take, whatever single metadata answers say."""

from collections.abc import Mapping

import pytest

from aiokafka_lite.consumer.matched_topics import PATIENCE_S, MatchedTopics
from aiokafka_lite.errors import (
    BrokerResponseError,
    InvalidTopicError,
    LeaderNotAvailableError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)
from tests.consumer.batches import tps
from tests.consumer.cluster import cluster

(P0,) = tps(0)
THERE = cluster({P0: 1})
NOTHING = cluster({})


def names(errors: Mapping[str, int], subscribed: set[str]) -> list[str]:
    snapshot = cluster({}, errors=dict(errors))
    return MatchedTopics(exclude_internal=True).update(snapshot, subscribed, 0.0).names


@pytest.mark.parametrize(
    ("error", "stays"),
    [
        (LeaderNotAvailableError, True),
        (UnknownTopicOrPartitionError, True),
        (TopicAuthorizationFailedError, False),
        (InvalidTopicError, False),
    ],
)
def test_a_topic_stays_while_its_error_may_pass_and_comes_without_one(
    error: type[BrokerResponseError], stays: bool
) -> None:
    assert (names({"t": error.errno}, {"t"}) == ["t"]) is stays
    assert names({"t": error.errno}, set()) == []
    assert names({}, set()) == []


def test_a_topic_that_is_absent_is_doubted_first_and_gone_after_a_while() -> None:
    topics = MatchedTopics(exclude_internal=True)
    assert topics.update(THERE, {"t"}, 0.0) == (["t"], False)
    assert topics.update(NOTHING, {"t"}, 10.0) == (["t"], True)
    assert topics.update(NOTHING, {"t"}, 10.0 + PATIENCE_S - 0.1) == (["t"], True)
    assert topics.update(NOTHING, {"t"}, 10.0 + PATIENCE_S) == ([], False)


def test_the_time_begins_anew_when_the_topic_was_there_in_between() -> None:
    topics = MatchedTopics(exclude_internal=True)
    topics.update(NOTHING, {"t"}, 0.0)
    topics.update(THERE, {"t"}, 1.0)
    assert topics.update(NOTHING, {"t"}, PATIENCE_S + 0.5) == (["t"], True)
