"""AlterPartitionReassignments: starts and cancels reassignments (KIP-455, KIP-860).

Source: ReplicationControlManager.alterPartitionReassignments.
"""

from aiokafka_lite.errors import BrokerResponseError, NoReassignmentInProgressError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation


def handle(
    context: RequestContext, request: AlterPartitionReassignmentsRequest
) -> AlterPartitionReassignmentsResponse:
    response = AlterPartitionReassignmentsResponse(
        error_message=None,
        responses=[
            ReassignableTopicResponse(
                name=topic.name,
                partitions=[
                    _answer(context, request, topic.name, each) for each in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )
    if context.version >= AlterPartitionReassignmentsRequest.factor_check_since:
        response.allow_replication_factor_change = request.allow_replication_factor_change
    try:
        context.session.check_cluster(Operation.ALTER)
    except BrokerResponseError as error:
        response.error_code, response.error_message = error.errno, reason_of(error)
    return response


def _answer(
    context: RequestContext,
    request: AlterPartitionReassignmentsRequest,
    topic: str,
    asked: ReassignablePartition,
) -> ReassignablePartitionResponse:
    answer = ReassignablePartitionResponse(
        partition_index=asked.partition_index, error_message=None
    )
    topic_partition = TopicPartition(topic, asked.partition_index)
    try:
        context.session.check_cluster(Operation.ALTER)
        context.injected.raise_for(topic_partition)
        partition = context.cluster.partition(topic_partition)
        if asked.replicas is None:
            context.reassignments.cancel(partition)
        else:
            context.reassignments.start(
                partition,
                asked.replicas,
                may_change_count=request.allow_replication_factor_change,
            )
    except NoReassignmentInProgressError as error:
        answer.error_code = error.errno  # Apache Kafka says nothing more
    except BrokerResponseError as error:
        answer.error_code, answer.error_message = error.errno, reason_of(error)
    return answer


HANDLER = Handler(AlterPartitionReassignmentsRequest, handle, VersionRange(0, 1))


__all__ = ["handle"]
