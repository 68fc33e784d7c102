"""CreateTopics: each topic succeeds or fails by itself. Any node accepts the request (KRaft)."""

from collections import Counter

from aiokafka_lite.errors import (
    BrokerResponseError,
    InvalidConfigurationError,
    InvalidReplicationAssignmentError,
    InvalidRequestError,
    PolicyViolationError,
    TopicAuthorizationFailedError,
)
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation, ResourceType
from aiokafka_lite.testing.broker.state.cluster_state import TopicState
from aiokafka_lite.testing.broker.state.config_resources import describe_topic

MOST_NEW_PARTITIONS = 10_000
"""Source: ReplicationControlManager.MAX_PARTITIONS_PER_BATCH."""


def handle(context: RequestContext, request: CreateTopicsRequest) -> CreateTopicsResponse:
    asked = Counter(topic.name for topic in request.topics)
    partitions = sum(_partitions_of(context, topic) for topic in request.topics)
    results, made = [], []
    for topic in {topic.name: topic for topic in request.topics}.values():
        try:
            context.injected.raise_for()
            if asked[topic.name] > 1:
                raise InvalidRequestError("Duplicate topic name.")
            if partitions > MOST_NEW_PARTITIONS:
                raise PolicyViolationError("Excessively large number of partitions per request.")
            if not context.session.may_in_cluster(Operation.CREATE):
                context.session.check_topic(Operation.CREATE, topic.name)
            created = _create(context, topic)
        except BrokerResponseError as error:
            results.append(
                CreatableTopicResult(
                    name=topic.name,
                    error_code=error.errno,
                    error_message=reason_of(error),
                    configs=None,
                )
            )
            continue
        made.append(created)
        results.append(_describe(context, created))
    if not request.validate_only:  # only now: names may collide within a request, as in Kafka
        for created in made:
            context.cluster.add_topic(created)
    return CreateTopicsResponse(topics=results)


def _partitions_of(context: RequestContext, topic: CreatableTopic) -> int:
    if topic.assignments:
        return len(topic.assignments)
    chosen: int = topic.num_partitions
    return context.cluster.options.num_partitions if chosen == -1 else chosen


def _create(context: RequestContext, topic: CreatableTopic) -> TopicState:
    if topic.assignments:
        _check_assigned(topic)
    settings = {config.name: config.value for config in topic.configs if config.value is not None}
    without_value = [config.name for config in topic.configs if config.value is None]
    if without_value:
        raise InvalidConfigurationError(
            f"Null value not supported for topic configs: {','.join(without_value)}"
        )
    return context.cluster.new_topic(
        topic.name,
        num_partitions=topic.num_partitions,
        replication_factor=topic.replication_factor,
        assignments={a.partition_index: a.broker_ids for a in topic.assignments},
        settings=settings,
    )


def _check_assigned(topic: CreatableTopic) -> None:
    for what, count in (
        ("replication factor", topic.replication_factor),
        ("numPartitions", topic.num_partitions),
    ):
        if count != -1:
            raise InvalidRequestError(
                f"A manual partition assignment was specified, but {what} was not set to -1."
            )
    for index, times in Counter(each.partition_index for each in topic.assignments).items():
        if times > 1:
            raise InvalidReplicationAssignmentError(
                f"Found multiple manual partition assignments for partition {index}"
            )


def _describe(context: RequestContext, topic: TopicState) -> CreatableTopicResult:
    if not context.session.may(Operation.DESCRIBE_CONFIGS, ResourceType.TOPIC, topic.name):
        return CreatableTopicResult(
            name=topic.name,
            topic_id=topic.topic_id,
            error_message=None,
            topic_config_error_code=TopicAuthorizationFailedError.errno,
        )
    return CreatableTopicResult(
        name=topic.name,
        topic_id=topic.topic_id,
        error_message=None,
        num_partitions=len(topic.partitions),
        replication_factor=len(topic.partitions[0].replicas),
        configs=[
            CreatableTopicConfigs(name=each.name, value=each.value, config_source=each.source)
            for each in describe_topic(context.cluster, context.on_node.node, topic)
        ],
    )


HANDLER = Handler(CreateTopicsRequest, handle, VersionRange(2, 7))


__all__ = ["MOST_NEW_PARTITIONS", "handle"]
