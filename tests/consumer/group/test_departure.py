"""What a listener is told before its member leaves (2e-5)."""

import asyncio

import pytest

from aiokafka_lite.consumer.assignors.assignor import RebalanceProtocol
from aiokafka_lite.consumer.group.assignment_handover import AssignmentHandover
from aiokafka_lite.consumer.group.departure import Departure
from aiokafka_lite.consumer.group.rebalance_listener import ListenerCalls
from aiokafka_lite.consumer.position.subscription_state import SubscriptionState
from tests.consumer.batches import tps
from tests.scenarios.grouping import Listener

P0, P1 = tps(0, 1)


class Leaving:
    """A member with a listener, and its departure."""

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self.listeners = ListenerCalls()
        self.listeners.listener = listener
        handover = AssignmentHandover(
            SubscriptionState(None), RebalanceProtocol.EAGER, self.listeners, self
        )
        self.departure = Departure(handover, self.listeners)

    async def commit_before_revocation(self, partitions: object) -> None:
        raise AssertionError("a member that leaves has committed before")

    def assignment_lost(self) -> None: ...

    def positions_go(self, states: object) -> None: ...

    def assignment_changed(self) -> None: ...

    def assignment_taken(self) -> None: ...


async def test_the_first_intention_counts_and_is_told_once() -> None:
    leaving = Leaving(Listener())
    leaving.departure.intend({P0})
    leaving.departure.intend({P1})
    assert leaving.departure.is_intended
    await leaving.departure.tell_listener(is_lost=False)
    assert not leaving.departure.is_intended
    await leaving.departure.tell_listener(is_lost=False)
    assert leaving.listener.diary == [("revoked", [0])]


async def test_the_listener_of_the_partitions_is_told_though_there_is_another_by_now() -> None:
    leaving = Leaving(Listener())
    leaving.departure.intend({P0})
    leaving.listeners.listener = later = Listener()
    await leaving.departure.tell_listener(is_lost=True)
    assert (leaving.listener.diary, later.diary) == ([("lost", [0])], [])


async def test_cancelled_in_the_listener_it_is_not_told_again() -> None:
    class Hanging(Listener):
        async def on_partitions_revoked(self, revoked: object) -> None:
            is_called.set()
            await asyncio.Event().wait()

    is_called = asyncio.Event()
    leaving = Leaving(Hanging())
    leaving.departure.intend({P0})
    task = asyncio.ensure_future(leaving.departure.tell_listener(is_lost=False))
    await is_called.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not leaving.departure.is_intended
