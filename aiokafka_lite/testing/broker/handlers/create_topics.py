"""CreateTopics: each topic succeeds or fails by itself. Any node accepts the request (KRaft)."""

from collections import Counter

from aiokafka_lite.errors import BrokerResponseError, InvalidRequestError
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
        results.append(_describe(created))
    return CreateTopicsResponse(topics=results)


def _create(context: RequestContext, topic: CreatableTopic) -> TopicState:
    if topic.assignments and (topic.num_partitions != -1 or topic.replication_factor != -1):
        raise InvalidRequestError(
            "with assignments, num_partitions and replication_factor must both be -1"
        )
    has_defaults = context.version >= CreateTopicsRequest.defaults_since
    if not has_defaults and not topic.assignments and topic.num_partitions == -1:
        raise InvalidRequestError("default partition counts need version 4 or newer (KIP-464)")
    return context.cluster.new_topic(
        topic.name,
        num_partitions=topic.num_partitions,
        replication_factor=topic.replication_factor,
        assignments={a.partition_index: a.broker_ids for a in topic.assignments},
        settings={
            config.name: config.value for config in topic.configs if config.value is not None
        },
    )


def _describe(topic: TopicState) -> CreatableTopicResult:
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
