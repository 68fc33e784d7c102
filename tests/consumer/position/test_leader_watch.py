"""Patience with partitions that nobody leads: logged once, raised in the end."""

import pytest

from aiokafka_lite.consumer.position.leader_watch import LeaderWatch, missed
from aiokafka_lite.consumer.position.subscription_state import SubscriptionState
from aiokafka_lite.errors import (
    BrokerResponseError,
    InvalidTopicError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)
from tests.consumer.batches import tps
from tests.consumer.cluster import cluster

P0, P9 = tps(0, 9)
UNKNOWN = cluster({}, errors={"t": UnknownTopicOrPartitionError.errno})


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]


def test_an_unknown_topic_is_logged_once_and_raised_when_patience_ends(
    caplog: pytest.LogCaptureFixture,
) -> None:
    watch = LeaderWatch("c", patience_s=60.0)
    assert watch.check([P0], [], UNKNOWN, 0.0) is None
    assert warnings_of(caplog) == [], "it may be about to be created"
    for now_s in (1.0, 2.0, 59.9):
        assert watch.check([P0], [], UNKNOWN, now_s) is None
    (warning,) = warnings_of(caplog)
    assert "t-0 cannot be read: UNKNOWN_TOPIC_OR_PARTITION" in warning
    error = watch.check([P0], [], UNKNOWN, 60.0)
    assert isinstance(error, UnknownTopicOrPartitionError)
    assert "t-0 does not exist after 60 s" in str(error)
    assert watch.check([P0], [], UNKNOWN, 61.0) is None, "the user may go on waiting"


def test_a_partition_the_topic_does_not_have_is_named_with_the_count() -> None:
    watch = LeaderWatch("c", patience_s=1.0)
    snapshot = cluster({P0: 1})
    watch.check([P9], [], snapshot, 0.0)
    error = watch.check([P9], [], snapshot, 1.0)
    assert "t-9 does not exist after 1 s: the topic has 1 partitions" in str(error)


def test_a_partition_that_exists_is_waited_for_without_end() -> None:
    watch = LeaderWatch("c", patience_s=1.0)
    snapshot = cluster({P0: -1})
    for now_s in (0.0, 1.0, 1000.0):
        assert watch.check([P0], [], snapshot, now_s) is None


@pytest.mark.parametrize("error", [InvalidTopicError, TopicAuthorizationFailedError])
def test_what_time_does_not_mend_is_raised_at_once(error: type[BrokerResponseError]) -> None:
    snapshot = cluster({}, errors={"t": error.errno})
    raised = LeaderWatch("c", patience_s=60.0).check([P0], [], snapshot, 0.0)
    assert type(raised) is error
    assert "topic 't'" in str(raised)


def test_nothing_is_said_before_a_broker_has_answered(caplog: pytest.LogCaptureFixture) -> None:
    watch = LeaderWatch("c", patience_s=1.0)
    for now_s in (0.0, 5.0):
        assert watch.check([P0], [], cluster({}), now_s) is None
    assert warnings_of(caplog) == []


def test_a_subscribed_topic_is_logged_and_waited_for_without_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    watch = LeaderWatch("c", patience_s=2.0)
    for now_s in (0.0, 1.0, 1000.0):
        assert watch.check([], ["t"], UNKNOWN, now_s) is None
    (warning,) = warnings_of(caplog)
    assert "t cannot be read: UNKNOWN_TOPIC_OR_PARTITION" in warning


def test_a_subscribed_topic_that_time_does_not_mend_is_raised() -> None:
    snapshot = cluster({}, errors={"t": TopicAuthorizationFailedError.errno})
    raised = LeaderWatch("c", patience_s=60.0).check([], ["t"], snapshot, 0.0)
    assert isinstance(raised, TopicAuthorizationFailedError)


def test_a_leader_in_between_begins_the_patience_anew() -> None:
    watch = LeaderWatch("c", patience_s=1.0)
    watch.check([P0], [], UNKNOWN, 0.0)
    watch.check([], [], UNKNOWN, 0.9)
    assert watch.check([P0], [], UNKNOWN, 1.0) is None


def test_the_next_moment_of_interest_lies_ahead_or_nowhere() -> None:
    """A moment in the past would make a waiting poll spin."""
    watch = LeaderWatch("c", patience_s=3.0)
    assert watch.due_at_s is None
    watch.check([P0], [], cluster({P0: -1}), 0.0)
    assert watch.due_at_s == 1.0
    watch.check([P0], [], cluster({P0: -1}), 1.0)
    assert watch.due_at_s == 3.0
    watch.check([P0], [], cluster({P0: -1}), 5.0)
    assert watch.due_at_s is None


def test_b1_a_partition_of_a_subscription_that_is_no_more_is_not_missed() -> None:
    snapshot = cluster({P0: -1})
    state = SubscriptionState(None)
    state.assign_from_user([P0, P9])
    assert missed([P0, P9], state, snapshot) == (P0, P9)
    state.unsubscribe()
    state.subscribe(["t"])
    assert missed([P0, P9], state, snapshot) == (P0,)
    assert missed([P0], state, UNKNOWN) == ()
