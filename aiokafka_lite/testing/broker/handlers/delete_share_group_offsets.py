"""DeleteShareGroupOffsets: a share group forgets topics, so that it begins anew with them.

Source: GroupCoordinatorService.deleteShareGroupOffsets; KIP-932.
"""

from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
    DeleteShareGroupOffsetsResponseTopic,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.state.groups.group_coordinators import SHARE
from aiokafka_lite.testing.broker.state.groups.share_group import ShareGroup


def handle(
    context: RequestContext, request: DeleteShareGroupOffsetsRequest
) -> DeleteShareGroupOffsetsResponse:
    try:
        context.find_group(request.group_id, Operation.DELETE)
        group = context.groups.find_share(request.group_id)
        if group is None:
            raise context.groups.not_found(request.group_id, SHARE)
        group.members.check_empty()
    except BrokerResponseError as error:
        return DeleteShareGroupOffsetsResponse(
            error_code=error.errno, error_message=reason_of(error)
        )
    return DeleteShareGroupOffsetsResponse(
        responses=[_delete(context, group, topic.topic_name) for topic in request.topics]
    )


def _delete(
    context: RequestContext, group: ShareGroup, name: str
) -> DeleteShareGroupOffsetsResponseTopic:
    answer = DeleteShareGroupOffsetsResponseTopic(topic_name=name)
    try:
        context.session.check_topic(Operation.READ, name)
        answer.topic_id = context.cluster.topic_by_name(name).topic_id
    except BrokerResponseError as error:
        answer.error_code, answer.error_message = error.errno, error.description
        return answer
    group.forget_topic(name)
    return answer


HANDLER = Handler(DeleteShareGroupOffsetsRequest, handle, VersionRange(0, 0))


__all__ = ["handle"]
