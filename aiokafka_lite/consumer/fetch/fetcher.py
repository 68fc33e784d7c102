"""Owns the fetches in flight: at most one per node, and each a round that a poll has planned.

The poll plans a round without waiting: which nodes are asked, and for which offsets. It sends the
planned requests in the same call. The callback that reads a response files it into the buffer. So a
poll that times out or is cancelled leaves its fetch running. No round starts by itself. The second
fetch of a poll is such a round. Source: A1, A2, A10.

A round has a task only if its request has to wait for a connection, a backoff or a throttle. A task
for each round would cost one turn of the event loop at each end of it. An unexpected error in the
callback ends the client, as in a task.
"""

import logging
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import partial

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.side_by_side import side_by_side
from aiokafka_lite.concurrency.task_owner import OwnedTask
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.fetch.fetch_buffer import FetchBuffer
from aiokafka_lite.consumer.fetch.fetch_bytes import LoneAnswer
from aiokafka_lite.consumer.fetch.fetch_planner import FetchPlanner
from aiokafka_lite.consumer.fetch.fetch_response import FetchResponseHandler, wants
from aiokafka_lite.consumer.fetch.fetch_session import FetchSession, SessionPartition
from aiokafka_lite.consumer.fetch.planned_fetch import PlannedFetch
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.consumer.position.leader_watch import missed
from aiokafka_lite.consumer.position.subscription_state import SubscriptionState
from aiokafka_lite.errors import FrameTooLargeError, KafkaError, RecordTooLargeError, for_code
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.frame import MAX_FRAME_BYTES
from aiokafka_lite.protocol.messages.fetch import FetchRequest, FetchResponse

logger = logging.getLogger(__name__)

_CLOSE_SESSIONS_S = 1.0
"""How long `close` waits for sessions to close. Closing only frees memory of the broker (2a-11)."""
_NAMED = 3
"""How many partitions an error about a whole response names."""


@dataclass(slots=True, eq=False)
class _NodeFetches:
    """One node's fetches: at most one is planned or in flight (A10)."""

    node_id: int
    task: OwnedTask | None = None
    """The newest round that has waited for a connection."""
    planned: PlannedFetch | None = None
    failures: int = 0
    failure: str = ""
    """The text of the newest failure, while `failures` counts any."""
    refusals: int = 0
    retry_at_s: float = 0.0


class Fetcher:
    """Runs the rounds of fetches that polls plan, and files the responses into the buffer."""

    def __init__(
        self,
        config: ConsumerConfig,
        client: KafkaClient,
        subscription: SubscriptionState,
        buffer: FetchBuffer,
        signal: PollSignal,
    ) -> None:
        self._client = client
        self._subscription = subscription
        self._revision = subscription.revision
        self._signal = signal
        self._planner = FetchPlanner(config, subscription, buffer, self)
        self._handler = FetchResponseHandler(
            config, subscription, buffer, client.retry_backoff, client.metadata.update_leaders
        )
        self._nodes: dict[int, _NodeFetches] = {}
        self._error: KafkaError | None = None
        self._asked: Mapping[TopicPartition, SessionPartition] = {}
        """What the request asked for, if `_error` is a response that was too large; else empty."""
        self._looked_at: tuple[int, int] | None = None
        self._due_at_s: float | None = None
        self._leaderless: tuple[TopicPartition, ...] = ()
        self.lacks_room = False
        """True if the newest round left a node out because too much of its data is unread (A11)."""
        self._is_closed = False
        self._may_read_from_followers = config.client_rack is not None
        self._assignment: frozenset[TopicPartition] = frozenset()
        self._leaders_of: tuple[int, int] | None = None
        self._leaders: set[int | None] = set()

    # For the poll; none of these waits…

    def start_fetches(self) -> float | None:
        """Start a round at each node that has free partitions and may get a request (A2, A3).

        Returns the moment (monotonic seconds) when the first backoff ends; None: no backoff. Until
        that moment, another call starts nothing unless something else changes. Does not wait.
        """
        if self._is_closed:
            return None
        snapshot = self._client.metadata.snapshot
        seen = (self._revision.number, snapshot.version)
        now_s = self._client.clock.monotonic()
        if seen == self._looked_at and (self._due_at_s is None or now_s < self._due_at_s):
            return self._due_at_s
        if self._every_leader_owes_an_answer(snapshot):
            self.lacks_room = False
            self._looked_at, self._due_at_s = seen, None  # an answer changes the revision
            return None
        found = self._planner.plan_round(snapshot, now_s)
        for planned in found.fetches:
            self._begin_round(planned)
        self._leaderless = tuple(found.leaderless)
        self.lacks_room = found.lacks_room
        if found.leaderless or found.needs_metadata:
            self._client.metadata.request_update()
        self._looked_at = (self._revision.number, snapshot.version)
        self._due_at_s = found.due_at_s
        return found.due_at_s

    def _every_leader_owes_an_answer(self, snapshot: MetadataSnapshot) -> bool:
        """Say whether every leader has a fetch in flight, so that no round can be planned.

        Polls call this each time they have used up a fetch. A consumer may have thousands of
        partitions, but few leaders. So the leaders are remembered, until the assignment or the
        metadata changes.
        """
        assigned = self._subscription.assignment
        if self._leaders_of != (snapshot.version, id(assigned)):
            self._leaders_of = (snapshot.version, id(assigned))
            self._assignment = assigned  # so that its id stays its own
            self._leaders = {snapshot.leader(tp).node_id for tp in assigned}
            self._connect_leaders()
        if self._may_read_from_followers or not self._leaders:
            return False
        nodes = self._nodes
        return all(
            node_id in nodes and nodes[node_id].planned is not None for node_id in self._leaders
        )

    def _connect_leaders(self) -> None:
        """Begin the connections for fetches, while the positions are still asked for."""
        for node_id in self._leaders:
            if node_id is not None and node_id not in self._nodes:
                self._client.network.prepare(node_id, Lane.FETCH)

    def want(self, partitions: Collection[TopicPartition]) -> None:
        """Note that a poll of `partitions` begins; if none is named, of all."""
        self._planner.want(partitions)

    def start_fetches_for(self, wanted: Collection[TopicPartition]) -> float | None:
        """Drop unread data that keeps `wanted` from being fetched, then `start_fetches`.

        It is called if all running polls want only `wanted` and found none of it buffered.
        """
        clock = self._client.clock
        self._planner.make_room_for(wanted, self._client.metadata.snapshot, clock.monotonic())
        return self.start_fetches()

    @property
    def pending_fetches(self) -> frozenset[PlannedFetch]:
        """The fetches that were started and have no response yet, at most one per node."""
        return frozenset(node.planned for node in self._nodes.values() if node.planned is not None)

    @property
    def leaderless(self) -> tuple[TopicPartition, ...]:
        """The partitions that the newest round did not fetch because they had no known leader.

        Only those that `leader_watch.missed` finds worth an error for the user."""
        return missed(self._leaderless, self._subscription, self._client.metadata.snapshot)

    def free_partitions(self) -> list[TopicPartition]:
        """Return the partitions that a fetch may ask for, in queue order."""
        return self._planner.free_partitions(self._client.clock.monotonic())

    def was_dropped(self, tp: TopicPartition) -> bool:
        """Say whether the partition is not fetched because its data was dropped unread."""
        return self._planner.was_dropped(tp)

    def is_asked_for(self, tp: TopicPartition, node_id: int) -> bool:
        """Say whether the newest request to the node asks for the partition."""
        return tp in self._planner.session(node_id).partitions

    def failure_of(self, node_id: int) -> str:
        """Return why the newest fetch from the node failed; "" if it did not."""
        node = self._nodes.get(node_id)
        return node.failure if node is not None and node.failures else ""

    def take_error(self) -> KafkaError | None:
        """Return a failure that the poll must raise, once.

        A response that was too large is not raised if one of its partitions was sought or taken
        away since. The next response may fit; if it does not, its error is raised.
        """
        error, self._error = self._error, None
        asked, self._asked = self._asked, {}
        for tp, partition in asked.items():
            state = self._subscription.get(tp)
            if state is None or not wants(state, partition):
                return None
        return error

    # For the planner…

    def fetch_delay(self, node_id: int) -> float | None:
        """Return the seconds until the node may get a fetch; None while one is in flight (A10)."""
        delay_s = self._client.network.ready_delay(node_id, Lane.FETCH)
        node = self._nodes.get(node_id)
        if node is None:
            return delay_s
        if node.planned is not None:
            return None
        return max(delay_s, node.retry_at_s - self._client.clock.monotonic(), 0.0)

    def fetch_version(self, node_id: int) -> int | None:
        """Return the version of a Fetch to this node; None if it was never connected."""
        return self._client.network.max_version(node_id, FetchRequest)

    # Rounds…

    def _begin_round(self, planned: PlannedFetch) -> None:
        """Send the planned fetch, or start a task that waits until it can be sent."""
        node = self._nodes.setdefault(planned.node_id, _NodeFetches(planned.node_id))
        node.planned = planned
        planned.node = node
        planned.on_answer = self._round_is_over
        try:
            is_sent = self._client.network.submit(
                node.node_id,
                planned.request,
                planned,
                Lane.FETCH,
                planned.max_version,
            )
        except KafkaError:
            is_sent = False  # the task gets the same error, and takes it in after this poll
        if not is_sent:
            name = f"fetch[{node.node_id}]"
            node.task = self._client.owner.spawn(name, self._send_when_possible, node, planned)

    async def _send_when_possible(self, node: _NodeFetches, planned: PlannedFetch) -> None:
        try:
            response = await self._client.network.request(
                node.node_id, planned.request, lane=Lane.FETCH, max_version=planned.max_version
            )
        except KafkaError as error:
            self._failed(node, error)
        else:
            self._answered(node, response)
        self._end_round(node)

    def _round_is_over(
        self,
        planned: PlannedFetch,
        response: FetchResponse | LoneAnswer | None,
        error: Exception | None,
    ) -> None:
        """Take in the outcome of a round without a task. Called by the event loop."""
        if self._is_closed:
            return
        node: _NodeFetches = planned.node
        fault = error
        try:
            if response is not None:
                fault = None
                if isinstance(response, FetchResponse):
                    self._client.network.note_throttle(node.node_id, response, Lane.FETCH)
                self._answered(node, response)
            elif isinstance(error, KafkaError):
                fault = None
                self._failed(node, error)
            self._end_round(node)
        except Exception as raised:  # noqa: BLE001  the event loop would log it and go on
            fault = raised
        if fault is not None:
            with suppress(KafkaError):  # the client has failed or ended already
                node.task = self._client.owner.spawn(f"fetch[{node.node_id}]", _fail_with, fault)

    def _end_round(self, node: _NodeFetches) -> None:
        node.planned = None
        self._revision.number += 1  # its partitions are free again, answered or not
        self._signal.notify()

    def _answered(self, node: _NodeFetches, response: FetchResponse | LoneAnswer) -> None:
        clock = self._client.clock
        outcome = self._handler.handle(
            self._planner.session(node.node_id),
            response,
            clock.monotonic(),
            int(clock.time() * 1000),
        )
        if outcome.needs_metadata:
            self._client.metadata.request_update()
        if not outcome.is_accepted:
            self._refused(node, response)
            return
        self._client.observer.records_fetched(node.node_id, outcome.records_bytes)
        for code in outcome.error_codes:
            self._client.observer.failed("fetch", for_code(code)())
        if node.failures:
            client_id = self._client.config.client_id
            logger.info("%s: node %d answers fetches again", client_id, node.node_id)
        node.failures = node.refusals = 0

    def _refused(self, node: _NodeFetches, response: FetchResponse | LoneAnswer) -> None:
        logger.debug(
            "node %d: fetch answer with error %d refused", node.node_id, response.error_code
        )
        # A full fetch follows at once. Only if that is refused too, the next one waits.
        if node.refusals:
            self._back_off(node, node.refusals - 1)
        node.refusals += 1

    def _failed(self, node: _NodeFetches, error: KafkaError) -> None:
        session = self._planner.session(node.node_id)
        session.handle_error()
        for tp in session.partitions:  # a follower that cannot be reached is not read (2a-10)
            if (state := self._subscription.get(tp)) is not None:
                self._subscription.forget_replica(state)
        level = logging.DEBUG if node.failures else logging.WARNING
        client_id = self._client.config.client_id
        logger.log(
            level, "%s: a fetch from node %d failed: %s", client_id, node.node_id, reason_of(error)
        )
        self._client.observer.failed("fetch", error)
        self._back_off(node, node.failures)
        node.failures += 1
        node.failure = reason_of(error)
        if error.invalid_metadata:
            self._client.metadata.request_update()
        if isinstance(error.__cause__, FrameTooLargeError):
            self._error = _too_large(session, error.__cause__)
            self._asked = dict(session.partitions)
        elif not error.retriable:
            self._error, self._asked = error, {}

    def _back_off(self, node: _NodeFetches, attempts: int) -> None:
        delay_s = self._client.retry_backoff.delay(attempts)
        node.retry_at_s = self._client.clock.monotonic() + delay_s

    # The end…

    async def close(self, timeout_s: float) -> None:
        """Drop the fetches in flight, then close the sessions, within `timeout_s` seconds.

        Sessions that cannot be closed are only logged. Idempotent. Cancelled: the sessions stay
        open until the broker drops them.
        """
        self._is_closed = True
        busy = {node.node_id for node in self._nodes.values() if node.planned is not None}
        tasks = [node.task for node in self._nodes.values() if node.task is not None]
        for task in tasks:
            task.cancel()
        for task in tasks:
            await task.wait()
        sessions = self._planner.open_sessions()
        if sessions:
            await self._close_sessions(sessions, busy, min(timeout_s, _CLOSE_SESSIONS_S))

    async def _close_sessions(
        self, sessions: list[FetchSession], busy: set[int], timeout_s: float
    ) -> None:
        try:
            async with deadline(self._client.clock, timeout_s):
                await side_by_side(
                    # In the lane of a fetch in flight, the request would wait for its response.
                    partial(
                        self._close_session,
                        session,
                        Lane.GENERAL if session.node_id in busy else Lane.FETCH,
                    )
                    for session in sessions
                )
        except TimeoutError:
            logger.debug("fetch sessions were not closed within %.1f s", timeout_s)

    async def _close_session(self, session: FetchSession, lane: Lane) -> None:
        planned = self._planner.plan_close(session)
        if self._client.network.ready_delay(planned.node_id, lane):
            return  # the node cannot be reached; the broker will drop the session by itself
        try:
            await self._client.network.request(
                planned.node_id, planned.request, lane=lane, max_version=planned.max_version
            )
        except KafkaError as error:
            logger.debug("closing the fetch session of node %d: %s", planned.node_id, error)


async def _fail_with(fault: Exception) -> None:
    raise fault


def _too_large(session: FetchSession, error: FrameTooLargeError) -> RecordTooLargeError:
    """Return the error for a response above the frame limit: asking again brings it again (A4)."""
    asked = sorted(f"{topic}-{partition}" for topic, partition in session.partitions)
    more = f" and {len(asked) - _NAMED} more" if len(asked) > _NAMED else ""
    too_large = RecordTooLargeError(
        f"node {session.node_id} answered a fetch of {', '.join(asked[:_NAMED])}{more} with "
        f"{error.size} bytes, above the limit of {error.limit} (fetch_max_bytes + "
        f"{MAX_FRAME_BYTES}): raise fetch_max_bytes above the size of the largest record batch, or "
        f"seek past it"
    )
    too_large.__cause__ = error
    return too_large


__all__ = ["Fetcher"]
