"""FindCoordinator: one node per key."""

import pytest

from aiokafka_lite.errors import (
    GroupCoordinatorNotAvailableError,
    GroupLoadInProgressError,
    InvalidRequestError,
)
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from aiokafka_lite.testing.broker.handlers import find_coordinator
from tests.testing.broker.bench import Bench

KEYS = [f"group-{i}" for i in range(20)]


def batched(bench: Bench, *keys: str, version: int = 6, key_type: int = 0) -> list[tuple[str, int]]:
    request = FindCoordinatorRequest(coordinator_keys=list(keys), key_type=key_type)
    answer = bench.ask(find_coordinator.HANDLER, request, version)
    return [(c.key, c.error_code or c.node_id) for c in answer.coordinators]


@pytest.mark.parametrize("version", range(4))
def test_one_key_is_answered_with_a_node_and_its_address(version: int) -> None:
    answer = Bench().ask(find_coordinator.HANDLER, FindCoordinatorRequest(key="g"), version)
    assert (answer.error_code, answer.node_id, answer.host) == (0, 1, "127.0.0.1")
    assert answer.port == 9001


def test_keys_are_spread_over_the_nodes_and_stay_where_they_are() -> None:
    bench = Bench(3)
    answers = batched(bench, *KEYS)
    assert [key for key, _ in answers] == KEYS
    assert {node for _, node in answers} == {1, 2, 3}
    assert batched(bench, *KEYS, version=4) == answers


def test_a_stopped_node_coordinates_nothing() -> None:
    bench = Bench(3)
    bench.cluster.set_alive(2, is_alive=False)
    assert {node for _, node in batched(bench, *KEYS)} == {1, 3}


def test_errors_are_told_per_key() -> None:
    bench = Bench()
    assert batched(bench, "g", key_type=9) == [("g", InvalidRequestError.errno)]
    bench.faults.fail(FindCoordinatorRequest, GroupLoadInProgressError)
    assert batched(bench, "g") == [("g", GroupLoadInProgressError.errno)]
    bench.cluster.set_alive(1, is_alive=False)
    assert batched(bench, "g") == [("g", GroupCoordinatorNotAvailableError.errno)]
    answer = bench.ask(find_coordinator.HANDLER, FindCoordinatorRequest(key="g"), 1)
    assert (answer.error_code, answer.node_id, answer.port) == (15, -1, -1)
    assert "no node coordinates 'g'" in (answer.error_message or "")


def test_the_node_that_is_told_is_the_one_that_serves() -> None:
    bench = Bench(3)
    for key, node_id in batched(bench, *KEYS):
        bench.groups.nodes.check(key, node_id)
    bench.groups.nodes.move("g", 2)
    assert batched(bench, "g") == [("g", 2)]
    bench.groups.nodes.move("g", 3)
    assert batched(bench, "g") == [("g", 3)]
    # A transactional id of the same name is another thing.
    assert batched(bench, "g", key_type=1) == batched(Bench(3), "g")
    bench.groups.nodes.move("g", None)
    assert batched(bench, "g") == [("g", GroupCoordinatorNotAvailableError.errno)]


@pytest.mark.parametrize("version", range(1, 7))
def test_transactional_ids_have_coordinators_of_their_own(version: int) -> None:
    bench = Bench(3)
    for node_id in (1, 2, 3):
        bench.transactions.nodes.move("tx", node_id)
        if version >= 4:
            assert batched(bench, "tx", key_type=1, version=version) == [("tx", node_id)]
            continue
        request = FindCoordinatorRequest(key="tx", key_type=1)
        assert bench.ask(find_coordinator.HANDLER, request, version).node_id == node_id
    assert batched(bench, "tx", key_type=2) == [("tx", bench.groups.nodes.choose("tx"))]
