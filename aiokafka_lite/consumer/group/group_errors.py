"""What each error of a group request calls for: the tables 2e-3, 2e-4, 2e-12 and 2e-15, and those
of KIP-848.

The caller of the request carries the action out. Does not wait. The tables are those of Java's
client 4.4.0; `tests/conformance/test_error_tables.py` compares them code by code, and has the
reasons of the differences.
"""

from enum import Enum

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.cluster.error_actions import ErrorActions
from aiokafka_lite.errors import (
    FencedInstanceIdError,
    FencedMemberEpochError,
    GroupCoordinatorNotAvailableError,
    GroupIdNotFound,
    GroupLoadInProgressError,
    IllegalGenerationError,
    MemberIdRequired,
    NotCoordinatorForGroupError,
    RebalanceInProgressError,
    RequestTimedOutError,
    StaleMemberEpochError,
    TopicAuthorizationFailedError,
    UnknownMemberIdError,
    UnknownTopicOrPartitionError,
    UnreleasedInstanceIdError,
    UnstableOffsetCommitError,
)


class Action(Enum):
    """What to do about an error."""

    RETRY = "ask again after a backoff"
    FIND_COORDINATOR = "find the coordinator again, then retry"
    TAKE_MEMBER_ID = "join at once with the id that came with the error (KIP-394)"
    REJOIN = "join again; ids and generation are good"
    LOSE_GENERATION = "join again with the same member id; what was owned is lost"
    LOSE_MEMBERSHIP = "join again as a new member; what was owned is lost"
    RELEASE_PLACE = "free the instance id if it is this member that has it, then join again"
    TELL = "the user has to hear of it; the membership goes on"
    NEW_EPOCH = "ask again with the epoch of the next heartbeat"
    RAISE = "the user has to hear of it"


_ALWAYS = ErrorActions(
    {
        GroupCoordinatorNotAvailableError: Action.FIND_COORDINATOR,
        NotCoordinatorForGroupError: Action.FIND_COORDINATOR,
        GroupLoadInProgressError: Action.RETRY,
    },
    retriable=Action.RETRY,
    others=Action.RAISE,
)

HEARTBEAT_ACTIONS = _ALWAYS.but_for(
    {
        UnknownMemberIdError: Action.LOSE_MEMBERSHIP,
        IllegalGenerationError: Action.LOSE_GENERATION,
        RebalanceInProgressError: Action.REJOIN,
    }
)
"""Heartbeat (2e-4)."""

JOIN_ACTIONS = HEARTBEAT_ACTIONS.but_for({MemberIdRequired: Action.TAKE_MEMBER_ID})
"""JoinGroup and SyncGroup (2e-3)."""

COMMIT_ACTIONS = HEARTBEAT_ACTIONS.but_for(
    {
        GroupIdNotFound: Action.LOSE_MEMBERSHIP,
        RequestTimedOutError: Action.FIND_COORDINATOR,
        UnknownTopicOrPartitionError: Action.RETRY,
    }
)
"""OffsetCommit, per partition (2e-12). A member asks, so an unknown group has lost its members."""

EPOCH_HEARTBEAT_ACTIONS = _ALWAYS.but_for(
    {
        FencedMemberEpochError: Action.LOSE_GENERATION,
        UnknownMemberIdError: Action.LOSE_GENERATION,
        GroupIdNotFound: Action.LOSE_GENERATION,
        UnreleasedInstanceIdError: Action.RELEASE_PLACE,
        TopicAuthorizationFailedError: Action.TELL,
    }
)
"""ConsumerGroupHeartbeat (KIP-848) and ShareGroupHeartbeat (KIP-932)."""

EPOCH_COMMIT_ACTIONS = _ALWAYS.but_for(
    {
        FencedMemberEpochError: Action.LOSE_GENERATION,
        UnknownMemberIdError: Action.LOSE_GENERATION,
        GroupIdNotFound: Action.LOSE_GENERATION,
        IllegalGenerationError: Action.NEW_EPOCH,
        StaleMemberEpochError: Action.NEW_EPOCH,
        RequestTimedOutError: Action.FIND_COORDINATOR,
        UnknownTopicOrPartitionError: Action.RETRY,
    }
)
"""OffsetCommit of a member with an epoch, per partition (KIP-848). In a transaction a stale epoch
is an ILLEGAL_GENERATION.
"""

OFFSET_FETCH_ACTIONS = _ALWAYS.but_for(
    {
        UnstableOffsetCommitError: Action.RETRY,
        UnknownTopicOrPartitionError: Action.RAISE,
    }
)
"""OffsetFetch, of the group or per partition (2e-15)."""


def is_for_good(error: BaseException) -> bool:
    """Say whether joining again must not even be tried: another consumer has this one's place."""
    return isinstance(error, FencedInstanceIdError)


def rebalanced_meanwhile(group_id: str) -> RebalanceInProgressError:
    """Return the error of a commit that a rebalance has overtaken."""
    return RebalanceInProgressError(
        f"group {quoted(group_id)} has rebalanced meanwhile: commit again after the next poll, for "
        "what is assigned then"
    )


__all__ = [
    "COMMIT_ACTIONS",
    "EPOCH_COMMIT_ACTIONS",
    "EPOCH_HEARTBEAT_ACTIONS",
    "HEARTBEAT_ACTIONS",
    "JOIN_ACTIONS",
    "OFFSET_FETCH_ACTIONS",
    "Action",
    "is_for_good",
    "rebalanced_meanwhile",
]
