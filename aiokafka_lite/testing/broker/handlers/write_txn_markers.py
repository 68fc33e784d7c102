"""WriteTxnMarkers: an administrator ends a transaction in partitions that this node leads.

The embedded broker's own coordinators need no request for that. The coordinator of the producer
learns nothing of such a marker. Source: KafkaApis.handleWriteTxnMarkersRequest; KIP-664, KIP-1228.
"""

from aiokafka_lite.errors import BrokerResponseError, UnknownTopicOrPartitionError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.state.transactions.txn_markers import write_marker
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import TxnProducerId


def handle(context: RequestContext, request: WriteTxnMarkersRequest) -> WriteTxnMarkersResponse:
    return WriteTxnMarkersResponse(
        markers=[
            WritableTxnMarkerResult(
                producer_id=marker.producer_id,
                topics=[
                    WritableTxnMarkerTopicResult(
                        name=topic.name,
                        partitions=[
                            WritableTxnMarkerPartitionResult(
                                partition_index=index,
                                error_code=_write(
                                    context, marker, TopicPartition(topic.name, index)
                                ),
                            )
                            for index in topic.partition_indexes
                        ],
                    )
                    for topic in marker.topics
                ],
            )
            for marker in request.markers
        ]
    )


def _write(
    context: RequestContext, marker: WritableTxnMarker, topic_partition: TopicPartition
) -> int:
    """Write one marker, and return its error code."""
    try:
        _authorize(context)
        context.injected.raise_for(topic_partition)
        partition = context.cluster.partition(topic_partition)
        if context.node_id not in partition.replicas:
            raise UnknownTopicOrPartitionError(f"no replica of {topic_partition} is here")
        partition.check_leader(context.node_id, -1)
        partition.producers.check_marker(
            marker.producer_id,
            marker.producer_epoch,
            marker.coordinator_epoch,
            ends_v2=marker.transaction_version >= 2
            and partition.log.transactions.is_open(marker.producer_id),
        )
    except BrokerResponseError as error:
        return error.errno
    write_marker(
        partition,
        TxnProducerId(marker.producer_id, marker.producer_epoch),
        is_commit=marker.transaction_result,
        coordinator_epoch=marker.coordinator_epoch,
        timestamp_ms=int(context.on_node.clock.time() * 1000),
    )
    return 0


def _authorize(context: RequestContext) -> None:
    if not context.session.may_in_cluster(Operation.ALTER):
        context.session.check_cluster(Operation.CLUSTER_ACTION)


HANDLER = Handler(WriteTxnMarkersRequest, handle, VersionRange(1, 2))


__all__ = ["handle"]
