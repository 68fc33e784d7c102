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
from aiokafka_lite.concurrency.loop_network import loop_network
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
from aiokafka_lite.testing.broker.secured_listeners import SecuredListeners
from aiokafka_lite.testing.broker.security.broker_security import BrokerSecurity
from aiokafka_lite.testing.broker.server import NodeServer
from aiokafka_lite.testing.broker.state.broker_options import BrokerOptions
from aiokafka_lite.testing.broker.state.cluster_state import (
    BrokerNode,
    BrokerPartition,
    ClusterState,
)
from aiokafka_lite.testing.broker.state.groups.group_coordinators import SHARE, GroupCoordinators
from aiokafka_lite.testing.broker.state.groups.group_view import GroupView
from aiokafka_lite.testing.broker.state.groups.share_group import ShareGroup
from aiokafka_lite.testing.broker.state.groups.share_sessions import ShareSessionCache
from aiokafka_lite.testing.broker.state.log.fetch_sessions import FetchSessionCache
from aiokafka_lite.testing.broker.state.log.log_cleaner import compact
from aiokafka_lite.testing.broker.state.log.partition_log import PartitionLog
from aiokafka_lite.testing.broker.state.log_dirs import LogDirs
from aiokafka_lite.testing.broker.state.reassignments import Reassignments
from aiokafka_lite.testing.broker.state.transactions.txn_coordinator import TxnCoordinator
from aiokafka_lite.testing.broker.state.transactions.txn_view import TransactionView
from aiokafka_lite.testing.broker.stored_records import StoredRecords

if TYPE_CHECKING:
    from typing import Unpack

    from aiokafka_lite.testing.broker.embedded_broker_options import EmbeddedBrokerOptions

T = TypeVar("T")
_RETENTION_CHECK_S = 300.0
"""Kafka's default of log.retention.check.interval.ms."""
_CONNECTABLE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared with, not bound


class EmbeddedBroker(SecuredListeners, StoredRecords):
    """A Kafka cluster of 1 to N nodes on 127.0.0.1 that uses the real wire protocol.

        async with EmbeddedBroker() as broker:
            producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers)

    For clients that block, it runs in a thread: `with EmbeddedBroker.threaded() as broker`. Then
    all methods may be called from any thread. In the first form, call them only from the broker's
    loop.

    With `security` its listeners speak TLS or SASL, and with `acls` it refuses what no rule allows:

        async with EmbeddedBroker(security="SASL_SSL", users={"alice": "secret"}) as broker:
            AIOKafkaProducer(
                bootstrap_servers=broker.bootstrap_servers, **broker.client_options("alice")
            )

    With `listeners` it has several, each at a port of its own, over the same data:

        listeners = {"INTERNAL": "PLAINTEXT", "EXTERNAL": BrokerListener("SASL_SSL")}
        async with EmbeddedBroker(listeners=listeners, users={"alice": "secret"}) as broker:
            AIOKafkaProducer(bootstrap_servers=broker.servers("INTERNAL"))
            AIOKafkaProducer(
                bootstrap_servers=broker.servers("EXTERNAL"),
                **broker.client_options("alice", listener="EXTERNAL"),
            )

    The methods of this class are not subject to ACLs, so a test sets up topics with them.

    Not supported: members of streams groups (KIP-1071), and SASL GSSAPI. Offsets and transactional
    ids never expire. Data lives in limited memory. Each partition keeps at most
    `log_retention_bytes`, or its topic's retention.bytes if that is less. The newest batch always
    stays.
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
        first_ports = chosen.first_ports()
        advertised_host = _CONNECTABLE.get(chosen.host, chosen.host)
        members = [
            BrokerNode(
                node_id=i + 1,
                host=advertised_host,
                ports={name: port and port + i for name, port in first_ports.items()},
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
        self._transactions = TxnCoordinator(
            self._cluster, self._groups, chosen, clock, on_change=self._something_happened
        )
        self._reassignments = Reassignments(self._cluster)
        self._log_dirs = LogDirs(self._cluster, chosen.log_dirs)
        self._request_log = RequestLog(chosen.max_logged_requests)
        self._router = Router(
            self.faults,
            self._log_request,
            max_versions=chosen.max_versions or {},
            has_telemetry=chosen.client_telemetry,
        )
        self._security = BrokerSecurity(chosen, {advertised_host}, clock)
        self._next_retention_s = clock.monotonic() + _RETENTION_CHECK_S
        self._owner: TaskOwner | None = None
        self._servers: list[NodeServer] = []
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
        """Listen on every node's ports; clients may connect when this returns.

        Raises: OSError if a port is taken; IllegalStateError on a second start;
        ModuleNotFoundError without trustme, if TLS needs certificates.
        """
        if self._owner is not None:
            raise IllegalStateError("an EmbeddedBroker starts once; make a new one")
        self._security.start()
        self._owner = TaskOwner("embedded broker", clock=self._clock)
        await self._owner.start()
        served = self._router.advertised_versions()
        try:
            for node in self._cluster.nodes.values():
                sessions = FetchSessionCache(self._options.fetch_session_slots, self._rng)
                context = NodeContext(
                    node,
                    self._cluster,
                    sessions,
                    self._clock,
                    served,
                    self._groups,
                    self._transactions,
                    self._reassignments,
                    self._log_dirs,
                    self._security.store,
                    ShareSessionCache(self._options.group_share_max_share_sessions),
                    SYSTEM_CLOCK if loop_network() is None else self._clock,
                )
                self._start_servers(context, self._owner)
            for server in self._servers:
                await server.wait_serving()
        except BaseException:
            await self.stop()
            raise
        return self

    def _start_servers(self, context: NodeContext, owner: TaskOwner) -> None:
        for listener in self._security.listeners.values():
            server = NodeServer(
                context,
                self._router,
                owner,
                listen_host=self._options.host,
                on_answer=self._something_happened,
                on_crash=self._remember_crash,
                listener=listener,
            )
            self._servers.append(server)
            server.start()

    async def stop(self) -> None:
        """Close every listener and connection, and end every task. Idempotent.

        Raises: the first error of a handler, because the broker itself then has a fault.
        """
        self.faults.clear()
        self._groups.close()
        self._transactions.close()
        for server in self._servers:
            server.stop()
            server.release_port()
        if self._owner is not None:
            await self._owner.close()
        for server in self._servers:
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
        if getattr(self, "_cluster", None) is None:
            return "<EmbeddedBroker, not made>"  # the constructor raised
        return f"<EmbeddedBroker {self.bootstrap_servers}>"

    @property
    def bootstrap_servers(self) -> str:
        """The nodes' addresses, "host:port,host:port", on the first listener; stopped nodes
        included.
        """
        return self.servers(next(iter(self._security.listeners)))

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

        def write() -> int:
            written_ms = int(self._clock.time() * 1000)
            return partition.append(records, written_ms=written_ms, keep_offsets=keep_offsets)

        base_offset = self._call(write)
        self._call(self._something_happened)
        return base_offset

    def delete_records(
        self, topic_partition: TopicPartition | tuple[str, int], before_offset: int
    ) -> None:
        """Move the start of a partition's log up to `before_offset`."""
        self._call(lambda: self._partition(topic_partition).log.delete_records(before_offset))

    def compact(self, topic: str) -> None:
        """Compact a topic now, as Kafka's cleaner does sooner or later to closed segments.

        Of each key the newest record stays, at its offset; there are holes, and batches with fewer
        records or none. Tombstones go with the first compaction after `delete.retention.ms`.

        Raises: UnknownTopicOrPartitionError; IllegalStateError unless the topic has
        cleanup.policy=compact.
        """

        def clean() -> None:
            found = self._cluster.topic_by_name(topic)
            if not found.config.is_compacted:
                raise IllegalStateError(f"topic {topic!r} has no cleanup.policy=compact")
            for partition in found.partitions:
                compact(partition.log, found.config, int(self._clock.time() * 1000))

        self._call(clean)

    def _partition(self, topic_partition: TopicPartition | tuple[str, int]) -> BrokerPartition:
        return self._cluster.partition(TopicPartition(*topic_partition))

    # Nodes and leaders…

    def leader(self, topic_partition: TopicPartition | tuple[str, int]) -> int:
        """Return the id of the partition's leading node; -1 without a leader."""
        return self._partition(topic_partition).leader

    def move_leader(self, topic_partition: TopicPartition | tuple[str, int], node_id: int) -> None:
        """Make another node the leader of the partition, in a new leader epoch."""
        self._call(lambda: self._cluster.move_leader(TopicPartition(*topic_partition), node_id))

    def stop_node(self, node_id: int) -> None:
        """Kill a node: connections drop, its ports refuse, other nodes lead and coordinate for
        it.
        """

        def stop() -> None:
            self._cluster.set_alive(node_id, is_alive=False)
            for server in self._servers_of(node_id):
                server.stop()

        self._call(stop)

    def start_node(self, node_id: int) -> None:
        """Start a stopped node again, on the same ports. Harmless while it runs.

        Raises: OSError if the port was taken meanwhile, which cannot happen on Linux.
        """

        def start() -> None:
            if not self._cluster.node(node_id).is_alive:
                for server in self._servers_of(node_id):
                    server.start()
                self._cluster.set_alive(node_id, is_alive=True)

        self._call(start)

    def drop_connections(self, node_id: int | None = None) -> None:
        """Close every connection (of one node), like a network failure."""

        def drop() -> None:
            for server in self._servers:
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

    def expire_share_locks(self, group_id: str) -> None:
        """Let the time of all acquired records of a share group be over, without a wait.

        They are delivered again, or archived if they were delivered often enough. A late
        acknowledgement gets INVALID_RECORD_STATE.
        """

        def expire() -> None:
            self._share_group(group_id).expire_locks()
            self._something_happened()

        self._call(expire)

    def end_share_sessions(self, group_id: str) -> None:
        """Forget the share sessions of a group on all nodes, and release what they had acquired.

        The next request of each member gets SHARE_SESSION_NOT_FOUND.
        """

        def end() -> None:
            self._share_group(group_id)
            for context in {id(each.context): each.context for each in self._servers}.values():
                for session in context.share_sessions.of(group_id=group_id):
                    context.end_share_session(session)
            self._something_happened()

        self._call(end)

    def expel_share_member(self, group_id: str, member_id: str) -> None:
        """Remove a member of a share group, as if its session had expired.

        Its next heartbeat gets UNKNOWN_MEMBER_ID. What it has acquired stays acquired. Raises:
        UnknownMemberIdError.
        """

        def expel() -> None:
            self._share_group(group_id).members.expel(member_id)
            self._something_happened()

        self._call(expel)

    def _share_group(self, group_id: str) -> ShareGroup:
        group = self._groups.find_share(group_id)
        if group is None:
            raise self._groups.not_found(group_id, SHARE)
        return group

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

    def hold_replica_moves(self) -> None:
        """Keep new replicas behind from now on: reassignments that add some, and moves between log
        directories, stay in progress.

        Without this, replication takes no time. Then only a node that is down keeps them back.
        """
        self._call(self._reassignments.hold)
        self._call(self._log_dirs.hold)

    def release_replica_moves(self) -> None:
        """Let new replicas catch up; later ones do so at once again."""
        self._call(self._reassignments.release)
        self._call(self._log_dirs.release)

    def _servers_of(self, node_id: int) -> list[NodeServer]:
        self._cluster.node(node_id)
        if not self._servers:
            raise IllegalStateError("the broker is not running; enter it first")
        return [each for each in self._servers if each.context.node.node_id == node_id]

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
        if self._clock.monotonic() >= self._next_retention_s:
            self._expire_records()
        self._something_happened()

    def _expire_records(self) -> None:
        """Look for records that retention.ms does not keep, as a real broker does now and then.

        A request sees to it, so that no timer is set.
        """
        self._next_retention_s = self._clock.monotonic() + _RETENTION_CHECK_S
        self._cluster.expire_records(int(self._clock.time() * 1000))

    def _remember_crash(self, error: Exception) -> None:
        self._crash = self._crash or error

    def _call(self, function: Callable[[], T]) -> T:
        return function() if self._thread is None else self._thread.call(function)


declare_options(EmbeddedBroker, BrokerOptions)

__all__ = ["EmbeddedBroker"]
