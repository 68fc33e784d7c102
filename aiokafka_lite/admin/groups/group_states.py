"""Says to an administrator why a group refuses a change: who is in it, its state, what to do.

The codes of such errors are made for members. UNKNOWN_MEMBER_ID means here that the group has
members, and that a change from outside has to wait for their end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from aiokafka_lite.admin.calls.admin_requests import AskedNode
from aiokafka_lite.admin.calls.outcomes import broker_error
from aiokafka_lite.admin.groups.group_kinds import EVERY_KIND, describe_kinds
from aiokafka_lite.admin.groups.group_values import GroupDescription, MemberToRemove
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import (
    FencedInstanceIdError,
    FencedMemberEpochError,
    GroupIdNotFound,
    GroupSubscribedToTopicError,
    IllegalGenerationError,
    KafkaError,
    KafkaTimeoutError,
    NonEmptyGroup,
    RebalanceInProgressError,
    StaleMemberEpochError,
    UnknownMemberIdError,
)

K = TypeVar("K")
V = TypeVar("V")

OFFSETS_WAIT: Final = (
    "Its offsets can be changed only while it has no members: stop them first; one that was killed"
    " leaves after its session timeout"
)
DELETION_WAITS: Final = (
    "It can be deleted only without members: stop them first; one that was killed leaves after its"
    " session timeout"
)
SUBSCRIBED: Final = (
    "Offsets of a topic that they read cannot be deleted: stop the members, or let them unsubscribe"
)
_ANOTHER_KIND: Final = "This call is for groups of another kind"
_WITHOUT_MEMBERS: Final = ("Empty", "Dead")
_OF_MEMBERS: Final = (
    FencedInstanceIdError,
    FencedMemberEpochError,
    GroupSubscribedToTopicError,
    IllegalGenerationError,
    NonEmptyGroup,
    RebalanceInProgressError,
    StaleMemberEpochError,
    UnknownMemberIdError,
)
"""What a coordinator answers to a change that the members of a group prevent."""


def has_members(group: GroupDescription) -> bool:
    """Return whether a group has members, or is about to have some."""
    return bool(group.members) or group.state not in _WITHOUT_MEMBERS


def told_state(group_id: str, group: GroupDescription | KafkaError) -> str:
    """Return who is in a group and its state; `group` may be why they are not known."""
    name = f"group {quoted(group_id)}"
    if isinstance(group, GroupIdNotFound):
        return f"there is no {name}"
    if isinstance(group, KafkaError):
        return f"{name} has members"
    count = len(group.members)
    who = {0: "no members at this moment", 1: "1 member"}.get(count, f"{count} members")
    return (
        f"{name} has {who} (type {group.type}, state {group.state}, coordinator"
        f" {group.coordinator})"
    )


async def with_states(
    node: AskedNode, errors: Mapping[K, V | KafkaError], group_of: Callable[[K], str], remedy: str
) -> dict[K, V | KafkaError]:
    """Return what a coordinator answered, with errors about groups in an administrator's words.

    `group_of` returns the group of a key. The coordinator is asked for the states of the groups
    that refused something. Raises: nothing of that question.
    """
    told = (*_OF_MEMBERS, GroupIdNotFound)
    groups = list(
        dict.fromkeys(group_of(key) for key, each in errors.items() if isinstance(each, told))
    )
    found = await _described(node, groups)
    return {
        key: _reworded(group_of(key), each, found, remedy) if isinstance(each, told) else each
        for key, each in errors.items()
    }


async def raise_with_state(
    node: AskedNode, code: int, message: str | None, group_id: str, remedy: str
) -> None:
    """Raise the error of a whole group in an administrator's words; do nothing without one."""
    error = broker_error(code, message, f"group {quoted(group_id)}")
    if error is not None:
        (told,) = (await with_states(node, {group_id: error}, str, remedy)).values()
        assert isinstance(told, KafkaError)
        raise told


async def with_missing_members(
    node: AskedNode, group_id: str, errors: Mapping[MemberToRemove, KafkaError | None]
) -> dict[MemberToRemove, KafkaError | None]:
    """Return the outcomes of a removal of members, with errors in an administrator's words."""
    told = (UnknownMemberIdError, FencedInstanceIdError)
    if not any(isinstance(each, told) for each in errors.values()):
        return dict(errors)
    group = (await _described(node, [group_id]))[group_id]
    state = told_state(group_id, group)
    kind = group.type if isinstance(group, GroupDescription) else ""

    def reworded(member: MemberToRemove, error: KafkaError) -> KafkaError:
        name = f"{quoted(member.group_instance_id or member.member_id)}"
        if kind in ("share", "streams"):
            why = f"members of a {kind} group cannot be removed from outside: stop them"
        elif isinstance(error, FencedInstanceIdError):
            why = f"the instance id of {name} belongs to another member by now"
        elif isinstance(group, GroupIdNotFound):
            why = "look at the list of groups"
        else:
            why = f"{name} is none of them, or has left already: look at its description"
        return type(error)(f"{state}; {why}")

    return {
        member: reworded(member, each) if isinstance(each, told) else each
        for member, each in errors.items()
    }


async def _described(
    node: AskedNode, group_ids: list[str]
) -> Mapping[str, GroupDescription | KafkaError]:
    if not group_ids:
        return {}
    try:
        async with node.half_time():
            return await describe_kinds(node, group_ids, EVERY_KIND)
    except KafkaError as error:  # what was asked for has an answer; this only explains it
        return dict.fromkeys(group_ids, error)
    except TimeoutError:
        return dict.fromkeys(group_ids, KafkaTimeoutError("the group was not described in time"))


def _reworded(
    group_id: str,
    error: KafkaError,
    found: Mapping[str, GroupDescription | KafkaError],
    remedy: str,
) -> KafkaError:
    group = found.get(group_id, error)
    if isinstance(error, GroupIdNotFound):
        if isinstance(group, KafkaError):
            return error
        remedy = _ANOTHER_KIND
    elif isinstance(group, GroupDescription) and not has_members(group):
        remedy = "Its members left meanwhile: try again"
    return type(error)(f"{told_state(group_id, group)}. {remedy}")


__all__ = [
    "DELETION_WAITS",
    "OFFSETS_WAIT",
    "SUBSCRIBED",
    "has_members",
    "raise_with_state",
    "told_state",
    "with_missing_members",
    "with_states",
]
