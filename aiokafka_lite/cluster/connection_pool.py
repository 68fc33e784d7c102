"""The connections of one client: one per node and lane, opened at first use, closed when idle.

The pool does not know what is sent over a connection, chooses no node and retries nothing. Only
`acquire` and `close` wait.

Connects to different nodes and lanes run side by side; there is no lock. A lane that cannot be used
at once has a gate, which is a task and a queue of callers. The task waits for throttle and backoff,
connects, and releases the callers in their order. A caller that comes meanwhile joins the queue.
Otherwise its request could overtake another one, which an idempotent producer must not see.

The pool is a file beside `network_client`, because gates and the queues of lanes are a subject of
their own.
"""

import asyncio
import copy
import logging
import random
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

from aiokafka_lite.clock import Clock, TimerHandle
from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.cluster.lane import AnyLane, Lane, OwnLane
from aiokafka_lite.cluster.node_states import NodeStates
from aiokafka_lite.concurrency.backoff import ExponentialBackoff
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.outcome import give
from aiokafka_lite.concurrency.task_owner import OwnedTask, OwnerState, TaskOwner
from aiokafka_lite.errors import (
    KafkaConnectionError,
    KafkaError,
    NodeNotReadyError,
    RebootstrapRequiredError,
)
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.light_dataclass import dataclass, replace
from aiokafka_lite.light_named_tuple import NamedTuple
from aiokafka_lite.metrics.observer import NO_OBSERVER, Observer
from aiokafka_lite.model import Node
from aiokafka_lite.net.endpoint import Endpoint
from aiokafka_lite.net.frame_buffer_pool import FrameBufferPool
from aiokafka_lite.net.node_connection import ConnectionConfig, NodeConnection
from aiokafka_lite.protocol.versions import NodeApiVersions

logger = logging.getLogger(__name__)

LaneKey = tuple[int, AnyLane]
_Outcome = NodeConnection | KafkaError


@dataclass(slots=True, eq=False)
class _Gate:
    """The callers that wait for one lane, in their order."""

    task: OwnedTask | None = None
    connection: NodeConnection | None = None  # while it is being made
    waiters: list[asyncio.Future[_Outcome]] = field(default_factory=list)

    def release(self, outcome: _Outcome) -> None:
        """Give the outcome to all callers that wait now. They run in their order."""
        waiters, self.waiters = self.waiters, []
        for waiter in waiters:
            give(waiter, outcome)


class ConnectionListener(NamedTuple):
    """What the pool calls when connections come and go; see `ConnectionPool`."""

    on_trouble: Callable[[], object]
    on_misrouted: Callable[[], object]
    on_connected: Callable[[], object]


class ConnectionPool:
    """Connections by node id and lane.

    Node ids are those of the metadata (`nodes`), and -1, -2, … for the seeds. The pool calls
    `on_trouble()` when a connection to a node of the metadata fails or is lost, because the
    metadata may be out of date. If another node answers at the address, it calls `on_misrouted()`
    first. It calls `on_connected()` when a connection takes requests.
    """

    def __init__(
        self,
        config: ClientConfig,
        *,
        clock: Clock,
        rng: random.Random,
        on_trouble: Callable[[], object],
        on_misrouted: Callable[[], object],
        on_connected: Callable[[], object] = lambda: None,
        max_in_flight: int,
        observer: Observer = NO_OBSERVER,
    ) -> None:
        self.nodes: Mapping[int, Node] = {}
        """The nodes of the newest metadata of each client that uses the connections."""
        self._nodes_by_user: dict[object, Mapping[int, Node]] = {}  # the newest comes last
        self.cluster_id: str | None = None
        """The cluster of `nodes`, which a new connection is checked against; None: not known."""
        self.seeds: Mapping[int, Node] = {
            -index: Node(-index, endpoint.host, endpoint.port)
            for index, endpoint in enumerate(config.endpoints, start=1)
        }
        self.states = NodeStates(
            reconnect_backoff=ExponentialBackoff(
                config.reconnect_backoff_ms / 1000, config.reconnect_backoff_max_ms / 1000, rng=rng
            ),
            setup_timeout=ExponentialBackoff(
                config.socket_connection_setup_timeout_ms / 1000,
                config.socket_connection_setup_timeout_max_ms / 1000,
                rng=rng,
            ),
        )
        self.api_versions: dict[int, NodeApiVersions] = {}
        """The API versions of each node, from its newest connection."""

        self._rng = rng
        self._client_id = config.client_id
        self._observer = observer
        self._max_idle_s = (
            None
            if config.connections_max_idle_ms is None
            else config.connections_max_idle_ms / 1000
        )
        self._max_answer_bytes = config.max_answer_bytes
        self._clock = clock
        self._owner: TaskOwner | None = None
        self._listeners = [ConnectionListener(on_trouble, on_misrouted, on_connected)]
        self._checks_cluster = (
            config.metadata_cluster_check_enable and config.metadata_recovery_strategy != "none"
        )
        self._connection_config = ConnectionConfig(
            connection_setup_timeout_ms=config.socket_connection_setup_timeout_ms,
            request_timeout_ms=config.request_timeout_ms,
            send_buffer_bytes=config.send_buffer_bytes,
            receive_buffer_bytes=config.receive_buffer_bytes,
            max_in_flight=max_in_flight,
            connector=config.connect,
            max_versions=config.max_version_by_key,
            security=config.security(clock),
        )
        self._had_answer = False
        self._frame_pool = FrameBufferPool()
        self._connections: dict[LaneKey, NodeConnection] = {}
        self.free_connections: dict[LaneKey, NodeConnection] = {}
        """The connections whose lane has no gate and no throttle. Always the same object."""
        self.own_lanes: dict[Lane, OwnLane] = {}
        """None: the lanes of this pool are those of its client."""
        self._gates: dict[LaneKey, _Gate] = {}
        self._leaving: dict[NodeConnection, None] = {}  # in the order of their ends
        self._sweep_timer: TimerHandle | None = None
        self._keeper: OwnedTask | None = None

    def start(self, owner: TaskOwner) -> None:
        """Allow connections. Their tasks are children of `owner` and end with it."""
        self._owner = owner
        self._keeper = owner.spawn("connections", self._keep)

    def replace_seeds(self, endpoints: Sequence[Endpoint]) -> None:
        """Take other seeds, with node ids of their own. No connection is closed."""
        lowest_id = min(self.seeds)
        self.seeds = {
            lowest_id - index: Node(lowest_id - index, endpoint.host, endpoint.port)
            for index, endpoint in enumerate(endpoints, start=1)
        }

    def adopt(self, seed_id: int) -> None:
        """Keep the connection to a seed as that to the node which the metadata has at its address.
        It saves a second connection with its handshake, unless that has begun. Does not wait.
        """
        seed, connection = self.seeds.get(seed_id), self.free(seed_id, Lane.GENERAL)
        if seed is None or connection is None:
            return
        address = (seed.host, seed.port)
        there = [node for node in self.nodes.values() if (node.host, node.port) == address]
        if len(there) != 1:
            return
        node_id = there[0].node_id
        before, now = (seed_id, Lane.GENERAL), (node_id, Lane.GENERAL)
        if now in self._connections or now in self._gates:
            return
        del self._connections[before], self.free_connections[before]
        self._connections[now] = self.free_connections[now] = connection
        began_s = self._clock.monotonic()
        connection.becomes(node_id)
        connection.on_close = lambda closed: self._lost(node_id, Lane.GENERAL, closed, began_s)
        self.api_versions[node_id] = connection.api_versions
        self.states.ready(node_id)

    # Clients that share the connections (`guest_connections`)…

    def add_listener(self, listener: ConnectionListener) -> None:
        """Call this listener, too."""
        self._listeners.append(listener)

    def take_nodes(self, nodes: Mapping[int, Node], user: object = None) -> Mapping[int, Node]:
        """Take over the nodes of new metadata, and return those known before. `user`: whose
        metadata it is; the nodes of the others stay known.
        """
        before = self.nodes
        self._nodes_by_user.pop(user, None)
        self._nodes_by_user[user] = nodes
        self._join_nodes()
        return before

    async def part_from(
        self, listener: ConnectionListener, lanes: Collection[OwnLane], user: object
    ) -> None:
        """Forget a client: its listener, its nodes and its own lanes. Return when the sockets of
        those are closed. Cancelled: they go on closing.
        """
        if listener in self._listeners:
            self._listeners.remove(listener)
        self._nodes_by_user.pop(user, None)
        self._join_nodes()
        keys = {key for key in (*self._gates, *self._connections) if key[1] in lanes}
        tasks = [gate.task for key in keys if (gate := self._gates.get(key)) is not None]
        leaving = [each for key in keys if (each := self._connections.get(key)) is not None]
        for key in keys:
            self._close_lane(key, KafkaConnectionError("the client is closed"))
        for task in tasks:
            if task is not None:
                await task.wait()
        for connection in leaving:
            await connection.wait_closed()

    def _join_nodes(self) -> None:
        users = self._nodes_by_user.values()
        self.nodes = {node_id: node for nodes in users for node_id, node in nodes.items()}

    # The state of a lane…

    def free(self, node_id: int, lane: AnyLane) -> NodeConnection | None:
        """Return the connection if it can take a request now, otherwise None: use `acquire`."""
        connection = self.free_connections.get((node_id, lane))
        return connection if connection is not None and connection.is_open else None

    def connected(self, node_id: int, lane: AnyLane) -> NodeConnection | None:
        """Return the connection if it is open, even if it is throttled."""
        connection = self._connections.get((node_id, lane))
        return connection if connection is not None and connection.is_open else None

    def is_connecting(self, node_id: int, lane: AnyLane) -> bool:
        """Whether a connection is being made now. Waiting for the backoff does not count."""
        gate = self._gates.get((node_id, lane))
        return gate is not None and gate.connection is not None

    def silence(self, node_id: int, lane: AnyLane) -> str | None:
        """Return what the handshake of the lane waits for; None: there is none, or no TCP yet."""
        gate = self._gates.get((node_id, lane))
        return None if gate is None or gate.connection is None else gate.connection.silence

    def waits_for_credentials(self, node_id: int, lane: AnyLane) -> bool:
        """Say whether the handshake of the lane waits for the client's own credentials."""
        gate = self._gates.get((node_id, lane))
        connection = None if gate is None else gate.connection
        return connection is not None and connection.waits_for_credentials

    def mute_left(self, node_id: int, lane: AnyLane, now_s: float) -> float:
        """Return the seconds until a throttle of the lane is over; 0: there is none."""
        return self.states.mute_left(node_id, lane, now_s)

    def ready_delay(self, node_id: int, lane: AnyLane) -> float:
        """Return the seconds of throttle or backoff that `acquire` would wait for; 0: none."""
        now_s = self._clock.monotonic()
        delay_s = self.states.mute_left(node_id, lane, now_s)
        if self.connected(node_id, lane) is None and not self.is_connecting(node_id, lane):
            delay_s = max(delay_s, self.states.backoff_left(node_id, now_s))
        return delay_s

    def usage(self) -> tuple[int, int]:
        """Return how many connections are open, and how many requests on them have no response."""
        connections = (*self._connections.values(),)
        return len(connections), sum(each.in_flight for each in connections)

    # Getting a connection…

    async def acquire(self, node_id: int, lane: AnyLane, timeout_s: float) -> NodeConnection:
        """Return an open connection of a lane that is not throttled; connect if there is none.

        Callers of one lane go on in their order. Each must send its request before its next wait.

        Raises: `NodeNotReadyError` when the node is unknown, or not ready within `timeout_s`;
        `KafkaConnectionError` and other errors of `NodeConnection.open`.
        Cancelled: a connect that has begun goes on.
        """
        delay_s = self.ready_delay(node_id, lane)
        if delay_s > timeout_s:
            raise self._not_ready(node_id, lane, timeout_s, f"it may be asked in {delay_s:.3f} s")
        gate = self._gates.get((node_id, lane)) or self._new_gate(node_id, lane)
        waiter: asyncio.Future[_Outcome] = asyncio.get_running_loop().create_future()
        gate.waiters.append(waiter)
        try:
            async with deadline(self._clock, timeout_s):
                outcome = await waiter
        except TimeoutError as error:
            silence = self.silence(node_id, lane)
            state = "it is being connected" + (f": {silence}" if silence else "")
            raise self._not_ready(node_id, lane, timeout_s, state) from error
        finally:
            if waiter in gate.waiters:
                gate.waiters.remove(waiter)
        if isinstance(outcome, KafkaError):
            # Each caller raises a copy: a shared error would collect the tracebacks of all.
            raise copy.copy(outcome) from outcome
        return outcome

    def prepare(self, node_id: int, lane: AnyLane) -> None:
        """Begin a connection that will be needed soon, unless the node has failed. Does not wait.

        A failure is told to nobody. A request that needs the connection tries again.
        """
        key = (node_id, lane)
        if key in self._gates or self.connected(node_id, lane) is not None:
            return
        if self._node(node_id) is not None and self.ready_delay(node_id, lane) <= 0:
            self._new_gate(node_id, lane)

    def mute(self, node_id: int, lane: AnyLane, until_s: float) -> None:
        """Hold back the requests of this lane until `until_s` (KIP-219)."""
        self.states.mute(node_id, lane, until_s)
        self.free_connections.pop((node_id, lane), None)

    def check_running(self) -> TaskOwner:
        """Return the owner of the tasks.

        Raises: `KafkaConnectionError` unless the client runs; `KafkaError` if a background task has
        failed.
        """
        if self._owner is not None:
            self._owner.check()
        if self._owner is None or self._owner.state is not OwnerState.RUNNING:
            raise KafkaConnectionError("the client is closed, or was never started")
        return self._owner

    def _new_gate(self, node_id: int, lane: AnyLane) -> _Gate:
        owner = self.check_running()
        if self._node(node_id) is None:
            raise NodeNotReadyError(f"node {node_id} is not in the cluster's metadata")
        made = _Gate()
        gate = self._gates.setdefault((node_id, lane), made)
        if gate is not made:
            return gate  # a call in the middle was first
        name = f"connect[{node_id}, {lane.value}]"
        gate.task = owner.spawn(name, self._run_gate, node_id, lane, gate)
        return gate

    async def _run_gate(self, node_id: int, lane: AnyLane, gate: _Gate) -> None:
        key = (node_id, lane)
        try:
            connection = await self._usable_connection(node_id, lane, gate)
            while gate.waiters:
                gate.release(connection)
                await asyncio.sleep(0)  # the callers send; those that came meanwhile are next
            is_muted = self.states.mute_left(node_id, lane, self._clock.monotonic()) > 0
            if self._gates.get(key) is gate and connection.is_open and not is_muted:
                self.free_connections[key] = connection
        except KafkaError as error:
            gate.release(error)
        finally:
            if self._gates.get(key) is gate:
                del self._gates[key]
            gate.release(KafkaConnectionError("the client is closed"))  # for callers that are left

    async def _usable_connection(self, node_id: int, lane: AnyLane, gate: _Gate) -> NodeConnection:
        while True:
            muted_s = self.states.mute_left(node_id, lane, self._clock.monotonic())
            connection = self.connected(node_id, lane)
            if muted_s:
                await self._clock.sleep(muted_s)
            elif connection is None:
                await self._connect(node_id, lane, gate)
            else:
                return connection

    async def _connect(self, node_id: int, lane: AnyLane, gate: _Gate) -> None:
        await self._wait_out_backoff(node_id)
        node = self._node(node_id)
        if node is None:
            raise NodeNotReadyError(f"node {node_id} has left the cluster's metadata")
        began_s = self._clock.monotonic()
        connection = self._new_connection(node, lane, began_s)
        gate.connection = connection
        try:
            await connection.open()
        except RebootstrapRequiredError as error:
            misrouted = _misrouted(connection.name, error)
            known = self.states.last_error(node_id)  # warn once, not at each attempt
            is_news = known is None or known.args != misrouted.args
            level = logging.WARNING if is_news else logging.DEBUG
            logger.log(level, "%s: %s", self._client_id, misrouted.args[0])
            self.states.failed(node_id, began_s, self._clock.monotonic(), misrouted)
            self._observer.failed("connect", misrouted)
            for listener in tuple(self._listeners):
                listener.on_misrouted()
            self._report_trouble(node_id)
            raise misrouted from error
        except KafkaError as error:
            self.states.failed(node_id, began_s, self._clock.monotonic(), error)
            self._observer.failed("connect", error)
            self._report_trouble(node_id)
            raise
        finally:
            gate.connection = None
            if not connection.is_open:
                self._see_off(connection)
        self.states.ready(node_id)
        self._connections[node_id, lane] = connection
        self.api_versions[node_id] = connection.api_versions
        self._observer.connected(node_id, self._clock.monotonic() - began_s)
        self._schedule_sweep()
        for listener in tuple(self._listeners):
            listener.on_connected()

    def _new_connection(self, node: Node, lane: AnyLane, began_s: float) -> NodeConnection:
        setup_timeout_s = self.states.connecting(node.node_id, began_s)
        if isinstance(lane, OwnLane):
            client_id, observer, most = lane.client_id, lane.observer, lane.max_answer_bytes
        else:
            client_id, observer = self._client_id, self._observer
            most = self._max_answer_bytes(lane)
        return NodeConnection(
            Endpoint(node.host, node.port),
            node_id=node.node_id if node.node_id >= 0 else None,
            cluster_id=self.cluster_id if self._checks_cluster else None,
            client_id=client_id,
            clock=self._clock,
            config=replace(
                self._connection_config,
                connection_setup_timeout_ms=round(setup_timeout_s * 1000),
                max_frame_bytes=most,
            ),
            frame_pool=self._frame_pool,
            observer=observer,
            spawn=self._spawn,
            rng=self._rng,
            on_close=lambda closed: self._lost(node.node_id, lane, closed, began_s),
            was_served=self._was_served,
        )

    def _was_served(self) -> bool:
        """Say whether a node has answered a request of this client, on any connection."""
        return self._had_answer or any(
            each.has_answered for each in list(self._connections.values())
        )

    async def _wait_out_backoff(self, node_id: int) -> None:
        """Wait until the node may be connected to.

        Raises: the error of an attempt of another lane that failed meanwhile. It concerns this lane
        too. Otherwise the retries of other lanes could postpone this one until its callers time
        out.
        """
        known = self.states.last_failure(node_id)
        while backoff_s := self.states.backoff_left(node_id, self._clock.monotonic()):
            await self._clock.sleep(backoff_s)
            error = self.states.last_error(node_id)
            if isinstance(error, KafkaError) and self.states.last_failure(node_id) > known:
                raise copy.copy(error) from error

    def _node(self, node_id: int) -> Node | None:
        return self.nodes.get(node_id) or self.seeds.get(node_id)

    def _not_ready(
        self, node_id: int, lane: AnyLane, timeout_s: float, state: str
    ) -> NodeNotReadyError:
        node = self._node(node_id)
        at = f" at {Endpoint(node.host, node.port)}" if node is not None else ""
        error = self.states.last_error(node_id)
        because = f"; last failure: {reason_of(error)}" if error is not None else ""
        return NodeNotReadyError(
            f"node {node_id}{at} (lane {lane.value}) is not ready within {timeout_s:.3f} s: "
            f"{state}{because}"
        )

    # Closing…

    def disconnect(self, node_ids: Iterable[int], cause: KafkaError) -> None:
        """Close all connections to these nodes, stop connects to them, and forget their failures.

        Requests without a response, and callers at the gates, fail with `cause`. Does not wait.
        """
        for node_id in node_ids:
            keys = dict.fromkeys((*self._gates, *self._connections, *self.free_connections))
            for key in keys:
                if key[0] == node_id:
                    self._close_lane(key, cause)
            self.states.forget(node_id)
            self.api_versions.pop(node_id, None)

    def _close_lane(self, key: LaneKey, cause: KafkaError) -> None:
        gate = self._gates.pop(key, None)
        if gate is not None and gate.task is not None:
            gate.release(cause)
            gate.task.cancel()
        self.free_connections.pop(key, None)
        connection = self._connections.pop(key, None)
        if connection is not None:
            self._let_go(connection, cause)

    async def close(self) -> None:
        """Close every connection, and return when their sockets are closed.

        May be repeated, and `start` may follow. Cancelled: the connections go on closing.
        """
        keeper, self._keeper, self._owner = self._keeper, None, None
        if keeper is not None:
            keeper.cancel()
            await keeper.wait()
        await self._close_all()

    async def _keep(self) -> None:
        # This task is the first child of its owner, and so the last to end. So no socket stays open
        # when the owner ends, even if the client was dropped without close().
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            await self._close_all()

    async def _close_all(self) -> None:
        if self._sweep_timer is not None:
            self._sweep_timer.cancel()
            self._sweep_timer = None
        self._nodes_by_user.clear()
        self._join_nodes()
        tasks = [gate.task for gate in list(self._gates.values())]
        node_ids = {node_id for node_id, _ in (*self._connections, *self._gates)}
        self.disconnect(node_ids, KafkaConnectionError("the client is closed"))
        for task in tasks:
            if task is not None:
                await task.wait()
        for connection in list(self._leaving):
            await self._wait_closed(connection)

    def _lost(
        self, node_id: int, lane: AnyLane, connection: NodeConnection, began_s: float
    ) -> None:
        key = (node_id, lane)
        if self._connections.get(key) is not connection:
            return  # the pool closed it
        del self._connections[key]
        self.free_connections.pop(key, None)
        cause = connection.cause or KafkaConnectionError("the connection was closed")
        logger.debug("node %d, lane %s: connection lost: %s", node_id, lane.value, cause)
        self.states.failed(node_id, began_s, self._clock.monotonic(), cause)
        self._observer.disconnected(node_id)
        self._see_off(connection)
        self._report_trouble(node_id)

    def _report_trouble(self, node_id: int) -> None:
        if node_id in self.nodes:
            for listener in tuple(self._listeners):
                listener.on_trouble()

    def _let_go(self, connection: NodeConnection, cause: KafkaError) -> None:
        connection.close(cause)
        self._see_off(connection)

    def _see_off(self, connection: NodeConnection) -> None:
        """Remember a closed connection until its socket is closed, because `close` waits for it."""
        self._had_answer = self._had_answer or connection.has_answered
        self._leaving[connection] = None
        self._spawn("farewell", lambda: self._wait_closed(connection))

    def _spawn(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> OwnedTask | None:
        """Start a child task; return None if the client is about to end."""
        owner = self._owner
        if owner is None or owner.state is not OwnerState.RUNNING or owner.failure is not None:
            return None
        return owner.spawn(name, work)

    async def _wait_closed(self, connection: NodeConnection) -> None:
        await connection.wait_closed()
        self._leaving.pop(connection, None)

    def _schedule_sweep(self) -> None:
        if self._max_idle_s is None or self._sweep_timer is not None or not self._connections:
            return
        now_s = self._clock.monotonic()
        oldest_s = min(
            now_s if connection.in_flight else connection.last_used_s
            for connection in list(self._connections.values())
        )
        self._sweep_timer = self._clock.call_at(oldest_s + self._max_idle_s, self._sweep)

    def _sweep(self) -> None:
        """Close the connections that were idle for connections_max_idle_ms; one timer for all."""
        self._sweep_timer = None
        assert self._max_idle_s is not None
        now_s = self._clock.monotonic()
        for key, connection in self._connections.copy().items():
            if now_s - connection.last_used_s >= self._max_idle_s and not connection.in_flight:
                del self._connections[key]
                self.free_connections.pop(key, None)
                idle = f"node {key[0]}, lane {key[1].value}: idle for {self._max_idle_s:g} s"
                logger.debug("%s", idle)
                self._let_go(connection, KafkaConnectionError(idle))
        self._schedule_sweep()


def _misrouted(name: str, error: RebootstrapRequiredError) -> KafkaConnectionError:
    """Return the error for the callers. It is retriable, as for a node that cannot be reached."""
    return KafkaConnectionError(
        f"cannot connect to {name}: another node, or one of another cluster, answers there "
        f"({error.message}); bootstrap_servers are asked for the cluster's addresses"
    )


__all__ = ["ConnectionListener", "ConnectionPool"]
