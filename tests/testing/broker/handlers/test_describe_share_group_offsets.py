"""DescribeShareGroupOffsets: as a broker answers that has no share group."""

import pytest

from aiokafka_lite.errors import NotCoordinatorForGroupError
from aiokafka_lite.protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
)
from aiokafka_lite.testing.broker.handlers import describe_share_group_offsets
from tests.testing.broker.bench import Bench


@pytest.mark.parametrize("version", range(2))
def test_no_group_has_offsets(version: int) -> None:
    bench = Bench()
    topic_id = bench.topic("t", 2).topic_id
    asked = DescribeShareGroupOffsetsRequestTopic(topic_name="t", partitions=[0, 1])
    groups = [
        DescribeShareGroupOffsetsRequestGroup(group_id="g", topics=None),
        DescribeShareGroupOffsetsRequestGroup(group_id="g", topics=[asked]),
    ]
    request = DescribeShareGroupOffsetsRequest(groups=groups)
    every, named = bench.ask(describe_share_group_offsets.HANDLER, request, version).groups
    assert (every.error_code, every.topics) == (0, [])
    (topic,) = named.topics
    assert (topic.topic_name, topic.topic_id) == ("t", topic_id)
    assert [(p.partition_index, p.start_offset) for p in topic.partitions] == [(0, -1), (1, -1)]


def test_another_node_coordinates() -> None:
    bench = Bench()
    bench.faults.fail(DescribeShareGroupOffsetsRequest, NotCoordinatorForGroupError)
    group = DescribeShareGroupOffsetsRequestGroup(group_id="g", topics=None)
    request = DescribeShareGroupOffsetsRequest(groups=[group])
    answer = bench.ask(describe_share_group_offsets.HANDLER, request, 1)
    assert answer.groups[0].error_code == 16
