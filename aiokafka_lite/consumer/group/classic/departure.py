"""How a member leaves its group: the listener is told first, then the coordinator by LeaveGroup.

The membership decides when. Source: 2e-5, KIP-345, KIP-800.
"""

from collections.abc import Callable, Collection

from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.consumer.group.assignment_handover import AssignmentHandover, Farewell
from aiokafka_lite.consumer.group.classic.classic_coordinator import ClassicCoordinator
from aiokafka_lite.consumer.group.classic.group_leader import GroupLeader
from aiokafka_lite.consumer.group.classic.member import Member
from aiokafka_lite.consumer.group.rebalance_listener import ListenerCalls
from aiokafka_lite.consumer.stop_bounds import LEAVE_S
from aiokafka_lite.model import TopicPartition


class Departure:
    """Takes one member out of its group."""

    def __init__(
        self,
        member: Member,
        leader: GroupLeader,
        handover: AssignmentHandover,
        coordinator: ClassicCoordinator,
        listeners: ListenerCalls,
    ) -> None:
        self._member = member
        self._leader = leader
        self._handover = handover
        self._coordinator = coordinator
        self._listeners = listeners
        self.farewell: Farewell | None = None
        """What the listener has to be told before the member leaves. None: nothing."""

    def intend(self, owned: Collection[TopicPartition], reason: str) -> None:
        """Note that the member leaves with `owned`, and that the present listener has to be told.

        The first of several calls counts: nothing was assigned since.
        """
        if self.farewell is None:
            self.farewell = Farewell(owned, reason, self._listeners.listener)

    async def say_goodbye(self, timeout_s: Callable[[], float]) -> None:
        """Tell the listener what was intended, then leave. Static members do not leave (2e-5).

        `timeout_s()` bounds the request; it is called when the listener has returned. Cancelled:
        the member has left; the listener or the coordinator may not know it.
        """
        member, farewell = self._member, self.farewell
        assert farewell is not None
        is_lost = not member.generation.is_joined or member.is_rebalancing
        try:
            await self._handover.leave(farewell, is_lost=is_lost)
        finally:
            self.farewell = None
            member_id, is_joining = member.generation.member_id, member.is_rebalancing
            member.lose_membership()
            self._leader.step_down()
        if member_id and not member.is_static:
            # A JoinGroup request that waits for other members would delay LeaveGroup behind it.
            lane = Lane.GENERAL if is_joining else Lane.COORDINATOR
            await self._coordinator.leave(member_id, farewell.reason, timeout_s(), lane)

    async def leave_unpolled(self, member_id: str) -> None:
        """Let the coordinator know that `member_id` was given up for want of polls.

        Cancelled: the coordinator may not know it.
        """
        if member_id and not self._member.is_static:
            await self._coordinator.leave(
                member_id, "the application did not poll in time", LEAVE_S
            )


__all__ = ["Departure"]
