"""DescribeLogDirs: the log directories of the node that is asked, and their replicas (KIP-113).

Source: KafkaApis.handleDescribeLogDirsRequest, ReplicaManager.describeLogDirs.
"""

from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.state.cluster_state import BrokerPartition
from aiokafka_lite.testing.broker.state.log_dirs import VOLUME_BYTES


def handle(context: RequestContext, request: DescribeLogDirsRequest) -> DescribeLogDirsResponse:
    try:
        context.session.check_cluster(Operation.DESCRIBE)
        context.injected.raise_for()
    except BrokerResponseError as error:
        return DescribeLogDirsResponse(error_code=error.errno)
    asked = (
        None
        if request.topics is None
        else {
            TopicPartition(topic.topic, index)
            for topic in request.topics
            for index in topic.partitions
        }
    )
    by_dir = context.log_dirs.on_node(context.node_id)
    used = sum(_size(*each) for replicas in by_dir.values() for each in replicas)
    return DescribeLogDirsResponse(
        results=[
            DescribeLogDirsResult(
                log_dir=path,
                topics=_topics(
                    [
                        (partition, is_copy)
                        for partition, is_copy in replicas
                        if asked is None or partition.topic_partition in asked
                    ]
                ),
                total_bytes=VOLUME_BYTES,
                usable_bytes=VOLUME_BYTES - used,
                is_cordoned=context.version in _WITH_CORDONS
                and context.log_dirs.is_cordoned(context.node_id, path),
            )
            for path, replicas in by_dir.items()
        ]
    )


def _topics(replicas: list[tuple[BrokerPartition, bool]]) -> list[DescribeLogDirsTopic]:
    topics: dict[str, DescribeLogDirsTopic] = {}
    for partition, is_copy in replicas:
        name, index = partition.topic_partition
        topics.setdefault(name, DescribeLogDirsTopic(name=name)).partitions.append(
            DescribeLogDirsPartition(
                partition_index=index,
                partition_size=_size(partition, is_copy),
                offset_lag=partition.log.log_end_offset if is_copy else 0,
                is_future_key=is_copy,
            )
        )
    return list(topics.values())


def _size(partition: BrokerPartition, is_copy: bool) -> int:
    return 0 if is_copy else partition.log.size_in_bytes


HANDLER = Handler(DescribeLogDirsRequest, handle, VersionRange(1, 5))
_WITH_CORDONS = VersionRange(5, 5)


__all__ = ["handle"]
