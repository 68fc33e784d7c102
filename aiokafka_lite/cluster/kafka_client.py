"""The client that a producer, a consumer or an admin tool uses to reach a cluster.

`client.network` sends requests to nodes (`network_client`), `client.metadata` knows the topics and
the nodes (`metadata_updater`). The client itself builds, starts and closes both.
"""

import logging
import random
from collections.abc import Awaitable, Callable, Sequence
from enum import Enum
from typing import TypeVar

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.cluster.metadata.metadata_updater import MetadataUpdater
from aiokafka_lite.cluster.network_client import NetworkClient
from aiokafka_lite.cluster.telemetry.metrics_push import MetricsPush
from aiokafka_lite.concurrency.anyio_shield import anyio_shield
from aiokafka_lite.concurrency.backoff import ExponentialBackoff
from aiokafka_lite.concurrency.client_loop import ClientLoop
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.life import Life
from aiokafka_lite.concurrency.long_waits import LongWaits
from aiokafka_lite.concurrency.task_owner import TaskOwner
from aiokafka_lite.errors import (
    IllegalStateError,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    NameResolutionError,
)
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.metrics.observer import NO_OBSERVER, Observer
from aiokafka_lite.net.endpoint import parse_bootstrap
from aiokafka_lite.schema.message import Response

logger = logging.getLogger(__name__)

R = TypeVar("R", bound=Response)
T = TypeVar("T")

CLOSE_BOUND_S = 5.0
"""How long `close` waits for sockets to close before it goes on without them."""


class ClientState(Enum):
    """The states of a client."""

    NEW = "new"
    STARTING = "starting"
    RUNNING = "running"
    CLOSED = "closed"


MAY_FOLLOW: dict[ClientState, frozenset[ClientState]] = {
    ClientState.NEW: frozenset({ClientState.STARTING, ClientState.CLOSED}),
    # A start that failed leaves nothing behind, so it may be repeated.
    ClientState.STARTING: frozenset({ClientState.RUNNING, ClientState.NEW, ClientState.CLOSED}),
    ClientState.RUNNING: frozenset({ClientState.CLOSED}),
    # A closed client cannot start again: its acks and positions would be ambiguous.
    ClientState.CLOSED: frozenset({ClientState.CLOSED}),
}
"""State -> the states that may come next."""


class ClientLife(Life[ClientState]):
    """The state of one client."""

    def __init__(self, name: str) -> None:
        super().__init__(MAY_FOLLOW, ClientState.NEW)
        self._name = name

    def refusal(self, state: ClientState, /) -> Exception:
        """Return an IllegalStateError that says what `state` would need."""
        if state is ClientState.RUNNING:
            return IllegalStateError(f"{self._name} was closed while it was starting")
        return IllegalStateError(f"cannot start {self._name} while it is {self._state.value}")


class KafkaClient:
    """Connections to the nodes of one cluster, and the cluster's metadata.

    The constructor needs no event loop and does no I/O. `name` is the prefix of the task names.
    `max_in_flight` limits the unanswered requests of one connection. `metadata_max_idle_ms` is how
    long the metadata keeps a topic after its last `add_topic`. `allow_auto_topic_creation` lets a
    Metadata request create the topics that it names. `host`: a client whose connections this one
    shares; it starts before and closes after it.
    """

    def __init__(
        self,
        config: ClientConfig,
        *,
        clock: Clock = SYSTEM_CLOCK,
        rng: random.Random | None = None,
        name: str = "kafka_client",
        max_in_flight: int = 5,
        metadata_max_idle_ms: int = 300_000,
        allow_auto_topic_creation: bool = True,
        observer: Observer = NO_OBSERVER,
        host: "KafkaClient | None" = None,
    ) -> None:
        self.config = config
        self._host = host
        self.clock = clock
        self.observer = observer
        """The parts of the client report their events to it."""

        self.rng = rng if rng is not None else random.Random()
        self.name = name
        self.retry_backoff = ExponentialBackoff(
            config.retry_backoff_ms / 1000, config.retry_backoff_max_ms / 1000, rng=self.rng
        )
        """Returns how long to wait before the next attempt, from the number of failed attempts."""

        self.loop = ClientLoop(name)
        """The event loop in which start() ran. The whole client belongs to it."""

        self.owner = TaskOwner(name, clock=clock, loop=self.loop)
        """The parent of all the client's tasks. Its user may spawn more while the client runs."""

        self.waits = LongWaits(clock, config.client_id, is_closed_later=True)
        """The loops that ask again until something succeeds: it warns of those that last."""

        host_network: NetworkClient | None = None if host is None else host.network
        self.network: NetworkClient = NetworkClient(
            config,
            clock=clock,
            rng=self.rng,
            on_trouble=self._note_trouble,
            on_misrouted=self._note_misrouted,
            on_connected=self._note_connected,
            max_in_flight=max_in_flight,
            observer=observer,
            host=host_network,
        )
        """Sends requests to nodes."""

        self.metadata = MetadataUpdater(
            config,
            self.network,
            clock=clock,
            rng=self.rng,
            max_idle_s=metadata_max_idle_ms / 1000,
            allow_auto_topic_creation=allow_auto_topic_creation,
            observer=observer,
            waits=self.waits,
        )
        """Knows the cluster's topics and nodes, and keeps that up to date."""

        self.metrics_push = MetricsPush(config, self.network, observer, clock=clock, rng=self.rng)
        """Pushes the metrics of this client to brokers that ask for them (KIP-714)."""

        self._trouble_listeners: list[Callable[[], object]] = []
        self._guests: dict[KafkaClient, None] = {}  # in the order of their start
        self._life = ClientLife(name)

    def __repr__(self) -> str:
        return f"<KafkaClient {self.name} {self._life.state.value}>"

    @property
    def state(self) -> ClientState:
        """The present state."""
        return self._life.state

    @property
    def is_running(self) -> bool:
        """Whether it has started, was not closed, and no background task has failed."""
        return self._life.state is ClientState.RUNNING and self.owner.failure is None

    # Start and close…

    async def start(self) -> None:
        """Get the first metadata from the seeds, and start the task that keeps it up to date.

        A start that fails leaves no task, socket or timer, and may be repeated.

        Raises: AuthenticationFailedError, at once, if a seed and this client do not trust each
        other; KafkaConnectionError if no seed answered within the smaller of `request_timeout_ms`
        and `default_api_timeout_ms`, with each seed, its addresses and their failures, or within
        that time after `bootstrap_timeout_ms`; NameResolutionError, which is one, if none of their
        names had an address in `bootstrap_resolve_timeout_ms` either;
        AuthenticationFailedError if, besides, a seed does not accept the client, or the client
        does not accept its certificate; IllegalStateError if the client was started or closed
        before, and unless the client runs whose connections it shares.
        Cancelled: as if it had failed.
        """
        if self._host is not None:
            self._host.check_usable(self.name)
        self._life.to(ClientState.STARTING)
        try:
            await self.owner.start()
            self.network.start(self.owner)
            if self._host is not None:
                self._host._guests[self] = None
            await self._first_metadata()
            self._life.to(ClientState.RUNNING)
            self.metrics_push.look(self.owner)
            snapshot = self.metadata.snapshot
            logger.info(
                "%s: connected to cluster %s, brokers: %d",
                *(self.config.client_id, snapshot.cluster_id, len(snapshot.nodes)),
            )
        except BaseException as error:
            with anyio_shield():
                await self._end()
            if self._life.state is ClientState.STARTING:
                self.owner = TaskOwner(self.name, clock=self.clock, loop=self.loop)
                self._life.to(ClientState.NEW)
            elif self._life.state is ClientState.CLOSED and isinstance(error, Exception):
                # What the closed parts say of themselves is no reason.
                raise IllegalStateError(
                    f"{self.name} was closed while it was starting; create another one"
                ) from error
            raise

    async def _first_metadata(self) -> None:
        """Get the first metadata; while no seed answers, ask again for bootstrap_timeout_ms, or
        for bootstrap_resolve_timeout_ms while none has an address.
        """
        bound_ms = min(self.config.request_timeout_ms, self.config.default_api_timeout_ms)
        began_s = self.clock.monotonic()
        attempts = 0
        while True:
            try:
                return await self.metadata.start(self.owner, bound_ms / 1000)
            except KafkaConnectionError as error:
                pause_s = self.retry_backoff.delay(attempts)
                left_s = began_s + self._patience_s(error) - self.clock.monotonic()
                if left_s <= pause_s or self._life.state is not ClientState.STARTING:
                    raise
                level = logging.DEBUG if attempts else logging.WARNING
                logger.log(level, "%s: asks again for %.0f s: %s", self.name, left_s, error)
                attempts += 1
                await self.clock.sleep(pause_s)
                if self._life.state is not ClientState.STARTING:
                    raise  # it was closed meanwhile

    def _patience_s(self, error: KafkaConnectionError) -> float:
        patience_ms = self.config.bootstrap_timeout_ms
        if isinstance(error, NameResolutionError):
            patience_ms = max(patience_ms, self.config.bootstrap_resolve_timeout_ms)
        return patience_ms / 1000

    async def close(self) -> None:
        """Push the last metrics, end the metadata task, close every connection, then end the other
        tasks of `owner`.

        Takes a bounded time and may be repeated. Requests without a response fail with
        `KafkaConnectionError`. Does nothing when the event loop has ended.

        Cancelled: closing has begun; another `close()` waits for its end.
        """
        self._life.to(ClientState.CLOSED)
        if not self.loop.has_ended:
            for guest in (*self._guests,):
                guest.lose_connections()
            await self._end()

    def lose_connections(self) -> None:
        """Fail, because the client closes whose connections this one shares. Does not wait."""
        self.owner.fail(
            f"the client whose connections {self.name} shares was closed; close it after those "
            f"that share them, and create new ones now"
        )

    async def _end(self) -> None:
        if self._host is not None:
            self._host._guests.pop(self, None)
        # A cancelled anyio scope would interrupt every await in here and leave tasks and sockets
        # behind, so this is shielded. Everything inside takes a bounded time.
        with anyio_shield():
            try:
                async with deadline(self.clock, CLOSE_BOUND_S):
                    await self.metrics_push.end()
                    await self.metadata.close()
                    await self.network.close()
            except TimeoutError:
                logger.warning(
                    "%s: sockets are still open %s s after closing", self.name, CLOSE_BOUND_S
                )
            finally:
                self.waits.close()
                self.observer.closed()
                # The shield does not stop a plain `task.cancel()`. After that the other tasks end
                # in the background.
                self.owner.close_soon()
            await self.owner.close()

    def is_healthy(self) -> bool:
        """Say whether the client runs, no background task has failed, and a broker can be reached.

        Without an open connection it also requests new metadata, so a later call knows. Raises:
        IllegalStateError in another event loop or thread.
        """
        if self._life.state is not ClientState.RUNNING or self.loop.has_ended:
            return False
        if self._host is not None and self._host.state is not ClientState.RUNNING:
            return False
        self.loop.check()
        if not self.network.usage()[0]:
            self.metadata.request_update()
        return self.owner.failure is None and not self.metadata.is_outage

    def check_usable(self, guest: str) -> None:
        """Raise IllegalStateError unless this client runs, in this event loop. `guest` names the
        client that is about to share the connections.
        """
        if self._life.state is not ClientState.RUNNING:
            raise IllegalStateError(
                f"cannot start {guest}: the client whose connections it shares is "
                f"{self._life.state.value}; await its bootstrap() before, and its close() after "
                f"those that share them"
            )
        self.loop.check()

    def set_bootstrap_servers(self, bootstrap_servers: str | Sequence[str]) -> None:
        """Connect to these addresses from now on when the cluster has to be found again.

        Raises: KafkaConfigurationError for what are no addresses; IllegalStateError in another
        event loop or thread.
        """
        endpoints = parse_bootstrap(bootstrap_servers)
        self.loop.check()
        self.network.replace_seeds(endpoints)
        logger.info("%s: bootstrap_servers is now %s", self.name, quoted(bootstrap_servers))

    def check(self) -> None:
        """Raise `KafkaError`, chained to its cause, if a background task has failed."""
        self.owner.check()

    # Asking until there is an answer…

    def lasting(self) -> list[str]:
        """Return what the log says of waits that last, and of metadata that does not come, for
        `explain()`.
        """
        failing = self.metadata.failing()
        return [*([failing] if failing else ()), *self.waits.lasting()]

    async def ask_until_answered(
        self, ask: Callable[[], Awaitable[T]], timeout_s: float, *, what: str, api: str, remedy: str
    ) -> T:
        """Return what `ask()` returns. After a retriable error, call it again after a backoff.
        Warnings also name `api`.

        Raises: KafkaTimeoutError without a result after `timeout_s`, with `what`, the last failure
        and the `remedy` in its text; an error of `ask` that is not retriable, at once.
        Cancelled: as `ask`.
        """
        failure: KafkaError | None = None
        attempts = 0
        try:
            with self.waits.of(f"the {what} ({api})", remedy) as wait:
                async with deadline(self.clock, timeout_s):
                    while True:
                        try:
                            return await ask()
                        except KafkaError as error:
                            if not error.retriable:
                                raise
                            failure = error
                            wait.failed(error)
                        await self.clock.sleep(self.retry_backoff.delay(attempts))
                        attempts += 1
        except TimeoutError as error:
            if isinstance(error, KafkaError):
                raise
            because = f"; last failure: {reason_of(failure)}" if failure is not None else ""
            raise KafkaTimeoutError(f"no {what} within {timeout_s:g} s{because}; {remedy}") from (
                failure or error
            )

    def add_trouble_listener(self, listener: Callable[[], object]) -> None:
        """Call `listener()` when a connection to a node of the metadata fails or is lost.

        The call comes before the client refreshes its metadata. `listener` must not raise.
        """
        self._trouble_listeners.append(listener)

    def _note_connected(self) -> None:
        if self._life.state is ClientState.RUNNING:
            self.metrics_push.look(self.owner)

    def _note_misrouted(self) -> None:
        self.metadata.request_seeds()

    def _note_trouble(self) -> None:
        for listener in self._trouble_listeners:
            listener()
        self.metadata.request_update()


__all__ = ["MAY_FOLLOW", "ClientLife", "ClientState", "KafkaClient"]
