"""Decides about commits: offsets of former topics, errors that an automatic commit does not try
again, and the error that counts.

Plain functions over values. Does not wait. Source: 2e-12, KIP-516, KIP-848.
"""

from collections.abc import Mapping

from aiokafka_lite.cluster.error_actions import ErrorActions
from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.consumer.group.group_errors import Action
from aiokafka_lite.consumer.position.committed_offset import CommittedOffset
from aiokafka_lite.errors import (
    BrokerResponseError,
    UnknownTopicIdError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.model import TopicPartition

_UNKNOWN_TOPIC = (UnknownTopicOrPartitionError.errno, UnknownTopicIdError.errno)


def of_former_topics(
    offsets: Mapping[TopicPartition, CommittedOffset], snapshot: MetadataSnapshot
) -> set[TopicPartition]:
    """Return the partitions whose topic was created anew since: the offset means nothing there."""
    return {
        tp
        for tp, committed in offsets.items()
        if committed.topic_id.int
        and snapshot.topic_id(tp.topic).int not in (0, committed.topic_id.int)
    }


def not_worth_another_try(
    errors: Mapping[TopicPartition, int],
    offsets: Mapping[TopicPartition, CommittedOffset],
    snapshot: MetadataSnapshot,
) -> set[TopicPartition]:
    """Return the refused partitions that an automatic commit does not try again.

    The coordinator does not know them, and it has stored the others of the request, or the newest
    metadata lacks them, too. Their topic was deleted: two brokers say so.
    """
    some_were_stored = len(errors) < len(offsets)
    return {
        tp
        for tp, code in errors.items()
        if code in _UNKNOWN_TOPIC
        and (
            some_were_stored
            or tp.partition not in snapshot.partition_ids(tp.topic)
            or snapshot.topic_error(tp.topic) is UnknownTopicOrPartitionError
        )
    }


def gravest(
    errors: Mapping[TopicPartition, int], actions: ErrorActions[Action]
) -> tuple[Action, type[BrokerResponseError]]:
    """Return the gravest of the errors in an answer, and what it calls for by `actions`."""
    listed = [actions.action_for(code) for code in errors.values()]
    return max(listed, key=lambda each: _GRAVITY[each[0]])


_GRAVITY = {
    Action.RETRY: 0,
    Action.FIND_COORDINATOR: 1,
    Action.NEW_EPOCH: 2,
    Action.REJOIN: 3,
    Action.LOSE_GENERATION: 4,
    Action.LOSE_MEMBERSHIP: 5,
    Action.RAISE: 6,
    Action.TAKE_MEMBER_ID: 7,
}

__all__ = ["gravest", "not_worth_another_try", "of_former_topics"]
