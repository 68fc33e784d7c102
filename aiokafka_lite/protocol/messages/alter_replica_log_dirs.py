"""AlterReplicaLogDirs (key 34): moves a broker's replicas to other log directories (KIP-113).

v1 is the lowest version since Kafka 4.0 (KIP-896). v2 flexible.
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class AlterReplicaLogDirsRequest(
    Request["AlterReplicaLogDirsResponse"], api_key=34, versions="1-2", flexible="2+"
):
    """Asks one broker to move its own replicas."""

    dirs: list[AlterReplicaLogDir] = field(doc="The directories to move replicas to.")


class AlterReplicaLogDir(Struct):
    """One directory and the replicas that it shall get."""

    path: String = field(doc="The absolute path of the directory.")
    topics: list[AlterReplicaLogDirTopic] = field(doc="The replicas by topic.")


class AlterReplicaLogDirTopic(Struct):
    """The partitions of one topic."""

    name: String = field(doc="Name of the topic.")
    partitions: list[Int32] = field(doc="Indexes of the partitions.")


class AlterReplicaLogDirsResponse(Response, api_key=34, versions="1-2", flexible="2+"):
    """Which moves have begun."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    results: list[AlterReplicaLogDirTopicResult] = field(doc="The results by topic.")


class AlterReplicaLogDirTopicResult(Struct):
    """The results of one topic."""

    topic_name: String = field(doc="Name of the topic.")
    partitions: list[AlterReplicaLogDirPartitionResult] = field(doc="The results by partition.")


class AlterReplicaLogDirPartitionResult(Struct):
    """The result of one replica."""

    partition_index: Int32 = field(doc="Index of the partition.")
    error_code: Int16 = field(doc="0, or an error code.")


__all__ = [
    "AlterReplicaLogDir",
    "AlterReplicaLogDirPartitionResult",
    "AlterReplicaLogDirTopic",
    "AlterReplicaLogDirTopicResult",
    "AlterReplicaLogDirsRequest",
    "AlterReplicaLogDirsResponse",
]
