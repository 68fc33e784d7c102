"""AlterReplicaLogDirs: each replica has its own answer."""

import pytest

from aiokafka_lite.errors import (
    LogDirNotFound,
    ReplicaNotAvailableError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from aiokafka_lite.testing.broker.handlers import alter_replica_log_dirs
from tests.testing.broker.bench import Bench


def ask(bench: Bench, path: str, *partitions: int, version: int = 2, node_id: int = 1) -> list[int]:
    topic = AlterReplicaLogDirTopic(name="t", partitions=list(partitions))
    request = AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path=path, topics=[topic])])
    answer = bench.ask(alter_replica_log_dirs.HANDLER, request, version, node_id)
    return [each.error_code for result in answer.results for each in result.partitions]


@pytest.mark.parametrize("version", [1, 2])
def test_every_version_moves_replicas(version: int) -> None:
    bench = Bench(log_dirs=("/a", "/b"))
    bench.topic(partitions=2)
    assert ask(bench, "/b", 0, 7, version=version) == [0, UnknownTopicOrPartitionError.errno]
    assert [len(each) for each in bench.log_dirs.on_node(1).values()] == [1, 1]
    assert ask(bench, "/b", 1, version=version) == [0]


def test_what_the_node_does_not_have() -> None:
    bench = Bench(2)
    topic = bench.cluster.new_topic("t", assignments={0: [2]})
    bench.cluster.add_topic(topic)
    assert ask(bench, "/kafka-logs", 0) == [ReplicaNotAvailableError.errno]
    assert ask(bench, "/x", 0, node_id=2) == [LogDirNotFound.errno]
