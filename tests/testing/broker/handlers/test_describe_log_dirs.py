"""DescribeLogDirs: the directories of one node, and the replicas in them."""

import pytest

from aiokafka_lite.protocol.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)
from aiokafka_lite.testing.broker.handlers import describe_log_dirs
from tests.testing.broker.bench import Bench, batch


@pytest.mark.parametrize("version", range(1, 6))
def test_every_version_names_the_replicas(version: int) -> None:
    bench = Bench(log_dirs=("/a", "/b"))
    topic = bench.topic(partitions=2)
    bench.log_dirs.on_node(1)
    bench.cluster.broker_settings.altered["1"] = {"cordoned.log.dirs": "/b"}
    topic.partitions[1].append(batch(b"v"))
    size = topic.partitions[1].log.size_in_bytes
    request = DescribeLogDirsRequest(topics=None)
    first, second = bench.ask(describe_log_dirs.HANDLER, request, version).results
    assert (first.log_dir, second.log_dir) == ("/a", "/b")
    assert (first.is_cordoned, second.is_cordoned) == (False, version >= 5)
    assert [each.partition_size for each in first.topics[0].partitions] == [0]
    (replica,) = second.topics[0].partitions
    assert (replica.partition_index, replica.partition_size, replica.offset_lag) == (1, size, 0)
    if version >= 4:
        assert first.total_bytes - first.usable_bytes == size > 0


def test_a_copy_is_told_beside_the_replica_that_it_will_replace() -> None:
    bench = Bench(log_dirs=("/a", "/b"))
    (partition,) = bench.topic().partitions
    partition.append(batch(b"a", b"b"))
    bench.log_dirs.hold()
    bench.log_dirs.move(1, partition, "/b")
    only = [DescribableLogDirTopic(topic="t", partitions=[0])]
    request = DescribeLogDirsRequest(topics=only)
    old, new = bench.ask(describe_log_dirs.HANDLER, request, 4).results
    (copy,) = new.topics[0].partitions
    assert (copy.is_future_key, copy.partition_size, copy.offset_lag) == (True, 0, 2)
    assert not old.topics[0].partitions[0].is_future_key
    other = DescribeLogDirsRequest(topics=[DescribableLogDirTopic(topic="t", partitions=[7])])
    answer = bench.ask(describe_log_dirs.HANDLER, other, 4)
    assert [each.topics for each in answer.results] == [[], []]
