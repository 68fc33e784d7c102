"""The embedded broker's public class: a small Kafka cluster inside the process, for tests and
demos.

Owns starting and stopping, and what a test may do to the cluster from outside. `handlers/` computes
a node's responses, `state/` holds the cluster's state, `faults.py` injects faults. Nodes have the
ids 1 to N. Partitions get their leaders from the nodes in turn. A partition has up to three
replicas, which share one log: replication takes no time.
"""

import asyncio
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.concurrency.task_owner import TaskOwner
from aiokafka_lite.errors import IllegalStateError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.options.constructor import check_names, declare_options
from aiokafka_lite.testing.broker.broker_thread import BrokerThread
from aiokafka_lite.testing.broker.faults import Faults
from aiokafka_lite.testing.broker.handler import NodeContext
from aiokafka_lite.testing.broker.request_log import (
    ReceivedRequest,
    RequestLog,
    RequestT,
)
from aiokafka_lite.testing.broker.router import Router
from aiokafka_lite.testing.broker.server import NodeServer
from aiokafka_lite.testing.broker.state.broker_options import BrokerOptions
from aiokafka_lite.testing.broker.state.cluster_state import (
    BrokerNode,
    ClusterState,
    PartitionState,
)
from aiokafka_lite.testing.broker.state.groups.group_coordinators import GroupCoordinators
from aiokafka_lite.testing.broker.state.groups.group_view import GroupView
from aiokafka_lite.testing.broker.state.log.fetch_sessions import FetchSessionCache
from aiokafka_lite.testing.broker.state.log.partition_log import PartitionLog
from aiokafka_lite.testing.broker.state.transactions.txn_coordinator import TransactionCoordinator
from aiokafka_lite.testing.broker.state.transactions.txn_view import TransactionView

if TYPE_CHECKING:
    from typing import Unpack

    from aiokafka_lite.testing.broker.embedded_broker_options import EmbeddedBrokerOptions

T = TypeVar("T")
_CONNECTABLE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared with, not bound


class EmbeddedBroker:
    """A Kafka cluster of 1 to N nodes on 127.0.0.1 that uses the real wire protocol.

        async with EmbeddedBroker() as broker:
            producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers)

    For clients that block, it runs in a thread: `with EmbeddedBroker.threaded() as broker`. Then
    all methods may be called from any thread. In the first form, call them only from the broker's
    loop.

    Not supported: groups of the newer kinds (KIP-848, KIP-932, KIP-1071), the admin APIs of groups
    and transactions, SASL and TLS. Offsets and transactional ids never expire. Data lives in
    limited memory. Each partition keeps at most `log_retention_bytes`, or its topic's
    retention.bytes if that is less. The newest batch always stays.
    """

    def __init__(
        self,
        nodes: int = 1,
        *,
        clock: Clock = SYSTEM_CLOCK,
        rng: random.Random | None = None,
        **options: "Unpack[EmbeddedBrokerOptions]",
    ) -> None:
        """Describe a cluster of `nodes`, 1 to 100 of them with ids from 1; it listens once started.

        The class's help and docs/options.md describe the options; `clock` and `rng` are for tests.

        Raises: ValueError naming all options out of range.
        """
        check_names(self, EmbeddedBroker.__init__, BrokerOptions, options)
        chosen = BrokerOptions(**options)
        chosen.check(nodes)
        self._rng = rng or random.Random()
        self._clock = clock
        self._options = chosen
        advertised_host = _CONNECTABLE.get(chosen.host, chosen.host)
        members = [
            BrokerNode(
                node_id=i + 1,
                host=advertised_host,
                port=chosen.port + i if chosen.port else 0,
                rack=chosen.racks[i] if chosen.racks else None,
            )
            for i in range(nodes)
        ]
        self.faults = Faults()
        """Injects faults: `fail`, `cut`, `drop`, `delay`, `stall`, `throttle`, `corrupt`."""
        self._cluster = ClusterState(members, chosen, self._rng)
        self._groups = GroupCoordinators(
            self._cluster, chosen, clock, self._rng, on_change=self._something_happened
        )
        self._transactions = TransactionCoordinator(
            self._cluster, self._groups, chosen, clock, on_change=self._something_happened
        )
        self._request_log = RequestLog(chosen.max_logged_requests)
        self._router = Router(
            self.faults, self._log_request, max_versions=chosen.max_versions or {}
        )
        self._owner: TaskOwner | None = None
        self._servers: dict[int, NodeServer] = {}
        self._crash: Exception | None = None
        self._waiters: list[tuple[Callable[[], bool], asyncio.Future[None]]] = []
        self._thread: BrokerThread | None = None

    @classmethod
    @contextmanager
    def threaded(
        cls,
        nodes: int = 1,
        *,
        loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None,
        clock: Clock = SYSTEM_CLOCK,
        rng: random.Random | None = None,
        **options: "Unpack[EmbeddedBrokerOptions]",
    ) -> Iterator[Self]:
        """Run a broker in its own thread during a with block; options as the constructor's.

        `loop_factory` makes the thread's event loop, such as `uvloop.new_event_loop`.
        """
        broker = cls(nodes, clock=clock, rng=rng, **options)
        thread = BrokerThread(broker, loop_factory)
        thread.start()
        broker._thread = thread
        broker.faults.run_in(thread.call)
        try:
            yield broker
        finally:
            thread.stop()

    # Starting and stopping…

    async def start(self) -> Self:
        """Listen on every node's port; clients may connect when this returns.

        Raises: OSError if a port is taken; IllegalStateError on a second start.
        """
        if self._owner is not None:
            raise IllegalStateError("an EmbeddedBroker starts once; make a new one")
        self._owner = TaskOwner("embedded broker", clock=self._clock)
        await self._owner.start()
        served = self._router.advertised_versions()
        try:
            for node in self._cluster.nodes.values():
                sessions = FetchSessionCache(self._options.fetch_session_slots, self._rng)
                server = NodeServer(
                    NodeContext(
                        node,
                        self._cluster,
                        sessions,
                        self._clock,
                        served,
                        self._groups,
                        self._transactions,
                    ),
                    self._router,
                    self._owner,
                    listen_host=self._options.host,
                    on_answer=self._something_happened,
                    on_crash=self._remember_crash,
                )
                self._servers[node.node_id] = server
                server.start()
            for server in self._servers.values():
                await server.wait_serving()
        except BaseException:
            await self.stop()
            raise
        return self

    async def stop(self) -> None:
        """Close every listener and connection, and end every task. Idempotent.

        Raises: the first error of a handler, because the broker itself then has a fault.
        """
        self.faults.clear()
        self._groups.close()
        self._transactions.close()
        for server in self._servers.values():
            server.stop()
            server.release_port()
        if self._owner is not None:
            await self._owner.close()
        for server in self._servers.values():
            await server.wait_stopped()
        crash, self._crash = self._crash, None
        if crash is not None:
            raise crash

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.stop()

    def __repr__(self) -> str:
        return f"<EmbeddedBroker {self.bootstrap_servers}>"

    @property
    def bootstrap_servers(self) -> str:
        """The nodes' addresses, "host:port,host:port", stopped nodes included."""
        return ",".join(
            f"[{node.host}]:{node.port}" if ":" in node.host else f"{node.host}:{node.port}"
            for node in self._cluster.nodes.values()
        )

    @property
    def cluster(self) -> ClusterState:
        """The cluster's state: nodes, topics, partitions.

        Read it only; methods of this class change it.
        """
        return self._cluster

    # Topics and data…

    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        *,
        replication_factor: int = -1,
        configs: Mapping[str, str | int] | None = None,
    ) -> None:
        """Create a topic; `configs` as {"message.timestamp.type": "LogAppendTime"}.

        Raises: Kafka's error for the request: TopicAlreadyExistsError, InvalidTopicError, …
        """
        settings = {key: str(value) for key, value in (configs or {}).items()}

        def create() -> None:
            topic = self._cluster.new_topic(
                name,
                num_partitions=partitions,
                replication_factor=replication_factor,
                settings=settings,
            )
            self._cluster.add_topic(topic)

        self._call(create)

    def delete_topic(self, name: str) -> None:
        """Delete a topic with its data. A new topic of that name gets another topic id."""
        self._call(lambda: self._cluster.delete_topic(name))

    def log(self, topic_partition: TopicPartition | tuple[str, int]) -> PartitionLog:
        """Return the log of a partition, for asserts: `records()`, `high_watermark`, …"""
        return self._partition(topic_partition).log

    def append(
        self,
        topic_partition: TopicPartition | tuple[str, int],
        records: bytes | bytearray | memoryview,
        *,
        keep_offsets: bool = False,
    ) -> int:
        """Append raw batches, unchecked, and wake waiting fetches; return the base offset.

        Control batches and transactional batches are allowed. Otherwise as `PartitionLog.append`.
        """
        partition = self._partition(topic_partition)
        base_offset = self._call(lambda: partition.append(records, keep_offsets=keep_offsets))
        self._call(self._something_happened)
        return base_offset

    def delete_records(
        self, topic_partition: TopicPartition | tuple[str, int], before_offset: int
    ) -> None:
        """Move the start of a partition's log up to `before_offset`."""
        self._call(lambda: self._partition(topic_partition).log.delete_records(before_offset))

    def _partition(self, topic_partition: TopicPartition | tuple[str, int]) -> PartitionState:
        return self._cluster.partition(TopicPartition(*topic_partition))

    # Nodes and leaders…

    def leader(self, topic_partition: TopicPartition | tuple[str, int]) -> int:
        """Return the id of the partition's leading node; -1 without a leader."""
        return self._partition(topic_partition).leader

    def move_leader(self, topic_partition: TopicPartition | tuple[str, int], node_id: int) -> None:
        """Make another node the leader of the partition, in a new leader epoch."""
        self._call(lambda: self._cluster.move_leader(TopicPartition(*topic_partition), node_id))

    def stop_node(self, node_id: int) -> None:
        """Kill a node: connections drop, its port refuses, other nodes lead and coordinate for
        it.
        """

        def stop() -> None:
            self._cluster.set_alive(node_id, is_alive=False)
            self._server(node_id).stop()

        self._call(stop)

    def start_node(self, node_id: int) -> None:
        """Start a stopped node again, on the same port. Harmless while it runs.

        Raises: OSError if the port was taken meanwhile, which cannot happen on Linux.
        """

        def start() -> None:
            if not self._cluster.node(node_id).is_alive:
                self._server(node_id).start()
                self._cluster.set_alive(node_id, is_alive=True)

        self._call(start)

    def drop_connections(self, node_id: int | None = None) -> None:
        """Close every connection (of one node), like a network failure."""

        def drop() -> None:
            for server in self._servers.values():
                if node_id in (None, server.context.node.node_id):
                    server.drop_connections()

        self._call(drop)

    # Groups…

    def group(self, group_id: str) -> GroupView:
        """Return a group's present state, members and offsets. An unknown group is DEAD."""
        return self._call(lambda: self._groups.view(group_id))

    def move_coordinator(self, group_id: str, node_id: int | None) -> None:
        """Make another node the group's coordinator; the former one answers NOT_COORDINATOR.

        The group keeps its offsets and its last stable generation. Members that wait for a
        rebalance join anew. None: no node coordinates it until it is moved again or a node starts.
        """

        def move() -> None:
            self._groups.nodes.move(group_id, node_id)
            self._something_happened()

        self._call(move)

    # Transactions…

    def transaction(self, transactional_id: str) -> TransactionView:
        """Return a transactional id's present state, producer id, epoch, partitions and groups.

        An unknown one is DEAD.
        """
        return self._call(lambda: self._transactions.view(transactional_id))

    def move_transaction_coordinator(self, transactional_id: str, node_id: int | None) -> None:
        """Make another node the transactional id's coordinator; the former one answers
        NOT_COORDINATOR.

        An open transaction continues. None: no node coordinates it until it is moved again or a
        node starts.
        """

        def move() -> None:
            self._transactions.nodes.move(transactional_id, node_id)
            self._something_happened()

        self._call(move)

    def hold_transaction_markers(self) -> None:
        """Withhold the markers of transactions that end from now on.

        They stay in PrepareCommit or PrepareAbort, as in a real cluster for a moment:
        CONCURRENT_TRANSACTIONS. Without this, the response to EndTxn comes after all markers are
        written. Apache Kafka lets a Produce of transactions V2 wait up to 100 ms for them. This
        broker answers it at once.
        """
        self._call(self._transactions.markers.hold)

    def release_transaction_markers(self) -> None:
        """Write the withheld markers; later markers are written at once again."""

        def release() -> None:
            self._transactions.markers.release()
            self._something_happened()

        self._call(release)

    def _server(self, node_id: int) -> NodeServer:
        self._cluster.node(node_id)
        if node_id not in self._servers:
            raise IllegalStateError("the broker is not running; enter it first")
        return self._servers[node_id]

    # The clients' requests…

    @property
    def requests(self) -> list[ReceivedRequest]:
        """The newest requests, oldest first; limited by `max_logged_requests` and 16 MiB."""
        return self._call(lambda: list(self._request_log))

    def requests_of(self, request_type: type[RequestT]) -> list[RequestT]:
        """Return the recorded requests of one API, oldest first."""
        return self._call(lambda: self._request_log.of_type(request_type))

    def forget_requests(self) -> None:
        """Clear `requests`."""
        self._call(self._request_log.clear)

    async def wait_until(self, condition: Callable[[], bool], timeout_s: float = 30.0) -> None:
        """Wait until `condition()` is true.

        It is checked after each request, response, `append` and change of a group. Raises:
        TimeoutError after `timeout_s` seconds of real time, not the broker's clock. Cancelled:
        leaves nothing behind.
        """
        waiting = self._wait_until(condition, timeout_s)
        await (waiting if self._thread is None else self._thread.run(waiting))

    async def _wait_until(self, condition: Callable[[], bool], timeout_s: float) -> None:
        if condition():
            return
        entry = (condition, asyncio.get_running_loop().create_future())
        self._waiters.append(entry)
        try:
            async with asyncio.timeout(timeout_s):
                await entry[1]
        except TimeoutError:
            newest = [type(received.request).__name__ for received in self._request_log][-10:]
            raise TimeoutError(
                f"waited {timeout_s} s in vain; the newest requests are {newest}"
            ) from None
        finally:
            self._waiters.remove(entry)

    def _something_happened(self) -> None:
        for condition, waiter in self._waiters:
            if not waiter.done() and condition():
                waiter.set_result(None)

    def _log_request(self, received: ReceivedRequest, size_in_bytes: int) -> None:
        self._request_log.append(received, size_in_bytes)
        self._something_happened()

    def _remember_crash(self, error: Exception) -> None:
        self._crash = self._crash or error

    def _call(self, function: Callable[[], T]) -> T:
        return function() if self._thread is None else self._thread.call(function)


declare_options(EmbeddedBroker, BrokerOptions)

__all__ = ["EmbeddedBroker"]
