"""aiokafka's client of a cluster: `AIOKafkaClient`, over the client of producer and consumer.

`producer.client` and `consumer.client` are such clients, too, over the connections of their owner.
Programs use it for health checks, and to learn topics, brokers and leaders.
"""

import asyncio
import random
import socket
import warnings
from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from enum import IntEnum
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.cluster.bootstrap import check_answer
from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.cluster.cluster_metadata import ClusterMetadata
from aiokafka_lite.cluster.coordinator_cache import CoordinatorCache, CoordinatorType
from aiokafka_lite.cluster.kafka_client import ClientState, KafkaClient
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.cluster.metadata.metadata_snapshot import (
    MetadataSnapshot,
    bootstrap_snapshot,
    merge_metadata,
)
from aiokafka_lite.cluster.shared_options import with_shared_options
from aiokafka_lite.concurrency.anyio_shield import anyio_shield
from aiokafka_lite.concurrency.client_loop import refuse_pickling
from aiokafka_lite.errors import IllegalStateError, KafkaConfigurationError, KafkaError
from aiokafka_lite.net.endpoint import Endpoint
from aiokafka_lite.options.constructor import check_names, declare_options
from aiokafka_lite.private_reads import with_private_reads
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.schema.message import Request, Response

if TYPE_CHECKING:
    from typing import Unpack

    from aiokafka_lite.cluster.client_options import ClientOptions

R = TypeVar("R", bound=Response)


class ConnectionGroup(IntEnum):
    """Which of the connections to a node `ready` and `send` use."""

    DEFAULT = 0
    COORDINATION = 1


class CoordinationType(IntEnum):
    """What `coordinator_lookup` looks for."""

    GROUP = 0
    TRANSACTION = 1


_LANES = {ConnectionGroup.DEFAULT: Lane.GENERAL, ConnectionGroup.COORDINATION: Lane.COORDINATOR}


@with_private_reads(
    "client",
    "_topics _conns _loop _maybe_wait_metadata _get_conn _retry_backoff _request_timeout_ms"
    " _metadata_max_age_ms _connections_max_idle_ms _security_protocol _ssl_context"
    " _sasl_mechanism",
)
class AIOKafkaClient:
    """The connections to a cluster, and its metadata in `cluster`.

        client = AIOKafkaClient(bootstrap_servers="localhost:9092")
        await client.bootstrap()
        print(client.cluster.brokers(), client.cluster.topics())
        await client.close()

    Others share its connections when they get it as `client`: `AIOKafkaProducer(client=client)`.
    They start after its `bootstrap()` and stop before its `close()`. `async with client:` calls
    both.

    The options are those that producer and consumer have in common. The constructor does no I/O and
    needs no event loop; everything else belongs to the loop of `bootstrap()`. `loop` and
    `api_version` have no effect; `clock` and `rng` are for tests.

    Raises: KafkaConfigurationError, a ValueError, naming every wrong option at once.
    Warns: DeprecationWarning for options without effect; ResourceWarning if it is dropped without
    `close()`.
    """

    def __init__(
        self,
        *,
        loop: asyncio.AbstractEventLoop | None = None,
        api_version: str | None = None,
        clock: Clock | None = None,
        rng: random.Random | None = None,
        **options: "Unpack[ClientOptions]",
    ) -> None:
        for name, value in (("loop", loop), ("api_version", api_version)):
            if value is not None:
                text = f"{name} has no effect any more; leave it out"
                warnings.warn(text, DeprecationWarning, stacklevel=2)
        check_names(self, AIOKafkaClient.__init__, ClientConfig, options)
        config = ClientConfig(**options)  # type: ignore[arg-type]  # a client_id of None
        kafka = KafkaClient(config, clock=clock or SYSTEM_CLOCK, rng=rng, name=type(self).__name__)
        kafka.metadata.set_topics(None)
        self._bind(config, lambda: kafka, belongs_to=None)

    def host_of(
        self, client: object, options: dict[str, Any]
    ) -> tuple[KafkaClient, dict[str, Any]]:
        """Return what has the connections that `client` is to share, and its options with those
        of the connections. Not in aiokafka.

        Raises: KafkaConfigurationError for options that describe connections, and for the client
        of a producer or consumer.
        """
        kafka = self._find()
        if self._belongs_to is not None or kafka is None:
            raise KafkaConfigurationError(
                f"client={self!r} is that of an {self._belongs_to}, which ends with it; make an "
                f"AIOKafkaClient to share"
            )
        return kafka, with_shared_options(self._config, options, type(client).__name__)

    @classmethod
    def of(
        cls, config: ClientConfig, find: Callable[[], KafkaClient | None], belongs_to: str
    ) -> Self:
        """Return the client of a producer or consumer. `find` returns the present one, None before
        the start. `belongs_to` is what the owner's class is called. Not in aiokafka.
        """
        self = cls.__new__(cls)
        self._bind(config, find, belongs_to)
        return self

    def _bind(
        self, config: ClientConfig, find: Callable[[], KafkaClient | None], belongs_to: str | None
    ) -> None:
        self._config = config
        self._find = find
        self._belongs_to = belongs_to

    def __repr__(self) -> str:
        return f"<{type(self).__name__} client_id={self._client_id}>"

    def __del__(self) -> None:
        # Without `_belongs_to` the constructor has raised.
        kafka = self._find() if getattr(self, "_belongs_to", self) is None else None
        if kafka is None or kafka.loop.is_of_parent:
            return
        if kafka.state is ClientState.RUNNING:
            text = f"Unclosed AIOKafkaClient {self!r}: await its close()"
            warnings.warn(text, ResourceWarning, stacklevel=2, source=self)
            kafka.owner.close_soon()

    def __reduce__(self) -> NoReturn:
        refuse_pickling(self)

    # What it knows…

    @property
    def cluster(self) -> ClusterMetadata:
        """The nodes, topics and leaders that are known at the time of each call."""
        return ClusterMetadata(self._snapshot)

    @property
    def hosts(self) -> list[tuple[str, int, socket.AddressFamily]]:
        """The addresses of `bootstrap_servers`, in the order given."""
        return [(each.host, each.port, socket.AF_UNSPEC) for each in self._seeds()]

    @property
    def _client_id(self) -> str:  # aiokafka's name, which OpenTelemetry reads, as the next one
        return self._config.client_id

    @property
    def _bootstrap_servers(self) -> str | Sequence[str]:
        return self._config.bootstrap_servers

    def get_random_node(self) -> int | None:
        """Return the node id of any known broker; None if none is known, as before the start."""
        kafka = self._find()
        if kafka is None or kafka.state is ClientState.NEW:
            return None
        node_ids = sorted(kafka.metadata.snapshot.nodes)
        return kafka.rng.choice(node_ids) if node_ids else None

    # Life…

    async def bootstrap(self) -> None:
        """Connect to the cluster. A client that is connected stays as it is.

        Raises: KafkaConnectionError naming each address and what happened there;
        AuthenticationFailedError if TLS or credentials are the reason; IllegalStateError after
        `close()`. After a failure it may be called again. Cancelled: nothing stays behind.
        """
        kafka = self._find()
        if self._belongs_to is None and kafka and kafka.state is not ClientState.RUNNING:
            await kafka.start()
        self._running()

    async def close(self) -> None:
        """Close every connection. May be repeated; takes a bounded time.

        Raises: IllegalStateError for the client of a producer or consumer. Cancelled: closing goes
        on in the background.
        """
        if self._belongs_to is not None:
            raise IllegalStateError(
                f"{self} is that of a running {self._belongs_to}: await its stop()"
            )
        kafka = self._find()
        if kafka is not None:
            await kafka.close()

    async def __aenter__(self) -> Self:
        await self.bootstrap()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # Shielded: a cancelled anyio scope around the block would cancel every await of close().
        with anyio_shield():
            await self.close()

    def _running(self) -> KafkaClient:
        """Return the client, or raise IllegalStateError before the start and in other loops."""
        kafka = self._find()
        if kafka is None or kafka.state in (ClientState.NEW, ClientState.STARTING):
            start = "bootstrap()" if self._belongs_to is None else f"{self._belongs_to}.start()"
            raise IllegalStateError(f"{self} is not connected: await {start}")
        if kafka.state is ClientState.CLOSED:
            raise IllegalStateError(f"{self} is closed: make a new one")
        kafka.loop.check()
        return kafka

    def set_bootstrap_servers(self, bootstrap_servers: str | Sequence[str]) -> None:
        """Use other addresses from now on when no known broker answers. Not in aiokafka.

        For services that outlive the addresses they were started with. A connection to a broker of
        the cluster goes on, and so does a search by the former addresses that has begun. It has no
        effect with `metadata_recovery_strategy="none"`, and none on a client that is started anew.

        Raises: KafkaConfigurationError for what are no addresses, with nothing changed;
        IllegalStateError if the client is not connected.
        """
        self._running().set_bootstrap_servers(bootstrap_servers)

    def _seeds(self) -> list[Endpoint]:
        kafka = self._find()
        if kafka is None:
            return self._config.endpoints
        return [Endpoint(each.host, each.port) for each in kafka.network.seeds.values()]

    def _snapshot(self) -> MetadataSnapshot:
        kafka = self._find()
        if kafka is None:
            return bootstrap_snapshot(self._config.endpoints)
        return kafka.metadata.snapshot

    # Metadata…

    def force_metadata_update(self) -> "MetadataUpdate":
        """Request new metadata. Await the result for whether it came within `request_timeout_ms`.

        Without the await, the update runs in the background. Raises: IllegalStateError if the
        client is not connected.
        """
        return MetadataUpdate(self._running())

    def add_topic(self, topic: str) -> "MetadataUpdate":
        """Keep the metadata of a topic, too. Await the result for whether the metadata was updated.

        Raises: IllegalStateError if the client is not connected.
        """
        return self._track([topic])

    def set_topics(self, topics: Iterable[str]) -> "MetadataUpdate":
        """Keep the metadata of these topics; of all topics if there are none.

        The client of a producer or consumer also keeps those of its owner. Await the result for
        whether the metadata was updated.

        Raises: TypeError for a str; IllegalStateError if the client is not connected.
        """
        if isinstance(topics, str):
            raise TypeError(f"topics={quoted(topics)} is a str; pass a collection of names")
        topics = list(topics)
        if self._belongs_to is None:
            self._running().metadata.set_topics(topics or None)
        return self._track(topics)

    def _track(self, topics: Sequence[str]) -> "MetadataUpdate":
        kafka = self._running()
        known = kafka.metadata.snapshot.topics
        is_known = bool(topics) and all(topic in known for topic in topics)
        for topic in topics:
            kafka.metadata.add_topic(topic)
        return MetadataUpdate(kafka, is_known=is_known)

    async def fetch_all_metadata(self) -> ClusterMetadata:
        """Ask a broker for all topics of the cluster. What the client keeps does not change.

        Raises: KafkaTimeoutError, with the reason, if no broker answered within
        `request_timeout_ms`; IllegalStateError if the client is not connected.
        Cancelled: nothing stays behind.
        """
        kafka = self._running()
        response = await kafka.ask_until_answered(
            lambda: kafka.network.request_any(MetadataRequest(topics=None)),
            self._config.request_timeout_ms / 1000,
            what="metadata of the cluster",
            api="Metadata",
            remedy="check the connection to the brokers, or raise request_timeout_ms",
        )
        check_answer(response)
        before = bootstrap_snapshot(self._config.endpoints)
        snapshot = merge_metadata(before, response, partial=False)
        return ClusterMetadata(lambda: snapshot)

    async def _wait_on_metadata(self, topic: str) -> set[int]:
        """Return the partitions of a topic: aiokafka's name, which OpenTelemetry calls."""
        timeout_s = self._config.request_timeout_ms / 1000
        snapshot = await self._running().metadata.wait_for_topic(topic, timeout_s)
        return set(snapshot.partition_ids(topic))

    # Nodes…

    async def ready(
        self, node_id: int, *, group: ConnectionGroup = ConnectionGroup.DEFAULT
    ) -> bool:
        """Return whether a connection to the node stands, after making it if there was none.

        Takes `request_timeout_ms` at most. Raises: IllegalStateError if the client is not
        connected. Cancelled: a connect that has begun goes on.
        """
        lane = lane_of(group)
        try:
            await self._running().network.connect(node_id, lane)
        except IllegalStateError:
            raise
        except KafkaError:
            return False
        return True

    async def send(
        self,
        node_id: int,
        request: Request[R],
        *,
        group: ConnectionGroup = ConnectionGroup.DEFAULT,
    ) -> R:
        """Send a request of `aiokafka_lite.protocol.messages` to a node; return its response.

        Raises: TypeError for a request of aiokafka; NodeNotReadyError, KafkaConnectionError or
        RequestTimedOutError without a response within `request_timeout_ms`. Cancelled: a response
        that comes later is dropped.
        """
        if not isinstance(request, Request):
            raise TypeError(
                f"request={quoted(request)} is of type {type(request).__name__}; make it of a "
                "class of aiokafka_lite.protocol.messages, or use the calls of AIOKafkaAdminClient"
            )
        return await self._running().network.request(node_id, request, lane=lane_of(group))

    async def coordinator_lookup(
        self, coordinator_type: CoordinationType | int, coordinator_key: str
    ) -> int:
        """Return the node id of the coordinator of a group or transactional id.

        Raises: KafkaTimeoutError if no broker named it within `request_timeout_ms`; an error that
        is not retriable, such as GroupAuthorizationFailedError. Cancelled: nothing stays behind.
        """
        if coordinator_type not in [*CoordinatorType]:
            raise ValueError(
                f"coordinator_type={quoted(coordinator_type)} is none of "
                f"{[*map(int, CoordinatorType)]}"
            )
        coordinators = CoordinatorCache(self._running())
        timeout_s = self._config.request_timeout_ms / 1000
        return await coordinators.find(
            CoordinatorType(coordinator_type), coordinator_key, timeout_s
        )


def lane_of(group: object) -> Lane:
    """Return the lane of the requests of a group. Raises: ValueError."""
    if not isinstance(group, int) or group not in [*ConnectionGroup]:
        raise ValueError(f"group={quoted(group)} is no ConnectionGroup; give one")
    return _LANES[ConnectionGroup(group)]


class MetadataUpdate(Awaitable[bool]):
    """A requested update of the metadata, awaited for whether it came. May be awaited often."""

    def __init__(self, kafka: KafkaClient, *, is_known: bool = False) -> None:
        """`is_known`: what was asked for is known already, so nothing is requested."""
        self._kafka = kafka
        self._is_known = is_known
        if not is_known:
            kafka.metadata.request_update()

    def __await__(self) -> Generator[Any, None, bool]:
        return self._outcome().__await__()

    async def _outcome(self) -> bool:
        if not self._is_known:
            try:
                await self._kafka.metadata.refresh(self._kafka.config.request_timeout_ms / 1000)
            except KafkaError:
                return False
            self._is_known = True
        return True


declare_options(AIOKafkaClient, ClientConfig)

__all__ = [
    "AIOKafkaClient",
    "ConnectionGroup",
    "CoordinationType",
    "MetadataUpdate",
    "lane_of",
]
