"""CreatePartitions: adds partitions to topics; existing partitions stay on their nodes."""

from collections import Counter

from aiokafka_lite.errors import BrokerResponseError, InvalidRequestError, PolicyViolationError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.handlers.create_topics import MOST_NEW_PARTITIONS
from aiokafka_lite.testing.broker.security.acl import Operation


def handle(context: RequestContext, request: CreatePartitionsRequest) -> CreatePartitionsResponse:
    times = Counter(topic.name for topic in request.topics)
    unique = {topic.name: topic for topic in request.topics}
    added = sum(_added(context, topic) for topic in unique.values())
    why = (
        PolicyViolationError("Excessively large number of additional partitions per request.")
        if added > MOST_NEW_PARTITIONS
        else None
    )
    return CreatePartitionsResponse(
        results=[
            _extend(
                context,
                topic,
                InvalidRequestError("Duplicate topic name.") if times[name] > 1 else why,
                validate_only=request.validate_only,
            )
            for name, topic in unique.items()
        ]
    )


def _added(context: RequestContext, asked: CreatePartitionsTopic) -> int:
    topic = context.cluster.topics.get(asked.name)
    return 0 if topic is None else max(0, asked.count - len(topic.partitions))


def _extend(
    context: RequestContext,
    asked: CreatePartitionsTopic,
    refusal: BrokerResponseError | None,
    *,
    validate_only: bool,
) -> CreatePartitionsTopicResult:
    cluster = context.cluster
    assignments = (
        None if asked.assignments is None else [entry.broker_ids for entry in asked.assignments]
    )
    try:
        context.session.check_topic(Operation.ALTER, asked.name)
        context.injected.raise_for()
        if refusal is not None:
            raise refusal
        topic = cluster.topic_by_name(asked.name)
        replica_lists = cluster.place_new_partitions(topic, asked.count, assignments)
    except BrokerResponseError as error:
        return CreatePartitionsTopicResult(
            name=asked.name, error_code=error.errno, error_message=reason_of(error)
        )
    if not validate_only:
        cluster.add_partitions(topic, replica_lists)
    return CreatePartitionsTopicResult(name=asked.name)


HANDLER = Handler(CreatePartitionsRequest, handle, VersionRange(0, 3))


__all__ = ["handle"]
