"""ShareAcknowledge: leaders and injected errors."""

from typing import Any

import pytest

from aiokafka_lite.errors import (
    InvalidRecordStateError,
    InvalidShareSessionEpochError,
    NotLeaderForPartitionError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.share_acknowledge import ShareAcknowledgeRequest
from tests.testing.broker.share_bench import ACCEPT, ShareBench


def test_another_leader_is_named() -> None:
    bench = ShareBench(nodes=2)
    bench.acquire()
    bench.cluster.move_leader(TopicPartition("t", 0), 2)
    answer = bench.acknowledge((0, 0, ACCEPT))
    (data,) = answer.responses[0].partitions
    assert (data.error_code, data.current_leader.leader_id) == (6, 2)
    assert [each.node_id for each in answer.node_endpoints] == [2]


@pytest.mark.parametrize(
    ("error", "codes"),
    [
        (InvalidShareSessionEpochError, (123, [])),
        (NotLeaderForPartitionError, (0, [6])),
        (InvalidRecordStateError, (0, [121])),
    ],
)
def test_injected_errors_stand_where_kafka_has_them(error: Any, codes: Any) -> None:
    bench = ShareBench()
    bench.acquire()
    bench.faults.fail(ShareAcknowledgeRequest, error)
    answer = bench.acknowledge((0, 0, ACCEPT))
    told = [data.error_code for topic in answer.responses for data in topic.partitions]
    assert (answer.error_code, told) == codes
    assert bench.error((0, 0, ACCEPT)) == 0


def test_the_time_of_locks_is_told() -> None:
    bench = ShareBench()
    bench.set("record.lock.duration.ms", "15000")
    bench.acquire()
    assert bench.acknowledge((0, 0, ACCEPT)).acquisition_lock_timeout_ms == 15_000
