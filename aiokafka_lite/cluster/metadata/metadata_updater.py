"""Keeps the metadata of a cluster up to date: `client.metadata`.

One background task sends one Metadata request at a time: on request, at age, and after a connection
was lost. `metadata_snapshot` decides what a response means, `refresh_schedule` when to ask,
`topic_interest` which topics to ask about, and `refresh_failures` what users read of an outage.
"""

import asyncio
import copy
import logging
import random
from collections.abc import Callable, Iterable, Mapping

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.clock import Clock
from aiokafka_lite.cluster.bootstrap import SeedRound, check_answer
from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.cluster.metadata.absences import Absences
from aiokafka_lite.cluster.metadata.leader_updates import is_newer_epoch, merge_leaders
from aiokafka_lite.cluster.metadata.metadata_snapshot import (
    LeaderAndEpoch,
    MetadataSnapshot,
    TopicMetadata,
    bootstrap_snapshot,
    forget_topics,
    is_equivalent,
    merge_metadata,
    without_nodes,
)
from aiokafka_lite.cluster.metadata.refresh_failures import (
    RefreshFailures,
    is_refusal,
    text_of,
    why_leaderless,
)
from aiokafka_lite.cluster.metadata.refresh_schedule import RefreshSchedule
from aiokafka_lite.cluster.metadata.topic_interest import TopicInterest
from aiokafka_lite.cluster.network_client import NetworkClient
from aiokafka_lite.concurrency.backoff import ExponentialBackoff
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.long_waits import LongWaits
from aiokafka_lite.concurrency.outcome import give
from aiokafka_lite.concurrency.task_owner import OwnedTask, OwnerState, TaskOwner
from aiokafka_lite.concurrency.wakeup import Wakeup
from aiokafka_lite.errors import (
    AuthenticationFailedError,
    Cancelled,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    NodeNotReadyError,
    RebootstrapRequiredError,
)
from aiokafka_lite.metrics.observer import NO_OBSERVER, Observer
from aiokafka_lite.model import Node, TopicPartition
from aiokafka_lite.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)

logger = logging.getLogger(__name__)

_CHECK = "check the addresses, the brokers and the security options"

SnapshotListener = Callable[[MetadataSnapshot], object]


class MetadataUpdater:
    """The newest metadata of a cluster (`snapshot`), and the task that renews it.

    `max_idle_s`: how long a topic is kept after its last `add_topic`.
    `allow_auto_topic_creation`: a broker may create a topic that the client asks for, if the
    configuration of the broker allows it.
    """

    def __init__(
        self,
        config: ClientConfig,
        network: NetworkClient,
        *,
        clock: Clock,
        rng: random.Random,
        max_idle_s: float,
        allow_auto_topic_creation: bool,
        observer: Observer = NO_OBSERVER,
        waits: LongWaits | None = None,
    ) -> None:
        self._observer = observer
        self.snapshot: MetadataSnapshot = bootstrap_snapshot(config.endpoints)
        self._config = config
        self._network = network
        self._clock = clock
        self._rng = rng
        self._waits = waits or LongWaits(clock, config.client_id)
        self._owner: TaskOwner | None = None
        self._allow_auto_topic_creation = allow_auto_topic_creation
        self._interest = TopicInterest(max_idle_s)
        self._absences = Absences()
        self._is_asking = False
        """Whether a node owes an answer to Metadata."""
        self._schedule = RefreshSchedule(
            max_age_s=config.metadata_max_age_ms / 1000,
            backoff=ExponentialBackoff(
                config.retry_backoff_ms / 1000, config.retry_backoff_max_ms / 1000, rng=rng
            ),
        )
        self._wakeup = Wakeup()
        # In the order of the calls: sends to an unknown topic go on in their order.
        self._waiters: dict[asyncio.Future[None], None] = {}
        self._awaited: dict[str, int] = {}  # topic -> number of wait_for_topic calls
        self._listeners: list[SnapshotListener] = []
        self._begun = 0  # refreshes begun, and the newest that succeeded or could not log in
        self._succeeded = 0
        self._unauthenticated = 0
        self._failures = RefreshFailures(config.client_id)
        self._needs_seeds = False
        self._task: OwnedTask | None = None
        self._is_running = False

    # Start and close…

    async def start(self, owner: TaskOwner, bound_s: float) -> None:
        """Get the first metadata from the seeds, and start the background task. A client that
        shares connections asks a node that is known.

        May be repeated after a failure. Raises: `KafkaConnectionError` within `bound_s`; it names
        each seed and what happened there. `AuthenticationFailedError` at once. Cancelled: no task
        stays behind.
        """
        self._owner = owner
        self._begin()
        if not await self._refresh_from_known_nodes():
            await self._refresh_from_seeds(bound_s)
        self._task = owner.spawn("metadata_updater", self._run)
        self._is_running = True

    async def close(self) -> None:
        """End the background task. Calls that wait for metadata raise `Cancelled`."""
        self._is_running = False
        if self._task is not None:
            self._task.cancel()
            await self._task.wait()
        self._wake_waiters()

    async def _run(self) -> None:
        try:
            while True:
                await self._wait_until_due()
                await self._refresh()
        finally:
            self._is_running = False
            self._wake_waiters()

    # What the metadata is about, and requests for a refresh…

    def set_topics(
        self, topics: Iterable[str] | None, matters: Callable[[str], bool] | None = None
    ) -> None:
        """Keep the metadata of these topics (None: all of the cluster), and of those in use
        (`add_topic`). May be called before the client starts.

        While a topic is not fully described, it is asked about again soon if `matters(topic)` is
        true. None: every topic matters.
        """
        if self._interest.fix(topics, matters):
            if self._interest.wants_all:
                self._schedule.request()
            else:
                self._schedule.request(partial=True, urgent=True)
            self._wakeup.set()

    def add_topic(self, topic: str) -> None:
        """Keep the metadata of `topic` until it was not added again for `max_idle_s`.

        For a known topic the call is cheap enough for each record.
        """
        if self._interest.use(topic, self._clock.monotonic()):
            self._schedule.request(partial=True, urgent=True)
            self._wakeup.set()

    @property
    def is_outage(self) -> bool:
        """Whether no broker can be reached: the refreshes fail, and no connection is open."""
        return self._failures.is_outage_told and not self._network.usage()[0]

    def request_update(self) -> None:
        """Request a refresh. Any number of calls cause one refresh. A backoff delays it if earlier
        refreshes failed or said nothing new.
        """
        self._schedule.request()
        self._wakeup.set()

    def request_seeds(self) -> None:
        """Request a refresh from the seeds, because another node answered at a known address
        (KIP-1242). With metadata_recovery_strategy="none" the known nodes are asked.

        No other connection is closed. Java closes all of them, so one wrong address stops the
        nodes that can be reached.
        """
        self._needs_seeds = True
        self.request_update()

    def update_leaders(
        self, leaders: Mapping[TopicPartition, LeaderAndEpoch], nodes: Iterable[Node]
    ) -> frozenset[TopicPartition]:
        """Take over the leaders that a Fetch or Produce response names (KIP-951).

        Return the partitions with a new leader, for which requests may be sent again at once.
        `nodes`: the addresses in the response. Listeners and waiting calls learn of the new
        snapshot as after a refresh.
        """
        after, changed = merge_leaders(self.snapshot, leaders, nodes)
        if changed:
            self._take_over(after)
            self._wake_waiters()
        return changed

    def note_leader_epoch(self, topic_partition: TopicPartition, leader_epoch: int) -> None:
        """Request a refresh if `leader_epoch`, which came with an offset, is newer than the known
        one (2c-4, 2f-10).
        """
        if is_newer_epoch(self.snapshot, topic_partition, leader_epoch):
            self.request_update()

    def add_listener(self, listener: SnapshotListener) -> None:
        """Call `listener(snapshot)` after each refresh, and after each hint with a new leader.

        The call comes before waiting calls go on. An exception of the listener ends the client.
        """
        self._listeners.append(listener)

    # Calls that wait for metadata…

    async def refresh(self, timeout_s: float | None = None) -> MetadataSnapshot:
        """Return metadata that was requested after this call. `timeout_s` None:
        default_api_timeout_ms.

        Raises: `KafkaTimeoutError`, chained to the last failure; `AuthenticationFailedError` at
        once; `Cancelled` if the client closes meanwhile.
        Cancelled: the refresh goes on.
        """
        if timeout_s is None:
            timeout_s = self._config.default_api_timeout_ms / 1000
        wanted = self._begun + 1
        self._schedule.request(urgent=True)
        self._wakeup.set()
        try:
            async with deadline(self._clock, timeout_s):
                while self._succeeded < wanted:
                    await self._next_outcome()
                    self._raise_if_unauthenticated(wanted)
        except TimeoutError:
            raise KafkaTimeoutError(
                f"no metadata within {timeout_s:g} s{self._failures.because()}; check the "
                "connection to the brokers or raise the timeout"
            ) from self._failures.last_error
        return self.snapshot

    async def wait_for_topic(self, topic: str, timeout_s: float) -> MetadataSnapshot:
        """Return metadata that has the partitions of `topic`, at once if they are known.

        A topic that does not exist, or not on every broker yet, is asked for again.

        Raises: InvalidTopicError, TopicAuthorizationFailedError, or another error of the topic that
        is not retriable, at once; AuthenticationFailedError, at once, if a refresh that began after
        this call met it; UnknownTopicOrPartitionError if the topic does not exist after
        `timeout_s`; KafkaTimeoutError, with the reason, if it has no partitions after `timeout_s`;
        `Cancelled` if the client closes meanwhile.
        Cancelled: the topic stays of interest until it was not used for long.
        """
        self.add_topic(topic)
        if self.snapshot.partition_ids(topic):
            return self.snapshot
        first = self._begun + 1  # an error from before this call may be out of date
        self._awaited[topic] = self._awaited.get(topic, 0) + 1
        first_of_topic = TopicPartition(topic, 0)
        try:
            with self._waits.of(
                f"the partitions of topic {quoted(topic)} (Metadata)",
                "check the name, whether the topic exists, and whether brokers may create topics",
                lambda: self._why_absent(first_of_topic),
            ):
                async with deadline(self._clock, timeout_s):
                    while not self.snapshot.partition_ids(topic):
                        if self._succeeded >= first:
                            self._raise_if_hopeless(topic)
                        self.add_topic(topic)
                        self._schedule.request(partial=True)
                        self._wakeup.set()
                        await self._next_outcome()
                        self._raise_if_unauthenticated(first)
        except TimeoutError:
            error = self.snapshot.topic_error(topic)
            raise self._failures.of_topic(topic, error, timeout_s) from self._failures.last_error
        finally:
            self._awaited[topic] -= 1
            if not self._awaited[topic]:
                del self._awaited[topic]
        return self.snapshot

    def failing(self) -> str:
        """Return what the log says of refreshes that fail; "" if they do not. Does not wait."""
        return self._failures.sentence(self._clock.monotonic())

    @property
    def is_told(self) -> bool:
        """Whether a warning says, or will say, why there is no newer metadata."""
        return self._failures.last_error is not None or self._is_asking

    def _why_absent(self, tp: TopicPartition) -> str:
        """Return why there is no such partition; nothing where another warning tells it."""
        return "" if self.is_told else why_leaderless(tp, self.snapshot)

    def _raise_if_unauthenticated(self, first: int) -> None:
        """Raise the newest failed authentication, if refresh `first` or a later one met it."""
        error = self._failures.last_error
        if self._unauthenticated >= first and isinstance(error, AuthenticationFailedError):
            raise copy.copy(error) from error

    def _raise_if_hopeless(self, topic: str) -> None:
        error = self.snapshot.topic_error(topic)
        if error is not None and is_refusal(error):
            raise error(f"topic {quoted(topic)}: {text_of(error)}")

    async def _next_outcome(self) -> None:
        """Return when the running refresh, or the next one, has succeeded or failed."""
        if not self._is_running:
            if self._owner is not None:
                self._owner.check()
            raise Cancelled("metadata was waited for while the client was not running")
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters[waiter] = None
        try:
            await waiter
        finally:
            self._waiters.pop(waiter, None)

    def _wake_waiters(self) -> None:
        for waiter in list(self._waiters):
            give(waiter, None)

    # One refresh…

    async def _wait_until_due(self) -> None:
        while True:
            delay_s = self._schedule.due_at() - self._clock.monotonic()
            if delay_s <= 0:
                return
            await self._wakeup.wait_for(self._clock, delay_s)

    async def _refresh(self) -> None:
        """Refresh once. After a failure the schedule decides when to ask again."""
        partial = self._begin()
        try:
            if self._must_ask_seeds():
                partial = False
                # The known nodes and the seeds take turns, since either may come back first.
                self._needs_seeds = False
                await self._refresh_from_seeds(self._config.request_timeout_ms / 1000)
            else:
                await self._ask_any_node(partial=partial)
        except KafkaError as error:
            self._failed(error, partial=partial)
        self._wake_waiters()

    def _begin(self) -> bool:
        self._begun += 1
        self._interest.expire(self._clock.monotonic())
        return self._schedule.begin(self._clock.monotonic())

    async def _ask_any_node(self, *, partial: bool) -> None:
        try:
            node_id = self._network.least_loaded_node()
            if node_id is None:
                raise NodeNotReadyError(
                    "every known node is in its reconnect backoff or throttles us"
                )
            with self._waits.of(f"node {node_id} to answer Metadata", _CHECK):
                self._is_asking = True
                try:
                    answer = await self._network.request(node_id, self._request(partial=partial))
                finally:
                    self._is_asking = False
            check_answer(answer)
        except KafkaError as error:
            if isinstance(error, RebootstrapRequiredError):
                self._forget_nodes()
            # Decided now: the backoff of the failed node may be over by the next attempt.
            elif not self._network.has_usable_node:
                self._needs_seeds = True
            raise
        self._succeed(node_id, answer, partial=partial)

    def _forget_nodes(self) -> None:
        """Forget the known nodes and ask the seeds, as a broker has requested (KIP-1102)."""
        if self._config.metadata_recovery_strategy == "none":
            return
        logger.info(
            "%s: a broker asks for a rebootstrap: the nodes known so far are forgotten",
            self._config.client_id,
        )
        forgotten = KafkaConnectionError("a broker has asked to begin again from bootstrap_servers")
        self._network.disconnect(self.snapshot.nodes, forgotten)
        self._take_over(without_nodes(self.snapshot))

    async def _refresh_from_known_nodes(self) -> bool:
        """Ask a node that a client with the same connections knows. Return whether it answered."""
        if not self._network.knows_nodes:
            return False
        try:
            await self._ask_any_node(partial=False)
        except KafkaError:
            return False
        return True

    async def _refresh_from_seeds(self, bound_s: float) -> None:
        assert self._owner is not None
        round_ = SeedRound(self._network, clock=self._clock, rng=self._rng, owner=self._owner)
        began_s = self._clock.monotonic()
        try:
            with self._waits.of(
                "the metadata of the cluster from bootstrap_servers (Metadata)",
                _CHECK,
                lambda: round_.present(began_s),
            ):
                node_id, answer = await round_.ask(self._request(partial=False), bound_s)
            self._succeed(node_id, answer, partial=False)
            self._network.adopt(node_id)
        finally:
            self._network.disconnect(
                round_.seeds, KafkaConnectionError("the seeds have done their part")
            )

    def _must_ask_seeds(self) -> bool:
        """Return whether the seeds are to be asked, not the known nodes (KIP-899, KIP-1102)."""
        if self._config.metadata_recovery_strategy == "none":
            return not self.snapshot.nodes
        now_s = self._clock.monotonic()
        trigger_s = self._config.metadata_recovery_rebootstrap_trigger_ms / 1000
        if self._schedule.trying_for(now_s) > trigger_s:
            self._schedule.restart_trial(now_s)
            self._needs_seeds = True
        return self._needs_seeds or not self._network.has_usable_node

    def _request(self, *, partial: bool) -> MetadataRequest:
        if self._interest.wants_all and not partial:
            return MetadataRequest(topics=None)
        named = self._interest.named()
        if partial:
            named = [topic for topic in named if topic in self._awaited or self._is_open(topic)]
        return MetadataRequest(
            topics=[MetadataRequestTopic(name=topic) for topic in named],
            allow_auto_topic_creation=self._allow_auto_topic_creation,
        )

    def _is_open(self, topic: str) -> bool:
        return not _is_settled(self.snapshot.topics.get(topic))

    # The outcome of a refresh…

    def _succeed(self, node_id: int, answer: MetadataResponse, *, partial: bool) -> None:
        version = self._network.max_version(node_id, MetadataRequest)
        before = self.snapshot
        after = merge_metadata(
            before,
            answer,
            partial=partial,
            reliable_epochs=version is None or version >= MetadataRequest.reliable_epochs_since,
        )
        now_s = self._clock.monotonic()
        is_wanted = self._interest.__contains__
        after = self._absences.restored(before, after, answer, is_wanted, now_s)
        after = forget_topics(after, is_wanted)
        self._failures.ended()
        is_missing = any(not after.partition_ids(topic) for topic in list(self._awaited))
        self._schedule.succeeded(
            now_s,
            partial=partial,
            news=not is_missing and not is_equivalent(before, after),
            awaits_leader=self._awaits_leader(after),
        )
        matters = self._interest.matters
        if not all(_is_settled(topic) for topic in after.topics.values() if matters(topic.name)):
            # With all topics wanted, a request by name could create a topic that was deleted.
            self._schedule.request(partial=not self._interest.wants_all)
        if self._absences.are_in_doubt:
            self._schedule.request()
        self._take_over(after)
        self._succeeded = self._begun

    def _awaits_leader(self, snapshot: MetadataSnapshot) -> bool:
        """Say whether a node that leads a partition could not be connected to again."""
        unreachable = self._network.unreachable_nodes
        return bool(unreachable) and any(
            leader.node_id in unreachable
            for topic in snapshot.topics.values()
            for leader in topic.leaders.values()
        )

    def _take_over(self, after: MetadataSnapshot) -> None:
        self.snapshot = after
        self._network.update_nodes(after.nodes, after.cluster_id)
        for listener in self._listeners:
            listener(after)

    def _failed(self, error: KafkaError, *, partial: bool) -> None:
        # A client that closes has closed its connections itself, so it does not warn.
        is_closing = self._owner is not None and self._owner.state is not OwnerState.RUNNING
        self._failures.note(error, self._clock.monotonic(), is_closing=is_closing)
        at_least_s = 0.0
        if isinstance(error, AuthenticationFailedError):
            self._unauthenticated = self._begun
            at_least_s = self._config.reconnect_backoff_max_ms / 1000
        self._schedule.failed(self._clock.monotonic(), partial=partial, at_least_s=at_least_s)
        is_news = not is_closing and not self._failures.is_outage_told
        if is_news and self._network.has_lost_all_nodes:
            self._failures.is_outage_told = True
            self._observer.all_brokers_down(error)


def _is_settled(topic: TopicMetadata | None) -> bool:
    """Return whether asking about the topic again soon would bring nothing new."""
    if topic is None:
        return False
    if topic.error is not None:
        return is_refusal(topic.error)
    ids = topic.partition_ids  # from 0 without gaps, or the broker has left some out
    return bool(ids) and len(topic.available) == ids[-1] + 1


__all__ = ["MetadataUpdater", "SnapshotListener"]
