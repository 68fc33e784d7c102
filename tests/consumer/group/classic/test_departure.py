"""The last things a member says: to its listener, then to the coordinator (2e-5)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aiokafka_lite.consumer.assignors.assignor import RebalanceProtocol
from aiokafka_lite.consumer.group.assignment_handover import AssignmentHandover
from aiokafka_lite.consumer.group.classic.departure import Departure
from aiokafka_lite.consumer.group.classic.group_leader import GroupLeader
from aiokafka_lite.consumer.group.classic.member import MemberState
from aiokafka_lite.consumer.group.rebalance_listener import ListenerCalls
from aiokafka_lite.consumer.position.subscription_state import SubscriptionState
from aiokafka_lite.protocol.messages.leave_group import LeaveGroupRequest
from tests.consumer.batches import tps
from tests.consumer.group.classic.test_classic_coordinator import Scene, scene_of
from tests.scenarios.grouping import Listener

P0, P1 = tps(0, 1)


class Leaving:
    """A stable member of group g with a listener, and its departure."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.member = scene, scene.member
        self.listener = Listener()
        self.listeners = ListenerCalls()
        self.listeners.listener = self.listener
        self.leader = GroupLeader(scene.client)
        self.leader.topics = frozenset({"t"})
        handover = AssignmentHandover(
            SubscriptionState(None), RebalanceProtocol.EAGER, self.listeners, self
        )
        self.departure = Departure(
            scene.member, self.leader, handover, scene.coordinator, self.listeners
        )

    def reasons(self) -> list[str | None]:
        """The reasons that the coordinator was given."""
        requests = self.scene.broker.requests_of(LeaveGroupRequest)
        return [each.reason for request in requests for each in request.members]

    async def commit_before_revocation(self, partitions: object) -> None:
        raise AssertionError("a member that leaves has committed before")

    def assignment_changed(self) -> None: ...

    def assignment_taken(self) -> None: ...


@asynccontextmanager
async def leaving_of(**options: Any) -> AsyncIterator[Leaving]:
    async with scene_of(**options) as scene:
        await scene.be_stable()
        yield Leaving(scene)


async def test_the_listener_is_told_and_then_the_coordinator() -> None:
    async with leaving_of() as leaving:
        leaving.departure.intend({P0}, "the first reason")
        leaving.departure.intend({P1}, "a later reason")
        await leaving.departure.say_goodbye(lambda: 5.0)
        assert leaving.listener.diary == [("revoked", [0])]
        assert leaving.reasons() == ["the first reason"]
        assert leaving.departure.farewell is None
        assert leaving.member.state is MemberState.UNJOINED
        assert leaving.leader.topics == frozenset()


async def test_the_listener_of_the_partitions_is_told_though_there_is_another_by_now() -> None:
    async with leaving_of() as leaving:
        leaving.departure.intend({P0}, "of the test")
        leaving.listeners.listener = later = Listener()
        await leaving.departure.say_goodbye(lambda: 5.0)
        assert (leaving.listener.diary, later.diary) == ([("revoked", [0])], [])


async def test_2e_5_a_static_member_does_not_tell_the_coordinator() -> None:
    async with leaving_of(group_instance_id="i") as leaving:
        leaving.departure.intend({P0}, "of the test")
        await leaving.departure.say_goodbye(lambda: 5.0)
        await leaving.departure.leave_unpolled("some id")
        assert leaving.listener.diary == [("revoked", [0])]
        assert leaving.reasons() == []


async def test_between_two_assignments_the_partitions_are_lost() -> None:
    async with leaving_of() as leaving:
        leaving.member.begin_join()
        leaving.departure.intend({P0}, "of the test")
        await leaving.departure.say_goodbye(lambda: 5.0)
        assert leaving.listener.diary == [("lost", [0])]
        assert leaving.reasons() == ["of the test"]


async def test_cancelled_in_the_listener_the_member_has_left() -> None:
    class Hanging(Listener):
        async def on_partitions_revoked(self, revoked: object) -> None:
            is_called.set()
            await asyncio.Event().wait()

    is_called = asyncio.Event()
    async with leaving_of() as leaving:
        leaving.listeners.listener = Hanging()
        leaving.departure.intend({P0}, "of the test")
        task = asyncio.ensure_future(leaving.departure.say_goodbye(lambda: 5.0))
        await is_called.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert leaving.departure.farewell is None
        assert leaving.member.state is MemberState.UNJOINED
        assert leaving.reasons() == []


async def test_a_member_without_polls_leaves_under_the_id_it_had() -> None:
    async with leaving_of() as leaving:
        member_id = leaving.member.generation.member_id
        leaving.member.lose_membership()
        await leaving.departure.leave_unpolled("")
        assert leaving.reasons() == []
        await leaving.departure.leave_unpolled(member_id)
        assert leaving.reasons() == ["the application did not poll in time"]
        assert not leaving.scene.broker.group("g").members
