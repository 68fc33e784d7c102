"""ShareGroupHeartbeat: assignments by topic id, limits, and clusters without share groups."""

import pytest

from aiokafka_lite.errors import NotCoordinatorForGroupError
from aiokafka_lite.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from tests.testing.broker.share_bench import ShareBench


def test_the_assignment_is_told_by_topic_ids() -> None:
    bench = ShareBench(2, group_share_heartbeat_interval_ms=70)
    answer = bench.heartbeat()
    assert (answer.error_code, answer.member_epoch, answer.heartbeat_interval_ms) == (0, 3, 70)
    assert answer.assignment is not None
    told = [(each.topic_id, each.partitions) for each in answer.assignment.topic_partitions]
    assert told == [(bench.read.topic_id, [0, 1])]


def test_a_cluster_without_the_feature_says_so() -> None:
    bench = ShareBench()
    bench.cluster.features.update({"share.version": 0})
    assert bench.heartbeat().error_code == 35
    assert bench.fetch().error_code == 35
    assert bench.acknowledge().error_code == 35


def test_another_node_coordinates() -> None:
    bench = ShareBench()
    bench.faults.fail(ShareGroupHeartbeatRequest, NotCoordinatorForGroupError)
    assert bench.heartbeat().error_code == 16


def test_a_group_has_a_limit_of_members() -> None:
    bench = ShareBench(group_share_max_size=1)
    refused = bench.heartbeat("b")
    assert refused.error_code == 81
    assert refused.error_message == "The share group has reached its maximum capacity of 1 members."
    assert bench.heartbeat().error_code == 0


@pytest.mark.parametrize("member_epoch", [-1, 5])
def test_only_a_heartbeat_that_joins_makes_a_group(member_epoch: int) -> None:
    bench = ShareBench()
    assert bench.heartbeat(group_id="h", member_epoch=member_epoch).error_code == 69
    assert bench.groups.find_share("h") is None
