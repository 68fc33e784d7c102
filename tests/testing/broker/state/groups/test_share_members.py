"""Members of a share group: sessions by the clock, new partitions, assignments in turn."""

from tests.testing.broker.share_bench import ShareBench


def partitions(bench: ShareBench, member_id: str = "a") -> list[int]:
    answer = bench.heartbeat(member_id)
    assert answer.assignment is not None
    return [index for topic in answer.assignment.topic_partitions for index in topic.partitions]


async def test_a_member_that_is_silent_is_gone() -> None:
    bench = ShareBench(group_share_session_timeout_ms=10_000)
    await bench.clock.advance(9.9)
    bench.heartbeat()
    await bench.clock.advance(9.9)
    assert bench.group.members.state.value == "Stable"
    await bench.clock.advance(0.1)
    assert bench.group.members.state.value == "Empty"
    assert bench.heartbeat(member_epoch=3).error_code == 25


async def test_the_settings_of_the_group_go_first() -> None:
    bench = ShareBench()
    bench.set("session.timeout.ms", "50000")
    bench.set("heartbeat.interval.ms", "6000")
    assert bench.heartbeat().heartbeat_interval_ms == 6000
    await bench.clock.advance(49)
    assert bench.heartbeat(member_epoch=3).error_code == 0


def test_new_partitions_are_assigned_by_a_later_heartbeat() -> None:
    bench = ShareBench(1)
    bench.cluster.add_partitions(bench.read, [[1]])
    assert partitions(bench) == [0]
    assert partitions(bench) == [0, 1]


async def test_assignments_wait_for_their_interval() -> None:
    bench = ShareBench(2, group_share_assignment_interval_ms=1000)
    await bench.clock.advance(1)
    assert partitions(bench) == [0, 1]
    assert partitions(bench, "b") == []
    await bench.clock.advance(1)
    assert partitions(bench, "b") == [1]


async def test_another_coordinator_watches_the_sessions_anew() -> None:
    bench = ShareBench(nodes=2)
    await bench.clock.advance(40)
    node = bench.groups.nodes.node_of("g")
    bench.groups.nodes.move("g", None)
    assert bench.heartbeat(member_epoch=3).error_code in (15, 16)
    bench.groups.nodes.move("g", node)
    await bench.clock.advance(44)
    assert bench.group.members.state.value == "Stable"
    await bench.clock.advance(1)
    assert bench.group.members.state.value == "Empty"
