"""Plans, sends and takes in rounds of fetches, at most one in flight per node. Does not wait.

`fetcher` derives from it, and has what waits: a request without a free connection, and the end.
"""

import logging
from collections.abc import Mapping
from functools import partial

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.concurrency.long_waits import LongWait, Sparing
from aiokafka_lite.concurrency.task_owner import OwnedTask
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.fetch.fetch_buffer import FetchBuffer
from aiokafka_lite.consumer.fetch.fetch_bytes import LoneAnswer
from aiokafka_lite.consumer.fetch.fetch_planner import FetchPlanner
from aiokafka_lite.consumer.fetch.fetch_response import FetchResponseHandler
from aiokafka_lite.consumer.fetch.fetch_session import FetchSession, SessionPartition
from aiokafka_lite.consumer.fetch.planned_fetch import PlannedFetch
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.consumer.position.subscription_state import SubscriptionState
from aiokafka_lite.errors import FrameTooLargeError, KafkaError, RecordTooLargeError, for_code
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.frame import MAX_FRAME_BYTES
from aiokafka_lite.protocol.messages.fetch import FetchRequest, FetchResponse

logger = logging.getLogger(__name__)

_FETCH = Lane.FETCH
_UNASKED_S = 1.0
"""How long after its backoff a node is not asked when no poll wants its partitions."""
_UNREAD_S = 5.0
"""The same for a partition that its leader refuses, whose turn comes later than its backoff."""
_NAMED = 3
"""How many partitions an error about a whole response names."""


class NodeFetches:
    """One node's fetches: at most one is planned or in flight (A10)."""

    __slots__ = (
        "failure",
        "failures",
        "node_id",
        "planned",
        "planned_at_s",
        "refusals",
        "retry_at_s",
        "task",
        "wait",
    )

    def __init__(self, node_id: int) -> None:
        self.node_id = node_id
        self.task: OwnedTask | None = None
        """The newest round that has waited for a connection."""
        self.planned: PlannedFetch | None = None
        self.planned_at_s = 0.0
        """When it was planned (monotonic)."""
        self.failures = 0
        self.failure = ""
        """The text of the newest failure, while `failures` counts any."""
        self.refusals = 0
        self.retry_at_s = 0.0
        self.wait: LongWait | None = None
        """Since the first of these failures and refusals."""


class FetchRounds:
    """The rounds of one consumer. Each node has at most one fetch planned or in flight."""

    def __init__(
        self,
        config: ConsumerConfig,
        client: KafkaClient,
        subscription: SubscriptionState,
        buffer: FetchBuffer,
        signal: PollSignal,
    ) -> None:
        self._client = client
        self._network = client.network
        self._metadata = client.metadata
        self._clock = client.clock
        self._observer = client.observer
        self._subscription = subscription
        self._revision = subscription.revision
        self._signal = signal
        self._planner = FetchPlanner(config, subscription, buffer, self)
        self._handler = FetchResponseHandler(
            config, subscription, buffer, client.retry_backoff, client.metadata.update_leaders
        )
        self._nodes: dict[int, NodeFetches] = {}
        self._error: KafkaError | None = None
        self._asked: Mapping[TopicPartition, SessionPartition] = {}
        """What the request asked for, if `_error` is a response that was too large; else empty."""
        self._looked_at = -1  # the number of the revision
        self._looked_into: MetadataSnapshot | None = None
        self._due_at_s: float | None = None
        self._leaderless: list[TopicPartition] = []
        self._refused_wait: LongWait | None = None
        self._answer_wait: LongWait | None = None
        self._sparing = Sparing()
        self._max_wait_s = config.fetch_max_wait_ms / 1000
        self.lacks_room = False
        """True if the newest round left a node out because too much of its data is unread (A11)."""
        self._is_closed = False
        self._may_read_from_followers = config.client_rack is not None
        self._assignment: frozenset[TopicPartition] = frozenset()
        self._leaders_of = -1  # the version of the metadata
        self._leaders: frozenset[int | None] = frozenset()

    def start_fetches(self) -> float | None:
        """Start a round at each node that has free partitions and may get a request (A2, A3).

        Returns the moment (monotonic seconds) when the first backoff ends; None: no backoff. Until
        that moment, another call starts nothing unless something else changes. Does not wait.
        """
        if self._is_closed:
            return None
        snapshot = self._metadata.snapshot
        now_s = self._clock.monotonic()
        seen = self._revision.number
        if (
            seen == self._looked_at
            and snapshot is self._looked_into
            and (self._due_at_s is None or now_s < self._due_at_s)
        ):
            return self._due_at_s
        if self._every_leader_owes_an_answer(snapshot):
            self.lacks_room = False
            self._looked_at, self._looked_into = seen, snapshot
            self._due_at_s = None  # an answer changes the revision
            return None
        found = self._planner.plan_round(snapshot, now_s)
        for planned in found.fetches:
            self._begin_round(planned, now_s)
        self._leaderless = found.leaderless
        self.lacks_room = found.lacks_room
        if found.leaderless or found.needs_metadata:
            self._metadata.request_update()
        self._looked_at, self._looked_into = seen, snapshot  # a finalizer may have sought since
        self._due_at_s = found.due_at_s
        return found.due_at_s

    def _every_leader_owes_an_answer(self, snapshot: MetadataSnapshot) -> bool:
        """Say whether every leader has a fetch in flight, so that no round can be planned.

        Polls call this each time they have used up a fetch. A consumer may have thousands of
        partitions, but few leaders. So the leaders are remembered, until the assignment or the
        metadata changes.
        """
        assigned = self._subscription.assignment
        if assigned is not self._assignment or snapshot.version != self._leaders_of:
            self._leaders_of = snapshot.version
            self._assignment = assigned
            self._leaders = frozenset([snapshot.leader(tp).node_id for tp in assigned])
            self._connect_leaders()
        if self._may_read_from_followers or not self._leaders:
            return False
        for node_id in self._leaders:
            node = self._nodes.get(node_id) if node_id is not None else None
            if node is None or node.planned is None:
                return False
        return True

    def _connect_leaders(self) -> None:
        """Begin the connections for fetches, while the positions are still asked for."""
        for node_id in self._leaders:
            if node_id is not None and node_id not in self._nodes:
                self._network.prepare(node_id, _FETCH)

    # For the planner…

    def fetch_delay(self, node_id: int) -> float | None:
        """Return the seconds until the node may get a fetch; None while one is in flight (A10)."""
        delay_s = self._network.ready_delay(node_id, _FETCH)
        node = self._nodes.get(node_id)
        if node is None:
            return delay_s
        if node.planned is not None:
            return None
        left_s = node.retry_at_s - self._clock.monotonic() if node.retry_at_s else 0.0
        return max(delay_s, left_s, 0.0)

    def fetch_version(self, node_id: int) -> int | None:
        """Return the version of a Fetch to this node; None if it was never connected."""
        return self._network.max_version(node_id, FetchRequest)

    # Rounds…

    def _begin_round(self, planned: PlannedFetch, now_s: float) -> None:
        """Send the planned fetch, or start a task that waits until it can be sent."""
        node = self._nodes.get(planned.node_id)
        if node is None:
            node = self._nodes[planned.node_id] = NodeFetches(planned.node_id)
            if self._answer_wait is None:
                self._answer_wait = self._client.waits.of(
                    "answers to fetches (Fetch)",
                    "check those nodes, their disks, and the connections to them",
                    self._said_of_unanswered,
                    is_apart=True,
                    begun_s=self._unanswered_since_s,
                )
        node.planned = planned
        node.planned_at_s = now_s
        planned.node = node
        planned.on_answer = self._round_is_over
        try:
            is_sent = self._network.submit(
                node.node_id,
                planned.request,
                planned,
                _FETCH,
                planned.max_version,
            )
        except KafkaError:
            is_sent = False  # the task gets the same error, and takes it in after this poll
        if not is_sent:
            self._begin_waiting(node, planned)

    def _begin_waiting(self, node: NodeFetches, planned: PlannedFetch) -> None:
        """Start a task that sends a planned fetch when it can be sent, and takes in its outcome."""
        raise NotImplementedError

    def _round_is_over(
        self,
        planned: PlannedFetch,
        response: FetchResponse | LoneAnswer | None,
        error: Exception | None,
    ) -> None:
        """Take in the outcome of a round without a task. Called by the event loop."""
        if self._is_closed:
            return
        node = planned.node
        fault = error
        try:
            if response is not None:
                fault = None
                if isinstance(response, FetchResponse):
                    self._network.note_throttle(node.node_id, response, _FETCH)
                self._answered(node, response)
            elif isinstance(error, KafkaError):
                fault = None
                self._failed(node, error)
            self._end_round(node)
        except Exception as raised:  # noqa: BLE001  the event loop would log it and go on
            fault = raised
        if fault is not None:
            self._report_fault(node, fault)

    def _report_fault(self, node: NodeFetches, fault: Exception) -> None:
        """Let a task raise an unexpected error, which ends the client."""
        raise NotImplementedError

    def _end_round(self, node: NodeFetches) -> None:
        node.planned = None
        self._revision.number += 1  # its partitions are free again, answered or not
        self._signal.notify()

    def _answered(self, node: NodeFetches, response: FetchResponse | LoneAnswer) -> None:
        clock = self._clock
        outcome = self._handler.handle(
            self._planner.session(node.node_id),
            response,
            clock.monotonic(),
            int(clock.time() * 1000),
        )
        if outcome.needs_metadata:
            self._metadata.request_update()
        if not outcome.is_accepted:
            self._refused(node, response)
            return
        self._observer.records_fetched(node.node_id, outcome.records_bytes)
        for code in outcome.error_codes:
            self._observer.failed("fetch", for_code(code)())
        if outcome.error_codes or self._refused_wait is not None:
            self._note_refusals()
        if node.wait is not None:
            client_id = self._client.config.client_id
            logger.info("%s: node %d answers fetches again", client_id, node.node_id)
            node.wait.end()
            node.wait = None
        node.failures = node.refusals = 0

    def _refused(self, node: NodeFetches, response: FetchResponse | LoneAnswer) -> None:
        logger.debug(
            "node %d: fetch answer with error %d refused", node.node_id, response.error_code
        )
        # A full fetch follows at once. Only if that is refused too, the next one waits.
        if node.refusals:
            self._back_off(node, node.refusals - 1)
            self._wait_of(node).failed(for_code(response.error_code)())
        node.refusals += 1

    def _note_refusals(self) -> None:
        """Begin or end the wait for partitions that their leaders refuse, each time anew."""
        is_refused = bool(self._handler.still_refused(self._clock.monotonic(), _UNREAD_S))
        if self._refused_wait is None and is_refused:
            self._refused_wait = self._client.waits.of(
                "the leaders of partitions to serve them (Fetch)",
                "check those nodes; are the partitions being moved, and is their disk in order?",
                self._said_of_refused,
                is_apart=True,
            )
        elif self._refused_wait is not None and not is_refused:
            self._refused_wait.end()
            self._refused_wait = None

    def _said_of_refused(self) -> str:
        """Return which partitions are refused and why; end the wait if there are none."""
        self._note_refusals()
        refused = self._handler.refused
        said = [f"{tp.topic}-{tp.partition}: {why}" for tp, why in list(refused.items())[:_NAMED]]
        more = f" and {len(refused) - _NAMED} more" if len(refused) > _NAMED else ""
        return f"{'; '.join(said)}{more}"

    def _unanswered(self) -> list[NodeFetches]:
        """Return the nodes that owe an answer, the longest first. Failures are told by `wait`."""
        nodes: list[NodeFetches] = []
        for node in list(self._nodes.values()):
            if node.planned is not None and node.wait is None:
                nodes.append(node)
        return sorted(nodes, key=_planned_at_s)

    def _unanswered_since_s(self) -> float | None:
        """Return since when the first of them owes it: a broker may keep a fetch for a while."""
        nodes = self._unanswered()
        node = nodes[0] if nodes else None
        return None if node is None else node.planned_at_s + self._max_wait_s

    def _said_of_unanswered(self) -> str:
        nodes = self._unanswered()
        named = ", ".join([str(node.node_id) for node in nodes[:_NAMED]])
        more = f" and {len(nodes) - _NAMED} more" if len(nodes) > _NAMED else ""
        return f"nothing has come back from node {named}{more}"

    def _failed(self, node: NodeFetches, error: KafkaError) -> None:
        session = self._planner.session(node.node_id)
        session.handle_error()
        for tp in session.partitions:  # a follower that cannot be reached is not read (2a-10)
            if (state := self._subscription.get(tp)) is not None:
                self._subscription.forget_replica(state)
        level = self._sparing.level(node.node_id, self._clock.monotonic())
        client_id = self._client.config.client_id
        logger.log(
            level, "%s: a fetch from node %d failed: %s", client_id, node.node_id, reason_of(error)
        )
        self._observer.failed("fetch", error)
        self._wait_of(node).failed(error)
        self._back_off(node, node.failures)
        node.failures += 1
        node.failure = reason_of(error)
        if error.invalid_metadata:
            self._metadata.request_update()
        if isinstance(error.__cause__, FrameTooLargeError):
            self._error = _too_large(session, error.__cause__)
            self._asked = dict(session.partitions)
        elif not error.retriable:
            self._error, self._asked = error, {}

    def _wait_of(self, node: NodeFetches) -> LongWait:
        if node.wait is None:
            node.wait = self._client.waits.of(
                f"node {node.node_id} to answer fetches (Fetch)",
                "check that node, and the connection to it",
                partial(self._end_wait_unless_asked, node),
                is_apart=True,
            )
        return node.wait

    def _end_wait_unless_asked(self, node: NodeFetches) -> None:
        """End the wait for a node that no poll asks any more: its partitions have moved."""
        is_due = self._clock.monotonic() - node.retry_at_s > _UNASKED_S
        if node.planned is None and is_due and node.wait is not None:
            node.wait.end()
            node.wait = None

    def _back_off(self, node: NodeFetches, attempts: int) -> None:
        delay_s = self._client.retry_backoff.delay(attempts)
        node.retry_at_s = self._clock.monotonic() + delay_s


def _planned_at_s(node: NodeFetches) -> float:
    return node.planned_at_s


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


__all__ = ["FetchRounds", "NodeFetches"]
