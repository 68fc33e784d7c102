"""DeleteGroups: groups without members."""

import pytest

from aiokafka_lite.errors import NotCoordinatorForGroupError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.delete_groups import DeleteGroupsRequest
from aiokafka_lite.testing.broker.handlers import delete_groups
from aiokafka_lite.testing.broker.security.authorizer import Authorizer
from aiokafka_lite.testing.broker.security.session import OPEN_SESSION, Session
from aiokafka_lite.testing.broker.state.groups.group_offsets import StoredOffset
from tests.testing.broker.bench import Bench
from tests.testing.broker.state.groups.served_groups import join_request


def delete(
    bench: Bench, *group_ids: str, version: int = 3, session: Session = OPEN_SESSION
) -> list[tuple[str, int]]:
    request = DeleteGroupsRequest(groups_names=list(group_ids))
    answer = bench.ask(delete_groups.HANDLER, request, version, session=session)
    return [(each.group_id, each.error_code) for each in answer.results]


@pytest.mark.parametrize("version", range(4))
def test_each_group_has_its_result(version: int) -> None:
    bench = Bench()
    empty = bench.groups.find_or_create("empty")
    empty.offsets.commit(TopicPartition("t", 0), StoredOffset(5))
    joined = bench.groups.find_or_create("joined")
    joined.membership.join(join_request(), lambda _: None)
    assert delete(bench, "joined", "empty", "nowhere", version=version) == [
        ("joined", 68),
        ("empty", 0),
        ("nowhere", 69),
    ]
    assert bench.groups.find("empty") is None
    assert not bench.groups.view("empty").offsets
    assert bench.groups.view("joined").members


def test_errors_of_a_group() -> None:
    bench = Bench()
    bench.groups.find_or_create("g")
    nobody = Session("User:me", authorizer=Authorizer((), (), allows_without_acl=False))
    assert delete(bench, "g", session=nobody) == [("g", 30)]
    bench.faults.fail(DeleteGroupsRequest, NotCoordinatorForGroupError)
    assert delete(bench, "g") == [("g", 16)]
    assert bench.groups.find("g") is not None
