"""ListGroups: the groups of one node that the client may describe."""

from typing import Any

import pytest

from aiokafka_lite.errors import GroupLoadInProgressError
from aiokafka_lite.protocol.messages.list_groups import ListGroupsRequest
from aiokafka_lite.testing.broker.handlers import list_groups
from aiokafka_lite.testing.broker.security.acl import Acl
from aiokafka_lite.testing.broker.security.authorizer import Authorizer
from aiokafka_lite.testing.broker.security.session import OPEN_SESSION, Session
from tests.testing.broker.bench import Bench
from tests.testing.broker.state.groups.served_groups import join_request


def listed(
    bench: Bench, version: int = 5, node_id: int = 1, session: Session = OPEN_SESSION, **more: Any
) -> list[tuple[str, str, str, str]]:
    request = ListGroupsRequest(**more)
    answer = bench.ask(list_groups.HANDLER, request, version, node_id, session)
    assert answer.error_code == 0
    return [
        (each.group_id, each.protocol_type, each.group_state, each.group_type)
        for each in answer.groups
    ]


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.groups.find_or_create("empty")
    joined = bench.groups.find_or_create("joined")
    joined.membership.join(join_request(), lambda _: None)
    return bench


@pytest.mark.parametrize("version", range(6))
def test_versions(bench: Bench, version: int) -> None:
    states = ("Empty", "CompletingRebalance") if version >= 4 else ("", "")
    kind = "classic" if version >= 5 else ""
    assert listed(bench, version) == [
        ("empty", "", states[0], kind),
        ("joined", "consumer", states[1], kind),
    ]


def test_states_and_types(bench: Bench) -> None:
    assert [each[0] for each in listed(bench, states_filter=["EMPTY"])] == ["empty"]
    assert [each[0] for each in listed(bench, types_filter=["Classic"])] == ["empty", "joined"]
    assert listed(bench, types_filter=["share"]) == []


def test_each_node_lists_its_own() -> None:
    bench = Bench(nodes=2)
    for name in ("a", "b"):
        bench.groups.find_or_create(name)
        bench.groups.nodes.move(name, 2)
    bench.groups.nodes.move("a", 1)
    assert [each[0] for each in listed(bench)] == ["a"]
    assert [each[0] for each in listed(bench, node_id=2)] == ["b"]


def test_what_the_client_may_not_describe_is_left_out(bench: Bench) -> None:
    rules = [Acl.allow("bob", "DESCRIBE", group="empty"), Acl.allow("eve", "ALL", cluster=True)]
    authorizer = Authorizer(rules, (), allows_without_acl=False)
    for user, groups in (("bob", ["empty"]), ("eve", ["empty", "joined"]), ("me", [])):
        session = Session(f"User:{user}", authorizer=authorizer)
        assert [each[0] for each in listed(bench, session=session)] == groups


def test_an_error_of_the_whole(bench: Bench) -> None:
    bench.faults.fail(ListGroupsRequest, GroupLoadInProgressError)
    assert bench.ask(list_groups.HANDLER, ListGroupsRequest(), 5).error_code == 14
