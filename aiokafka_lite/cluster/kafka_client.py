"""Owns the one thing that producers and consumers see of a cluster: requests to nodes, the metadata
and its news, and the life of both. It puts together `network_client` and `metadata_updater` and
decides little by itself.
"""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from enum import Enum
from typing import Any, Literal, TypeVar, overload

import anyio

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.cluster.metadata_snapshot import LeaderAndEpoch, MetadataSnapshot
from aiokafka_lite.cluster.metadata_updater import MetadataUpdater, SnapshotListener
from aiokafka_lite.cluster.network_client import NetworkClient
from aiokafka_lite.concurrency.backoff import ExponentialBackoff
from aiokafka_lite.concurrency.client_loop import ClientLoop
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.task_owner import TaskOwner
from aiokafka_lite.errors import (
    IllegalStateError,
    KafkaError,
    KafkaTimeoutError,
    NodeNotReadyError,
)
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.model import Node, TopicPartition
from aiokafka_lite.net.pending_request import Answer
from aiokafka_lite.schema.message import Request, Response

logger = logging.getLogger(__name__)

R = TypeVar("R", bound=Response)
T = TypeVar("T")

CLOSE_BOUND_S = 5.0
"""How long `close` waits for sockets to close before it goes on without them."""


class ClientState(Enum):
    """Where a client stands in its life."""

    NEW = "new"  # start() may be called; a start that failed comes back here
    STARTING = "starting"
    RUNNING = "running"
    CLOSED = "closed"  # for good


class KafkaClient:
    """A cluster, seen from one producer, consumer or admin client.

    The constructor needs no loop and does no I/O. `name` names the tasks. `max_in_flight` is per
    connection. `metadata_max_idle_ms` and `allow_auto_topic_creation` are those of the metadata:
    how long a topic given to `add_topic` is kept unused, and whether asking may create topics.
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
    ) -> None:
        self.config = config
        self.clock = clock
        self.rng = rng if rng is not None else random.Random()
        self.name = name
        self.retry_backoff = ExponentialBackoff(
            config.retry_backoff_ms / 1000, config.retry_backoff_max_ms / 1000, rng=self.rng
        )
        """How long to wait before a request that failed is tried again, by number of failures."""

        self.loop = ClientLoop(name)
        """The event loop of start(), which all of the client belongs to."""

        self.owner = TaskOwner(name, clock=clock, loop=self.loop)
        """Whose children the client's tasks are; its user may spawn more, once the client runs."""

        self._state = ClientState.NEW
        self._network = NetworkClient(
            config,
            clock=clock,
            rng=self.rng,
            on_trouble=self._note_trouble,
            on_misrouted=self._note_misrouted,
            max_in_flight=max_in_flight,
        )
        self._trouble_listeners: list[Callable[[], object]] = []
        self._updater = MetadataUpdater(
            config,
            self._network,
            clock=clock,
            rng=self.rng,
            max_idle_s=metadata_max_idle_ms / 1000,
            allow_auto_topic_creation=allow_auto_topic_creation,
        )

    def __repr__(self) -> str:
        return f"<KafkaClient {self.name} {self._state.value}>"

    # Life…

    async def start(self) -> None:
        """Ask the seeds for metadata and keep it up to date from then on.

        All or nothing: a start that fails leaves no task, socket or timer, and may be repeated.

        Raises: `KafkaConnectionError` naming each seed, each of its addresses and what happened
        there, within the smaller of `request_timeout_ms` and `default_api_timeout_ms`;
        `IllegalStateError` when started or closed before.
        Cancelled: as if it had failed.
        """
        if self._state is not ClientState.NEW:
            raise IllegalStateError(f"cannot start {self.name} while it is {self._state.value}")
        self._state = ClientState.STARTING
        bound_ms = min(self.config.request_timeout_ms, self.config.default_api_timeout_ms)
        try:
            await self.owner.start()
            self._network.start(self.owner)
            await self._updater.start(self.owner, bound_ms / 1000)
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
        """End the metadata task, close every connection, then end what else `owner` holds. Bounded
        and idempotent. Requests on the way fail with `KafkaConnectionError`.

        Does nothing when the event loop has ended. Cancelled: closing has begun; another `close()`
        waits for its end.
        """
        self._state = ClientState.CLOSED
        if not self.loop.has_ended:
            await self._end()

    async def _end(self) -> None:
        # Shielded: an anyio scope that was cancelled would strike at every await in here, and leave
        # tasks and sockets behind. Everything inside is bounded.
        with anyio.CancelScope(shield=True):
            try:
                async with deadline(self.clock, CLOSE_BOUND_S):
                    await self._updater.close()
                    await self._network.close()
            except TimeoutError:
                logger.warning(
                    "%s: sockets are still open %s s after closing", self.name, CLOSE_BOUND_S
                )
            finally:
                # No shield holds off a plain `task.cancel()`: then the rest ends in the background.
                self.owner.close_soon()
            await self.owner.close()

    def check(self) -> None:
        """Raise `KafkaError`, chained to the cause, if a background task has failed. Cheap."""
        self.owner.check()

    @property
    def has_lost_its_loop(self) -> bool:
        """Whether the client's event loop has ended before the client did: nothing runs any more,
        and nothing can be closed.
        """
        return self.loop.has_ended

    # Asking nodes…

    @overload
    def request(
        self,
        node_id: int,
        request: Request[R],
        *,
        lane: Lane = Lane.GENERAL,
        timeout_s: float | None = None,
        max_version: int | None = None,
        expects_response: Literal[True] = True,
    ) -> Coroutine[Any, Any, R]: ...

    @overload
    def request(
        self,
        node_id: int,
        request: Request[R],
        *,
        lane: Lane = Lane.GENERAL,
        timeout_s: float | None = None,
        max_version: int | None = None,
        expects_response: bool,
    ) -> Coroutine[Any, Any, R | None]: ...

    def request(
        self,
        node_id: int,
        request: Request[R],
        *,
        lane: Lane = Lane.GENERAL,
        timeout_s: float | None = None,
        max_version: int | None = None,
        expects_response: bool = True,
    ) -> Coroutine[Any, Any, R | None]:
        """Return the answer of a node; connects if need be. See `NetworkClient.request`."""
        return self._network.request(
            node_id,
            request,
            lane=lane,
            timeout_s=timeout_s,
            max_version=max_version,
            expects_response=expects_response,
        )

    def request_soon(
        self,
        node_id: int,
        request: Request[R],
        *,
        max_version: int | None = None,
        expects_response: bool = True,
    ) -> "asyncio.Future[R | None] | None":
        """Send a request over the general lane if that is possible at once, None if not. See
        `NetworkClient.request_soon`.
        """
        return self._network.request_soon(
            node_id, request, max_version=max_version, expects_response=expects_response
        )

    def request_into(
        self,
        answer: Answer,
        node_id: int,
        request: Request[R],
        *,
        lane: Lane = Lane.GENERAL,
        max_version: int | None = None,
    ) -> bool:
        """Send a request if that is possible at once, False if not; `answer` gets what comes. See
        `NetworkClient.request_into`.
        """
        return self._network.request_into(
            answer, node_id, request, lane=lane, max_version=max_version
        )

    def note_throttle(
        self, node_id: int, response: Response | None, lane: Lane = Lane.GENERAL
    ) -> None:
        """Heed what an answer to `request_soon` says of being throttled (KIP-219)."""
        self._network.note_throttle(node_id, lane, response)

    async def request_any(
        self,
        request: Request[R],
        *,
        timeout_s: float | None = None,
        max_version: int | None = None,
    ) -> R:
        """Return the answer of the least loaded node; if all are waiting for their backoff, of the
        one whose wait ends first. Raises and Cancelled: as `request`; nothing is retried.
        """
        node_id = self._network.least_loaded_node()
        if node_id is None:
            nodes = self.snapshot.nodes
            if not nodes:
                raise NodeNotReadyError("no node of the cluster is known")
            node_id = min(nodes, key=self._network.ready_delay)
        return await self._network.request(
            node_id, request, timeout_s=timeout_s, max_version=max_version
        )

    async def ask_until_answered(
        self, ask: Callable[[], Awaitable[T]], timeout_s: float, *, what: str, remedy: str
    ) -> T:
        """Return what `ask()` returns, which is called again after retriable errors, with backoff.

        Raises: KafkaTimeoutError after `timeout_s`, saying that there was no `what`, why, and the
        `remedy`; other errors of `ask` at once. Cancelled: as `ask`.
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

    def ready_delay(self, node_id: int, lane: Lane = Lane.GENERAL) -> float:
        """Return the seconds until `request` goes ahead without waiting for a backoff or a
        throttle; 0: now. Does not wait.
        """
        return self._network.ready_delay(node_id, lane)

    def max_version(self, node_id: int, request_type: type[Request[Any]]) -> int | None:
        """Return the version a request of this type would have; None if the node does not know the
        API in any version of ours, or was not connected yet.
        """
        return self._network.max_version(node_id, request_type)

    def highest_version(self, request_type: type[Request[Any]]) -> int | None:
        """Return the highest version a request of this type would have with any node connected so
        far; None if none knows the API.
        """
        return self._network.highest_version(request_type)

    def finalized_level(self, feature: str) -> int:
        """Return the level of a feature in force in the cluster, as far as nodes have told; 0: none
        (KIP-584).
        """
        return self._network.finalized_level(feature)

    # Metadata…

    @property
    def snapshot(self) -> MetadataSnapshot:
        """The newest metadata. Immutable; ask again for newer."""
        return self._updater.snapshot

    def set_topics(
        self, topics: Iterable[str] | None, matters: Callable[[str], bool] | None = None
    ) -> None:
        """Want metadata of exactly these topics, None: of all. Topics of `add_topic` stay as well.
        `matters` says which of them are asked about again soon if something of them is missing;
        None: each. Works before `start()`, too.
        """
        self._updater.set_topics(topics, matters)

    def add_topic(self, topic: str) -> None:
        """Want metadata of `topic` until it was not added again for metadata_max_idle_ms. Cheap."""
        self._updater.add_topic(topic)

    def request_metadata_update(self) -> None:
        """Ask for a refresh soon; coalesced, held back after failures and answers without news."""
        self._updater.request_update()

    def update_leaders(
        self, leaders: Mapping[TopicPartition, LeaderAndEpoch], nodes: Iterable[Node]
    ) -> frozenset[TopicPartition]:
        """Take over what an answer hints about new leaders; return the partitions whose leader is
        another one now: they may be asked for again at once (KIP-951). `nodes`: the addresses the
        answer has for them.
        """
        return self._updater.update_leaders(leaders, nodes)

    def note_leader_epoch(self, topic_partition: TopicPartition, leader_epoch: int) -> None:
        """Ask for a refresh if a leader epoch, seen in a committed or listed offset, is newer than
        the metadata's (2c-4, 2f-10).
        """
        self._updater.note_leader_epoch(topic_partition, leader_epoch)

    async def refresh_metadata(self, timeout_s: float | None = None) -> MetadataSnapshot:
        """Return metadata asked for after this call; `timeout_s` None: default_api_timeout_ms.

        Raises: `KafkaTimeoutError`; `Cancelled` when the client closes meanwhile.
        Cancelled: the refresh goes on.
        """
        if timeout_s is None:
            timeout_s = self.config.default_api_timeout_ms / 1000
        return await self._updater.refresh(timeout_s)

    async def wait_for_topic(self, topic: str, timeout_s: float) -> MetadataSnapshot:
        """Return metadata that has the partitions of `topic`; at once if it is known. See
        `MetadataUpdater.wait_for_topic` for what it raises.
        """
        return await self._updater.wait_for_topic(topic, timeout_s)

    def add_snapshot_listener(self, listener: SnapshotListener) -> None:
        """Call `listener(snapshot)` after each refresh and each hint of `update_leaders` that was
        news, before those who wait are woken. It must not raise: that ends the client.
        """
        self._updater.add_listener(listener)

    def add_trouble_listener(self, listener: Callable[[], object]) -> None:
        """Call `listener()` when a connection to a node of the metadata could not be made or was
        lost, before the metadata is asked for anew. It must not raise.
        """
        self._trouble_listeners.append(listener)

    def _note_misrouted(self) -> None:
        self._updater.request_seeds()

    def _note_trouble(self) -> None:
        for listener in self._trouble_listeners:
            listener()
        self.request_metadata_update()


__all__ = ["ClientState", "KafkaClient"]
