"""What members are told. That Apache Kafka says the same is `test_groups_agree_with_apache.py`."""

import pytest

from aiokafka_lite.errors import (
    FencedInstanceIdError,
    IllegalGenerationError,
    NonEmptyGroup,
    RebalanceInProgressError,
    UnknownMemberIdError,
)
from aiokafka_lite.testing.broker.state.groups.classic_group import GroupState
from tests.testing.broker.state.groups.served_groups import REBALANCE_S, SESSION_S, Served

# JoinGroup…


async def test_a_member_gets_an_id_that_begins_with_its_clients() -> None:
    served = Served()
    given = served.joined(needs_known_member_id=True)
    assert (given.error_code, given.generation_id) == (79, -1)
    assert given.member_id.startswith("c-")
    answer = served.joined(member_id=given.member_id, needs_known_member_id=True)
    assert (answer.error_code, answer.member_id) == (0, given.member_id)


async def test_a_static_member_joins_at_once_with_an_id_that_begins_with_its_name() -> None:
    answer = Served().joined(group_instance_id="one", needs_known_member_id=True)
    assert (answer.error_code, answer.member_id[:4]) == (0, "one-")


async def test_ids_given_out_differ() -> None:
    served = Served()
    assert len({served.joined(needs_known_member_id=True).member_id for _ in range(9)}) == 9


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"member_id": "unknown"}, 25),
        ({"protocol_type": "connect"}, 23),
        ({"protocols": {"other": b""}}, 23),
        ({"member_id": "unknown", "group_instance_id": "one"}, 25),
    ],
)
async def test_joins_that_are_refused(fields: dict[str, object], code: int) -> None:
    served = Served()
    served.stable()
    answer = served.joined(**fields)
    assert (answer.error_code, answer.member_id) == (code, fields.get("member_id", ""))
    assert served.group.state is GroupState.STABLE


async def test_a_group_has_a_limit_of_members() -> None:
    """GROUP_MAX_SIZE_REACHED, in each state; who is in stays in."""
    served = Served(group_max_size=2)
    first = served.stable()
    second = served.join()
    third = served.join()  # in the join phase those who wait are counted
    assert (third, len(served.ids)) == ([], 3)
    answer = served.joined(member_id=first)
    assert (answer.error_code, answer.member_id) == (81, "")
    # As in Apache Kafka, nobody looks then whether all are there; the join phase ends in time.
    await served.clock.advance(REBALANCE_S)
    assert [answer.generation_id for answer in second + third] == [2, 2]
    assert served.joined().error_code == 81
    leader = served.group.leader or ""
    served.sync(leader, {})
    assert served.joined().error_code == 81
    assert served.joined(needs_known_member_id=True).error_code == 81
    assert served.join(member_id=leader) == []


async def test_a_rejoin_of_a_follower_without_news_disturbs_nobody() -> None:
    served = Served()
    first, second = served.pair()
    answer = served.joined(member_id=second)
    assert (answer.generation_id, answer.leader, answer.members) == (2, first, ())
    assert served.group.state is GroupState.STABLE


@pytest.mark.parametrize("protocols", [{"range": b"r"}, {"range": b"new"}])
async def test_a_rejoin_of_the_leader_begins_a_rebalance(protocols: dict[str, bytes]) -> None:
    served = Served()
    first, second = served.pair()
    assert served.join(member_id=first, protocols=protocols) == []
    answer = served.joined(member_id=second)
    assert answer.generation_id == 3


# Static members (KIP-345, KIP-814)…


async def test_a_static_leader_that_comes_back_is_told_to_skip_the_assignment() -> None:
    served = Served()
    old = served.stable(group_instance_id="one")
    answer = served.joined(group_instance_id="one", may_skip_assignment=True)
    assert (answer.generation_id, answer.skip_assignment) == (1, True)
    assert answer.leader == answer.member_id != old
    assert [member.member_id for member in answer.members] == [answer.member_id]
    with pytest.raises(FencedInstanceIdError):
        served.membership.heartbeat(old, "one", 1)
    assert served.sync(answer.member_id, instance_id="one")[0].assignment == b"all"


async def test_a_static_follower_that_comes_back_has_nothing_to_skip() -> None:
    served = Served()
    first = served.stable()
    second = served.join(group_instance_id="one")
    served.join(member_id=first)
    served.sync(first, {})
    served.sync(second[0].member_id, instance_id="one")
    answer = served.joined(group_instance_id="one", may_skip_assignment=True)
    assert (answer.skip_assignment, answer.leader, answer.members) == (False, first, ())


async def test_an_older_static_leader_that_comes_back_is_told_that_its_former_id_leads() -> None:
    served = Served()
    old = served.stable(group_instance_id="one")
    answer = served.joined(group_instance_id="one")
    assert (answer.leader, answer.skip_assignment, answer.members) == (old, False, ())


async def test_the_session_of_a_replaced_static_member_is_the_new_ones() -> None:
    served = Served()
    served.stable(group_instance_id="one")
    await served.clock.advance(SESSION_S - 1)
    new = served.joined(group_instance_id="one").member_id
    await served.clock.advance(SESSION_S - 1)
    assert served.ids == [new]
    await served.clock.advance(1)
    assert served.ids == []


async def test_a_new_coordinator_knows_the_new_id_of_a_static_member() -> None:
    served = Served()
    served.stable(group_instance_id="one")
    new = served.joined(group_instance_id="one").member_id
    served.membership.unload()
    served.membership.load()
    served.membership.heartbeat(new, "one", 1)


async def test_a_static_member_that_comes_back_while_it_waits_fences_who_waited() -> None:
    served = Served()
    first = served.stable()
    waiting = served.join(group_instance_id="one")
    again = served.join(group_instance_id="one")
    assert [(answer.error_code, answer.leader) for answer in waiting] == [(82, "")]
    served.joined(member_id=first)
    assert again[0].generation_id == 2


async def test_a_static_member_that_comes_back_before_the_assignment_begins_a_rebalance() -> None:
    served = Served()
    first = served.stable()
    static = served.join(group_instance_id="one")
    served.join(member_id=first)
    waiting = served.sync(static[0].member_id, instance_id="one")
    again = served.join(group_instance_id="one")
    assert [answer.error_code for answer in waiting] == [82]
    served.joined(member_id=first)
    assert again[0].generation_id == 3


# SyncGroup…


async def test_syncs_that_are_refused() -> None:
    served = Served()
    first, second = served.pair()
    assert served.sync("unknown")[0].error_code == 25
    assert served.sync(first, instance_id="one")[0].error_code == 25
    assert served.sync(first, generation_id=1)[0].error_code == 22
    assert served.sync(first, protocol_type="connect")[0].error_code == 23
    assert served.sync(first, protocol_name="sticky")[0].error_code == 23
    served.join(member_id=first)
    assert served.sync(second)[0].error_code == 27
    assert Served().sync("anybody")[0].error_code == 25


async def test_a_sync_of_a_stable_group_tells_the_assignment_again() -> None:
    served = Served()
    first, second = served.pair()
    (answer,) = served.sync(second, protocol_type="consumer", protocol_name="range")
    assert (answer.assignment, answer.protocol_type, answer.protocol_name) == (
        b"2",
        "consumer",
        "range",
    )
    (answer,) = served.sync(first, {first: b"too late"})
    assert answer.assignment == b"1"


# Heartbeat, OffsetCommit…


async def test_heartbeats_that_are_refused() -> None:
    served = Served()
    first, second = served.pair()
    with pytest.raises(UnknownMemberIdError):
        served.membership.heartbeat("unknown", None, 2)
    with pytest.raises(IllegalGenerationError):
        served.membership.heartbeat(first, None, 1)
    served.join(member_id=first)
    with pytest.raises(RebalanceInProgressError):
        served.membership.heartbeat(second, None, 2)


async def test_who_may_commit() -> None:
    served = Served()
    check = served.membership.check_commit
    check("", None, -1)
    with pytest.raises(UnknownMemberIdError):
        check("m", None, 0)
    first = served.joined().member_id
    with pytest.raises(RebalanceInProgressError, match="leader's assignment"):
        check(first, None, 1)
    served.sync(first, {})
    check(first, None, 1)
    for stranger in (("", None, -1), ("unknown", None, 1), (first, "one", 1)):
        with pytest.raises(UnknownMemberIdError):
            check(*stranger)
    for generation_id in (-1, 0, 2):
        with pytest.raises(IllegalGenerationError):
            check(first, None, generation_id)
    served.join()
    check(first, None, 1)


async def test_a_commit_keeps_the_session() -> None:
    served = Served()
    first = served.stable()
    for _ in range(3):
        await served.clock.advance(SESSION_S - 1)
        served.membership.check_commit(first, None, 1)
    assert served.ids == [first]


async def test_who_may_commit_in_a_transaction() -> None:
    """In a transaction, members may commit before the group is stable (KIP-447)."""
    served = Served()
    check = served.membership.check_commit_in_transaction
    check("stranger", None, -1)
    first = served.joined(group_instance_id="one").member_id
    check(first, "one", 1)
    check("", None, -1)
    for stranger in (("unknown", None, 1), ("unknown", None, -1), ("", None, 1)):
        with pytest.raises(UnknownMemberIdError):
            check(*stranger)
    for generation_id in (-1, 0, 2):
        with pytest.raises(IllegalGenerationError):
            check(first, None, generation_id)
    with pytest.raises(FencedInstanceIdError):
        check("other", "one", 1)


async def test_a_commit_in_a_transaction_keeps_no_session() -> None:
    served = Served()
    first = served.stable()
    await served.clock.advance(SESSION_S - 1)
    served.membership.check_commit_in_transaction(first, None, 1)
    await served.clock.advance(2)
    assert served.ids == []


# LeaveGroup…


async def test_leaving_by_id_by_name_and_before_joining() -> None:
    served = Served()
    first, second = served.pair()
    given = served.joined(needs_known_member_id=True).member_id
    static = served.join(group_instance_id="one")
    for member_id, name in (("", None), ("", "two"), ("unknown", None)):
        with pytest.raises(UnknownMemberIdError):
            served.membership.leave(member_id, name)
    with pytest.raises(FencedInstanceIdError):
        served.membership.leave("other", "one")
    served.membership.leave("", "one")
    assert [answer.error_code for answer in static] == [25]
    served.membership.leave(given, None)
    served.membership.leave(first, None)
    served.membership.left("test")
    assert served.ids == [second]
    assert served.joined(member_id=second).generation_id == 3


async def test_the_last_one_to_leave_leaves_an_empty_group() -> None:
    served = Served()
    first = served.stable()
    served.membership.leave(first, None)
    served.membership.left("test")
    assert (served.group.state, served.group.generation_id) == (GroupState.EMPTY, 2)
    assert served.clock.pending_timers == 0
    served.membership.left("nobody is there")


def test_what_an_administrator_may_delete() -> None:
    """Of a group with members, offsets only if they are consumers, which subscribe to topics."""
    consumers, others = Served(), Served()
    consumers.join()
    others.join(protocol_type="connect")
    consumers.membership.check_delete_offsets()
    for refused in (
        consumers.membership.check_delete,
        others.membership.check_delete,
        others.membership.check_delete_offsets,
    ):
        with pytest.raises(NonEmptyGroup, match="has members"):
            refused()
    Served().membership.check_delete()
    Served().membership.check_delete_offsets()
