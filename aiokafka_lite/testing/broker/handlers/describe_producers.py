"""DescribeProducers: the producers of partitions of which this node has a replica (KIP-664).

Source: KafkaApis.handleDescribeProducersRequest, UnifiedLog.activeProducers.
"""

from aiokafka_lite.checks.topic_name import check_topic_name
from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.state.cluster_state import BrokerPartition


def handle(context: RequestContext, request: DescribeProducersRequest) -> DescribeProducersResponse:
    return DescribeProducersResponse(
        topics=[
            TopicResponse(
                name=topic.name,
                partitions=[
                    _describe(context, TopicPartition(topic.name, index))
                    for index in topic.partition_indexes
                ],
            )
            for topic in request.topics
        ]
    )


def _describe(context: RequestContext, topic_partition: TopicPartition) -> PartitionResponse:
    try:
        check_topic_name(topic_partition.topic)
        context.session.check_topic(Operation.READ, topic_partition.topic)
        context.injected.raise_for(topic_partition)
        partition = context.cluster.partition(topic_partition)
        partition.check_replica(context.node_id, -1)
    except BrokerResponseError as error:
        return PartitionResponse(
            partition_index=topic_partition.partition,
            error_code=error.errno,
            error_message=reason_of(error),
        )
    return PartitionResponse(
        partition_index=topic_partition.partition, active_producers=_producers(partition)
    )


def _producers(partition: BrokerPartition) -> list[ProducerState]:
    found = []
    for producer in partition.producers.active():
        start = partition.log.transactions.start_of(producer.producer_id)
        found.append(
            ProducerState(
                producer_id=producer.producer_id,
                producer_epoch=producer.epoch,
                last_sequence=producer.last_sequence,
                last_timestamp=producer.last_timestamp,
                coordinator_epoch=producer.coordinator_epoch,
                current_txn_start_offset=-1 if start is None else start,
            )
        )
    return found


HANDLER = Handler(DescribeProducersRequest, handle, VersionRange(0, 0))


__all__ = ["handle"]
