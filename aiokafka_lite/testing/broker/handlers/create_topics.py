"""CreateTopics: each topic succeeds or fails by itself. Any node accepts the request (KRaft)."""

from collections import Counter

from aiokafka_lite.errors import (
    BrokerResponseError,
    InvalidConfigurationError,
    InvalidReplicationAssignmentError,
    InvalidRequestError,
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

_DYNAMIC_TOPIC_CONFIG = 1


def handle(context: RequestContext, request: CreateTopicsRequest) -> CreateTopicsResponse:
    asked = Counter(topic.name for topic in request.topics)
    results = []
    for topic in request.topics:
        try:
            context.injected.raise_for()
            if asked[topic.name] > 1:
                raise InvalidRequestError(f"topic {topic.name!r} is in the request twice")
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
        if not request.validate_only:
            context.cluster.add_topic(created)
        results.append(_describe(context, created))
    return CreateTopicsResponse(topics=results)


def _create(context: RequestContext, topic: CreatableTopic) -> TopicState:
    if topic.assignments:
        _check_assigned(topic)
    has_defaults = context.version >= CreateTopicsRequest.defaults_since
    if not has_defaults and not topic.assignments and topic.num_partitions == -1:
        raise InvalidRequestError("default partition counts need version 4 or newer (KIP-464)")
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
            CreatableTopicConfigs(name=name, value=value, config_source=_DYNAMIC_TOPIC_CONFIG)
            for name, value in topic.config.settings.items()
        ],
    )


HANDLER = Handler(CreateTopicsRequest, handle, VersionRange(2, 7))


__all__ = ["handle"]
