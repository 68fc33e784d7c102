"""What ShareFetch and ShareAcknowledge do alike: find a partition, acknowledge, end a session.

Source: KafkaApis (validateAcknowledgementBatches, handleAcknowledgements), KIP-932.
"""

from collections.abc import Sequence

from aiokafka_lite.errors import (
    BrokerResponseError,
    GroupAuthorizationFailedError,
    InvalidRequestError,
    InvalidShareSessionEpochError,
    NotLeaderForPartitionError,
    ShareSessionLimitReachedError,
    ShareSessionNotFoundError,
    UnknownError,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from aiokafka_lite.protocol.messages._share import AcknowledgementBatch, LeaderIdAndEpoch
from aiokafka_lite.testing.broker.handler import RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.state.cluster_features import SHARE_VERSION
from aiokafka_lite.testing.broker.state.cluster_state import BrokerPartition, partition_of
from aiokafka_lite.testing.broker.state.groups.share_partition import (
    Ack,
    AckType,
    SharePartition,
)
from aiokafka_lite.testing.broker.state.groups.share_sessions import SharedPartition

REQUEST_ERRORS = tuple(
    error.errno
    for error in (
        GroupAuthorizationFailedError,
        InvalidShareSessionEpochError,
        ShareSessionLimitReachedError,
        ShareSessionNotFoundError,
    )
)
"""The errors of a whole request, also where a test injects them."""
_LONGEST_MEMBER_ID = 36


def check_share_groups(context: RequestContext) -> None:
    """Raise UnsupportedVersionError in a cluster without share groups."""
    if not context.cluster.features.level(SHARE_VERSION):
        raise UnsupportedVersionError("this cluster has no share groups (KIP-932)")


def check_member(
    context: RequestContext, group_id: str | None, member_id: str | None
) -> tuple[str, str]:
    """Return the ids of the group and of the member.

    Raises: UnsupportedVersionError, GroupAuthorizationFailedError, InvalidRequestError.
    """
    check_share_groups(context)
    if group_id is None or not member_id or len(member_id) > _LONGEST_MEMBER_ID:
        raise InvalidRequestError("a share request names a group and a member")
    context.session.check_group(Operation.READ, group_id)
    return group_id, member_id


def find_partition(
    context: RequestContext, where: SharedPartition, *, is_known: bool = False
) -> BrokerPartition:
    """Return a partition that this node leads. `is_known`: its topic existed before.

    Raises: UnknownTopicIdError, UnknownTopicOrPartitionError, TopicAuthorizationFailedError or
    NotLeaderForPartitionError.
    """
    if is_known and context.cluster.topic_name(where.topic_id) is None:
        raise UnknownTopicOrPartitionError(f"topic {where.topic_id} does not exist any more")
    topic = context.cluster.topic_by_id(where.topic_id)
    context.session.check_topic(Operation.READ, topic.name)
    partition = partition_of(topic, where.partition)
    partition.check_leader(context.node_id, -1)
    return partition


def find_share(
    context: RequestContext, group_id: str, partition: BrokerPartition
) -> SharePartition:
    """Return a partition as a group reads it.

    Raises: UnknownError, as Kafka, for one that no member has subscribed to.
    """
    group = context.groups.find_share(group_id)
    share = None if group is None else group.read(partition)
    if share is None:
        raise UnknownError(f"group {group_id!r} does not read {partition.topic_partition}")
    return share


def acknowledge(
    context: RequestContext,
    member: tuple[str, str],
    where: SharedPartition,
    batches: Sequence[AcknowledgementBatch],
    *,
    may_renew: bool,
) -> BrokerResponseError | None:
    """Acknowledge records of a partition; return the error, or None.

    A group that has not read the partition has nothing to acknowledge in it.
    """
    group_id, member_id = member
    try:
        partition = find_partition(context, where)
        context.injected.raise_for(partition.topic_partition, besides=REQUEST_ERRORS)
        acks = _checked(batches, may_renew=may_renew)
        find_share(context, group_id, partition).acknowledge(member_id, acks)
    except UnknownError:
        return UnknownTopicOrPartitionError(f"group {group_id!r} does not read {where}")
    except BrokerResponseError as error:
        return error
    return None


def _checked(batches: Sequence[AcknowledgementBatch], *, may_renew: bool) -> list[Ack]:
    """Return what is acknowledged. Raises: InvalidRequestError for what no member sends."""
    acks: list[Ack] = []
    for batch in batches:
        ack = Ack(batch.first_offset, batch.last_offset, batch.acknowledge_types)
        if ack.first > ack.last or (acks and ack.first < acks[-1].last):
            raise InvalidRequestError("the acknowledged batches are not in order")
        if len(ack.types) not in (1, ack.last - ack.first + 1):
            raise InvalidRequestError("a batch has one type for all records, or one for each")
        highest = AckType.RENEW if may_renew else AckType.REJECT
        if any(not AckType.GAP <= each <= highest for each in ack.types):
            raise InvalidRequestError(f"the types of a batch are 0 to {highest}")
        acks.append(ack)
    return acks


def leader_after(
    context: RequestContext, where: SharedPartition, error: BrokerResponseError | None
) -> LeaderIdAndEpoch:
    """Return the leader to ask instead, beside an error that says so."""
    if not isinstance(error, NotLeaderForPartitionError):
        return LeaderIdAndEpoch()
    partition = partition_of(context.cluster.topic_by_id(where.topic_id), where.partition)
    return LeaderIdAndEpoch(leader_id=partition.leader, leader_epoch=partition.leader_epoch)


__all__ = [
    "REQUEST_ERRORS",
    "acknowledge",
    "check_member",
    "check_share_groups",
    "find_partition",
    "find_share",
    "leader_after",
]
