"""Owns what a member tells its listener before it leaves its group, with either protocol, and the
way on which it tells the coordinator.

The membership decides when. Waits for the listener only. Source: 2e-5, KIP-219.
"""

from collections.abc import Collection, Sequence
from typing import Final

from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.cluster.network_client import NetworkClient
from aiokafka_lite.consumer.group.assignment_handover import AssignmentHandover, Farewell
from aiokafka_lite.consumer.group.rebalance_listener import ListenerCalls
from aiokafka_lite.model import TopicPartition

UNSUBSCRIBED = "the consumer has unsubscribed"
"""Why a member leaves that goes on without its group."""

CANCELLED: Final = "the call was cancelled before an answer came"
LEAVING_LANES: Final = (Lane.COORDINATOR, Lane.GENERAL)
"""A throttle holds back one connection. The request that leaves may go by another one."""


def throttle_of(network: NetworkClient, node_id: int | None) -> float:
    """Return for how many seconds a coordinator takes no request by any lane; 0: it takes them."""
    if node_id is None:
        return 0.0
    return min(network.throttle_left(node_id, lane) for lane in LEAVING_LANES)


def way_out(
    network: NetworkClient,
    node_id: int | None,
    timeout_s: float,
    lanes: Sequence[Lane] = LEAVING_LANES,
) -> Lane | str:
    """Return the lane by which the coordinator hears that a member leaves, or why it cannot.

    A delay that ends within `timeout_s` is waited for: the node is throttling, or was cut off just
    now. The first lane is taken if it is ready within half of the time, otherwise the readiest one.
    """
    if node_id is None:
        return "its coordinator is not known"
    lane = lanes[0]
    if network.ready_delay(node_id, lane) > timeout_s / 2:
        lane = min(lanes, key=lambda each: network.ready_delay(node_id, each))
    delay_s = network.ready_delay(node_id, lane)
    if delay_s <= timeout_s:
        return lane
    is_throttled = network.throttle_left(node_id, lane) > 0
    why = "throttles this client" if is_throttled else "was not reached, and is asked again only"
    return f"node {node_id} {why} for {delay_s:.1f} s, and {timeout_s:.1f} s are left"


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


__all__ = ["CANCELLED", "LEAVING_LANES", "UNSUBSCRIBED", "Departure", "throttle_of", "way_out"]
