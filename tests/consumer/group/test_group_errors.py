"""Each row of the tables 2e-3, 2e-4, 2e-12 and 2e-15 calls for the action that stands there."""

import pytest

from aiokafka_lite import errors
from aiokafka_lite.consumer.group.group_errors import (
    COMMIT_ACTIONS,
    EPOCH_COMMIT_ACTIONS,
    EPOCH_HEARTBEAT_ACTIONS,
    HEARTBEAT_ACTIONS,
    JOIN_ACTIONS,
    OFFSET_FETCH_ACTIONS,
    Action,
    is_for_good,
)
from aiokafka_lite.errors import BrokerResponseError

Error = type[BrokerResponseError]

COORDINATOR_GONE = [
    (errors.GroupCoordinatorNotAvailableError, Action.FIND_COORDINATOR),
    (errors.NotCoordinatorForGroupError, Action.FIND_COORDINATOR),
]

MEMBERSHIP_GONE = [
    (errors.UnknownMemberIdError, Action.LOSE_MEMBERSHIP),
    (errors.IllegalGenerationError, Action.LOSE_GENERATION),
]


def row(error: Error, action: Action) -> tuple[Error, Action]:
    return error, action


@pytest.mark.parametrize(
    ("error", "action"),
    [
        *COORDINATOR_GONE,
        *MEMBERSHIP_GONE,
        row(errors.MemberIdRequired, Action.TAKE_MEMBER_ID),
        row(errors.GroupLoadInProgressError, Action.RETRY),
        row(errors.RebalanceInProgressError, Action.REJOIN),
        row(errors.FencedInstanceIdError, Action.RAISE),
        row(errors.InconsistentGroupProtocolError, Action.RAISE),
        row(errors.InvalidSessionTimeoutError, Action.RAISE),
        row(errors.InvalidGroupIdError, Action.RAISE),
        row(errors.GroupAuthorizationFailedError, Action.RAISE),
        row(errors.GroupMaxSizeReachedError, Action.RAISE),
        row(errors.UnsupportedVersionError, Action.RAISE),
    ],
)
def test_2e_3_what_an_error_of_joining_calls_for(error: Error, action: Action) -> None:
    assert JOIN_ACTIONS.action_for(error.errno) == (action, error)


@pytest.mark.parametrize(
    ("error", "action"),
    [
        *COORDINATOR_GONE,
        *MEMBERSHIP_GONE,
        row(errors.GroupLoadInProgressError, Action.RETRY),
        row(errors.RebalanceInProgressError, Action.REJOIN),
        row(errors.FencedInstanceIdError, Action.RAISE),
        row(errors.GroupAuthorizationFailedError, Action.RAISE),
    ],
)
def test_2e_4_what_an_error_of_a_heartbeat_calls_for(error: Error, action: Action) -> None:
    assert HEARTBEAT_ACTIONS.action_for(error.errno) == (action, error)


@pytest.mark.parametrize(
    ("error", "action"),
    [
        *COORDINATOR_GONE,
        *MEMBERSHIP_GONE,
        row(errors.GroupIdNotFound, Action.LOSE_MEMBERSHIP),
        row(errors.RequestTimedOutError, Action.FIND_COORDINATOR),
        row(errors.GroupLoadInProgressError, Action.RETRY),
        row(errors.UnknownTopicOrPartitionError, Action.RETRY),
        row(errors.RebalanceInProgressError, Action.REJOIN),
        row(errors.FencedInstanceIdError, Action.RAISE),
        row(errors.OffsetMetadataTooLargeError, Action.RAISE),
        row(errors.InvalidCommitOffsetSizeError, Action.RAISE),
        row(errors.GroupAuthorizationFailedError, Action.RAISE),
        row(errors.TopicAuthorizationFailedError, Action.RAISE),
    ],
)
def test_2e_12_what_an_error_of_a_commit_calls_for(error: Error, action: Action) -> None:
    assert COMMIT_ACTIONS.action_for(error.errno) == (action, error)


@pytest.mark.parametrize(
    ("error", "action"),
    [
        *COORDINATOR_GONE,
        row(errors.GroupLoadInProgressError, Action.RETRY),
        row(errors.UnstableOffsetCommitError, Action.RETRY),
        row(errors.TopicAuthorizationFailedError, Action.RAISE),
        row(errors.UnknownTopicOrPartitionError, Action.RAISE),
        row(errors.GroupAuthorizationFailedError, Action.RAISE),
    ],
)
def test_2e_15_what_an_error_of_asking_for_offsets_calls_for(error: Error, action: Action) -> None:
    assert OFFSET_FETCH_ACTIONS.action_for(error.errno) == (action, error)


TABLES = {
    "join": JOIN_ACTIONS,
    "heartbeat": HEARTBEAT_ACTIONS,
    "commit": COMMIT_ACTIONS,
    "offset fetch": OFFSET_FETCH_ACTIONS,
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("error", errors.kafka_errors.values(), ids=lambda error: error.__name__)
def test_an_unlisted_error_is_retried_if_time_may_mend_it_and_raised_otherwise(
    table: str, error: Error
) -> None:
    actions = TABLES[table]
    if error.errno in actions.listed:
        return
    expected = Action.RETRY if error.retriable else Action.RAISE
    assert actions.action_for(error.errno) == (expected, error)


def test_a_code_nobody_knows_is_raised_as_unknown() -> None:
    assert JOIN_ACTIONS.action_for(9_999) == (Action.RAISE, errors.UnknownError)


@pytest.mark.parametrize("error", errors.kafka_errors.values(), ids=lambda error: error.__name__)
def test_only_fenced_instance_id_is_for_good(error: Error) -> None:
    """FENCED_INSTANCE_ID says that the place is taken; other errors end one attempt (2e-3)."""
    assert is_for_good(error()) == (error is errors.FencedInstanceIdError)


def test_errors_that_are_no_answers_are_not_for_good() -> None:
    assert not is_for_good(errors.KafkaConnectionError("gone"))
    assert not is_for_good(ValueError("something else"))


FENCED = [
    (errors.FencedMemberEpochError, Action.LOSE_GENERATION),
    (errors.UnknownMemberIdError, Action.LOSE_GENERATION),
    (errors.GroupIdNotFound, Action.LOSE_GENERATION),
]


@pytest.mark.parametrize(
    ("error", "action"),
    [
        *COORDINATOR_GONE,
        *FENCED,
        row(errors.GroupLoadInProgressError, Action.RETRY),
        row(errors.UnreleasedInstanceIdError, Action.RELEASE_PLACE),
        row(errors.FencedInstanceIdError, Action.RAISE),
        row(errors.UnsupportedAssignorError, Action.RAISE),
        row(errors.InvalidRegularExpressionError, Action.RAISE),
        row(errors.GroupMaxSizeReachedError, Action.RAISE),
        row(errors.UnsupportedVersionError, Action.RAISE),
        row(errors.TopicAuthorizationFailedError, Action.TELL),
    ],
)
def test_what_an_error_of_a_heartbeat_with_an_epoch_calls_for(error: Error, action: Action) -> None:
    """Brokers have assigned (KIP-848)."""
    assert EPOCH_HEARTBEAT_ACTIONS.action_for(error.errno) == (action, error)


@pytest.mark.parametrize(
    ("error", "action"),
    [
        *COORDINATOR_GONE,
        *FENCED,
        row(errors.StaleMemberEpochError, Action.NEW_EPOCH),
        row(errors.IllegalGenerationError, Action.NEW_EPOCH),
        row(errors.UnknownTopicOrPartitionError, Action.RETRY),
        row(errors.OffsetMetadataTooLargeError, Action.RAISE),
    ],
)
def test_what_an_error_of_a_commit_with_an_epoch_calls_for(error: Error, action: Action) -> None:
    """A newer epoch is on its way (KIP-848)."""
    assert EPOCH_COMMIT_ACTIONS.action_for(error.errno) == (action, error)
