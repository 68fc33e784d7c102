"""DescribeGroups: state and members of classic groups."""

import pytest

from aiokafka_lite.errors import NotCoordinatorForGroupError
from aiokafka_lite.protocol.messages.describe_groups import (
    DescribedGroup,
    DescribeGroupsRequest,
)
from aiokafka_lite.testing.broker.handlers import describe_groups
from aiokafka_lite.testing.broker.security.acl import Acl
from aiokafka_lite.testing.broker.security.authorizer import Authorizer
from aiokafka_lite.testing.broker.security.session import OPEN_SESSION, Session
from tests.testing.broker.bench import Bench
from tests.testing.broker.state.groups.served_groups import join_request


def describe(
    bench: Bench,
    group_id: str,
    version: int = 6,
    *,
    session: Session = OPEN_SESSION,
    operations: bool = False,
) -> DescribedGroup:
    request = DescribeGroupsRequest(groups=[group_id], include_authorized_operations=operations)
    (group,) = bench.ask(describe_groups.HANDLER, request, version, session=session).groups
    return group


def stable_bench() -> tuple[Bench, str]:
    bench = Bench(group_initial_rebalance_delay_ms=0)
    membership = bench.groups.find_or_create("g").membership
    membership.join(join_request(group_instance_id="one", client_host="10.0.0.1"), lambda _: None)
    (member_id,) = membership.group.members
    membership.sync(member_id, "one", 1, {member_id: b"share"}, lambda _: None)
    return bench, member_id


@pytest.mark.parametrize("version", range(7))
def test_a_stable_group(version: int) -> None:
    bench, member_id = stable_bench()
    group = describe(bench, "g", version)
    assert (group.error_code, group.group_state) == (0, "Stable")
    assert (group.protocol_type, group.protocol_data) == ("consumer", "range")
    (member,) = group.members
    assert (member.member_id, member.client_id, member.client_host) == (
        member_id,
        "c",
        "/10.0.0.1",
    )
    assert (member.member_metadata, member.member_assignment) == (b"r", b"share")
    assert member.group_instance_id == ("one" if version >= 4 else None)


@pytest.mark.parametrize("version", range(7))
def test_a_group_that_does_not_exist(version: int) -> None:
    group = describe(Bench(), "nowhere", version)
    assert (group.group_state, group.members) == ("Dead", [])
    error = (69, "Group nowhere not found.") if version >= 6 else (0, None)
    assert (group.error_code, group.error_message) == error


def test_a_group_that_rebalances_has_no_protocol() -> None:
    bench = Bench()
    bench.groups.find_or_create("g").membership.join(join_request(), lambda _: None)
    group = describe(bench, "g")
    assert (group.group_state, group.protocol_data) == ("CompletingRebalance", "")
    assert group.members[0].member_metadata == b""


def test_errors_of_a_group() -> None:
    bench, _ = stable_bench()
    nobody = Session("User:me", authorizer=Authorizer((), (), allows_without_acl=False))
    assert describe(bench, "g", session=nobody).error_code == 30
    bench.faults.fail(DescribeGroupsRequest, NotCoordinatorForGroupError)
    assert describe(bench, "g").error_code == 16


def test_operations_are_told_if_asked_for() -> None:
    bench, _ = stable_bench()
    rules = [Acl.allow("bob", "READ", group="g")]
    bob = Session("User:bob", authorizer=Authorizer(rules, (), allows_without_acl=False))
    assert describe(bench, "g", session=bob).authorized_operations == -(2**31)
    group = describe(bench, "g", session=bob, operations=True)
    assert group.authorized_operations == 1 << 3 | 1 << 8
