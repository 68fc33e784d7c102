"""OffsetFetch: the committed offsets of groups, for some or all partitions.

With require_stable, an offset that an open transaction may still change is an
UNSTABLE_OFFSET_COMMIT. Source: KIP-709, KIP-447, KIP-848.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from uuid import UUID

from aiokafka_lite.errors import (
    BrokerResponseError,
    GroupAuthorizationFailedError,
    GroupCoordinatorNotAvailableError,
    GroupIdNotFound,
    GroupLoadInProgressError,
    InvalidGroupIdError,
    NotCoordinatorForGroupError,
    StaleMemberEpochError,
    UnknownMemberIdError,
    UnknownTopicIdError,
    UnstableOffsetCommitError,
)
from aiokafka_lite.model import TopicPartition, by_topic
from aiokafka_lite.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from aiokafka_lite.schema.field_types import ZERO_UUID
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation, ResourceType
from aiokafka_lite.testing.broker.state.groups.group_offsets import GroupOffsets, StoredOffset

GROUP_ERRORS = tuple(
    error.errno
    for error in (
        GroupLoadInProgressError,
        GroupCoordinatorNotAvailableError,
        NotCoordinatorForGroupError,
        InvalidGroupIdError,
        UnknownMemberIdError,
        GroupAuthorizationFailedError,
        GroupIdNotFound,
        StaleMemberEpochError,
    )
)
"""Errors that `faults.fail` applies to whole groups, not to their partitions."""
_NOTHING = StoredOffset(-1)


@dataclass(slots=True)
class _Topic:
    """A topic of the request, or a topic found for a request without topics."""

    partitions: Iterable[int]
    name: str | None
    """None for an unknown topic id."""
    topic_id: UUID = ZERO_UUID


@dataclass(slots=True)
class _Partition:
    index: int
    committed: StoredOffset = _NOTHING
    error_code: int = 0


@dataclass(slots=True)
class _Group:
    """The result for one group, independent of the version."""

    error_code: int = 0
    topics: list[tuple[_Topic, list[_Partition]]] = field(default_factory=list)


def handle(context: RequestContext, request: OffsetFetchRequest) -> OffsetFetchResponse:
    if context.version < OffsetFetchRequest.groups_since:
        asked = request.topics
        topics = None if asked is None else [_Topic(t.partition_indexes, t.name) for t in asked]
        return _single(
            _look_up(context, request.group_id, topics, require_stable=request.require_stable)
        )
    return OffsetFetchResponse(
        groups=[
            _one_of_many(
                group.group_id,
                _look_up(
                    context,
                    group.group_id,
                    _requested(context, group.topics),
                    require_stable=request.require_stable,
                    member=(group.member_id, group.member_epoch),
                ),
            )
            for group in request.groups
        ]
    )


def _requested(
    context: RequestContext, asked: Iterable[OffsetFetchRequestTopics] | None
) -> list[_Topic] | None:
    if asked is None:
        return None
    topics = [_Topic(topic.partition_indexes, topic.name, topic.topic_id) for topic in asked]
    if context.version >= OffsetFetchRequest.topic_ids_since:
        for topic in topics:
            topic.name = context.cluster.topic_name(topic.topic_id)
    return topics


def _look_up(
    context: RequestContext,
    group_id: str,
    asked: list[_Topic] | None,
    *,
    require_stable: bool,
    member: tuple[str | None, int] = (None, -1),
) -> _Group:
    try:
        context.session.check_group(Operation.DESCRIBE, group_id)
        context.injected.raise_for(among=GROUP_ERRORS)
        context.groups.nodes.check(group_id, context.node_id)
        group = context.groups.find(group_id)
        if group is not None and group.consumers is not None:
            group.consumers.check_fetch(*member)
    except BrokerResponseError as error:
        return _failed(error.errno, asked, context.version)
    offsets = None if group is None else group.offsets
    topics = _all_topics(context, offsets) if asked is None else asked
    return _Group(
        topics=[
            (
                topic,
                [
                    _partition(context, offsets, topic, index, require_stable=require_stable)
                    for index in topic.partitions
                ],
            )
            for topic in topics
        ]
    )


def _failed(error_code: int, asked: list[_Topic] | None, version: int) -> _Group:
    if version >= OffsetFetchRequest.group_error_since:
        return _Group(error_code)
    return _Group(
        topics=[
            (topic, [_Partition(index, error_code=error_code) for index in topic.partitions])
            for topic in asked or ()
        ]
    )


def _all_topics(context: RequestContext, offsets: GroupOffsets | None) -> list[_Topic]:
    partitions = by_topic(topic_partition for topic_partition, _ in offsets or ())
    return [
        _Topic(indexes, name, context.cluster.topic_by_name(name).topic_id)
        for name, indexes in partitions.items()
        if context.session.may(Operation.DESCRIBE, ResourceType.TOPIC, name)
    ]


def _partition(
    context: RequestContext,
    offsets: GroupOffsets | None,
    topic: _Topic,
    index: int,
    *,
    require_stable: bool,
) -> _Partition:
    if topic.name is None:
        return _Partition(index, error_code=UnknownTopicIdError.errno)
    topic_partition = TopicPartition(topic.name, index)
    try:
        context.session.check_topic(Operation.DESCRIBE, topic.name)
        context.injected.raise_for(topic_partition)
    except BrokerResponseError as error:
        return _Partition(index, error_code=error.errno)
    if offsets is None:
        return _Partition(index)
    if require_stable and offsets.is_unstable(topic_partition):
        return _Partition(index, error_code=UnstableOffsetCommitError.errno)
    return _Partition(index, offsets.get(topic_partition) or _NOTHING)


def _single(found: _Group) -> OffsetFetchResponse:
    return OffsetFetchResponse(
        error_code=found.error_code,
        topics=[
            OffsetFetchResponseTopic(
                name=topic.name or "",
                partitions=[
                    OffsetFetchResponsePartition(
                        partition_index=partition.index,
                        committed_offset=partition.committed.offset,
                        committed_leader_epoch=partition.committed.leader_epoch,
                        metadata=partition.committed.metadata,
                        error_code=partition.error_code,
                    )
                    for partition in partitions
                ],
            )
            for topic, partitions in found.topics
        ],
    )


def _one_of_many(group_id: str, found: _Group) -> OffsetFetchResponseGroup:
    return OffsetFetchResponseGroup(
        group_id=group_id,
        error_code=found.error_code,
        topics=[
            OffsetFetchResponseTopics(
                name=topic.name or "",
                topic_id=topic.topic_id,
                partitions=[
                    OffsetFetchResponsePartitions(
                        partition_index=partition.index,
                        committed_offset=partition.committed.offset,
                        committed_leader_epoch=partition.committed.leader_epoch,
                        metadata=partition.committed.metadata,
                        error_code=partition.error_code,
                    )
                    for partition in partitions
                ],
            )
            for topic, partitions in found.topics
        ],
    )


HANDLER = Handler(OffsetFetchRequest, handle, VersionRange(1, 10))


__all__ = ["handle"]
