"""Which node coordinates which group."""

import pytest

from aiokafka_lite.errors import (
    BrokerNotAvailableError,
    GroupCoordinatorNotAvailableError,
    NonEmptyGroup,
    NotCoordinatorForGroupError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker.state.groups.group_member import JoinResult
from aiokafka_lite.testing.broker.state.groups.group_offsets import StoredOffset
from tests.testing.broker.bench import Bench
from tests.testing.broker.state.groups.served_groups import join_request

KEYS = [f"group-{i}" for i in range(30)]


def placed(bench: Bench) -> dict[str, int | None]:
    return {key: bench.groups.nodes.node_of(key) for key in KEYS}


def test_groups_are_spread_over_the_nodes() -> None:
    assert set(placed(Bench(3)).values()) == {1, 2, 3}


def test_a_stopped_node_leaves_its_groups_to_others_and_the_rest_where_they_are() -> None:
    bench = Bench(3)
    before = placed(bench)
    for key in KEYS:
        bench.groups.find_or_create(key)
    bench.cluster.set_alive(2, is_alive=False)
    after = placed(bench)
    assert all(after[key] == node for key, node in before.items() if node != 2)
    assert 2 not in after.values()
    # A group that exists stays where it is now.
    bench.cluster.set_alive(2, is_alive=True)
    assert placed(bench) == after


def test_no_node_coordinates_when_all_are_down() -> None:
    bench = Bench(2)
    bench.groups.find_or_create("g")
    for node_id in (1, 2):
        bench.cluster.set_alive(node_id, is_alive=False)
    for key in ("g", "unknown"):
        assert bench.groups.nodes.node_of(key) is None
        with pytest.raises(GroupCoordinatorNotAvailableError):
            bench.groups.nodes.check(key, 1)
    bench.cluster.set_alive(2, is_alive=True)
    bench.groups.nodes.check("g", 2)
    bench.groups.nodes.check("unknown", 2)


def test_a_moved_group_is_served_by_its_new_node_alone() -> None:
    bench = Bench(3)
    for node_id in (1, 2, 3):
        bench.groups.nodes.move("g", node_id)
        bench.groups.nodes.check("g", node_id)
        with pytest.raises(NotCoordinatorForGroupError, match=f"; {node_id} does"):
            bench.groups.nodes.check("g", node_id % 3 + 1)
    assert bench.groups.nodes.choose("g") == Bench(3).groups.nodes.node_of("g")


def test_a_group_moves_to_living_nodes_only() -> None:
    bench = Bench(2)
    bench.cluster.set_alive(2, is_alive=False)
    for node_id in (2, 7):
        with pytest.raises(BrokerNotAvailableError):
            bench.groups.nodes.move("g", node_id)


async def test_a_move_takes_offsets_and_members_along_and_sends_off_who_waits() -> None:
    bench = Bench(2)
    bench.topic()
    group = bench.groups.find_or_create("g")
    group.offsets.commit(TopicPartition("t", 0), StoredOffset(5))
    answers: list[JoinResult] = []
    group.membership.join(join_request(), answers.append)
    first = answers[0].member_id
    group.membership.sync(first, None, 1, {first: b"1"}, lambda _: None)
    group.membership.join(join_request(), answers.append)
    assert len(answers) == 1
    bench.groups.nodes.move("g", 3 - (bench.groups.nodes.node_of("g") or 0))
    assert answers[1].error_code == NotCoordinatorForGroupError.errno
    view = bench.groups.view("g")
    assert (view.state, list(view.members)) == ("Stable", [first])
    assert view.offsets == {TopicPartition("t", 0): StoredOffset(5)}
    # The new coordinator expects heartbeats.
    await bench.clock.advance(10)
    assert bench.groups.view("g").state == "Empty"


async def test_nobody_loses_a_session_while_nobody_coordinates() -> None:
    bench = Bench()
    group = bench.groups.find_or_create("g")
    group.membership.join(join_request(), lambda _: None)
    (first,) = group.membership.group.members
    group.membership.sync(first, None, 1, {}, lambda _: None)
    bench.groups.nodes.move("g", None)
    assert bench.clock.pending_timers == 0
    await bench.clock.advance(100)
    bench.groups.nodes.move("g", 1)
    assert list(bench.groups.view("g").members) == [first]
    bench.groups.close()
    assert bench.clock.pending_timers == 0


def test_a_group_moved_to_nobody_is_placed_when_a_node_starts() -> None:
    bench = Bench(2)
    bench.groups.nodes.move("g", None)
    bench.cluster.set_alive(1, is_alive=True)
    assert bench.groups.nodes.node_of("g") in (1, 2)


def test_groups_exist_from_their_first_use_on() -> None:
    bench = Bench()
    assert bench.groups.find("g") is None
    assert bench.groups.view("g").state == "Dead"
    group = bench.groups.find_or_create("g")
    assert bench.groups.find("g") is group is bench.groups.find_or_create("g")
    assert bench.groups.view("g").state == "Empty"


def test_offsets_go_with_their_topic() -> None:
    bench = Bench()
    bench.topic("t")
    offsets = bench.groups.find_or_create("g").offsets
    offsets.commit(TopicPartition("t", 0), StoredOffset(1))
    bench.cluster.delete_topic("t")
    assert list(offsets) == []


def test_a_node_knows_its_groups() -> None:
    bench = Bench(2)
    groups = [bench.groups.find_or_create(name) for name in ("a", "b")]
    bench.groups.nodes.move("a", 1)
    bench.groups.nodes.move("b", 2)
    assert [bench.groups.on_node(node) for node in (1, 2)] == [[groups[0]], [groups[1]]]


async def test_a_group_without_members_is_deleted() -> None:
    bench = Bench()
    group = bench.groups.find_or_create("g")
    group.membership.join(join_request(), lambda _: None)
    with pytest.raises(NonEmptyGroup):
        bench.groups.delete("g")
    (member_id,) = group.membership.group.members
    group.membership.leave(member_id, None)
    group.membership.left("over")
    await bench.clock.advance(60)
    bench.groups.delete("g")
    assert bench.groups.view("g").state == "Dead"
    assert bench.groups.on_node(1) == []
