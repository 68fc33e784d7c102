"""Owns what each error of the group's conversations calls for: the tables 2e-3, 2e-4 and 2e-12.

Plain tables; acting on them is the business of whoever asked.
"""

from enum import Enum

from aiokafka_lite.errors import (
    BrokerResponseError,
    FencedInstanceIdError,
    GroupCoordinatorNotAvailableError,
    GroupLoadInProgressError,
    IllegalGenerationError,
    MemberIdRequired,
    NotCoordinatorForGroupError,
    RebalanceInProgressError,
    RequestTimedOutError,
    UnknownMemberIdError,
    UnknownTopicOrPartitionError,
    UnstableOffsetCommitError,
    for_code,
)


class Action(Enum):
    """What to do about an error."""

    RETRY = "ask again after a backoff"
    FIND_COORDINATOR = "find the coordinator again, then retry"
    TAKE_MEMBER_ID = "join at once with the id that came with the error (KIP-394)"
    REJOIN = "join again; ids and generation are good"
    LOSE_GENERATION = "join again with the same member id; what was owned is lost"
    LOSE_MEMBERSHIP = "join again as a new member; what was owned is lost"
    RAISE = "the user has to hear of it"


_COORDINATOR_GONE = {
    GroupCoordinatorNotAvailableError.errno: Action.FIND_COORDINATOR,
    NotCoordinatorForGroupError.errno: Action.FIND_COORDINATOR,
}

_MEMBERSHIP_GONE = {
    UnknownMemberIdError.errno: Action.LOSE_MEMBERSHIP,
    IllegalGenerationError.errno: Action.LOSE_GENERATION,
}

JOIN_ACTIONS = {
    **_COORDINATOR_GONE,
    **_MEMBERSHIP_GONE,
    MemberIdRequired.errno: Action.TAKE_MEMBER_ID,
    GroupLoadInProgressError.errno: Action.RETRY,
    RebalanceInProgressError.errno: Action.REJOIN,
}
"""JoinGroup and SyncGroup (2e-3)."""

HEARTBEAT_ACTIONS = {
    **_COORDINATOR_GONE,
    **_MEMBERSHIP_GONE,
    GroupLoadInProgressError.errno: Action.RETRY,
    RebalanceInProgressError.errno: Action.REJOIN,
}
"""Heartbeat (2e-4)."""

COMMIT_ACTIONS = {
    **_COORDINATOR_GONE,
    **_MEMBERSHIP_GONE,
    RequestTimedOutError.errno: Action.FIND_COORDINATOR,
    GroupLoadInProgressError.errno: Action.RETRY,
    UnknownTopicOrPartitionError.errno: Action.RETRY,
    RebalanceInProgressError.errno: Action.REJOIN,
}
"""OffsetCommit, per partition (2e-12)."""

OFFSET_FETCH_ACTIONS = {
    **_COORDINATOR_GONE,
    GroupLoadInProgressError.errno: Action.RETRY,
    UnstableOffsetCommitError.errno: Action.RETRY,
    UnknownTopicOrPartitionError.errno: Action.RAISE,
}
"""OffsetFetch, of the group or per partition (2e-15)."""


def action_for(
    actions: dict[int, Action], error_code: int
) -> tuple[Action, type[BrokerResponseError]]:
    """Return what to do about an error code, and its class.

    Unlisted errors that time may mend are retried; everything else is raised.
    """
    error = for_code(error_code)
    listed = actions.get(error_code)
    if listed is not None:
        return listed, error
    return (Action.RETRY if error.retriable else Action.RAISE), error


def is_for_good(error: BaseException) -> bool:
    """Say whether joining again must not even be tried: another consumer has this one's place."""
    return isinstance(error, FencedInstanceIdError)


__all__ = [
    "COMMIT_ACTIONS",
    "HEARTBEAT_ACTIONS",
    "JOIN_ACTIONS",
    "OFFSET_FETCH_ACTIONS",
    "Action",
    "action_for",
    "is_for_good",
]
