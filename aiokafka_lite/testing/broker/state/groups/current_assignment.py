"""Takes a member of a consumer group one step towards its target assignment. Plain functions.

A partition goes to its next member only when its owner has given it up. Source:
CurrentAssignmentBuilder; KIP-848.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from uuid import UUID

from aiokafka_lite.testing.broker.state.groups.consumer_group_member import (
    ConsumerGroupMember,
    Epochs,
    MemberProgress,
    TopicIdPartition,
)


@dataclass(frozen=True, slots=True)
class Target:
    """What the member shall have, and what it says that it has."""

    epoch: int
    partitions: frozenset[TopicIdPartition]
    topic_ids: Collection[UUID]
    """The topics that the member subscribes to now."""
    owned: frozenset[TopicIdPartition] | None
    """What the member says that it has; None for no change."""
    is_taken: Callable[[TopicIdPartition], bool]
    """Whether some member has the partition."""


def reconcile(
    member: ConsumerGroupMember, target: Target, *, has_other_topics: bool
) -> ConsumerGroupMember:
    """Return the member after its next step, or the same if it has to wait."""
    if member.state is MemberProgress.STABLE and member.epoch == target.epoch:
        return _without_lost_topics(member, target) if has_other_topics else member
    is_revoking = member.state is MemberProgress.UNREVOKED_PARTITIONS
    if is_revoking and _still_owns(member.revoking, target):
        return _without_lost_topics(member, target) if has_other_topics else member
    return _next_step(member, target)


def _still_owns(revoking: Epochs, target: Target) -> bool:
    return target.owned is None or any(partition in target.owned for partition in revoking)


def _without_lost_topics(member: ConsumerGroupMember, target: Target) -> ConsumerGroupMember:
    """Return the member without the topics to which it does not subscribe any more."""
    lost = {
        partition: epoch
        for partition, epoch in member.assigned.items()
        if partition.topic_id not in target.topic_ids
    }
    if not lost:
        return member
    kept = {key: epoch for key, epoch in member.assigned.items() if key not in lost}
    revoking = {**member.revoking, **lost}
    if _still_owns(revoking, target):
        return replace(
            member.at(member.epoch),
            state=MemberProgress.UNREVOKED_PARTITIONS,
            assigned=kept,
            revoking=revoking,
        )
    return replace(member.at(member.epoch), assigned=kept)


def _next_step(member: ConsumerGroupMember, target: Target) -> ConsumerGroupMember:
    wanted = {each for each in target.partitions if each.topic_id in target.topic_ids}
    kept = {key: epoch for key, epoch in member.assigned.items() if key in wanted}
    revoking = {key: epoch for key, epoch in member.assigned.items() if key not in wanted}
    if revoking and _still_owns(revoking, target):
        return replace(
            member.at(member.epoch),
            state=MemberProgress.UNREVOKED_PARTITIONS,
            assigned=kept,
            revoking=revoking,
        )
    missing = wanted - kept.keys()
    unreleased = {each for each in missing if target.is_taken(each) and each not in member.revoking}
    state = MemberProgress.UNRELEASED_PARTITIONS if unreleased else MemberProgress.STABLE
    new = dict.fromkeys(sorted(missing - unreleased), target.epoch)
    return replace(member.at(target.epoch), state=state, assigned={**kept, **new}, revoking={})


__all__ = ["Target", "reconcile"]
