"""What the calls about groups take and return. Does not wait."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from aiokafka_lite.checks.item_lists import list_of
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.checks.sendable_text import sendable
from aiokafka_lite.errors import IllegalArgumentError
from aiokafka_lite.model import TopicPartition

_REASON: Final = "removed by an administrator"
_LONGEST_REASON: Final = 255


class GroupListing(NamedTuple):
    """One group of the cluster."""

    group_id: str
    protocol_type: str
    """What the members are: "consumer", "connect", "share", …; "" if there never was a member."""
    state: str
    """Such as "Stable" or "Empty"; "" before Kafka 2.6."""
    type: str
    """ "classic", "consumer", "share" or "streams"."""


@dataclass(frozen=True)
class MemberDescription:
    """One member of a group."""

    member_id: str
    group_instance_id: str | None
    """The user's name of a static member; None for a dynamic one."""
    client_id: str
    client_host: str
    """The address of the client, as the coordinator wrote it: "/10.0.0.1"."""
    assignment: frozenset[TopicPartition]
    """The partitions that the member reads."""
    member_epoch: int | None = None
    """None in a classic group."""
    target_assignment: frozenset[TopicPartition] | None = None
    """The partitions that the member is to read; None if the group has no such plan."""
    rack_id: str | None = None
    """The rack that the member has told; None for none, and in a classic group."""


@dataclass(frozen=True)
class GroupDescription:
    """One group with its members."""

    group_id: str
    type: str
    """ "classic", "consumer", "share" or "streams"."""
    state: str
    """Such as "Stable" or "Empty"."""
    members: Sequence[MemberDescription]
    assignor: str | None
    """The strategy that assigns partitions; None while there is none."""
    coordinator: int
    """The node that coordinates the group."""
    group_epoch: int | None = None
    """None in a classic group."""


class MemberToRemove(NamedTuple):
    """A member to remove: a static one by its instance id, any by its member id."""

    group_instance_id: str | None = None
    member_id: str | None = None


class SharePartitionOffset(NamedTuple):
    """Where a share group begins to read a partition."""

    offset: int
    """The first offset that the group has not finished."""
    leader_epoch: int | None = None
    """None: unknown."""
    lag: int | None = None
    """Records that the group has still to process; None before Kafka 4.3, or if unknown."""


def checked_ids(group_ids: Iterable[str]) -> list[str]:
    """Return the names of groups, each once, in their order.

    Raises: IllegalArgumentError for a single str, for anything but strings, and for a name that no
    request can carry.
    """
    return [checked_id(each) for each in dict.fromkeys(list_of("group_ids", group_ids, str))]


def checked_id(group_id: object) -> str:
    """Return the name of a group.

    Raises: IllegalArgumentError for anything but a str that a request can carry.
    """
    if not isinstance(group_id, str):
        raise IllegalArgumentError(f"group {quoted(group_id)} is no str; give the group's name")
    for fault in sendable("the group's name", group_id):
        raise IllegalArgumentError(fault)
    return group_id


def checked_members(members: Iterable[MemberToRemove | str]) -> list[MemberToRemove]:
    """Return members to remove. Raises: IllegalArgumentError for one; as `checked_member`."""
    return [checked_member(each) for each in list_of("members", members, MemberToRemove, str)]


def checked_member(member: object) -> MemberToRemove:
    """Return a member to remove; a str is a member id.

    Raises: IllegalArgumentError for anything else, and for a member without an id.
    """
    if isinstance(member, str):
        member = MemberToRemove(member_id=member)
    if not isinstance(member, MemberToRemove) or not any(member):
        raise IllegalArgumentError(
            f"{member!r} names no member; give MemberToRemove(group_instance_id=…), "
            "MemberToRemove(member_id=…), or a member id"
        )
    for name, text in member._asdict().items():
        for fault in sendable(name, text) if text is not None else ():
            raise IllegalArgumentError(fault)
    return MemberToRemove(member.group_instance_id or None, member.member_id or None)


def to_remove(member: MemberDescription) -> MemberToRemove:
    """Return how a described member is removed: a static one by its instance id, as Java does."""
    if member.group_instance_id is not None:
        return MemberToRemove(group_instance_id=member.group_instance_id)
    return MemberToRemove(member_id=member.member_id)


def checked_reason(reason: object) -> str:
    """Return why members are removed, at most 255 characters, as the broker takes it.

    Raises: IllegalArgumentError for anything but a str that a request can carry, or None.
    """
    if reason is None:
        return _REASON
    for fault in sendable("reason", reason):
        raise IllegalArgumentError(fault)
    return f"{_REASON}: {reason}"[:_LONGEST_REASON]


__all__ = [
    "GroupDescription",
    "GroupListing",
    "MemberDescription",
    "MemberToRemove",
    "SharePartitionOffset",
    "checked_id",
    "checked_ids",
    "checked_member",
    "checked_members",
    "checked_reason",
    "to_remove",
]
