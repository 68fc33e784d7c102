"""LeaveGroup: one member or several."""

import pytest

from aiokafka_lite.errors import NotCoordinatorForGroupError
from aiokafka_lite.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from aiokafka_lite.testing.broker.handlers import leave_group
from tests.testing.broker.bench import Bench
from tests.testing.broker.state.groups.served_groups import join_request


def bench_with_members(*instance_ids: str | None) -> tuple[Bench, list[str]]:
    bench = Bench()
    group = bench.groups.find_or_create("g")
    for instance_id in instance_ids:
        group.membership.join(join_request(group_instance_id=instance_id), lambda _: None)
    return bench, list(group.membership.group.members)


@pytest.mark.parametrize("version", range(3))
def test_one_member_leaves_by_its_id(version: int) -> None:
    bench, (member_id,) = bench_with_members(None)
    request = LeaveGroupRequest(group_id="g", member_id=member_id)
    assert bench.ask(leave_group.HANDLER, request, version).error_code == 0
    assert bench.groups.view("g").state == "Empty"
    assert bench.ask(leave_group.HANDLER, request, version).error_code == 25


@pytest.mark.parametrize("version", range(3, 6))
def test_several_members_leave_each_with_its_result(version: int) -> None:
    """Several members leave in one request, each with its own result (KIP-345, KIP-800)."""
    bench, (dynamic, _) = bench_with_members(None, "one")
    members = [
        MemberIdentity(member_id=dynamic, reason="tired"),
        MemberIdentity(member_id="other", group_instance_id="one"),
        MemberIdentity(member_id="", group_instance_id="one"),
        MemberIdentity(member_id="unknown"),
    ]
    request = LeaveGroupRequest(group_id="g", members=members)
    answer = bench.ask(leave_group.HANDLER, request, version)
    assert [(m.member_id, m.group_instance_id, m.error_code) for m in answer.members] == [
        (dynamic, None, 0),
        ("other", "one", 82),
        ("", "one", 0),
        ("unknown", None, 25),
    ]
    assert bench.groups.view("g").members == {}


def test_errors_of_the_whole() -> None:
    bench, _ = bench_with_members(None)
    bench.faults.fail(LeaveGroupRequest, NotCoordinatorForGroupError)
    request = LeaveGroupRequest(group_id="g", members=[MemberIdentity(member_id="m")])
    answer = bench.ask(leave_group.HANDLER, request, 5)
    assert (answer.error_code, answer.members) == (16, [])
    unknown = LeaveGroupRequest(group_id="other", members=[MemberIdentity(member_id="m")])
    answer = bench.ask(leave_group.HANDLER, unknown, 5)
    assert (answer.error_code, answer.members[0].error_code) == (0, 25)
