"""DescribeQuorum: the controller leads, the living nodes vote."""

import pytest

from aiokafka_lite.errors import NotControllerError, UnknownTopicOrPartitionError
from aiokafka_lite.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    PartitionData,
    TopicData,
)
from aiokafka_lite.testing.broker.handlers import describe_quorum
from tests.testing.broker.bench import Bench


def ask(
    bench: Bench, version: int = 2, topic: str = "__cluster_metadata"
) -> DescribeQuorumResponse:
    asked = TopicData(topic_name=topic, partitions=[PartitionData(partition_index=0)])
    return bench.ask(describe_quorum.HANDLER, DescribeQuorumRequest(topics=[asked]), version)


@pytest.mark.parametrize("version", range(3))
def test_every_version(version: int) -> None:
    bench = Bench(3)
    bench.cluster.set_alive(1, is_alive=False)
    answer = ask(bench, version)
    partition = answer.topics[0].partitions[0]
    assert (partition.leader_id, partition.leader_epoch) == (2, 1)
    assert [each.replica_id for each in partition.current_voters] == [2, 3]
    end_offset = partition.high_watermark
    assert end_offset > 3  # the nodes, and the one that has stopped
    assert [each.log_end_offset for each in partition.current_voters] == [end_offset] * 2
    bench.topic()
    assert ask(bench, version).topics[0].partitions[0].high_watermark > end_offset
    assert [node.node_id for node in answer.nodes] == ([2, 3] if version == 2 else [])


def test_other_topics_have_no_quorum() -> None:
    bench = Bench()
    (topic,) = ask(bench, topic="t").topics
    assert topic.partitions[0].error_code == UnknownTopicOrPartitionError.errno
    bench.faults.fail(DescribeQuorumRequest, NotControllerError)
    assert ask(bench).error_code == NotControllerError.errno
