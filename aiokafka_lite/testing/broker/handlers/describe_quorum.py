"""DescribeQuorum: the nodes vote, and the controller leads (KIP-595).

All nodes see a change at once, so they are equally far.
"""

from aiokafka_lite.errors import BrokerResponseError, UnknownTopicOrPartitionError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages._quorum import (
    Listener,
    Node,
    PartitionData,
    ReplicaState,
    TopicData,
)
from aiokafka_lite.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.state.cluster_state import CONTROLLER_LISTENER

_METADATA = ("__cluster_metadata", 0)


def handle(context: RequestContext, request: DescribeQuorumRequest) -> DescribeQuorumResponse:
    try:
        context.session.check_cluster(Operation.DESCRIBE)
        context.injected.raise_for()
    except BrokerResponseError as error:
        return DescribeQuorumResponse(error_code=error.errno, error_message=reason_of(error))
    asked = [
        (topic.topic_name, each.partition_index)
        for topic in request.topics
        for each in topic.partitions
    ]
    is_known = asked == [_METADATA]
    return DescribeQuorumResponse(
        topics=[
            TopicData(
                topic_name=topic.topic_name,
                partitions=[
                    _leader(context) if is_known else _unknown(each.partition_index)
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ],
        nodes=_nodes(context) if is_known and context.version in _WITH_NODES else [],
    )


def _unknown(index: int) -> PartitionData:
    return PartitionData(
        partition_index=index,
        error_code=UnknownTopicOrPartitionError.errno,
        error_message="This server does not host this topic-partition.",
    )


def _leader(context: RequestContext) -> PartitionData:
    end_offset = context.cluster.metadata_end_offset
    now_ms = int(context.on_node.clock.time() * 1000)
    alive = context.cluster.alive_nodes()

    def state(node_id: int) -> ReplicaState:
        made = ReplicaState(
            replica_id=node_id,
            log_end_offset=end_offset,
            last_fetch_timestamp=now_ms,
            last_caught_up_timestamp=now_ms,
        )
        if context.version in _WITH_NODES:
            made.replica_directory_id = context.cluster.directory_id(node_id)
        return made

    return PartitionData(
        partition_index=0,
        leader_id=context.cluster.controller_id,
        leader_epoch=context.cluster.controller_epoch,
        high_watermark=end_offset,
        current_voters=[state(node.node_id) for node in alive if node.is_voter],
        observers=[state(node.node_id) for node in alive if not node.is_voter],
    )


def _nodes(context: RequestContext) -> list[Node]:
    return [
        Node(
            node_id=node.node_id,
            listeners=[Listener(name=CONTROLLER_LISTENER, host=node.host, port=node.port)],
        )
        for node in context.cluster.alive_nodes()
        if node.is_voter
    ]


HANDLER = Handler(DescribeQuorumRequest, handle, VersionRange(0, 2))
_WITH_NODES = VersionRange(2, 2)


__all__ = ["handle"]
