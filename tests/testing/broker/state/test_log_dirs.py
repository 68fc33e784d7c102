"""Log directories: where replicas lie, and how they move."""

import pytest

from aiokafka_lite.errors import LogDirNotFound, ReplicaNotAvailableError
from tests.testing.broker.bench import Bench

DIRS = ("/a", "/b")


def shown(bench: Bench, node_id: int = 1) -> dict[str, list[tuple[int, bool]]]:
    return {
        path: [(partition.topic_partition.partition, is_copy) for partition, is_copy in replicas]
        for path, replicas in bench.log_dirs.on_node(node_id).items()
    }


def test_a_new_replica_lies_where_the_fewest_are() -> None:
    bench = Bench(2, log_dirs=DIRS)
    bench.topic(partitions=3)
    assert shown(bench) == {"/a": [(0, False), (2, False)], "/b": [(1, False)]}


def test_a_move_takes_no_time_unless_it_is_held() -> None:
    bench = Bench(log_dirs=DIRS)
    (partition,) = bench.topic().partitions
    bench.log_dirs.move(1, partition, "/b")
    assert shown(bench) == {"/a": [], "/b": [(0, False)]}
    bench.log_dirs.hold()
    bench.log_dirs.move(1, partition, "/a")
    assert shown(bench) == {"/a": [(0, True)], "/b": [(0, False)]}
    bench.log_dirs.move(1, partition, "/b")  # back again
    assert shown(bench) == {"/a": [], "/b": [(0, False)]}
    bench.log_dirs.move(1, partition, "/a")
    bench.log_dirs.release()
    assert shown(bench) == {"/a": [(0, False)], "/b": []}


def test_a_cordoned_directory_gets_no_new_replica() -> None:
    bench = Bench(2, log_dirs=DIRS)
    bench.cluster.broker_settings.altered["1"] = {"cordoned.log.dirs": "/a"}
    bench.topic(partitions=2)
    assert shown(bench) == {"/a": [], "/b": [(0, False), (1, False)]}
    assert [bench.log_dirs.is_cordoned(node, "/a") for node in (1, 2)] == [True, False]
    bench.cluster.broker_settings.altered["1"] = {"cordoned.log.dirs": "*"}
    assert bench.log_dirs.is_cordoned(1, "/b")


def test_what_cannot_move_is_told() -> None:
    bench = Bench(2)
    topic = bench.cluster.new_topic("t", assignments={0: [2]})
    bench.cluster.add_topic(topic)
    with pytest.raises(ReplicaNotAvailableError, match="node 1 has no replica of"):
        bench.log_dirs.move(1, topic.partitions[0], "/kafka-logs")
    with pytest.raises(LogDirNotFound, match="/x is not found"):
        bench.log_dirs.check("/x")


def test_a_deleted_topic_is_forgotten() -> None:
    bench = Bench(log_dirs=DIRS)
    bench.log_dirs.move(1, bench.topic().partitions[0], "/b")
    bench.cluster.delete_topic("t")
    bench.topic()
    assert shown(bench) == {"/a": [(0, False)], "/b": []}
