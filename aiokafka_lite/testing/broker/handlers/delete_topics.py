"""DeleteTopics: by name, from version 6 on also by id. The data is deleted at once."""

from collections import Counter

from aiokafka_lite.errors import BrokerResponseError, InvalidRequestError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from aiokafka_lite.schema.field_types import ZERO_UUID
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.state.cluster_state import TopicState


def handle(context: RequestContext, request: DeleteTopicsRequest) -> DeleteTopicsResponse:
    asked = (
        request.topics
        if context.version >= DeleteTopicsRequest.topic_ids_since
        else [DeleteTopicState(name=name) for name in request.topic_names]
    )
    times = Counter((topic.name, topic.topic_id) for topic in asked)
    unique = {(topic.name, topic.topic_id): topic for topic in asked}
    return DeleteTopicsResponse(
        responses=[_delete(context, topic, times[key]) for key, topic in unique.items()]
    )


def _delete(context: RequestContext, asked: DeleteTopicState, times: int) -> DeletableTopicResult:
    try:
        context.injected.raise_for()
        if times > 1:
            raise InvalidRequestError(f"Duplicate topic {'id' if asked.name is None else 'name'}.")
        topic = _find(context, asked)
        if not context.session.may_in_cluster(Operation.DELETE):
            asked = DeleteTopicState(name=topic.name, topic_id=topic.topic_id)
            context.session.check_topic(Operation.DELETE, topic.name)
    except BrokerResponseError as error:
        return DeletableTopicResult(
            name=asked.name,
            topic_id=asked.topic_id,
            error_code=error.errno,
            error_message=reason_of(error),
        )
    context.cluster.delete_topic(topic.name)
    return DeletableTopicResult(name=topic.name, topic_id=topic.topic_id)


def _find(context: RequestContext, asked: DeleteTopicState) -> TopicState:
    """Return the topic. One that the client may not describe is not told from a missing one."""
    session = context.session
    may_all = session.may_in_cluster(Operation.DELETE)
    if asked.name is None:
        topic = context.cluster.topic_by_id(asked.topic_id)
        if not may_all:
            session.check_topic(Operation.DESCRIBE, topic.name)
        return topic
    if asked.topic_id != ZERO_UUID:
        raise InvalidRequestError("name a topic by its name or by its id, not by both")
    if not may_all:
        session.check_topic(Operation.DESCRIBE, asked.name)
    return context.cluster.topic_by_name(asked.name)


HANDLER = Handler(DeleteTopicsRequest, handle, VersionRange(1, 6))


__all__ = ["handle"]
