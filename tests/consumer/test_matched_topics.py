"""Which topics a pattern may take, whatever single metadata answers say."""

from collections.abc import Mapping

import pytest

from aiokafka_lite.consumer.matched_topics import present_topics
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


def names(errors: Mapping[str, int], subscribed: set[str]) -> list[str]:
    snapshot = cluster({}, errors=dict(errors))
    return present_topics(snapshot, subscribed, exclude_internal=True)


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


def test_a_topic_without_an_error_comes() -> None:
    assert present_topics(cluster({P0: 1}), (), exclude_internal=True) == ["t"]
