"""TxnOffsetCommit: offsets of a group that count once the transaction is committed.

Only unknown partitions fail alone. Any other error fails the whole request, in each partition it
names. Source: KafkaApis.handleTxnOffsetCommitRequest, OffsetMetadataManager; KIP-98, KIP-447,
KIP-890, KIP-1319.
"""

from collections.abc import Iterable

from aiokafka_lite.errors import (
    BrokerResponseError,
    GroupIdNotFound,
    IllegalGenerationError,
    InvalidGroupIdError,
    StaleMemberEpochError,
)
from aiokafka_lite.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.handlers._committed_partitions import (
    Found,
    find_partition,
    id_partitions_of,
)
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.state.cluster_state import BrokerPartition
from aiokafka_lite.testing.broker.state.groups.group_coordinators import CoordinatedGroup
from aiokafka_lite.testing.broker.state.groups.group_offsets import StoredOffset
from aiokafka_lite.testing.broker.state.transactions.txn_enlistment import enlist, enlistment_of
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import TxnProducerId

_Asked = TxnOffsetCommitRequestPartition


def handle(context: RequestContext, request: TxnOffsetCommitRequest) -> TxnOffsetCommitResponse:
    refusal = _refuse_all(context, request)
    found = [
        [
            refusal
            or find_partition(
                context,
                topic.name,
                topic.topic_id,
                asked.partition_index,
                topic_ids_since=TxnOffsetCommitRequest.topic_ids_since,
            )
            for asked in topic.partitions
        ]
        for topic in request.topics
    ]
    group: CoordinatedGroup | BrokerResponseError | None = None
    if any(isinstance(entry, BrokerPartition) for entries in found for entry in entries):
        group = _open(context, request, found)
    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    TxnOffsetCommitResponsePartition(
                        partition_index=asked.partition_index,
                        error_code=_commit(context, request, group, entry, asked),
                    )
                    for asked, entry in zip(topic.partitions, entries, strict=True)
                ],
            )
            for topic, entries in zip(request.topics, found, strict=True)
        ]
    )


def _refuse_all(
    context: RequestContext, request: TxnOffsetCommitRequest
) -> BrokerResponseError | None:
    """Return why the client may commit nothing; None if it may."""
    try:
        context.session.check_transactional_id(Operation.WRITE, request.transactional_id)
        context.session.check_group(Operation.READ, request.group_id)
    except BrokerResponseError as error:
        return error
    return None


def _open(
    context: RequestContext, request: TxnOffsetCommitRequest, found: Iterable[Iterable[Found]]
) -> CoordinatedGroup | BrokerResponseError:
    """Return the group, or the error because of which it refuses offsets.

    For a consumer that is not a member, the group is created.
    """
    groups, group_id = context.groups, request.group_id
    generation_id = request.generation_id_or_member_epoch
    try:
        if not group_id:
            raise InvalidGroupIdError("offsets in a transaction belong to a group with an id")
        groups.nodes.check(group_id, context.node_id)
        group = groups.find(group_id)
        _enlist(context, request, group)
        if group is None:
            if generation_id >= 0:
                says_so = context.version >= TxnOffsetCommitRequest.topic_ids_since
                error = GroupIdNotFound if says_so else IllegalGenerationError
                raise error(f"group {group_id!r} does not exist")
            return groups.find_or_create(group_id)
        if group.consumers is None:
            group.membership.check_commit_in_transaction(
                request.member_id, request.group_instance_id, generation_id
            )
        else:
            partitions = id_partitions_of(context, found)
            group.consumers.check_commit(request.member_id, generation_id, partitions, None)
    except StaleMemberEpochError as error:
        if context.version >= TxnOffsetCommitRequest.topic_ids_since:
            return error
        return IllegalGenerationError(str(error))  # older producers know no epochs of members
    except BrokerResponseError as error:
        return error
    return group


def _enlist(
    context: RequestContext, request: TxnOffsetCommitRequest, group: CoordinatedGroup | None
) -> None:
    producer = TxnProducerId(request.producer_id, request.producer_epoch)
    if group is not None and group.offsets.has_transaction(*producer):
        return
    enlistment = enlistment_of(
        context.version,
        abortable_since=TxnOffsetCommitRequest.abortable_since,
        transactions_v2_since=TxnOffsetCommitRequest.transactions_v2_since,
    )
    enlist(context.transactions, request.transactional_id, producer, request.group_id, enlistment)


def _commit(
    context: RequestContext,
    request: TxnOffsetCommitRequest,
    group: CoordinatedGroup | BrokerResponseError | None,
    partition: Found,
    asked: _Asked,
) -> int:
    """Commit one offset; return 0 or the error code."""
    if isinstance(partition, BrokerResponseError):
        return partition.errno
    assert group is not None, "a partition exists, so the group was looked up"
    topic_partition = partition.topic_partition
    try:
        context.injected.raise_for(topic_partition)
        if isinstance(group, BrokerResponseError):
            return group.errno
        group.offsets.commit_in_transaction(
            topic_partition,
            StoredOffset(
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


HANDLER = Handler(TxnOffsetCommitRequest, handle, VersionRange(0, 6))


__all__ = ["handle"]
