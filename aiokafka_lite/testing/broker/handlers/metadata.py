"""Metadata: nodes, topics, leaders; creates a topic that a request names, if that is allowed.

The response that creates a topic says that there is none, as that of Apache Kafka, which has only
asked its controller. The next one has it. Topics may be named by id from version 12 on.
"""

import logging

from aiokafka_lite.checks.topic_name import check_topic_name
from aiokafka_lite.errors import (
    BrokerResponseError,
    InvalidRequestError,
    LeaderNotAvailableError,
    RebootstrapRequiredError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from aiokafka_lite.schema.field_types import ZERO_UUID
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation, ResourceType
from aiokafka_lite.testing.broker.state.cluster_state import (
    NO_LEADER,
    BrokerPartition,
    ClusterState,
    TopicState,
)

logger = logging.getLogger(__name__)

TOP_LEVEL_ERRORS = (RebootstrapRequiredError.errno,)
_NO_AUTHORIZED_OPERATIONS = -(2**31)


def handle(context: RequestContext, request: MetadataRequest) -> MetadataResponse:
    try:
        context.injected.raise_for(among=TOP_LEVEL_ERRORS)
    except BrokerResponseError as error:
        return MetadataResponse(error_code=error.errno)
    cluster = context.cluster
    if request.topics is None:
        topics = [
            _describe(context, topic, request)
            for topic in cluster.topics.values()
            if context.session.may(Operation.DESCRIBE, ResourceType.TOPIC, topic.name)
        ]
    else:
        topics = [_answer(context, topic, request) for topic in request.topics]
    response = MetadataResponse(
        brokers=[
            MetadataResponseBroker(
                node_id=node.node_id, host=node.host, port=context.port_of(node), rack=node.rack
            )
            for node in cluster.alive_nodes()
        ],
        cluster_id=cluster.cluster_id,
        controller_id=cluster.controller_id,
        topics=topics,
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = context.session.cluster_operations()
    return response


def _answer(
    context: RequestContext, asked: MetadataRequestTopic, request: MetadataRequest
) -> MetadataResponseTopic:
    try:
        if asked.name is None or asked.topic_id != ZERO_UUID:
            if context.version < MetadataRequest.ask_by_id_since:
                raise InvalidRequestError("topics may be named by id from version 12 on")
            topic = context.cluster.topic_by_id(asked.topic_id)
            context.session.check_topic(Operation.DESCRIBE, topic.name)
        else:
            topic = _find_or_create(
                context, asked.name, may_create=request.allow_auto_topic_creation
            )
    except BrokerResponseError as error:
        # Before version 12 the name in a response may not be null.
        name = asked.name or ("" if context.version < MetadataRequest.ask_by_id_since else None)
        return MetadataResponseTopic(error_code=error.errno, name=name, topic_id=asked.topic_id)
    return _describe(context, topic, request)


def _find_or_create(context: RequestContext, name: str, *, may_create: bool) -> TopicState:
    """Return the topic. One that the client may not describe is not looked for."""
    cluster, session = context.cluster, context.session
    session.check_topic(Operation.DESCRIBE, name)
    if name not in cluster.topics:
        if may_create and cluster.options.auto_create_topics:
            if not session.may_in_cluster(Operation.CREATE):
                session.check_topic(Operation.CREATE, name)
            check_topic_name(name)
            _create(cluster, name)
            context.injected.raise_for()
            if not getattr(context.on_node.clock, "is_moved_by_hand", False):
                raise UnknownTopicOrPartitionError(f"topic {name!r} is being created")
            return cluster.topic_by_name(name)
        check_topic_name(name)
    return cluster.topic_by_name(name)


def _create(cluster: ClusterState, name: str) -> None:
    try:
        cluster.add_topic(cluster.new_topic(name))
    except BrokerResponseError as error:  # which is only in the log of a real broker, too
        logger.warning("topic %s is not created for a client's metadata: %s", name, error)


def _describe(
    context: RequestContext, topic: TopicState, request: MetadataRequest
) -> MetadataResponseTopic:
    try:
        context.injected.raise_for()
    except BrokerResponseError as error:
        return MetadataResponseTopic(
            error_code=error.errno, name=topic.name, topic_id=topic.topic_id
        )
    operations = (
        context.session.operations(ResourceType.TOPIC, topic.name)
        if request.include_topic_authorized_operations
        else _NO_AUTHORIZED_OPERATIONS
    )
    return MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        partitions=[_describe_partition(context, partition) for partition in topic.partitions],
        topic_authorized_operations=operations,
    )


def _describe_partition(
    context: RequestContext, partition: BrokerPartition
) -> MetadataResponsePartition:
    in_sync = context.cluster.in_sync_replicas(partition)
    error_code = 0 if partition.leader != NO_LEADER else LeaderNotAvailableError.errno
    try:
        context.injected.raise_for(TopicPartition(*partition.topic_partition))
    except BrokerResponseError as error:
        error_code = error.errno
    return MetadataResponsePartition(
        error_code=error_code,
        partition_index=partition.topic_partition.partition,
        leader_id=partition.leader,
        leader_epoch=partition.leader_epoch,
        replica_nodes=list(partition.replicas),
        isr_nodes=in_sync,
        offline_replicas=[node_id for node_id in partition.replicas if node_id not in in_sync],
    )


HANDLER = Handler(MetadataRequest, handle, VersionRange(1, 13))


__all__ = ["handle"]
