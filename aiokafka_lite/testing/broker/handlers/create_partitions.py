"""CreatePartitions: adds partitions to topics; existing partitions stay on their nodes."""

from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation


def handle(context: RequestContext, request: CreatePartitionsRequest) -> CreatePartitionsResponse:
    return CreatePartitionsResponse(
        results=[
            _extend(context, topic, validate_only=request.validate_only) for topic in request.topics
        ]
    )


def _extend(
    context: RequestContext, asked: CreatePartitionsTopic, *, validate_only: bool
) -> CreatePartitionsTopicResult:
    cluster = context.cluster
    assignments = (
        None if asked.assignments is None else [entry.broker_ids for entry in asked.assignments]
    )
    try:
        context.session.check_topic(Operation.ALTER, asked.name)
        context.injected.raise_for()
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
