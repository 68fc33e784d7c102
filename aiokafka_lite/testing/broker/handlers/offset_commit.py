"""OffsetCommit: from members of a group, and from any client while the group is empty.

Only unknown partitions fail alone. Any other error fails the whole request, in each partition it
names. Source: KafkaApis.handleOffsetCommitRequest, OffsetMetadataManager.
"""

from collections.abc import Iterable

from aiokafka_lite.errors import (
    BrokerResponseError,
    GroupIdNotFound,
    IllegalGenerationError,
)
from aiokafka_lite.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
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


def handle(context: RequestContext, request: OffsetCommitRequest) -> OffsetCommitResponse:
    refusal = _refuse_all(context, request)
    found = [
        [
            refusal
            or find_partition(
                context,
                topic.name,
                topic.topic_id,
                asked.partition_index,
                topic_ids_since=OffsetCommitRequest.topic_ids_since,
            )
            for asked in topic.partitions
        ]
        for topic in request.topics
    ]
    group: CoordinatedGroup | BrokerResponseError | None = None
    if any(isinstance(entry, BrokerPartition) for entries in found for entry in entries):
        group = _open(context, request, found)
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    OffsetCommitResponsePartition(
                        partition_index=asked.partition_index,
                        error_code=_commit(context, group, entry, asked),
                    )
                    for asked, entry in zip(topic.partitions, entries, strict=True)
                ],
            )
            for topic, entries in zip(request.topics, found, strict=True)
        ]
    )


def _refuse_all(
    context: RequestContext, request: OffsetCommitRequest
) -> BrokerResponseError | None:
    """Return why the client may commit nothing; None if it may."""
    try:
        context.session.check_group(Operation.READ, request.group_id)
    except BrokerResponseError as error:
        return error
    return None


def _open(
    context: RequestContext, request: OffsetCommitRequest, found: Iterable[Iterable[Found]]
) -> CoordinatedGroup | BrokerResponseError:
    """Return the group, or the error because of which it refuses offsets.

    For a consumer that is not a member, the group is created.
    """
    groups, group_id = context.groups, request.group_id
    generation_id = request.generation_id_or_member_epoch
    try:
        groups.nodes.check(group_id, context.node_id)
        group = groups.find(group_id)
        if group is None:
            if generation_id >= 0:
                raise _no_group(group_id, context.version)
            return groups.find_or_create(group_id)
        if group.consumers is None:
            group.membership.check_commit(
                request.member_id, request.group_instance_id, generation_id
            )
        else:
            partitions = id_partitions_of(context, found)
            group.consumers.check_commit(
                request.member_id, generation_id, partitions, context.version
            )
    except BrokerResponseError as error:
        return error
    return group


def _no_group(group_id: str, version: int) -> BrokerResponseError:
    is_known = version >= OffsetCommitRequest.consumer_protocol_since
    error = GroupIdNotFound if is_known else IllegalGenerationError
    return error(f"group {group_id!r} does not exist, and neither does a generation of it")


def _commit(
    context: RequestContext,
    group: CoordinatedGroup | BrokerResponseError | None,
    partition: Found,
    asked: OffsetCommitRequestPartition,
) -> int:
    """Commit one offset; return 0 or the error code."""
    if isinstance(partition, BrokerResponseError):
        return partition.errno
    assert group is not None, "a partition exists, so the group was looked up"
    try:
        context.injected.raise_for(partition.topic_partition)
        if isinstance(group, BrokerResponseError):
            return group.errno
        group.offsets.commit(
            partition.topic_partition,
            StoredOffset(
                asked.committed_offset,
                asked.committed_leader_epoch,
                asked.committed_metadata or "",
                int(context.on_node.clock.time() * 1000),
            ),
        )
    except BrokerResponseError as error:
        return error.errno
    return 0


HANDLER = Handler(OffsetCommitRequest, handle, VersionRange(2, 10))


__all__ = ["handle"]
