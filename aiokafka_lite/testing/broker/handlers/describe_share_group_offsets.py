"""DescribeShareGroupOffsets: how far share groups have read, as it is stored.

A group that does not exist, or is of another kind, is no error.
"""

from collections.abc import Mapping

from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.model import TopicPartition, by_topic
from aiokafka_lite.protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsResponse,
    DescribeShareGroupOffsetsResponseGroup,
    DescribeShareGroupOffsetsResponsePartition,
    DescribeShareGroupOffsetsResponseTopic,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.state.groups.share_partition import UNSET, SharePartition


def handle(
    context: RequestContext, request: DescribeShareGroupOffsetsRequest
) -> DescribeShareGroupOffsetsResponse:
    return DescribeShareGroupOffsetsResponse(
        groups=[_describe(context, asked) for asked in request.groups]
    )


def _describe(
    context: RequestContext, asked: DescribeShareGroupOffsetsRequestGroup
) -> DescribeShareGroupOffsetsResponseGroup:
    try:
        context.find_group(asked.group_id, Operation.DESCRIBE, may_have_no_name=True)
    except BrokerResponseError as error:
        return DescribeShareGroupOffsetsResponseGroup(
            group_id=asked.group_id, error_code=error.errno, error_message=error.description
        )
    group = context.groups.find_share(asked.group_id)
    states = {} if group is None else group.partitions
    wanted = (
        by_topic(sorted(states))
        if asked.topics is None
        else {topic.topic_name: topic.partitions for topic in asked.topics}
    )
    return DescribeShareGroupOffsetsResponseGroup(
        group_id=asked.group_id,
        topics=[
            DescribeShareGroupOffsetsResponseTopic(
                topic_name=name,
                topic_id=context.cluster.topic_by_name(name).topic_id,
                partitions=[
                    _partition(context, TopicPartition(name, index), states) for index in indexes
                ],
            )
            for name, indexes in wanted.items()
        ],
    )


def _partition(
    context: RequestContext,
    where: TopicPartition,
    states: Mapping[TopicPartition, SharePartition],
) -> DescribeShareGroupOffsetsResponsePartition:
    state = states.get(where)
    told = DescribeShareGroupOffsetsResponsePartition(
        partition_index=where.partition,
        start_offset=UNSET if state is None else state.stored_start,
    )
    if state is not None and state.stored_start != UNSET and context.version in _WITH_LAG:
        end = context.cluster.partition(where).log.log_end_offset
        told.lag = end - state.stored_start - state.stored_done
    return told


HANDLER = Handler(DescribeShareGroupOffsetsRequest, handle, VersionRange(0, 1))
_WITH_LAG = VersionRange(1, 1)


__all__ = ["handle"]
