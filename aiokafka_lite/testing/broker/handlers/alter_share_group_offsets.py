"""AlterShareGroupOffsets: where a share group begins to read; an unknown group is made.

Source: GroupCoordinatorService.alterShareGroupOffsets; KIP-932.
"""

from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestTopic,
    AlterShareGroupOffsetsResponse,
    AlterShareGroupOffsetsResponsePartition,
    AlterShareGroupOffsetsResponseTopic,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.state.cluster_state import partition_of
from aiokafka_lite.testing.broker.state.groups.group_coordinators import SHARE


def handle(
    context: RequestContext, request: AlterShareGroupOffsetsRequest
) -> AlterShareGroupOffsetsResponse:
    try:
        if context.find_group(request.group_id) is not None:
            raise context.groups.not_found(request.group_id, SHARE)
        group = context.groups.find_share(request.group_id)
        if group is not None:
            group.members.check_empty()
    except BrokerResponseError as error:
        return AlterShareGroupOffsetsResponse(
            error_code=error.errno, error_message=reason_of(error)
        )
    return AlterShareGroupOffsetsResponse(
        responses=[_alter(context, request.group_id, topic) for topic in request.topics]
    )


def _alter(
    context: RequestContext, group_id: str, asked: AlterShareGroupOffsetsRequestTopic
) -> AlterShareGroupOffsetsResponseTopic:
    """Store the offsets of a topic. The group is made for the first one that can be stored."""
    known = context.cluster.topics.get(asked.topic_name)
    answer = AlterShareGroupOffsetsResponseTopic(topic_name=asked.topic_name)
    if known is not None:
        answer.topic_id = known.topic_id
    for each in asked.partitions:
        told = AlterShareGroupOffsetsResponsePartition(partition_index=each.partition_index)
        try:
            context.session.check_topic(Operation.READ, asked.topic_name)
            topic = context.cluster.topic_by_name(asked.topic_name)
            partition = partition_of(topic, each.partition_index)
            context.groups.find_or_create_share(group_id).set_start(partition, each.start_offset)
        except BrokerResponseError as error:
            told.error_code, told.error_message = error.errno, error.description
        answer.partitions.append(told)
    return answer


HANDLER = Handler(AlterShareGroupOffsetsRequest, handle, VersionRange(0, 0))


__all__ = ["handle"]
