"""Owns what a member tells its listener before it leaves its group, with either protocol.

The membership decides when, and tells the coordinator. Waits for the listener only. Source: 2e-5.
"""

from collections.abc import Collection

from aiokafka_lite.consumer.group.assignment_handover import AssignmentHandover, Farewell
from aiokafka_lite.consumer.group.rebalance_listener import ListenerCalls
from aiokafka_lite.model import TopicPartition

UNSUBSCRIBED = "the consumer has unsubscribed"
"""Why a member leaves that goes on without its group."""


class Departure:
    """The farewell of one member."""

    def __init__(self, handover: AssignmentHandover, listeners: ListenerCalls) -> None:
        self._handover = handover
        self._listeners = listeners
        self._farewell: Farewell | None = None

    @property
    def is_intended(self) -> bool:
        """Whether the member is to leave, and its listener has not been told yet."""
        return self._farewell is not None

    def intend(self, owned: Collection[TopicPartition]) -> None:
        """Note that the member leaves with `owned`, and that the present listener has to be told.

        The first of several calls counts: nothing was assigned since.
        """
        if self._farewell is None:
            self._farewell = Farewell(owned, self._listeners.listener)

    async def tell_listener(self, *, is_lost: bool) -> None:
        """Tell the listener what was intended. Cancelled: it is not told again."""
        if self._farewell is not None:
            try:
                await self._handover.leave(self._farewell, is_lost=is_lost)
            finally:
                self._farewell = None


__all__ = ["UNSUBSCRIBED", "Departure"]
