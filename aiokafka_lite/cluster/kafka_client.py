"""The client that a producer, a consumer or an admin tool uses to reach a cluster.

`client.network` sends requests to nodes (`network_client`), `client.metadata` knows the topics and
the nodes (`metadata_updater`). The client itself builds, starts and closes both.
"""

import logging
import random
from collections.abc import Awaitable, Callable
from enum import Enum
from typing import TypeVar

import anyio

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.cluster.metadata_updater import MetadataUpdater
from aiokafka_lite.cluster.network_client import NetworkClient
from aiokafka_lite.concurrency.backoff import ExponentialBackoff
from aiokafka_lite.concurrency.client_loop import ClientLoop
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.task_owner import TaskOwner
from aiokafka_lite.errors import (
    IllegalStateError,
    KafkaError,
    KafkaTimeoutError,
)
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.metrics.observer import NO_OBSERVER, Observer
from aiokafka_lite.schema.message import Response

logger = logging.getLogger(__name__)

R = TypeVar("R", bound=Response)
T = TypeVar("T")

CLOSE_BOUND_S = 5.0
"""How long `close` waits for sockets to close before it goes on without them."""


class ClientState(Enum):
    """The states of a client."""

    NEW = "new"  # start() may be called; a start that failed comes back here
    STARTING = "starting"
    RUNNING = "running"
    # A closed client cannot start again: its acks and positions would be ambiguous. A start that
    # failed leaves nothing behind, so it may be repeated.
    CLOSED = "closed"


class KafkaClient:
    """Connections to the nodes of one cluster, and the cluster's metadata.

    The constructor needs no event loop and does no I/O. `name` is the prefix of the task names.
    `max_in_flight` limits the unanswered requests of one connection. `metadata_max_idle_ms` is how
    long the metadata keeps a topic after its last `add_topic`. `allow_auto_topic_creation` lets a
    Metadata request create the topics that it names.
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
    ) -> None:
        self.config = config
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

        self.network = NetworkClient(
            config,
            clock=clock,
            rng=self.rng,
            on_trouble=self._note_trouble,
            on_misrouted=self._note_misrouted,
            max_in_flight=max_in_flight,
            observer=observer,
        )
        """Sends requests to nodes."""

        self.metadata = MetadataUpdater(
            config,
            self.network,
            clock=clock,
            rng=self.rng,
            max_idle_s=metadata_max_idle_ms / 1000,
            allow_auto_topic_creation=allow_auto_topic_creation,
        )
        """Knows the cluster's topics and nodes, and keeps that up to date."""

        self._trouble_listeners: list[Callable[[], object]] = []
        self._state = ClientState.NEW

    def __repr__(self) -> str:
        return f"<KafkaClient {self.name} {self._state.value}>"

    # Start and close…

    async def start(self) -> None:
        """Get the first metadata from the seeds, and start the task that keeps it up to date.

        A start that fails leaves no task, socket or timer, and may be repeated.

        Raises:
            KafkaConnectionError: no seed answered within the smaller of `request_timeout_ms` and
                `default_api_timeout_ms`; names each seed, its addresses and what happened there.
            IllegalStateError: the client was started or closed before.
        Cancelled: as if it had failed.
        """
        if self._state is not ClientState.NEW:
            raise IllegalStateError(f"cannot start {self.name} while it is {self._state.value}")
        self._state = ClientState.STARTING
        bound_ms = min(self.config.request_timeout_ms, self.config.default_api_timeout_ms)
        try:
            await self.owner.start()
            self.network.start(self.owner)
            await self.metadata.start(self.owner, bound_ms / 1000)
            self._become_running()
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self._end()
            if self._state is ClientState.STARTING:
                self.owner = TaskOwner(self.name, clock=self.clock, loop=self.loop)
                self._state = ClientState.NEW
            raise

    def _become_running(self) -> None:
        if self._state is not ClientState.STARTING:
            raise IllegalStateError(f"{self.name} was closed while it was starting")
        self._state = ClientState.RUNNING

    async def close(self) -> None:
        """End the metadata task, close every connection, then end the other tasks of `owner`.

        Takes a bounded time and may be repeated. Requests without a response fail with
        `KafkaConnectionError`. Does nothing when the event loop has ended.

        Cancelled: closing has begun; another `close()` waits for its end.
        """
        self._state = ClientState.CLOSED
        if not self.loop.has_ended:
            await self._end()

    async def _end(self) -> None:
        # A cancelled anyio scope would interrupt every await in here and leave tasks and sockets
        # behind, so this is shielded. Everything inside takes a bounded time.
        with anyio.CancelScope(shield=True):
            try:
                async with deadline(self.clock, CLOSE_BOUND_S):
                    await self.metadata.close()
                    await self.network.close()
            except TimeoutError:
                logger.warning(
                    "%s: sockets are still open %s s after closing", self.name, CLOSE_BOUND_S
                )
            finally:
                # The shield does not stop a plain `task.cancel()`. After that the other tasks end
                # in the background.
                self.owner.close_soon()
            await self.owner.close()

    def check(self) -> None:
        """Raise `KafkaError`, chained to its cause, if a background task has failed."""
        self.owner.check()

    # Asking until there is an answer…

    async def ask_until_answered(
        self, ask: Callable[[], Awaitable[T]], timeout_s: float, *, what: str, remedy: str
    ) -> T:
        """Return what `ask()` returns. After a retriable error, call it again after a backoff.

        Raises:
            KafkaTimeoutError: no result after `timeout_s`; the text names `what`, the last failure
                and the `remedy`.
            KafkaError: an error of `ask` that is not retriable, at once.
        Cancelled: as `ask`.
        """
        failure: KafkaError | None = None
        attempts = 0
        try:
            async with deadline(self.clock, timeout_s):
                while True:
                    try:
                        return await ask()
                    except KafkaError as error:
                        if not error.retriable:
                            raise
                        failure = error
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

    def _note_misrouted(self) -> None:
        self.metadata.request_seeds()

    def _note_trouble(self) -> None:
        for listener in self._trouble_listeners:
            listener()
        self.metadata.request_update()


__all__ = ["ClientState", "KafkaClient"]
