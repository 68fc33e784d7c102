"""Sends the requests that need not wait: a connection to their node is open and free.

`network_client` derives from it, and has what waits. Every Produce and every Fetch comes here.
"""

from typing import TYPE_CHECKING

from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.net.exchange import Exchange
from aiokafka_lite.net.request_channel import RequestChannel

if TYPE_CHECKING:
    from aiokafka_lite.cluster.connection_pool import ConnectionPool
    from aiokafka_lite.cluster.guest_connections import GuestConnections


class DirectRequests:
    """Requests over the free connections of a pool."""

    def __init__(self, pool: "ConnectionPool | GuestConnections") -> None:
        self._pool = pool
        self._free = pool.free_connections
        self._own_lanes = pool.own_lanes

    def _free_connection(self, node_id: int, lane: Lane) -> RequestChannel | None:
        """Return the connection if it can take a request now."""
        key = (node_id, self._own_lanes.get(lane, lane) if self._own_lanes else lane)
        connection = self._free.get(key)
        return connection if connection is not None and connection.takes_requests() else None

    def submit(self, node_id: int, exchange: Exchange, lane: Lane = Lane.GENERAL) -> bool:
        """Send a request if a connection is open and free, and let `exchange` take its outcome.
        Return False, and send nothing, if the request would have to wait for a connection, a
        backoff, a throttle or other requests that do. Does not wait.

        The exchange passes its response to `note_throttle`. When it takes that, and what this
        raises: as `RequestChannel.submit`.
        """
        connection = self._free_connection(node_id, lane)
        if connection is None:
            return False
        connection.submit(exchange)
        return True

    def ready_delay(self, node_id: int, lane: Lane = Lane.GENERAL) -> float:
        """Return the seconds of backoff or throttle that a request to this lane would wait for; 0:
        none. Connecting and requests in flight do not count. Does not wait.
        """
        if self._free_connection(node_id, lane) is not None:
            return 0.0  # the usual case; every request comes here
        return self._pool.ready_delay(node_id, lane)


__all__ = ["DirectRequests"]
