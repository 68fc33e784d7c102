"""The connections of a client that shares those of another one.

Requests that brokers answer at once go over the shared connections. Those that a broker may hold
back have connections of their own, or one client would wait for the other. Only the coroutines
wait.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.cluster.connection_pool import ConnectionListener, ConnectionPool
from aiokafka_lite.cluster.lane import AnyLane, Lane, OwnLane
from aiokafka_lite.cluster.node_states import NodeStates
from aiokafka_lite.concurrency.task_owner import TaskOwner
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.metrics.observer import Observer
from aiokafka_lite.model import Node
from aiokafka_lite.net.endpoint import Endpoint
from aiokafka_lite.net.node_connection import NodeConnection
from aiokafka_lite.protocol.versions import NodeApiVersions

_HELD_BACK = (Lane.FETCH, Lane.COORDINATOR)


class GuestConnections:
    """What a `NetworkClient` needs of a `ConnectionPool`, over the pool of another client.

    The tasks of all connections belong to the owner of the pool. The callbacks are those of
    `ConnectionPool`.
    """

    def __init__(
        self,
        pool: ConnectionPool,
        config: ClientConfig,
        *,
        on_trouble: Callable[[], object],
        on_misrouted: Callable[[], object],
        on_connected: Callable[[], object],
        observer: Observer,
    ) -> None:
        self._pool = pool
        self._listener = ConnectionListener(on_trouble, on_misrouted, on_connected)
        self.free_connections = pool.free_connections
        """As `ConnectionPool.free_connections`."""
        self.own_lanes = {
            lane: OwnLane(
                f"{lane.value} of {config.client_id}",
                config.client_id,
                config.max_answer_bytes(lane),
                observer,
            )
            for lane in _HELD_BACK
        }
        """The lanes that this client does not share."""

    def _of(self, lane: Lane) -> AnyLane:
        return self.own_lanes.get(lane, lane)

    @property
    def nodes(self) -> Mapping[int, Node]:
        """As `ConnectionPool.nodes`."""
        return self._pool.nodes

    @property
    def seeds(self) -> Mapping[int, Node]:
        """As `ConnectionPool.seeds`."""
        return self._pool.seeds

    @property
    def cluster_id(self) -> str | None:
        """As `ConnectionPool.cluster_id`."""
        return self._pool.cluster_id

    @cluster_id.setter
    def cluster_id(self, cluster_id: str | None) -> None:
        self._pool.cluster_id = cluster_id

    @property
    def states(self) -> NodeStates:
        """As `ConnectionPool.states`."""
        return self._pool.states

    @property
    def api_versions(self) -> dict[int, NodeApiVersions]:
        """As `ConnectionPool.api_versions`."""
        return self._pool.api_versions

    def start(self, owner: TaskOwner) -> None:  # noqa: ARG002 - the pool's owner has the tasks
        """Hear of connections that come and go.

        Raises: KafkaConnectionError unless the client runs whose connections these are.
        """
        self._pool.check_running()
        self._pool.add_listener(self._listener)

    async def close(self) -> None:
        """Close this client's own lanes, and return when their sockets are closed. Cancelled: they
        go on closing.
        """
        await self._pool.part_from(self._listener, list(self.own_lanes.values()), self)

    def take_nodes(self, nodes: Mapping[int, Node]) -> Mapping[int, Node]:
        """As `ConnectionPool.take_nodes`."""
        return self._pool.take_nodes(nodes, self)

    def replace_seeds(self, endpoints: Sequence[Endpoint]) -> None:
        """As `ConnectionPool.replace_seeds`, for all that share the connections."""
        self._pool.replace_seeds(endpoints)

    def adopt(self, seed_id: int) -> None:
        """As `ConnectionPool.adopt`, for all that share the connections."""
        self._pool.adopt(seed_id)

    def check_running(self) -> TaskOwner:
        """As `ConnectionPool.check_running`."""
        return self._pool.check_running()

    def free(self, node_id: int, lane: Lane) -> NodeConnection | None:
        """As `ConnectionPool.free`."""
        return self._pool.free(node_id, self._of(lane))

    def connected(self, node_id: int, lane: Lane) -> NodeConnection | None:
        """As `ConnectionPool.connected`."""
        return self._pool.connected(node_id, self._of(lane))

    def is_connecting(self, node_id: int, lane: Lane) -> bool:
        """As `ConnectionPool.is_connecting`."""
        return self._pool.is_connecting(node_id, self._of(lane))

    def silence(self, node_id: int, lane: Lane) -> str | None:
        """As `ConnectionPool.silence`."""
        return self._pool.silence(node_id, self._of(lane))

    def waits_for_credentials(self, node_id: int, lane: Lane) -> bool:
        """As `ConnectionPool.waits_for_credentials`."""
        return self._pool.waits_for_credentials(node_id, self._of(lane))

    def mute_left(self, node_id: int, lane: Lane, now_s: float) -> float:
        """As `ConnectionPool.mute_left`."""
        return self._pool.mute_left(node_id, self._of(lane), now_s)

    def ready_delay(self, node_id: int, lane: Lane) -> float:
        """As `ConnectionPool.ready_delay`."""
        return self._pool.ready_delay(node_id, self._of(lane))

    def usage(self) -> tuple[int, int]:
        """As `ConnectionPool.usage`: of all that share the connections."""
        return self._pool.usage()

    async def acquire(self, node_id: int, lane: Lane, timeout_s: float) -> NodeConnection:
        """As `ConnectionPool.acquire`."""
        return await self._pool.acquire(node_id, self._of(lane), timeout_s)

    def prepare(self, node_id: int, lane: Lane) -> None:
        """As `ConnectionPool.prepare`."""
        self._pool.prepare(node_id, self._of(lane))

    def mute(self, node_id: int, lane: Lane, until_s: float) -> None:
        """As `ConnectionPool.mute`."""
        self._pool.mute(node_id, self._of(lane), until_s)

    def disconnect(self, node_ids: Iterable[int], cause: KafkaError) -> None:
        """As `ConnectionPool.disconnect`, for all that share the connections."""
        self._pool.disconnect(node_ids, cause)


__all__ = ["GuestConnections"]
