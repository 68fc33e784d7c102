"""ListPartitionReassignments: the reassignments that have not ended (KIP-455).

Topics and partitions that do not exist are left out, as by Apache Kafka.
Source: ReplicationControlManager.listPartitionReassignments.
"""

from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation


def handle(
    context: RequestContext, request: ListPartitionReassignmentsRequest
) -> ListPartitionReassignmentsResponse:
    try:
        context.session.check_cluster(Operation.DESCRIBE)
        context.injected.raise_for()
    except BrokerResponseError as error:
        return ListPartitionReassignmentsResponse(
            error_code=error.errno, error_message=reason_of(error)
        )
    asked = (
        None
        if request.topics is None
        else {
            TopicPartition(topic.name, index)
            for topic in request.topics
            for index in topic.partition_indexes
        }
    )
    topics: dict[str, OngoingTopicReassignment] = {}
    for partition in context.reassignments.ongoing():
        name, index = partition.topic_partition
        if asked is None or partition.topic_partition in asked:
            topic = topics.setdefault(name, OngoingTopicReassignment(name=name))
            topic.partitions.append(
                OngoingPartitionReassignment(
                    partition_index=index,
                    replicas=partition.replicas,
                    adding_replicas=list(partition.adding),
                    removing_replicas=list(partition.removing),
                )
            )
    return ListPartitionReassignmentsResponse(error_message=None, topics=list(topics.values()))


HANDLER = Handler(ListPartitionReassignmentsRequest, handle, VersionRange(0, 0))


__all__ = ["handle"]
