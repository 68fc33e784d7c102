"""Owns the connections of one client: one per (node, lane), opened when first needed, closed when
idle. It decides which node to ask when any will do. It does not know what metadata means, and
retries nothing.

There is no lock: connects to different nodes, and of different lanes, run side by side; many
callers of one lane share one attempt. Only `request` and `close` wait.
"""

import copy
import logging
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar, overload

from aiokafka_lite.clock import Clock, TimerHandle
from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.cluster.node_states import Candidate, NodeStates, least_loaded
from aiokafka_lite.concurrency.backoff import ExponentialBackoff
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.task_owner import OwnedTask, OwnerState, TaskOwner
from aiokafka_lite.errors import (
    KafkaConnectionError,
    KafkaError,
    NodeNotReadyError,
)
from aiokafka_lite.model import Node
from aiokafka_lite.net.endpoint import Endpoint
from aiokafka_lite.net.frame_buffer_pool import FrameBufferPool
from aiokafka_lite.net.node_connection import ConnectionConfig, NodeConnection
from aiokafka_lite.protocol.versions import NodeApiVersions
from aiokafka_lite.schema.message import Request, Response

logger = logging.getLogger(__name__)

R = TypeVar("R", bound=Response)
_Key = tuple[int, Lane]


@dataclass(slots=True, eq=False)
class _Attempt:
    """One attempt to connect, shared by all who need the connection."""

    task: OwnedTask | None = None
    connection: NodeConnection | None = None
    error: KafkaError | None = None


class NetworkClient:
    """Requests to nodes by id, over connections that come and go.

    Node ids are those of the metadata (`update_nodes`), and -1, -2, … for the seeds. `on_trouble`
    is called, without arguments, when a connection could not be made or was lost: the metadata
    may be out of date.
    """

    def __init__(
        self,
        config: ClientConfig,
        *,
        clock: Clock,
        rng: random.Random,
        on_trouble: Callable[[], object] = lambda: None,
        max_in_flight: int = 5,
    ) -> None:
        self._config = config
        self._clock = clock
        self._rng = rng
        self._owner: TaskOwner | None = None
        self._on_trouble = on_trouble
        self._states = NodeStates(
            reconnect_backoff=ExponentialBackoff(
                config.reconnect_backoff_ms / 1000, config.reconnect_backoff_max_ms / 1000, rng=rng
            ),
            setup_timeout=ExponentialBackoff(
                config.socket_connection_setup_timeout_ms / 1000,
                config.socket_connection_setup_timeout_max_ms / 1000,
                rng=rng,
            ),
        )
        self._connection_config = ConnectionConfig(
            connection_setup_timeout_ms=config.socket_connection_setup_timeout_ms,
            request_timeout_ms=config.request_timeout_ms,
            send_buffer_bytes=config.send_buffer_bytes,
            receive_buffer_bytes=config.receive_buffer_bytes,
            max_in_flight=max_in_flight,
        )
        self._frame_pool = FrameBufferPool()
        self._seeds = {
            -index: Node(-index, endpoint.host, endpoint.port)
            for index, endpoint in enumerate(config.endpoints, start=1)
        }
        self._nodes: Mapping[int, Node] = {}
        self._connections: dict[_Key, NodeConnection] = {}
        self._attempts: dict[_Key, _Attempt] = {}
        self._leaving: set[NodeConnection] = set()
        self._api_versions: dict[int, NodeApiVersions] = {}
        self._sweep_timer: TimerHandle | None = None

    @property
    def seeds(self) -> Mapping[int, Node]:
        """The seeds as nodes -1, -2, … in the user's order."""
        return self._seeds

    def start(self, owner: TaskOwner) -> None:
        """Allow connections; their tasks are children of `owner`."""
        self._owner = owner

    # Asking…

    @overload
    async def request(
        self,
        node_id: int,
        request: Request[R],
        *,
        lane: Lane = Lane.GENERAL,
        timeout_s: float | None = None,
        max_version: int | None = None,
        expects_response: Literal[True] = True,
    ) -> R: ...

    @overload
    async def request(
        self,
        node_id: int,
        request: Request[R],
        *,
        lane: Lane = Lane.GENERAL,
        timeout_s: float | None = None,
        max_version: int | None = None,
        expects_response: bool,
    ) -> R | None: ...

    async def request(
        self,
        node_id: int,
        request: Request[R],
        *,
        lane: Lane = Lane.GENERAL,
        timeout_s: float | None = None,
        max_version: int | None = None,
        expects_response: bool = True,
    ) -> R | None:
        """Return the node's answer to `request`; None if none is expected (acks=0).

        `timeout_s` (None: request_timeout_ms) covers everything: waiting out a reconnect backoff
        or a throttle, connecting, the request itself. Requests of one lane reach the node in the
        order of the calls, once it is connected.

        Raises: `NodeNotReadyError` when the node is unknown, or not ready within `timeout_s`;
        `KafkaConnectionError` when the connection cannot be made or is lost, naming every address
        tried; `RequestTimedOutError`; `UnsupportedVersionError` without sending. All but the last
        are retriable.
        Cancelled: the answer is dropped when it comes; a connect that others wait for goes on.
        """
        connection = self._connections.get((node_id, lane))
        if (
            connection is None
            or not connection.is_open
            or self._states.mute_left(node_id, lane, self._clock.monotonic())
        ):
            if timeout_s is None:
                timeout_s = self._config.request_timeout_ms / 1000
            began_s = self._clock.monotonic()
            connection = await self._ready_connection(node_id, lane, timeout_s)
            timeout_s = max(timeout_s - (self._clock.monotonic() - began_s), 0.001)
        response = await connection.request(
            request,
            timeout_s=timeout_s,
            max_version=max_version,
            expects_response=expects_response,
        )
        # From brokers 2.0 on, which is older than any we speak to, the broker answers first and the
        # client has to be quiet for that long (KIP-219).
        throttle_ms = getattr(response, "throttle_time_ms", 0)
        if throttle_ms > 0:
            logger.debug("node %d throttles lane %s for %d ms", node_id, lane.value, throttle_ms)
            self._states.mute(node_id, lane, self._clock.monotonic() + throttle_ms / 1000)
        return response

    def ready_delay(self, node_id: int, lane: Lane = Lane.GENERAL) -> float:
        """Return the seconds until `request` to this lane can go ahead without waiting for a
        backoff or a throttle; 0: now. A node that is not connected, but may be, is ready.
        Requests in flight do not count. Does not wait.
        """
        now = self._clock.monotonic()
        delay_s = self._states.mute_left(node_id, lane, now)
        connection = self._connections.get((node_id, lane))
        if connection is None or not connection.is_open:
            delay_s = max(delay_s, self._states.backoff_left(node_id, now))
        return delay_s

    def max_version(self, node_id: int, request_type: type[Request[Any]]) -> int | None:
        """Return the version a request of this type would have; None if the node does not know the
        API in any version of ours, or was never connected.
        """
        versions = self._api_versions.get(node_id)
        if versions is None:
            return None
        return versions.max_version(request_type)

    def least_loaded_node(self) -> int | None:
        """Return the node of the metadata to ask when any will do (2f-8); None: none may be asked
        now, or none is known. Seeds are not among them.
        """
        return least_loaded([self._candidate(node_id) for node_id in self._nodes], self._rng)

    @property
    def has_usable_node(self) -> bool:
        """Whether some node of the metadata is connected or may be tried now. A throttled one
        counts.
        """
        now = self._clock.monotonic()
        for node_id in self._nodes:
            connection = self._connections.get((node_id, Lane.GENERAL))
            if connection is not None and connection.is_open:
                return True
            if (node_id, Lane.GENERAL) in self._attempts or not self._states.backoff_left(
                node_id, now
            ):
                return True
        return False

    def _candidate(self, node_id: int) -> Candidate:
        key = (node_id, Lane.GENERAL)
        connection = self._connections.get(key)
        is_connected = connection is not None and connection.is_open
        return Candidate(
            node_id=node_id,
            is_connected=is_connected,
            is_connecting=key in self._attempts,
            in_flight=connection.in_flight if connection is not None else 0,
            # An attempt under way accounts for the backoff itself.
            delay_s=0.0 if key in self._attempts else self.ready_delay(node_id),
            last_attempt_s=self._states.last_attempt(node_id),
        )

    # Following the metadata…

    def update_nodes(self, nodes: Mapping[int, Node]) -> None:
        """Take over the nodes of new metadata. A node at another address than before loses its
        connections; one that is no longer named keeps them until they are idle or lost.
        """
        before, self._nodes = self._nodes, nodes
        for node_id, node in nodes.items():
            old = before.get(node_id)
            if old is not None and (old.host, old.port) != (node.host, node.port):
                moved = f"node {node_id} has moved from {_address(old)} to {_address(node)}"
                logger.info("%s", moved)
                self.disconnect([node_id], KafkaConnectionError(moved))

    def disconnect(self, node_ids: Iterable[int], cause: KafkaError) -> None:
        """Close all connections to these nodes, open or being opened, and forget their failures.
        Requests on the way fail with `cause`. Does not wait.
        """
        for node_id in node_ids:
            for lane in Lane:
                attempt = self._attempts.pop((node_id, lane), None)
                if attempt is not None:
                    _abandon(attempt, cause)
                connection = self._connections.pop((node_id, lane), None)
                if connection is not None:
                    self._let_go(connection, cause)
            self._states.forget(node_id)
            self._api_versions.pop(node_id, None)

    async def close(self) -> None:
        """Close every connection; return when their sockets are closed. Idempotent; `start` may
        follow.

        Cancelled: all connections are closing, their sockets may still be open for a moment.
        """
        self._owner = None
        if self._sweep_timer is not None:
            self._sweep_timer.cancel()
            self._sweep_timer = None
        self._nodes = {}
        tasks = [attempt.task for attempt in self._attempts.values()]
        nodes = {node_id for node_id, _ in (*self._connections, *self._attempts)}
        self.disconnect(nodes, KafkaConnectionError("the client is closed"))
        for task in tasks:
            if task is not None:
                await task.wait()
        for connection in list(self._leaving):
            await self._wait_closed(connection)

    # Connecting…

    async def _ready_connection(self, node_id: int, lane: Lane, timeout_s: float) -> NodeConnection:
        """Return an open connection of a lane that is not muted, connecting if need be."""
        delay_s = self.ready_delay(node_id, lane)
        if delay_s > timeout_s:
            raise self._not_ready(node_id, lane, timeout_s, f"it may be asked in {delay_s:.3f} s")
        try:
            async with deadline(self._clock, timeout_s):
                while True:
                    muted_s = self._states.mute_left(node_id, lane, self._clock.monotonic())
                    if muted_s:
                        await self._clock.sleep(muted_s)
                        continue
                    connection = await self._connection(node_id, lane)
                    if connection.is_open:
                        return connection
        except TimeoutError as error:
            if isinstance(error, KafkaError):  # what the node said, not our deadline
                raise
            raise self._not_ready(node_id, lane, timeout_s, "it is being connected") from error

    async def _connection(self, node_id: int, lane: Lane) -> NodeConnection:
        key = (node_id, lane)
        connection = self._connections.get(key)
        if connection is not None and connection.is_open:
            return connection
        attempt = self._attempts.get(key)
        if attempt is None:
            attempt = self._begin_attempt(node_id, lane)
        assert attempt.task is not None
        await attempt.task.wait()
        if attempt.connection is not None:
            return attempt.connection
        error = attempt.error or KafkaConnectionError("the client is closed")
        # Each caller gets an exception of its own: a shared one would collect all their tracebacks.
        raise copy.copy(error) from error

    def _begin_attempt(self, node_id: int, lane: Lane) -> _Attempt:
        if self._owner is None:
            raise KafkaConnectionError("the client is closed, or was never started")
        if self._node(node_id) is None:
            raise NodeNotReadyError(f"node {node_id} is not in the cluster's metadata")
        attempt = _Attempt()
        self._attempts[node_id, lane] = attempt
        attempt.task = self._owner.spawn(
            f"connect[{node_id}, {lane.value}]", self._open, node_id, lane, attempt
        )
        return attempt

    async def _open(self, node_id: int, lane: Lane, attempt: _Attempt) -> None:
        """Wait for the backoff and connect; the outcome is in `attempt`."""
        try:
            connection = await self._connect(node_id, lane)
        except KafkaError as error:
            attempt.error = error
            connection = None
        finally:
            if self._attempts.get((node_id, lane)) is attempt:
                del self._attempts[node_id, lane]
        if connection is not None:
            attempt.connection = connection
            self._connections[node_id, lane] = connection
            self._api_versions[node_id] = connection.api_versions
            self._schedule_sweep()

    async def _connect(self, node_id: int, lane: Lane) -> NodeConnection:
        await self._wait_out_backoff(node_id)
        node = self._node(node_id)
        if node is None:
            raise NodeNotReadyError(f"node {node_id} has left the cluster's metadata")
        began_s = self._clock.monotonic()
        setup_timeout_s = self._states.connecting(node_id, began_s)
        connection = NodeConnection(
            Endpoint(node.host, node.port),
            node_id=node_id if node_id >= 0 else None,
            client_id=self._config.client_id,
            clock=self._clock,
            config=replace(
                self._connection_config, connection_setup_timeout_ms=round(setup_timeout_s * 1000)
            ),
            frame_pool=self._frame_pool,
            on_close=lambda closed: self._lost(node_id, lane, closed, began_s),
        )
        try:
            await connection.open()
        except KafkaError as error:
            self._states.failed(node_id, began_s, self._clock.monotonic(), error)
            if node_id >= 0:
                self._on_trouble()
            raise
        except BaseException:
            self._let_go(connection, KafkaConnectionError("the attempt to connect was given up"))
            raise
        self._states.ready(node_id)
        return connection

    async def _wait_out_backoff(self, node_id: int) -> None:
        while backoff_s := self._states.backoff_left(node_id, self._clock.monotonic()):
            await self._clock.sleep(backoff_s)

    def _node(self, node_id: int) -> Node | None:
        return self._nodes.get(node_id) or self._seeds.get(node_id)

    def _not_ready(
        self, node_id: int, lane: Lane, timeout_s: float, state: str
    ) -> NodeNotReadyError:
        node = self._node(node_id)
        at = f" at {_address(node)}" if node is not None else ""
        error = self._states.last_error(node_id)
        because = f"; last failure: {error}" if error is not None else ""
        return NodeNotReadyError(
            f"node {node_id}{at} (lane {lane.value}) is not ready within {timeout_s:.3f} s: "
            f"{state}{because}"
        )

    # Once a connection is no longer needed…

    def _lost(self, node_id: int, lane: Lane, connection: NodeConnection, began_s: float) -> None:
        if self._connections.get((node_id, lane)) is not connection:
            return  # let go by us
        del self._connections[node_id, lane]
        cause = connection.cause or KafkaConnectionError("the connection was closed")
        logger.debug("node %d, lane %s: connection lost: %s", node_id, lane.value, cause)
        self._states.failed(node_id, began_s, self._clock.monotonic(), cause)
        self._see_off(connection)
        if node_id >= 0:
            self._on_trouble()

    def _let_go(self, connection: NodeConnection, cause: KafkaError) -> None:
        connection.close(cause)
        self._see_off(connection)

    def _see_off(self, connection: NodeConnection) -> None:
        """Remember a closed connection until its socket is gone, so that `close` can wait for
        that.
        """
        self._leaving.add(connection)
        owner = self._owner
        if owner is not None and owner.state is OwnerState.RUNNING and owner.failure is None:
            owner.spawn("farewell", self._wait_closed, connection)

    async def _wait_closed(self, connection: NodeConnection) -> None:
        await connection.wait_closed()
        self._leaving.discard(connection)

    def _schedule_sweep(self) -> None:
        idle_ms = self._config.connections_max_idle_ms
        if idle_ms is None or self._sweep_timer is not None or not self._connections:
            return
        now = self._clock.monotonic()
        oldest_s = min(
            now if connection.in_flight else connection.last_used_s
            for connection in self._connections.values()
        )
        self._sweep_timer = self._clock.call_at(oldest_s + idle_ms / 1000, self._sweep)

    def _sweep(self) -> None:
        """Close the connections that were idle for connections_max_idle_ms (one timer for all)."""
        self._sweep_timer = None
        assert self._config.connections_max_idle_ms is not None
        idle_s = self._config.connections_max_idle_ms / 1000
        now = self._clock.monotonic()
        for key, connection in list(self._connections.items()):
            if now - connection.last_used_s >= idle_s and not connection.in_flight:
                del self._connections[key]
                idle = f"node {key[0]}, lane {key[1].value}: idle for {idle_s:.0f} s"
                logger.debug("%s", idle)
                self._let_go(connection, KafkaConnectionError(idle))
        self._schedule_sweep()


def _abandon(attempt: _Attempt, cause: KafkaError) -> None:
    attempt.error = cause
    if attempt.task is not None:
        attempt.task.cancel()


def _address(node: Node) -> str:
    return str(Endpoint(node.host, node.port))
