"""A share group: where it begins in a partition, and what it forgets."""

import pytest

from aiokafka_lite.model import TopicPartition
from tests.testing.broker.bench import batch
from tests.testing.broker.share_bench import ShareBench


@pytest.mark.parametrize(
    ("reset", "offset"),
    [
        ("earliest", 0),
        ("latest", 4),
        ("by_duration:PT10S", 2),
        ("by_duration:PT0.5S", 4),
        ("by_duration:P1D", 0),
    ],
)
def test_the_group_says_where_it_begins(reset: str, offset: int) -> None:
    bench = ShareBench(records=0)
    bench.set("auto.offset.reset", reset)
    now_ms = int(bench.clock.time() * 1000)
    times = [now_ms - 20_000, now_ms - 11_000, now_ms - 9_000, now_ms - 1_000]
    for time in times:
        bench.read.partitions[0].append(batch(b"v", timestamps=[time]))
    share = bench.group.read(bench.read.partitions[0])
    assert share is not None
    assert share.next_offset == offset


def test_a_topic_is_forgotten_with_all_its_partitions() -> None:
    bench = ShareBench(2)
    bench.acquire()
    assert [*bench.group.partitions] == [TopicPartition("t", 0), TopicPartition("t", 1)]
    bench.group.forget_topic("nowhere")
    assert bench.group._locks.names
    bench.cluster.delete_topic("t")
    assert not bench.group.partitions
    assert not bench.group._locks.names


def test_a_new_start_forgets_what_was_in_flight() -> None:
    bench = ShareBench()
    bench.acquire()
    bench.group.set_start(bench.read.partitions[0], 1)
    assert bench.acquire() == {0: [(1, 2, 1)]}


def test_a_closed_group_has_no_timers() -> None:
    bench = ShareBench()
    bench.acquire()
    bench.groups.close()
    assert not bench.group._locks.names
    assert not bench.group.members._timers.names
