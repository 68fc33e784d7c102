"""AlterReplicaLogDirs: moves replicas of the node that is asked to other directories (KIP-113).

Source: KafkaApis.handleAlterReplicaLogDirsRequest, ReplicaManager.alterReplicaLogDirs.
"""

from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation


def handle(
    context: RequestContext, request: AlterReplicaLogDirsRequest
) -> AlterReplicaLogDirsResponse:
    results: dict[str, AlterReplicaLogDirTopicResult] = {}
    for directory in request.dirs:
        for topic in directory.topics:
            result = results.setdefault(
                topic.name, AlterReplicaLogDirTopicResult(topic_name=topic.name)
            )
            for index in topic.partitions:
                tp = TopicPartition(topic.name, index)
                code = _move(context, tp, directory.path)
                result.partitions.append(
                    AlterReplicaLogDirPartitionResult(partition_index=index, error_code=code)
                )
    return AlterReplicaLogDirsResponse(results=list(results.values()))


def _move(context: RequestContext, topic_partition: TopicPartition, path: str) -> int:
    try:
        context.session.check_cluster(Operation.ALTER)
        context.injected.raise_for(topic_partition)
        context.log_dirs.check(path)
        partition = context.cluster.partition(topic_partition)
        context.log_dirs.move(context.node_id, partition, path)
    except BrokerResponseError as error:
        return error.errno
    return 0


HANDLER = Handler(AlterReplicaLogDirsRequest, handle, VersionRange(1, 2))


__all__ = ["handle"]
