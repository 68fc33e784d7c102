"""Answers the reads of aiokafka's inside on our clients: small views, made at each read.

Health checks ask whether a task is done, metrics ask for positions, and frameworks poll through the
fetcher. A view holds its client and nothing else, and has the members that programs were seen to
use. The others raise, and name the public way, as `inside` has it.
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, ClassVar, Self, TypeVar

from aiokafka_lite.client import ConnectionGroup
from aiokafka_lite.cluster.cluster_metadata import NO_SNAPSHOT_YET, ClusterMetadata
from aiokafka_lite.cluster.coordinator_cache import CoordinatorType
from aiokafka_lite.cluster.lane import Lane, OwnLane
from aiokafka_lite.cluster.metadata.metadata_snapshot import merge_metadata
from aiokafka_lite.compat.client import AIOKafkaClient, client_of
from aiokafka_lite.compat.inside import complete, refused
from aiokafka_lite.compat.installation import found
from aiokafka_lite.concurrency.life import LifeState
from aiokafka_lite.consumer import offset_reset
from aiokafka_lite.model import OffsetAndMetadata, TopicPartition
from aiokafka_lite.producer.partition.partitioner import DefaultPartitioner
from aiokafka_lite.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

KindT = TypeVar("KindT", bound="View")

_NO_GENERATION = -1
_NO_MEMBER = ""
_NO_PRODUCER = -1


class View:
    """What a program reads in place of an object of aiokafka's inside."""

    path: ClassVar[str] = ""
    """Of the module of aiokafka that has its namesake."""
    _owner: Any

    @classmethod
    def of(cls, owner: Any) -> Self:
        """Return the view of a client, or of a part of it."""
        view = object.__new__(cls)
        view._owner = owner
        return view

    def __getattr__(self, name: str) -> Any:
        """Return an option of the client, such as `_session_timeout_ms`."""
        option = name.removeprefix("_")
        with suppress(AttributeError, KeyError):
            if option != name and option[:1] != "_":
                return getattr(vars(self)["_owner"]._config, option)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._owner is self._owner

    def __hash__(self) -> int:
        return id(self._owner)


def _viewed(path: str) -> Callable[[type[KindT]], type[KindT]]:
    """Return a decorator that gives a view the name of its namesake in a module of aiokafka, and
    the members that it does not have.
    """

    def decorate(kind: type[KindT]) -> type[KindT]:
        kind.path = path
        complete(kind, path)
        return kind

    return decorate


# Of a producer…


@_viewed("producer.sender")
class Sender(View):
    """What sends the batches of a producer."""

    @property
    def sender_task(self) -> "asyncio.Task[Any] | None":
        """The task above that which sends; None before the start. It is done when nothing is sent
        any more.
        """
        task: asyncio.Task[Any] | None = self._owner.kafka_client.owner._root
        return task

    _sender_task = sender_task

    @property
    def client(self) -> AIOKafkaClient:
        """The connections of the producer."""
        return client_of(self._owner)

    @property
    def _txn_manager(self) -> "TransactionManager | None":
        return _txn_manager(self._owner)

    @property
    def _message_accumulator(self) -> "MessageAccumulator":
        return MessageAccumulator.of(self._owner)

    @property
    def _acks(self) -> int:
        return int(self._owner._config.required_acks)


@_viewed("producer.message_accumulator")
class MessageAccumulator(View):
    """The batches of a producer that are not acknowledged."""

    @property
    def _batches(self) -> dict[TopicPartition, deque[Any]]:
        batches: dict[TopicPartition, deque[Any]] = defaultdict(deque)
        for batch in self._owner._engine.accumulator.incomplete:
            batches[batch.topic_partition].append(batch)
        return batches

    async def flush(self) -> None:
        """As the producer's `flush()`. Cancelled: the records are sent all the same."""
        await self._owner.flush()

    def create_builder(self) -> Any:
        """As the producer's `create_batch()`."""
        return self._owner.create_batch()

    async def add_batch(self, builder: Any, tp: TopicPartition, timeout: float) -> Any:
        """As the producer's `send_batch()`, within `timeout` seconds. Cancelled: as that."""
        async with asyncio.timeout(timeout):
            return await self._owner.send_batch(builder, tp.topic, partition=tp.partition)


@_viewed("producer.transaction_manager")
class TransactionManager(View):
    """The producer id and the transaction of a producer."""

    @property
    def transactional_id(self) -> str | None:
        """None without transactions."""
        name: str | None = self._owner._config.transactional_id
        return name

    @property
    def transaction_timeout_ms(self) -> int:
        """How long the coordinator leaves a transaction open."""
        return int(self._owner._config.transaction_timeout_ms)

    @property
    def state(self) -> Any:
        """A TransactionState of aiokafka. Without transactions it is READY, or UNINITIALIZED."""
        states = found(self.path, "TransactionState")
        transactions = self._owner._engine.transactions
        if transactions is None:
            return states.READY if self.has_pid() else states.UNINITIALIZED
        name = {
            "COMMITTING": "COMMITTING_TRANSACTION",
            "ABORTING": "ABORTING_TRANSACTION",
            "INITIALIZING": "UNINITIALIZED",
        }
        own = transactions.status.state.name
        return states[name.get(own, own)]

    @property
    def producer_id(self) -> int:
        """The id that brokers know the producer by; -1 before it has one."""
        return int(self._ids[0])

    @property
    def producer_epoch(self) -> int:
        """Goes up when another producer takes over the id; -1 before there is one."""
        return int(self._ids[1])

    @property
    def _ids(self) -> Any:
        ids = self._owner._engine.sequences.producer
        return found(self.path, "PidAndEpoch")(ids.producer_id, ids.epoch)

    _pid_and_epoch = _ids

    def has_pid(self) -> bool:
        """Say whether the producer has an id."""
        return self.producer_id != _NO_PRODUCER

    def is_in_transaction(self) -> bool:
        """Say whether a transaction is open."""
        return bool(self.state.name == "IN_TRANSACTION")

    def is_fatal_error(self) -> bool:
        """Say whether only a new producer goes on."""
        return bool(self.state.name == "FATAL_ERROR")

    @property
    def txn_partitions(self) -> set[TopicPartition]:
        """The partitions of the open transaction."""
        transactions = self._owner._engine.transactions
        return set() if transactions is None else set(transactions._scope.partitions)

    def is_empty_transaction(self) -> bool:
        """Say whether the transaction has no partition."""
        return not self.txn_partitions


def _txn_manager(producer: Any) -> TransactionManager | None:
    if producer._engine.sequences is None:
        return None
    return TransactionManager.of(producer)


def _partitioner(producer: Any) -> Any:
    chosen = producer._config.partitioner
    return chosen if callable(chosen) else DefaultPartitioner()


# Of a consumer…


class _WithTasks(View):
    @property
    def _engine(self) -> Any:
        return self._owner._engine

    @property
    def _task(self) -> "asyncio.Task[Any] | None":
        """The task above all others of the client. It is done when the client has ended."""
        task: asyncio.Task[Any] | None = self._engine.client.owner._root
        return task

    @property
    def _subscription(self) -> Any:
        return self._owner._subscription

    @property
    def _client(self) -> AIOKafkaClient:
        return client_of(self._owner)

    async def close(self) -> None:
        """As the `stop()` of the consumer. Cancelled: as that."""
        await self._owner.stop()


@_viewed("consumer.fetcher")
class Fetcher(_WithTasks):
    """What fetches and returns the records of a consumer."""

    _fetch_task = _WithTasks._task
    _subscriptions = _WithTasks._subscription

    @property
    def _closed(self) -> bool:
        return bool(self._owner._closed)

    @property
    def _in_flight(self) -> set[int]:
        return {fetch.node_id for fetch in self._engine.fetcher.pending_fetches}

    @property
    def _records(self) -> dict[TopicPartition, Any]:
        return {fetch.topic_partition: fetch for fetch in self._engine.buffer}

    @property
    def _fetch_waiters(self) -> set[Any]:
        return set()  # a poll that ends leaves nothing behind

    async def next_record(self, partitions: Iterable[TopicPartition]) -> Any:
        """As `getone()`. Cancelled: as that."""
        return await self._owner.getone(*partitions)

    async def fetched_records(
        self,
        partitions: Iterable[TopicPartition],
        timeout: float = 0,
        max_records: int | None = None,
    ) -> Any:
        """As `getmany()`; `timeout` in seconds, None is 0. Cancelled: as that."""
        timeout_ms = (timeout or 0) * 1000
        return await self._owner.getmany(
            *partitions, timeout_ms=timeout_ms, max_records=max_records
        )

    async def get_offsets_by_times(
        self, timestamps: Mapping[TopicPartition, int], timeout_ms: float
    ) -> Any:
        """As `offsets_for_times()`, within `timeout_ms`. Cancelled: as that."""
        async with asyncio.timeout(timeout_ms / 1000):
            return await self._owner.offsets_for_times(timestamps)

    async def beginning_offsets(
        self, partitions: Iterable[TopicPartition], timeout_ms: float
    ) -> Any:
        """As that of the consumer, within `timeout_ms`. Cancelled: as that."""
        async with asyncio.timeout(timeout_ms / 1000):
            return await self._owner.beginning_offsets(partitions)

    async def end_offsets(self, partitions: Iterable[TopicPartition], timeout_ms: float) -> Any:
        """As that of the consumer, within `timeout_ms`. Cancelled: as that."""
        async with asyncio.timeout(timeout_ms / 1000):
            return await self._owner.end_offsets(partitions)

    def seek_to(self, tp: TopicPartition, offset: int) -> None:
        """As `seek()`."""
        self._owner.seek(tp, offset)


@_viewed("consumer.group_coordinator")
class BaseCoordinator(_WithTasks):
    """What a coordinator is with and without a group."""

    @property
    def _cluster(self) -> Any:
        return self._client.cluster

    def _get_metadata_snapshot(self) -> dict[str, int]:
        """Return topic -> number of partitions, of what is subscribed."""
        snapshot = self._engine.client.metadata.snapshot
        return {
            topic: len(numbers)
            for topic in sorted(self._subscription.topics)
            if (numbers := snapshot.partition_ids(topic))
        }

    @property
    def _metadata_snapshot(self) -> dict[str, int]:
        return self._get_metadata_snapshot()

    def check_errors(self) -> None:
        """Raise KafkaError if a background task has failed."""
        self._engine.client.check()


@_viewed("consumer.group_coordinator")
class NoGroupCoordinator(BaseCoordinator):
    """In place of a coordinator, for a consumer without group."""


@_viewed("consumer.group_coordinator")
class GroupCoordinator(BaseCoordinator):
    """The membership of a consumer in its group."""

    _coordination_task = _WithTasks._task
    _heartbeat_task = _WithTasks._task

    @property
    def group_id(self) -> str:
        """The name of the group."""
        return str(self._owner._config.group_id)

    @property
    def _identity(self) -> Any:
        group = self._engine.group
        return None if group is None else group.offsets.identity()

    @property
    def generation(self) -> int:
        """The number of the assignment; -1 without one."""
        identity = self._identity
        return _NO_GENERATION if identity is None else int(identity.generation_id)

    @property
    def member_id(self) -> str:
        """The name that the coordinator gave; "" before."""
        identity = self._identity
        return _NO_MEMBER if identity is None else str(identity.member_id)

    @property
    def coordinator_id(self) -> int | None:
        """The node id of the coordinator; None while it is not known."""
        node_id: int | None = self._engine.group.coordinators.known(
            CoordinatorType.GROUP, self.group_id
        )
        return node_id

    @property
    def _assignors(self) -> Sequence[Any]:
        return tuple(self._owner._config.partition_assignment_strategy)

    async def ensure_coordinator_known(self) -> None:
        """Find the coordinator, if it is not known. Raises: KafkaTimeoutError.

        Cancelled: nothing stays behind.
        """
        timeout_s = self._owner._config.request_timeout_ms / 1000
        cache = self._engine.group.coordinators
        await cache.find(CoordinatorType.GROUP, self.group_id, timeout_s)

    def request_rejoin(self) -> None:
        """As `enforce_rebalance()`."""
        self._owner.enforce_rebalance()

    def need_rejoin(self, subscription: Any) -> bool:  # noqa: ARG002 - there is one
        """Say whether the consumer has no assignment."""
        return self.generation == _NO_GENERATION

    async def commit_offsets(self, assignment: Any, offsets: Any) -> None:  # noqa: ARG002
        """As `commit(offsets)`. Cancelled: as that.

        What the consumer commits under the name `aiokafka` comes through here, for tracers that
        patch this method.
        """
        own = getattr(self._owner, "_commit_offsets", self._owner.commit)
        await own(offsets)

    async def fetch_committed_offsets(
        self, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        """Return what the group has stored for these partitions. Cancelled: nothing stays behind.

        Raises: as `committed()`.
        """
        wanted = [*partitions]
        stored = await self._owner._committed_of(wanted) if wanted else {}
        return {tp: offset for tp, offset in stored.items() if offset is not None}


def _coordinator(consumer: Any) -> Any:
    if consumer._life.engine is None:
        return None  # as aiokafka before the start
    if consumer._config.group_id is None:
        return NoGroupCoordinator.of(consumer)
    return GroupCoordinator.of(consumer)


def _fetcher(consumer: Any) -> Fetcher | None:
    return None if consumer._life.engine is None else Fetcher.of(consumer)


# Of a subscription…


@_viewed("consumer.subscription_state")
class Subscription(View):
    """The topics that are subscribed, with their assignment."""

    @property
    def topics(self) -> frozenset[str]:
        """Their names."""
        state = self._owner
        if state.is_subscribed:
            return frozenset(state.topics)
        return frozenset(tp.topic for tp in state.assignment)

    @property
    def active(self) -> bool:
        """Whether anything is subscribed or assigned."""
        return bool(self._owner.mode.name != "NONE")

    @property
    def assignment(self) -> "Assignment | None":
        """None until partitions are assigned."""
        return Assignment.of(self._owner) if self._owner.assignment else None


@_viewed("consumer.subscription_state")
class ManualSubscription(Subscription):
    """The partitions that the user assigned."""


@_viewed("consumer.subscription_state")
class Assignment(View):
    """The partitions that a consumer reads."""

    @property
    def tps(self) -> frozenset[TopicPartition]:
        """All of them."""
        partitions: frozenset[TopicPartition] = self._owner.assignment
        return partitions

    @property
    def active(self) -> bool:
        """Whether there are any."""
        return bool(self.tps)

    def state_value(self, tp: TopicPartition) -> "TopicPartitionState | None":
        """Return what is known of a partition; None if it is not assigned."""
        state = self._owner.get(tp)
        return None if state is None else TopicPartitionState.of(state)

    def all_consumed_offsets(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """Return the positions that are known."""
        return {
            state.topic_partition: OffsetAndMetadata(state.position, "")
            for state in self._owner.states()
            if state.position is not None
        }


@_viewed("consumer.subscription_state")
class TopicPartitionState(View):
    """The position of a partition, and what the newest fetch said of it."""

    @property
    def highwater(self) -> int | None:
        """As `highwater()` of the consumer."""
        offset: int | None = self._owner.high_watermark
        return offset

    @property
    def lso(self) -> int | None:
        """As `last_stable_offset()` of the consumer."""
        offset: int | None = self._owner.last_stable_offset
        return offset

    @property
    def timestamp(self) -> int | None:
        """As `last_poll_timestamp()` of the consumer, in ms."""
        timestamp: int | None = self._owner.last_poll_timestamp_ms
        return timestamp

    @property
    def _position(self) -> int | None:
        offset: int | None = self._owner.position
        return offset

    @property
    def position(self) -> int:
        """The next offset. Raises: AssertionError while it is not known."""
        assert self._position is not None, "the position is not known yet"
        return self._position

    @property
    def has_valid_position(self) -> bool:
        """Whether the position is known."""
        return self._position is not None

    @property
    def paused(self) -> bool:
        """Whether nothing is returned of it."""
        return bool(self._owner.is_paused)

    @property
    def awaiting_reset(self) -> bool:
        """Whether its position is being looked for at an end."""
        return bool(self._owner.fetch_state.name == "AWAIT_RESET")

    @property
    def _status(self) -> Any:
        statuses = found(self.path, "PartitionStatus")
        return statuses.CONSUMING if self.has_valid_position else statuses.AWAITING_RESET


def _subscription(state: Any) -> Subscription | None:
    if state.mode.name == "NONE":
        return None
    kind = Subscription if state.is_subscribed else ManualSubscription
    return kind.of(state)


def _wait_for_assignment(state: Any) -> Callable[[], Any]:
    async def wait() -> None:
        before = state.assignment  # empty while an eager member joins
        while state.assignment is before or not state.assignment:  # noqa: ASYNC110 - has no event
            await asyncio.sleep(0.01)

    return wait


def _fetch_context(state: Any) -> Callable[[], Any]:  # noqa: ARG001 - as the others
    @contextmanager
    def fetch_context() -> Iterator[None]:
        yield  # a poll says by itself that the program is alive

    return fetch_context


def _subscription_type(state: Any) -> Any:
    types = found("consumer.subscription_state", "SubscriptionType")
    name = {"TOPICS": "AUTO_TOPICS", "NONE": "NONE", "ASSIGNED": "USER_ASSIGNED"}
    return types[name.get(state.mode.name, "AUTO_PATTERN")]


# Of a client…


@_viewed("conn")
class AIOKafkaConnection(View):
    """An open connection to a node."""

    @property
    def host(self) -> str:
        """The host, as the metadata of the cluster names it."""
        return str(self._owner.endpoint.host)

    @property
    def port(self) -> int:
        """The port."""
        return int(self._owner.endpoint.port)

    def connected(self) -> bool:
        """Say whether it is open."""
        return bool(self._owner.is_open)


_GROUPS = {Lane.GENERAL: ConnectionGroup.DEFAULT, Lane.COORDINATOR: ConnectionGroup.COORDINATION}


def _conns(client: Any) -> dict[tuple[int, ConnectionGroup], AIOKafkaConnection]:
    kafka = client._find()
    if kafka is None:
        return {}
    open_ones = {}
    for (node_id, lane), connection in kafka.network._pool.free_connections.copy().items():
        own = next(
            (
                each
                for each in Lane
                if isinstance(lane, OwnLane) and lane.value.startswith(each.value)
            ),
            lane,
        )
        if own in _GROUPS:
            open_ones[node_id, _GROUPS[own]] = AIOKafkaConnection.of(connection)
    return open_ones


def _topics(client: Any) -> set[str]:
    kafka = client._find()
    return set() if kafka is None else set(kafka.metadata._interest.named())


def _maybe_wait_metadata(client: Any) -> Callable[[], Any]:
    async def wait() -> None:
        await client.force_metadata_update()

    return wait


def _get_conn(client: Any) -> Callable[..., Any]:
    async def get(
        node_id: int,
        *,
        group: ConnectionGroup = ConnectionGroup.DEFAULT,
        no_hint: bool = False,  # noqa: ARG001
    ) -> AIOKafkaConnection | None:
        is_ready = await client.ready(node_id, group=group)
        return _conns(client).get((node_id, group)) if is_ready else None

    return get


def _update_metadata(cluster: Any) -> Any:
    """Return what lets a cluster that a program made show a MetadataResponse; None for that of a
    client, which has its own.

    As in aiokafka, one without brokers changes nothing, and topics with an error are left out.
    """
    if vars(cluster).get("_newest") not in (_nothing_yet(), vars(cluster).get("_by_hand")):
        return refused("cluster", "ClusterMetadata.update_metadata")

    def update(response: Any) -> None:
        if not response.brokers:
            return
        described = MetadataResponse(
            brokers=[_broker(*each) for each in response.brokers],
            cluster_id=getattr(response, "cluster_id", None),
            controller_id=getattr(response, "controller_id", -1),
            topics=[
                MetadataResponseTopic(
                    error_code=error_code,
                    name=name,
                    is_internal=bool(internal and internal[0]),
                    partitions=[_described(each) for each in partitions],
                )
                for error_code, name, *internal, partitions in response.topics
            ],
        )
        newest = merge_metadata(NO_SNAPSHOT_YET, described, partial=False, reliable_epochs=False)
        cluster._newest = cluster._by_hand = lambda: newest

    return update


def _nothing_yet() -> Any:
    (newest,) = ClusterMetadata.__init__.__defaults__ or (None,)
    return newest


def _broker(node_id: int, host: str, port: int, rack: str | None = None) -> MetadataResponseBroker:
    return MetadataResponseBroker(node_id=node_id, host=host, port=port, rack=rack)


def _described(partition: Any) -> MetadataResponsePartition:
    error_code, number, leader, replicas, isr, *_ = partition
    return MetadataResponsePartition(
        error_code=error_code,
        partition_index=number,
        leader_id=leader,
        replica_nodes=list(replicas),
        isr_nodes=list(isr),
    )


def _partitions(cluster: Any) -> dict[str, dict[int, Any]]:
    return {
        topic: {
            number: cluster.partition_metadata(TopicPartition(topic, number))
            for number in cluster.partitions_for_topic(topic)
        }
        for topic in cluster.topics(exclude_internal_topics=False)
    }


def _loop_of_client(client: Any) -> Any:
    kafka = client._find()
    return None if kafka is None else kafka.loop.loop


def _loop_of(owner: Any) -> Any:
    kafka = getattr(owner, "kafka_client", None) or getattr(owner, "_kafka", None)
    if kafka is not None and kafka.loop.loop is not None:
        return kafka.loop.loop
    with suppress(RuntimeError):
        return asyncio.get_running_loop()
    return None


# Of an admin client…


def _send_request(admin: Any) -> Callable[..., Any]:
    async def send(request: Any, node_id: int | None = None) -> Any:
        client = client_of(admin)
        chosen = client.get_random_node() if node_id is None else node_id
        assert chosen is not None, "no broker is known"
        return await client.send(chosen, request)

    return send


def _get_cluster_metadata(admin: Any) -> Callable[..., Any]:
    async def get(topics: list[str] | None = None) -> Any:
        return await _send_request(admin)(found("protocol.metadata", "MetadataRequest")(topics))

    return get


def _send_to_controller(admin: Any) -> Callable[..., Any]:
    async def send(request: Any) -> Any:
        controller = (await _get_cluster_metadata(admin)([])).controller_id
        return await _send_request(admin)(request, controller)

    return send


_READERS: Mapping[tuple[str, str], Callable[[Any], Any]] = {
    ("producer", "_sender"): Sender.of,
    ("producer", "_txn_manager"): _txn_manager,
    ("producer", "_message_accumulator"): MessageAccumulator.of,
    ("producer", "_partitioner"): _partitioner,
    ("producer", "_metadata"): lambda producer: producer.client.cluster,
    ("producer", "_closed"): lambda producer: _is_over(producer._engine.life.state),
    ("producer", "_source_traceback"): lambda _: None,
    ("consumer", "_client"): lambda consumer: consumer.client,
    ("consumer", "_coordinator"): _coordinator,
    ("consumer", "_fetcher"): _fetcher,
    ("consumer", "_closed"): lambda consumer: consumer._life.has_stopped,
    ("consumer", "_loop"): _loop_of,
    ("consumer", "_source_traceback"): lambda _: None,
    ("subscription", "subscription"): _subscription,
    ("subscription", "_subscription"): _subscription,
    ("subscription", "_subscription_type"): _subscription_type,
    ("subscription", "subscribed_pattern"): lambda state: state.pattern,
    ("subscription", "_subscribed_pattern"): lambda state: state.pattern,
    ("subscription", "assigned_partitions"): lambda state: lambda: set(state.assignment),
    ("subscription", "is_assigned"): lambda state: state.assignment.__contains__,
    ("subscription", "partitions_auto_assigned"): lambda state: lambda: state.is_subscribed,
    ("subscription", "paused_partitions"): lambda state: state.paused,
    ("subscription", "fetch_context"): _fetch_context,
    ("subscription", "wait_for_assignment"): _wait_for_assignment,
    ("subscription", "wait_for_subscription"): _wait_for_assignment,
    ("subscription", "reassignment_in_progress"): lambda state: not state.assignment,
    ("subscription", "fetcher_idle_time"): lambda _: 0.0,
    ("subscription", "_assigned_state"): (
        lambda state: lambda tp: TopicPartitionState.of(state.assigned(tp))
    ),
    ("cluster", "_brokers"): lambda cluster: {each.nodeId: each for each in cluster.brokers()},
    ("cluster", "_partitions"): _partitions,
    ("cluster", "update_metadata"): _update_metadata,
    ("cluster", "is_bootstrap"): lambda _: lambda node_id: str(node_id)[:1] in "-b",
    ("cluster", "_broker_partitions"): lambda cluster: {
        each.nodeId: cluster.partitions_for_broker(each.nodeId) or set()
        for each in cluster.brokers()
    },
    ("admin", "_client"): client_of,
    ("admin", "_started"): lambda admin: admin._kafka.state.name == "RUNNING",
    ("admin", "_closed"): lambda admin: admin._kafka.state.name == "CLOSED",
    ("admin", "_send_request"): _send_request,
    ("admin", "_get_cluster_metadata"): _get_cluster_metadata,
    ("admin", "_send_to_controller"): _send_to_controller,
    ("client", "_topics"): _topics,
    ("client", "_conns"): _conns,
    ("client", "_loop"): _loop_of_client,
    ("client", "_maybe_wait_metadata"): _maybe_wait_metadata,
    ("client", "_get_conn"): _get_conn,
    ("client", "_retry_backoff"): lambda client: client._config.retry_backoff_ms / 1000,
}
"""The kind of a client and the name of its attribute -> what answers. Others are its options."""


def _is_over(state: LifeState) -> bool:
    return state in (LifeState.STOPPING, LifeState.STOPPED)


def read(kind: str, name: str, instance: Any) -> Any:
    """Return what an attribute of aiokafka's inside stands for, or what a program set it to.

    Raises: AttributeError if there is nothing like it.
    """
    kept = vars(instance)
    if name in kept:
        return kept[name]
    reader = _READERS.get((kind, name))
    if reader is not None:
        return reader(instance)
    if kind == "cluster":
        return refused("cluster", f"ClusterMetadata.{name}")
    return getattr(instance._config, name.removeprefix("_"))


def write(name: str, instance: Any, value: Any) -> None:
    """Keep what a program sets an attribute to. Before the start an option has its effect."""
    vars(instance)[name] = value
    config = getattr(instance, "_config", None)
    life = getattr(instance, "_life", None)
    option = name.removeprefix("_")
    if config is not None and life is not None and life.engine is None and hasattr(config, option):
        object.__setattr__(config, option, value)
        if option == "auto_offset_reset":
            strategy = offset_reset.OffsetResetStrategy.from_option(value)
            instance._subscription.default_reset = strategy


__all__ = [
    "AIOKafkaConnection",
    "Assignment",
    "BaseCoordinator",
    "Fetcher",
    "GroupCoordinator",
    "ManualSubscription",
    "MessageAccumulator",
    "NoGroupCoordinator",
    "Sender",
    "Subscription",
    "TopicPartitionState",
    "TransactionManager",
    "View",
    "read",
    "write",
]
