"""TxnOffsetCommit: offsets of a group that count once the transaction is committed.

Partitions that do not exist fail alone; everything else fails the whole request, in each of the
partitions it names. Source: KafkaApis.handleTxnOffsetCommitRequest, OffsetMetadataManager; KIP-98,
KIP-447, KIP-890.
"""

from aiokafka_lite.errors import (
    BrokerResponseError,
    IllegalGenerationError,
    InvalidGroupIdError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.state.group_coordinators import CoordinatedGroup
from aiokafka_lite.testing.broker.state.group_offsets import CommittedOffset
from aiokafka_lite.testing.broker.state.txn_enlistment import enlist, enlistment_of
from aiokafka_lite.testing.broker.state.txn_metadata import ProducerIdAndEpoch

FIRST_VERSION_WITH_ABORTABLE = 4
FIRST_VERSION_OF_TRANSACTIONS_V2 = 5
_Asked = TxnOffsetCommitRequestPartition


def handle(context: RequestContext, request: TxnOffsetCommitRequest) -> TxnOffsetCommitResponse:
    group: CoordinatedGroup | BrokerResponseError | None = None
    if any(
        _exists(context, TopicPartition(topic.name, asked.partition_index)) is None
        for topic in request.topics
        for asked in topic.partitions
    ):
        group = _open(context, request)
    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                name=topic.name,
                partitions=[
                    TxnOffsetCommitResponsePartition(
                        partition_index=asked.partition_index,
                        error_code=_commit(context, request, group, topic.name, asked),
                    )
                    for asked in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def _exists(context: RequestContext, topic_partition: TopicPartition) -> BrokerResponseError | None:
    """Return None, or why this partition takes no offset."""
    try:
        context.cluster.partition(topic_partition)
    except BrokerResponseError as error:
        return error
    return None


def _open(
    context: RequestContext, request: TxnOffsetCommitRequest
) -> CoordinatedGroup | BrokerResponseError:
    """Return the group, made for a consumer that is no member, or why it takes no offsets."""
    groups, group_id = context.groups, request.group_id
    try:
        if not group_id:
            raise InvalidGroupIdError("offsets in a transaction belong to a group with an id")
        groups.nodes.check(group_id, context.node_id)
        group = groups.find(group_id)
        _enlist(context, request, group)
        if group is None:
            if request.generation_id >= 0:
                raise IllegalGenerationError(f"there is no group {group_id!r}")
            return groups.find_or_create(group_id)
        group.membership.check_commit_in_transaction(
            request.member_id, request.group_instance_id, request.generation_id
        )
    except BrokerResponseError as error:
        return error
    return group


def _enlist(
    context: RequestContext, request: TxnOffsetCommitRequest, group: CoordinatedGroup | None
) -> None:
    producer = ProducerIdAndEpoch(request.producer_id, request.producer_epoch)
    if group is not None and group.offsets.has_transaction(*producer):
        return
    enlistment = enlistment_of(
        context.version,
        first_with_abortable=FIRST_VERSION_WITH_ABORTABLE,
        first_with_add=FIRST_VERSION_OF_TRANSACTIONS_V2,
    )
    enlist(context.transactions, request.transactional_id, producer, request.group_id, enlistment)


def _commit(
    context: RequestContext,
    request: TxnOffsetCommitRequest,
    group: CoordinatedGroup | BrokerResponseError | None,
    topic: str,
    asked: _Asked,
) -> int:
    """Commit one offset; return 0 or the error code."""
    topic_partition = TopicPartition(topic, asked.partition_index)
    unknown = _exists(context, topic_partition)
    if unknown is not None:
        return unknown.errno
    assert group is not None, "a partition exists, so the group was looked up"
    try:
        context.injected.raise_for(topic_partition)
        if isinstance(group, BrokerResponseError):
            return group.errno
        group.offsets.commit_in_transaction(
            topic_partition,
            CommittedOffset(
                asked.committed_offset,
                asked.committed_leader_epoch,
                asked.committed_metadata or "",
                int(context.on_node.clock.time() * 1000),
            ),
            request.producer_id,
            request.producer_epoch,
        )
    except BrokerResponseError as error:
        return error.errno
    return 0


HANDLER = Handler(TxnOffsetCommitRequest, handle, VersionRange(0, 5))
