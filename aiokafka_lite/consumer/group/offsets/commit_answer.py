"""Owns what is left of a commit: which offsets fit no topic any more, which errors an automatic
commit is done with, which error of an answer counts, and what a failed commit says.

Plain functions over values; nothing waits. Source: 2e-12, KIP-516, KIP-848.
"""

from collections.abc import Mapping

from aiokafka_lite.cluster.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.consumer.group.group_errors import COMMIT_ACTIONS, Action
from aiokafka_lite.consumer.group.member import Member
from aiokafka_lite.consumer.position.committed_offset import CommittedOffset
from aiokafka_lite.errors import (
    BrokerResponseError,
    CommitFailedError,
    UnknownTopicIdError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.schema.field_types import ZERO_UUID

_UNKNOWN_TOPIC = (UnknownTopicOrPartitionError.errno, UnknownTopicIdError.errno)


def of_former_topics(
    offsets: Mapping[TopicPartition, CommittedOffset], snapshot: MetadataSnapshot
) -> set[TopicPartition]:
    """Return the partitions whose topic was created anew since: the offset means nothing there."""
    return {
        tp
        for tp, committed in offsets.items()
        if committed.topic_id != ZERO_UUID
        and snapshot.topic_id(tp.topic) not in (ZERO_UUID, committed.topic_id)
    }


def not_worth_another_try(
    errors: Mapping[TopicPartition, int],
    offsets: Mapping[TopicPartition, CommittedOffset],
    snapshot: MetadataSnapshot,
) -> set[TopicPartition]:
    """Return the partitions an automatic commit is done with although they were refused.

    Those the coordinator does not know, if it has stored the others of the request, or if the
    metadata does not know them either: their topic was deleted, and nobody should wait for it.
    """
    some_were_stored = len(errors) < len(offsets)
    return {
        tp
        for tp, code in errors.items()
        if code in _UNKNOWN_TOPIC
        and (some_were_stored or tp.partition not in snapshot.partition_ids(tp.topic))
    }


def gravest(errors: Mapping[TopicPartition, int]) -> tuple[Action, type[BrokerResponseError]]:
    """Return the error to act upon, of all in an answer, and what it calls for."""
    listed = [COMMIT_ACTIONS.action_for(code) for code in errors.values()]
    return max(listed, key=lambda each: _GRAVITY[each[0]])


def commit_failed(member: Member) -> CommitFailedError:
    """Return the error of a commit without a membership: why that is, as far as it is known."""
    if not (member.former_id or member.generation.member_id):
        return CommitFailedError(f"the consumer has not joined group {member.group_id!r} yet")
    why = member.why_lost or (
        "the coordinator gave it up, as it does after session_timeout_ms without a heartbeat; "
        "commit again after the next poll, for what is assigned then"
    )
    return CommitFailedError(
        f"group {member.group_id!r} has moved on and this member no longer owns the partitions: "
        f"{why}"
    )


_GRAVITY = {
    Action.RETRY: 0,
    Action.FIND_COORDINATOR: 1,
    Action.REJOIN: 2,
    Action.LOSE_GENERATION: 3,
    Action.LOSE_MEMBERSHIP: 4,
    Action.RAISE: 5,
    Action.TAKE_MEMBER_ID: 6,
}

__all__ = ["commit_failed", "gravest", "not_worth_another_try", "of_former_topics"]
