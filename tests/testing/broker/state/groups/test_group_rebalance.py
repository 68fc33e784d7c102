"""From one generation to the next, on a clock that tests move."""

import pytest

from aiokafka_lite.errors import InvalidSessionTimeoutError, NotCoordinatorForGroupError
from aiokafka_lite.testing.broker.state.broker_options import BrokerOptions
from aiokafka_lite.testing.broker.state.groups.classic_group import GroupState
from aiokafka_lite.testing.broker.state.groups.group_rebalance import (
    NEW_MEMBER_JOIN_TIMEOUT_MS,
)
from tests.testing.broker.state.groups.served_groups import REBALANCE_S, SESSION_S, Served

# The first rebalance (KIP-134)…


async def test_the_first_rebalance_waits_for_its_delay_and_longer_while_members_come() -> None:
    served = Served(group_initial_rebalance_delay_ms=3000)
    first = served.join()
    await served.clock.advance(2)
    second = served.join()
    await served.clock.advance(1)
    assert first == second == []
    await served.clock.advance(2.9)
    assert first == []
    await served.clock.advance(0.1)
    assert [len(answer.members) for answer in first + second] == [2, 0]
    assert {answer.generation_id for answer in first + second} == {1}


async def test_nobody_new_ends_the_first_rebalance_after_one_delay() -> None:
    served = Served(group_initial_rebalance_delay_ms=3000)
    answers = served.join()
    await served.clock.advance(3)
    assert [answer.generation_id for answer in answers] == [1]


async def test_the_first_rebalance_lasts_no_longer_than_the_rebalance_timeout() -> None:
    served = Served(group_initial_rebalance_delay_ms=3000)
    answers = served.join(rebalance_timeout_ms=7000)
    for _ in range(3):
        await served.clock.advance(2)
        assert answers == []
        served.join(rebalance_timeout_ms=7000)
    await served.clock.advance(1)
    assert len(answers[0].members) == 4


async def test_a_member_that_leaves_does_not_end_the_first_rebalance() -> None:
    served = Served(group_initial_rebalance_delay_ms=3000)
    served.join()
    served.membership.leave(served.ids[0], None)
    served.membership.left("test")
    assert served.group.state is GroupState.PREPARING_REBALANCE
    await served.clock.advance(3)
    assert (served.group.state, served.group.generation_id) == (GroupState.EMPTY, 1)


# The join phase…


async def test_dynamic_members_that_do_not_rejoin_are_out_after_the_rebalance_timeout() -> None:
    served = Served()
    late = served.stable(session_timeout_ms=100_000)
    answers = served.join(session_timeout_ms=100_000)
    await served.clock.advance(REBALANCE_S - 0.1)
    assert answers == []
    await served.clock.advance(0.1)
    assert answers[0].leader == answers[0].member_id
    assert late not in served.ids


async def test_static_members_stay_as_long_as_their_session() -> None:
    """A static member stays in the group as long as its session (KIP-345)."""
    served = Served()
    static = served.stable(group_instance_id="one", session_timeout_ms=100_000)
    answers = served.join(session_timeout_ms=100_000)
    await served.clock.advance(REBALANCE_S)
    assert [member.member_id for member in answers[0].members] == served.ids
    assert served.ids[0] == static
    assert answers[0].leader != static


async def test_a_group_whose_static_members_all_stay_away_waits_for_their_sessions() -> None:
    served = Served()
    served.stable(group_instance_id="one", session_timeout_ms=100_000)
    other = served.join()
    served.membership.leave(served.ids[1], None)
    served.membership.left("test")
    assert other[0].error_code == 25
    await served.clock.advance(REBALANCE_S)
    assert served.group.state is GroupState.PREPARING_REBALANCE
    await served.clock.advance(40)
    assert (served.group.state, served.ids) == (GroupState.EMPTY, [])


async def test_a_new_member_is_not_waited_for_without_end() -> None:
    """Nobody sees its connection go while its JoinGroup waits."""
    served = Served()
    first = served.stable(rebalance_timeout_ms=1_000_000)
    answers = served.join()
    for _ in range(NEW_MEMBER_JOIN_TIMEOUT_MS // 1000 // 5):
        with pytest.raises(Exception, match="waits for its members"):
            served.membership.heartbeat(first, None, 1)
        await served.clock.advance(5)
    assert [answer.error_code for answer in answers] == [25]
    assert served.ids == [first]


async def test_waiting_members_have_no_session_to_lose() -> None:
    served = Served()
    first, second = served.pair()
    answers = served.join(member_id=first)
    for _ in range(3):
        await served.clock.advance(SESSION_S - 1)
        with pytest.raises(Exception, match="waits for its members"):
            served.membership.heartbeat(second, None, 2)
    assert answers == []
    served.joined(member_id=second)
    assert answers[0].generation_id == 3


# The sync phase…


async def test_who_does_not_ask_for_the_assignment_is_out_after_the_rebalance_timeout() -> None:
    served = Served()
    first = served.stable(session_timeout_ms=100_000)
    second = served.join(session_timeout_ms=100_000)
    served.join(member_id=first, session_timeout_ms=100_000)
    served.sync(first, {first: b"1"})
    assert served.group.state is GroupState.STABLE
    await served.clock.advance(REBALANCE_S)
    assert second[0].member_id not in served.ids
    assert (served.group.state, served.ids) == (GroupState.PREPARING_REBALANCE, [first])


async def test_a_leader_that_never_assigns_is_replaced() -> None:
    served = Served()
    first = served.stable()
    second = served.join()
    served.join(member_id=first)
    waiting = served.sync(second[0].member_id)
    await served.clock.advance(SESSION_S)
    assert [answer.error_code for answer in waiting] == [27]
    assert served.group.leader == second[0].member_id
    assert served.joined(member_id=second[0].member_id).generation_id == 3


async def test_nothing_is_left_to_do_later_once_everybody_has_synced() -> None:
    served = Served()
    first, second = served.pair()
    assert served.timers.names == {f"session of {first}", f"session of {second}"}


async def test_members_the_leader_forgot_get_nothing() -> None:
    served = Served()
    first = served.stable()
    second = served.join()
    served.join(member_id=first)
    waiting = served.sync(second[0].member_id)
    served.sync(first, {first: b"1"})
    assert [answer.assignment for answer in waiting] == [b""]


# Sessions…


async def test_a_silent_member_is_expelled_and_the_others_rebalance() -> None:
    served = Served()
    _, second = served.pair()
    await served.clock.advance(SESSION_S - 1)
    served.membership.heartbeat(second, None, 2)
    fired = served.fired
    await served.clock.advance(1)
    assert served.fired == fired + 1
    assert (served.ids, served.group.leader) == ([second], second)
    assert served.group.state is GroupState.PREPARING_REBALANCE
    assert served.joined(member_id=second).generation_id == 3


async def test_the_last_silent_member_leaves_an_empty_group() -> None:
    served = Served()
    served.stable()
    await served.clock.advance(SESSION_S)
    assert (served.group.state, served.group.generation_id) == (GroupState.EMPTY, 2)
    assert served.clock.pending_timers == 0


async def test_an_id_given_out_is_taken_back_after_the_session_timeout() -> None:
    served = Served()
    first = served.stable(session_timeout_ms=100_000)
    given = served.joined(needs_known_member_id=True).member_id
    answers = served.join(member_id=first)
    assert answers == []
    await served.clock.advance(SESSION_S)
    assert [answer.generation_id for answer in answers] == [2]
    assert served.joined(member_id=given).error_code == 25


def test_session_timeouts_have_limits() -> None:
    options = BrokerOptions()
    options.check_session_timeout(6_000)
    options.check_session_timeout(1_800_000)
    for timeout_ms in (5_999, 1_800_001):
        with pytest.raises(InvalidSessionTimeoutError, match="6000 to 1800000 ms"):
            options.check_session_timeout(timeout_ms)


# Another node takes over…


async def test_a_new_coordinator_finds_the_last_stable_generation() -> None:
    served = Served()
    first, second = served.pair()
    joining = served.join(member_id=first)
    served.membership.unload()
    assert [answer.error_code for answer in joining] == [NotCoordinatorForGroupError.errno]
    assert served.clock.pending_timers == 0
    served.membership.load()
    assert (served.group.state, served.group.generation_id) == (GroupState.STABLE, 2)
    assert [m.assignment for m in served.group.members.values()] == [b"1", b"2"]
    served.membership.heartbeat(second, None, 2)
    await served.clock.advance(SESSION_S)
    assert served.ids == []


async def test_a_new_coordinator_knows_nothing_of_an_unfinished_generation() -> None:
    served = Served()
    first, second = served.pair()
    served.join(member_id=first)
    served.join(member_id=second)
    waiting = served.sync(second)
    assert served.group.generation_id == 3
    served.membership.unload()
    served.membership.load()
    assert [answer.error_code for answer in waiting] == [16]
    assert served.group.generation_id == 2
    assert served.sync(second, generation_id=3)[0].error_code == 22


async def test_a_new_coordinator_knows_of_a_group_that_emptied() -> None:
    served = Served()
    served.stable()
    served.membership.leave(served.ids[0], None)
    served.membership.left("test")
    served.membership.unload()
    served.membership.load()
    assert (served.group.state, served.group.generation_id) == (GroupState.EMPTY, 2)
