"""Which node coordinates a key, and who is told when it is another one."""

import pytest

from aiokafka_lite.errors import (
    BrokerNotAvailableError,
    GroupCoordinatorNotAvailableError,
    NotCoordinatorForGroupError,
)
from aiokafka_lite.testing.broker.state.groups.coordinator_nodes import CoordinatorNodes
from tests.testing.broker.bench import Bench

KEYS = [f"key-{i}" for i in range(30)]
Moves = list[tuple[str, int | None, int | None]]


def nodes_of(count: int) -> tuple[Bench, CoordinatorNodes, Moves]:
    bench, moves = Bench(count), list[tuple[str, int | None, int | None]]()
    return bench, CoordinatorNodes(bench.cluster, lambda *move: moves.append(move)), moves


def test_keys_are_spread_and_always_found_at_the_same_node() -> None:
    _, nodes, _ = nodes_of(3)
    places = [nodes.node_of(key) for key in KEYS]
    assert set(places) == {1, 2, 3}
    assert places == [nodes.choose(key) for key in KEYS]


def test_a_key_in_use_stays_until_its_node_stops() -> None:
    bench, nodes, moves = nodes_of(3)
    key = next(key for key in KEYS if nodes.node_of(key) == 2)
    nodes.settle(key)
    bench.cluster.set_alive(2, is_alive=False)
    heir = nodes.node_of(key)
    assert heir in (1, 3)
    assert moves == [(key, 2, heir)]
    bench.cluster.set_alive(2, is_alive=True)
    assert (nodes.node_of(key), nodes.choose(key)) == (heir, 2)
    assert len(moves) == 1


def test_a_key_that_was_moved_is_served_there_alone() -> None:
    _, nodes, moves = nodes_of(2)
    before = nodes.node_of("k")
    for node_id in (1, 2):
        nodes.move("k", node_id)
        nodes.check("k", node_id)
        with pytest.raises(NotCoordinatorForGroupError, match=f"; {node_id} does"):
            nodes.check("k", 3 - node_id)
    assert moves[-1] == ("k", 1, 2)
    assert len(moves) == (1 if before == 1 else 2)


def test_nobody_coordinates_what_was_moved_to_nobody_until_a_node_starts() -> None:
    bench, nodes, moves = nodes_of(2)
    nodes.move("k", None)
    with pytest.raises(GroupCoordinatorNotAvailableError, match="no node coordinates 'k'"):
        nodes.check("k", 1)
    bench.cluster.set_alive(1, is_alive=True)
    assert nodes.node_of("k") == nodes.choose("k")
    assert [after for _, _, after in moves] == [None, nodes.choose("k")]


def test_nobody_coordinates_when_all_are_down() -> None:
    bench, nodes, _ = nodes_of(1)
    bench.cluster.set_alive(1, is_alive=False)
    assert (nodes.node_of("k"), nodes.choose("k")) == (None, None)


def test_keys_move_to_living_nodes_only() -> None:
    bench, nodes, _ = nodes_of(2)
    bench.cluster.set_alive(2, is_alive=False)
    for node_id in (2, 7):
        with pytest.raises(BrokerNotAvailableError):
            nodes.move("k", node_id)


def test_each_new_node_of_a_key_is_an_epoch() -> None:
    bench, nodes, _ = nodes_of(2)
    first = nodes.choose("k")
    assert nodes.epoch_of("k") == 0
    nodes.move("k", first)
    nodes.move("k", None)
    assert nodes.epoch_of("k") == 0
    nodes.move("k", first)
    nodes.move("k", 3 - (first or 0))
    bench.cluster.set_alive(3 - (first or 0), is_alive=False)
    assert nodes.epoch_of("k") == 3
