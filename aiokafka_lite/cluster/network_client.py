"""Sends requests to the nodes of a cluster by their ids: `client.network`.

It uses the connections of a `connection_pool`, heeds throttles, and chooses a node if any will do.
It does not know what metadata means, and retries nothing. Only the coroutines wait.
"""

import asyncio
import logging
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from aiokafka_lite.clock import Clock
from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.cluster.connection_pool import ConnectionPool
from aiokafka_lite.cluster.direct_requests import DirectRequests
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.cluster.node_states import Candidate, least_loaded
from aiokafka_lite.concurrency.long_waits import TELL_AFTER_S, Sparing
from aiokafka_lite.concurrency.task_owner import TaskOwner
from aiokafka_lite.errors import KafkaConnectionError, KafkaError, NodeNotReadyError
from aiokafka_lite.metrics.observer import NO_OBSERVER, Observer
from aiokafka_lite.model import Node
from aiokafka_lite.net.endpoint import Endpoint
from aiokafka_lite.net.exchange import Exchange
from aiokafka_lite.net.node_connection import NodeConnection
from aiokafka_lite.schema.message import Request, Response

if TYPE_CHECKING:
    from aiokafka_lite.cluster.guest_connections import GuestConnections
    from aiokafka_lite.cluster.node_wait import NodeWait

logger = logging.getLogger(__name__)

R = TypeVar("R", bound=Response)


class NetworkClient(DirectRequests):
    """Requests to nodes by id: those of the metadata (`update_nodes`), and -1, -2, … for the seeds.

    `on_trouble`, `on_misrouted` and `on_connected`: see `ConnectionPool`. `host`: share the
    connections of this client.
    """

    def __init__(
        self,
        config: ClientConfig,
        *,
        clock: Clock,
        rng: random.Random,
        on_trouble: Callable[[], object] = lambda: None,
        on_misrouted: Callable[[], object] = lambda: None,
        on_connected: Callable[[], object] = lambda: None,
        max_in_flight: int = 5,
        observer: Observer = NO_OBSERVER,
        host: "NetworkClient | None" = None,
    ) -> None:
        self._client_id = config.client_id
        self._request_timeout_s = config.request_timeout_ms / 1000
        self._clock = clock
        self._rng = rng
        self._observer = observer
        self._throttles = Sparing()
        pool: ConnectionPool | GuestConnections
        if host is None:
            pool = ConnectionPool(
                config,
                clock=clock,
                rng=rng,
                on_trouble=on_trouble,
                on_misrouted=on_misrouted,
                on_connected=on_connected,
                max_in_flight=max_in_flight,
                observer=observer,
            )
        else:
            pool = host.connections_for_guest(
                config,
                on_trouble=on_trouble,
                on_misrouted=on_misrouted,
                on_connected=on_connected,
                observer=observer,
            )
        super().__init__(pool)

    def connections_for_guest(self, config: ClientConfig, **callbacks: Any) -> "GuestConnections":
        """Return the connections of this client for another one to share."""
        from aiokafka_lite.cluster.guest_connections import GuestConnections  # noqa: PLC0415

        assert isinstance(self._pool, ConnectionPool)
        return GuestConnections(self._pool, config, **callbacks)

    @property
    def seeds(self) -> Mapping[int, Node]:
        """The seeds as nodes -1, -2, … in the user's order. Those that replace them go on from
        there.
        """
        return self._pool.seeds

    def replace_seeds(self, endpoints: Sequence[Endpoint]) -> None:
        """As `ConnectionPool.replace_seeds`."""
        self._pool.replace_seeds(endpoints)

    def adopt(self, seed_id: int) -> None:
        """As `ConnectionPool.adopt`."""
        self._pool.adopt(seed_id)

    def start(self, owner: TaskOwner) -> None:
        """Allow connections. Their tasks are children of `owner`."""
        self._pool.start(owner)

    async def close(self) -> None:
        """Close every connection, and return when their sockets are closed.

        May be repeated, and `start` may follow. Cancelled: the connections go on closing.
        """
        await self._pool.close()

    # Requests…

    async def request(
        self,
        node_id: int,
        request: Request[R],
        *,
        lane: Lane = Lane.GENERAL,
        timeout_s: float | None = None,
        max_version: int | None = None,
    ) -> R:
        """Send a request to a node and return its response.

        `timeout_s` (None: request_timeout_ms) covers everything: a reconnect backoff, a throttle,
        the connect and the request itself. Requests of one lane reach the node in the order in
        which they were first awaited. An error in the response is for the caller to read.

        Raises: NodeNotReadyError if the node is unknown, or not ready within `timeout_s`;
        KafkaConnectionError, with each tried address, if the connection cannot be made or is lost;
        RequestTimedOutError without a response within `timeout_s`; UnsupportedVersionError without
        a common version, with nothing sent; other errors as `NodeConnection.request`.
        Cancelled: a response that comes later is dropped; a connect that has begun goes on.
        """
        connection = self._pool.free(node_id, lane)
        if connection is None:
            connection, timeout_s = await self._acquire(node_id, lane, timeout_s)
        # No wait from here to the request, or another could overtake it.
        response = await connection.request(request, timeout_s=timeout_s, max_version=max_version)
        self.note_throttle(node_id, response, lane)
        return response

    async def post(
        self,
        node_id: int,
        request: Request[Any],
        *,
        lane: Lane = Lane.GENERAL,
        timeout_s: float | None = None,
        max_version: int | None = None,
    ) -> None:
        """Send a request that has no response (Produce with acks=0) to a node, and return once all
        its bytes have left.

        Raises: as `request`. Cancelled: as `request`.
        """
        connection = self._pool.free(node_id, lane)
        if connection is None:
            connection, timeout_s = await self._acquire(node_id, lane, timeout_s)
        await connection.post(request, timeout_s=timeout_s, max_version=max_version)

    async def send(self, node_id: int, exchange: Exchange, lane: Lane = Lane.GENERAL) -> None:
        """Return when a connection has taken a request; the exchange takes its outcome. Its time
        begins with this call, and it passes its response to `note_throttle`.

        Raises: as `request`, with nothing sent. Cancelled: nothing is sent.
        """
        connection = self._pool.free(node_id, lane)
        if connection is None:
            connection, exchange.timeout_s = await self._acquire(node_id, lane, exchange.timeout_s)
        connection.submit(exchange)

    async def connect(
        self, node_id: int, lane: Lane = Lane.GENERAL, *, timeout_s: float | None = None
    ) -> None:
        """Return when a connection to the node is open and not throttled; make it if there is none.

        Raises: `NodeNotReadyError` or `KafkaConnectionError`, as `request`.
        Cancelled: a connect that has begun goes on.
        """
        if self._pool.free(node_id, lane) is None:
            await self._acquire(node_id, lane, timeout_s)
            await asyncio.sleep(0)  # the pool then frees the connection for submit

    def prepare(self, node_id: int, lane: Lane) -> None:
        """Begin a connection to the node that will be needed soon. Does not wait.

        A node that has failed is left alone, and a failure is told to nobody.
        """
        self._pool.prepare(node_id, lane)

    async def _acquire(
        self, node_id: int, lane: Lane, timeout_s: float | None
    ) -> tuple[NodeConnection, float]:
        """Return an open connection, and what is then left of `timeout_s`."""
        began_s = self._clock.monotonic()
        if timeout_s is None:
            timeout_s = self._request_timeout_s
        connection = await self._pool.acquire(node_id, lane, timeout_s)
        return connection, max(timeout_s - (self._clock.monotonic() - began_s), 0.001)

    async def request_any(
        self,
        request: Request[R],
        *,
        timeout_s: float | None = None,
        max_version: int | None = None,
    ) -> R:
        """Return the response of the least loaded node. If every node is in its backoff, ask the
        one whose backoff ends first.

        Raises: as `request`; `NodeNotReadyError` when no node is known. Nothing is retried.
        Cancelled: as `request`.
        """
        node_id = self.least_loaded_node()
        if node_id is None:
            node_ids = self._pool.nodes
            if not node_ids:
                self._pool.check_running()
                raise NodeNotReadyError("no node of the cluster is known")
            node_id = min(node_ids, key=self.ready_delay)
        return await self.request(node_id, request, timeout_s=timeout_s, max_version=max_version)

    def note_throttle(
        self, node_id: int, response: Response | None, lane: Lane = Lane.GENERAL
    ) -> None:
        """Hold back the requests of a lane for as long as a response says.

        Brokers from 2.0 on answer first, and the client then stays silent for that long (KIP-219).
        A long throttle is a warning, once a minute for each node (H8).
        """
        throttle_ms = getattr(response, "throttle_time_ms", 0)
        if throttle_ms > 0:
            now_s, throttle_s = self._clock.monotonic(), throttle_ms / 1000
            logger.debug("node %d throttles lane %s for %d ms", node_id, lane.value, throttle_ms)
            if throttle_s >= TELL_AFTER_S:
                logger.log(
                    self._throttles.level(node_id, now_s),
                    "%s: node %d has told the client to wait for %.0f s: it is over its quota;"
                    " check the quotas of its user and client_id",
                    self._client_id,
                    node_id,
                    throttle_s,
                )
            self._pool.mute(node_id, lane, now_s + throttle_s)
            self._observer.throttled(node_id, throttle_s)

    def throttle_left(self, node_id: int, lane: Lane = Lane.GENERAL) -> float:
        """Return for how many seconds the broker wants no request on this lane; 0: it takes them.
        Does not wait.
        """
        return self._pool.mute_left(node_id, lane, self._clock.monotonic())

    def node_wait(self, node_id: int, lane: Lane = Lane.GENERAL) -> "NodeWait | None":
        """Return why a request to this lane would have to wait; None: it need not. Does not
        wait.
        """
        from aiokafka_lite.cluster.node_wait import node_wait  # noqa: PLC0415 - few ask

        return node_wait(self._pool, node_id, lane, self._clock.monotonic())

    def max_version(self, node_id: int, request_type: type[Request[Any]]) -> int | None:
        """Return the version that a request of this type would have. None: the node was never
        connected, or has no version of the API in common with this library.
        """
        versions = self._pool.api_versions.get(node_id)
        return None if versions is None else versions.max_version(request_type)

    def told_versions(self) -> tuple[object, ...]:
        """Return what the nodes connected so far have told of their versions: the same objects as
        long as nothing has changed.
        """
        return tuple(self._pool.api_versions.values())

    def highest_version(self, request_type: type[Request[Any]]) -> int | None:
        """Return the highest of the versions that a request of this type would have with the nodes
        connected so far. None: no node has a version in common with this library.
        """
        highest = None
        for versions in list(self._pool.api_versions.values()):
            version = versions.max_version(request_type)
            if version is not None and (highest is None or version > highest):
                highest = version
        return highest

    def version_ranges(self, node_id: int) -> Mapping[int, tuple[int, int]]:
        """Return API key -> (lowest, highest) of a node; nothing if it was never connected."""
        versions = self._pool.api_versions.get(node_id)
        return {} if versions is None else versions.ranges

    def has_api(self, api_key: int) -> bool:
        """Whether a node connected so far has any version of this API."""
        return any(api_key in versions.ranges for versions in self._pool.api_versions.values())

    def finalized_level(self, feature: str) -> int:
        """Return the level of a feature that is in force in the cluster. The newest ApiVersions
        response of the nodes connected so far counts; 0 if it names no level (KIP-584).
        """
        told = self._pool.api_versions.values()
        newest = max(told, key=lambda each: each.finalized_features_epoch, default=None)
        return 0 if newest is None else newest.finalized_level(feature)

    def usage(self) -> tuple[int, int]:
        """Return how many connections are open, and how many requests on them have no response."""
        return self._pool.usage()

    # Choosing a node…

    def least_loaded_node(self) -> int | None:
        """Return the node of the metadata to ask if any will do (2f-8). None: no node is known, or
        none may be asked now. Seeds do not count.
        """
        return least_loaded([self._candidate(node_id) for node_id in self._pool.nodes], self._rng)

    def silence(self, node_id: int) -> str | None:
        """Return what the handshake with the node waits for; None: there is none, or no TCP yet."""
        return self._pool.silence(node_id, Lane.GENERAL)

    def waits_for_credentials(self, node_id: int) -> bool:
        """Say whether the handshake with the node waits for the client's own credentials."""
        return self._pool.waits_for_credentials(node_id, Lane.GENERAL)

    @property
    def knows_nodes(self) -> bool:
        """Whether the nodes of the cluster are known, from this client or one that shares its
        connections.
        """
        return bool(self._pool.nodes)

    @property
    def unreachable_nodes(self) -> frozenset[int]:
        """The nodes of the metadata that somebody needed, and that could not be connected to.

        A connection that was lost does not count by itself: nobody may need another one.
        """
        states = self._pool.states
        return frozenset(each for each in self._pool.nodes if states.failures(each) > 1)

    @property
    def has_usable_node(self) -> bool:
        """Whether a node of the metadata is connected, is being connected, or may be connected to
        now. A throttled node counts.
        """
        now_s = self._clock.monotonic()
        pool = self._pool
        return any(
            pool.connected(node_id, Lane.GENERAL) is not None
            or pool.is_connecting(node_id, Lane.GENERAL)
            or not pool.states.backoff_left(node_id, now_s)
            for node_id in pool.nodes
        )

    @property
    def has_lost_all_nodes(self) -> bool:
        """Whether the newest connection to each node of the metadata was lost or could not be made,
        and no connection is open.
        """
        pool = self._pool
        if not pool.nodes or pool.usage()[0]:
            return False
        return all(pool.states.last_error(node_id) is not None for node_id in pool.nodes)

    def _candidate(self, node_id: int) -> Candidate:
        connection = self._pool.connected(node_id, Lane.GENERAL)
        last_attempt_s = self._pool.states.last_attempt(node_id)
        is_connecting = self._pool.is_connecting(node_id, Lane.GENERAL)
        return Candidate(
            node_id=node_id,
            is_connected=connection is not None,
            connecting_for_s=self._clock.monotonic() - last_attempt_s if is_connecting else None,
            in_flight=0 if connection is None else connection.in_flight,
            delay_s=self._pool.ready_delay(node_id, Lane.GENERAL),
            last_attempt_s=last_attempt_s,
        )

    # Following the metadata…

    def update_nodes(self, nodes: Mapping[int, Node], cluster_id: str | None = None) -> None:
        """Take over the nodes of new metadata.

        A node with another address than before loses its connections. A node that is no longer
        named keeps them until they are idle or lost. With `cluster_id`, a broker refuses a new
        connection that is meant for another node or another cluster.
        """
        self._pool.cluster_id = cluster_id
        before = self._pool.take_nodes(nodes)
        for node_id, node in nodes.items():
            old = before.get(node_id)
            if old is not None and (old.host, old.port) != (node.host, node.port):
                moved = f"node {node_id} has moved from {_address(old)} to {_address(node)}"
                logger.info("%s: %s", self._client_id, moved)
                self._pool.disconnect([node_id], KafkaConnectionError(moved))

    def disconnect(self, node_ids: Iterable[int], cause: KafkaError) -> None:
        """Close all connections to these nodes and forget their failures. Does not wait.

        Requests without a response fail with `cause`.
        """
        self._pool.disconnect(node_ids, cause)


def _address(node: Node) -> str:
    return str(Endpoint(node.host, node.port))


__all__ = ["NetworkClient"]
