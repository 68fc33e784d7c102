"""Owns the fetches: it plans rounds when polls ask, sends them, and files what comes back.

The poll plans a round without waiting: which nodes are asked, and for which offsets. It sends the
planned requests in the same call. So a poll that times out or is cancelled leaves its fetch
running, and no round starts by itself. `node_fetcher` has the tasks that await the rounds. Does not
wait.
Source: A1, A2, A10.
"""

import logging
from collections.abc import Collection, Mapping
from functools import partial

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.concurrency.long_waits import LongWait, Sparing
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.fetch.fetch_buffer import FetchBuffer
from aiokafka_lite.consumer.fetch.fetch_bytes import LoneAnswer
from aiokafka_lite.consumer.fetch.fetch_planner import FetchPlanner
from aiokafka_lite.consumer.fetch.fetch_response import FetchResponseHandler, wants
from aiokafka_lite.consumer.fetch.fetch_round import FetchRound
from aiokafka_lite.consumer.fetch.fetch_session import FetchSession, SessionPartition
from aiokafka_lite.consumer.fetch.node_fetcher import NodeFetcher
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.consumer.position.leader_watch import missed
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


class Fetcher:
    """Begins the rounds that polls plan, and files the responses into the buffer."""

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
        self._nodes: dict[int, NodeFetcher] = {}
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
        for fetch_round in found.fetches:
            self._begin(fetch_round, now_s)
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
            if node is None or node.round is None:
                return False
        return True

    def _connect_leaders(self) -> None:
        """Begin the connections for fetches, while the positions are still asked for."""
        for node_id in self._leaders:
            if node_id is not None and node_id not in self._nodes:
                self._network.prepare(node_id, _FETCH)

    # For the poll…

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
    def pending_fetches(self) -> frozenset[FetchRound]:
        """The rounds that were begun and have no response yet, at most one per node."""
        return frozenset(
            node.round for node in list(self._nodes.values()) if node.round is not None
        )

    @property
    def leaderless(self) -> tuple[TopicPartition, ...]:
        """The partitions that the newest round did not fetch because they had no known leader.

        Only those that `leader_watch.missed` finds worth an error for the user."""
        snapshot = self._client.metadata.snapshot
        self._leaderless = [*missed(self._leaderless, self._subscription, snapshot)]
        return tuple(self._leaderless)

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
        if self._error is None:
            return None
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
        delay_s = self._network.ready_delay(node_id, _FETCH)
        node = self._nodes.get(node_id)
        if node is None:
            return delay_s
        if node.round is not None:
            return None
        left_s = node.retry_at_s - self._clock.monotonic() if node.retry_at_s else 0.0
        return max(delay_s, left_s, 0.0)

    def fetch_version(self, node_id: int) -> int | None:
        """Return the version of a Fetch to this node; None if it was never connected."""
        return self._network.max_version(node_id, FetchRequest)

    # Rounds…

    def _begin(self, fetch_round: FetchRound, now_s: float) -> None:
        """Send the planned fetch, or let the node's task send it when that can be."""
        node = self._nodes.get(fetch_round.node_id)
        if node is None:
            node = self._nodes[fetch_round.node_id] = self._new_node(fetch_round.node_id)
        node.round = fetch_round
        node.round_began_s = now_s
        fetch_round.node = node
        fetch_round.fetcher = self
        try:
            is_sent = self._network.submit(node.node_id, fetch_round, _FETCH)
        except KafkaError:
            is_sent = False  # the task gets the same error, and the round fails after this poll
        if not is_sent:
            node.hand(fetch_round)

    def _new_node(self, node_id: int) -> NodeFetcher:
        node = NodeFetcher(node_id, self._client.network)
        node.task = self._client.owner.spawn(f"fetch[{node_id}]", node.run)
        if self._answer_wait is None:
            self._answer_wait = self._client.waits.of(
                "answers to fetches (Fetch)",
                "check those nodes, their disks, and the connections to them",
                self._said_of_unanswered,
                is_apart=True,
                begun_s=self._unanswered_since_s,
            )
        return node

    def round_is_over(
        self,
        fetch_round: FetchRound,
        response: FetchResponse | LoneAnswer | None,
        error: BaseException | None,
    ) -> BaseException | None:
        """Take in the outcome of a round, and hand it to the node's task. Return what that has to
        raise: an error of nobody's request.
        """
        if self._is_closed:
            return None
        node = fetch_round.node
        fault = None
        try:
            if response is not None:
                if isinstance(response, FetchResponse):
                    self._network.note_throttle(node.node_id, response, _FETCH)
                self._answered(node, response)
            elif isinstance(error, KafkaError):
                self._failed(node, error)
            else:
                fault = error
            self._end_round(node)
        except Exception as raised:  # noqa: BLE001  the event loop would log it and go on
            fault = raised
        node.hand(fetch_round)
        return fault

    def _end_round(self, node: NodeFetcher) -> None:
        node.round = None
        self._revision.number += 1  # its partitions are free again, answered or not
        self._signal.notify()

    def _answered(self, node: NodeFetcher, response: FetchResponse | LoneAnswer) -> None:
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

    def _refused(self, node: NodeFetcher, response: FetchResponse | LoneAnswer) -> None:
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

    def _unanswered(self) -> list[NodeFetcher]:
        """Return the nodes that owe an answer, the longest first. Failures are told by `wait`."""
        nodes: list[NodeFetcher] = []
        for node in list(self._nodes.values()):
            if node.round is not None and node.wait is None:
                nodes.append(node)
        return sorted(nodes, key=_round_began_s)

    def _unanswered_since_s(self) -> float | None:
        """Return since when the first of them owes it: a broker may keep a fetch for a while."""
        nodes = self._unanswered()
        node = nodes[0] if nodes else None
        return None if node is None else node.round_began_s + self._max_wait_s

    def _said_of_unanswered(self) -> str:
        nodes = self._unanswered()
        named = ", ".join([str(node.node_id) for node in nodes[:_NAMED]])
        more = f" and {len(nodes) - _NAMED} more" if len(nodes) > _NAMED else ""
        return f"nothing has come back from node {named}{more}"

    def _failed(self, node: NodeFetcher, error: KafkaError) -> None:
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

    def _wait_of(self, node: NodeFetcher) -> LongWait:
        if node.wait is None:
            node.wait = self._client.waits.of(
                f"node {node.node_id} to answer fetches (Fetch)",
                "check that node, and the connection to it",
                partial(self._end_wait_unless_asked, node),
                is_apart=True,
            )
        return node.wait

    def _end_wait_unless_asked(self, node: NodeFetcher) -> None:
        """End the wait for a node that no poll asks any more: its partitions have moved."""
        is_due = self._clock.monotonic() - node.retry_at_s > _UNASKED_S
        if node.round is None and is_due and node.wait is not None:
            node.wait.end()
            node.wait = None

    def _back_off(self, node: NodeFetcher, attempts: int) -> None:
        delay_s = self._client.retry_backoff.delay(attempts)
        node.retry_at_s = self._clock.monotonic() + delay_s

    # The end…

    def stop(self) -> tuple[list[NodeFetcher], list[FetchRound]]:
        """Begin no more rounds, and file no more responses. Does not wait.

        Return the nodes, whose tasks have to end, and the requests that close the sessions (D5).
        """
        self._is_closed = True
        ends = [self._planner.plan_close(session) for session in self._planner.open_sessions()]
        return list(self._nodes.values()), ends


def _round_began_s(node: NodeFetcher) -> float:
    return node.round_began_s


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
