"""Owns the share sessions: one per node, with at most one request on its way, in a task per node.

A poll says which nodes are to fetch, and hands over what was acknowledged. The task sends both in
one request. It asks for records only when a poll wants some, for records are locked from then on.
Source: KIP-932, ShareConsumeRequestManager.
"""

import asyncio
import logging
import math
from collections import deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple
from uuid import UUID

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.cluster.metadata.leader_updates import hinted_nodes
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.long_waits import LongWait
from aiokafka_lite.concurrency.side_by_side import side_by_side
from aiokafka_lite.concurrency.task_owner import OwnedTask
from aiokafka_lite.concurrency.wakeup import Wakeup
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.errors import (
    CorruptRecordException,
    InvalidRecordStateError,
    InvalidShareSessionEpochError,
    KafkaError,
    KafkaTimeoutError,
    ShareSessionNotFoundError,
    UnsupportedVersionError,
    for_code,
)
from aiokafka_lite.model import TopicPartition, names_of
from aiokafka_lite.protocol.messages._leader import NodeEndpoint
from aiokafka_lite.protocol.messages.share_acknowledge import (
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
)
from aiokafka_lite.protocol.messages.share_fetch import PartitionData, ShareFetchResponse
from aiokafka_lite.record.batch_reader import RecordCursor
from aiokafka_lite.record.cursor.record_deserializer import TurnBudget
from aiokafka_lite.schema.message import Request
from aiokafka_lite.share.acquired_fetch import AcquiredFetch
from aiokafka_lite.share.held_records import AckBatch, Record
from aiokafka_lite.share.pending_acknowledgements import (
    AckGroup,
    Outcome,
    PendingAcknowledgements,
)
from aiokafka_lite.share.share_answers import RECOVERING, Hints, error_about, leaders_named
from aiokafka_lite.share.share_config import ShareConsumerConfig
from aiokafka_lite.share.share_deserializer import ShareDeserializer
from aiokafka_lite.share.share_requests import ShareRequests, released
from aiokafka_lite.share.share_session import FINAL_EPOCH, ShareSession, TopicIdPartition

logger = logging.getLogger(__name__)

_SESSION_LOST = {ShareSessionNotFoundError.errno, InvalidShareSessionEpochError.errno}
_ATTEMPTS = 2
"""How many requests may carry an acknowledgement: one more after the session was lost."""
NO_RENEWAL = (
    "the brokers cannot renew the lock of a record: that needs Kafka 4.2 (KIP-1222); ACCEPT, "
    "RELEASE or REJECT it in time, or raise the group's config share.record.lock.duration.ms"
)


class RenewedRecord(NamedTuple):
    """A record whose lock was renewed."""

    topic_partition: TopicPartition
    node_id: int
    record: Record
    expires_at_s: float
    """When that lock ends (monotonic)."""


Report = Callable[[AckGroup, Outcome], object]


@dataclass(slots=True, eq=False)
class _ShareNode:
    """One node's session, and what waits for it."""

    node_id: int
    session: ShareSession = field(default_factory=ShareSession)
    pending: PendingAcknowledgements = field(default_factory=PendingAcknowledgements)
    go: Wakeup = field(default_factory=Wakeup)
    loop: OwnedTask | None = None
    is_wanted: bool = False
    """Whether a poll waits for records of this node."""
    most: int | None = None
    """How many of them it has room for; None: no limit but the config's."""
    is_fetching: bool = False
    is_renewing: bool = False
    carried: AckGroup | None = None
    """What the request on its way acknowledges."""
    sent_at_s: float = 0.0
    """When the newest request had its connection (monotonic)."""
    is_sent: bool = False
    """Whether that one fetches, and has no answer yet. Others tell of acknowledgements."""
    failures: int = 0
    retry_at_s: float = 0.0
    wait: LongWait | None = None
    """Since the first of these failures."""


class ShareFetcher:
    """Fetches from, and acknowledges to, the leaders of the assigned partitions."""

    def __init__(
        self,
        config: ShareConsumerConfig,
        client: KafkaClient,
        member_id: str,
        signal: PollSignal,
        report: Report,
        on_session_lost: Callable[[int], object],
    ) -> None:
        """`report(group, outcome)` is called for all that was acknowledged, and
        `on_session_lost(node_id)` when a node has released what this member had locked there.
        """
        self._config = config
        self._client = client
        self._signal = signal
        self._report = report
        self._on_session_lost = on_session_lost
        self._requests = ShareRequests(config, member_id)
        self._nodes: dict[int, _ShareNode] = {}
        self._assigned: frozenset[TopicPartition] = frozenset()
        self._topic_ids: dict[str, UUID] = {}
        self._names: dict[UUID, str] = {}
        self._error: KafkaError | None = None
        self._is_closed = False
        self._answer_wait: LongWait | None = None
        self.buffer: deque[AcquiredFetch] = deque()
        """What was acquired and not returned, oldest first."""
        self.budget = TurnBudget(client.clock)
        """The time that deserializers have in one poll."""
        self.renewed: deque[RenewedRecord] = deque()
        """Records whose locks were renewed; the next poll returns them."""
        self.has_acquired = False
        """Whether the brokers have ever given this member records."""
        self.lock_timeout_ms: int | None = None
        """For how long records are locked, by the newest response; None before the first."""
        self.locks_are_shorter = asyncio.Event()
        """Set when `lock_timeout_ms` becomes known or shorter; who keeps the locks clears it."""

    # For the poll; nothing here waits…

    def assign(
        self, partitions: frozenset[TopicPartition], ids: Collection[TopicIdPartition]
    ) -> frozenset[str]:
        """Fetch these partitions from now on; give back what is buffered of others.

        Return the topics that were deleted and created again since they were assigned last. What is
        buffered of the former ones is dropped.
        """
        self._assigned = partitions
        replaced = set()
        snapshot = self._client.metadata.snapshot
        for topic_id, _ in ids:
            name = snapshot.topic_name(topic_id)
            if name is None:
                continue
            before = self._topic_ids.get(name, topic_id)
            if before != topic_id:
                replaced.add(name)
                self._names.pop(before, None)
            self._topic_ids[name] = topic_id
            self._names[topic_id] = name
        self._drop_buffered(lambda fetch: fetch.topic_partition.topic in replaced)
        self._give_back(
            [each for each in list(self.buffer) if each.topic_partition not in partitions]
        )
        return frozenset(replaced)

    def release_buffered(self) -> None:
        """Give back all that no poll has taken."""
        self._give_back(list(self.buffer))
        self.renewed.clear()

    def _give_back(self, fetches: Iterable[AcquiredFetch]) -> None:
        for fetch in fetches:
            self.drop(fetch)

    def drop(self, fetch: AcquiredFetch) -> None:
        """Take a fetch out of the buffer, and give back what is left of it."""
        self.buffer.remove(fetch)
        self._release(
            fetch.topic_partition, fetch.node_id, fetch.left(), expires_at_s=fetch.expires_at_s
        )
        fetch.release()

    def _drop_buffered(self, is_meant: Callable[[AcquiredFetch], bool]) -> None:
        """Take fetches out of the buffer whose locks are gone."""
        for fetch in [each for each in list(self.buffer) if is_meant(each)]:
            self.buffer.remove(fetch)
            fetch.release()

    def _release(
        self,
        tp: TopicPartition,
        node_id: int,
        ranges: Collection[tuple[int, int]],
        *,
        expires_at_s: float,
    ) -> None:
        self.acknowledge((tp, node_id, batch) for batch in released(ranges, expires_at_s))

    def acknowledge(self, batches: Iterable[tuple[TopicPartition, int, AckBatch]]) -> None:
        """Send these with the next requests to their nodes, which go at once."""
        for tp, node_id, batch in batches:
            node = self._node(node_id)
            node.pending.add(tp, batch)
            node.go.set()

    def start_fetches(self, room: int | None = None) -> None:
        """Let each free node that leads assigned partitions fetch.

        `room`: about how many records all together may lock; at least one each.
        """
        snapshot = self._client.metadata.snapshot
        leaders = {snapshot.leader(tp).node_id for tp in self._assigned}
        if None in leaders:
            self._client.metadata.request_update()
        for node_id in leaders:
            if node_id is None or self._is_closed:
                continue
            node = self._node(node_id)
            if not node.is_fetching:
                node.is_wanted = True
                node.most = None if room is None else max(room // len(leaders), 1)
                node.go.set()

    @property
    def is_renewing(self) -> bool:
        """Whether records come again once a renewal is answered."""
        return any(
            group.has_records
            for node in list(self._nodes.values())
            for group in (*node.pending.groups, node.carried)
            if group
        )

    def take_error(self) -> KafkaError | None:
        """Return a failure that the poll must raise, once."""
        error, self._error = self._error, None
        return error

    def unanswered(self) -> list[AckGroup]:
        """Return all groups of acknowledgements without an answer."""
        groups = [group for node in list(self._nodes.values()) for group in node.pending.groups]
        groups += [node.carried for node in list(self._nodes.values()) if node.carried is not None]
        return [group for group in groups if group]

    # For those who ask what happens…

    @property
    def fetching_nodes(self) -> frozenset[int]:
        """The nodes with a fetch in flight."""
        return frozenset(node.node_id for node in list(self._nodes.values()) if node.is_fetching)

    def fetch_delay(self, node_id: int) -> float:
        """Return the seconds for which nothing is sent to a node, because a request has failed."""
        node = self._nodes.get(node_id)
        now_s = self._client.clock.monotonic()
        return 0.0 if node is None else max(node.retry_at_s - now_s, 0.0)

    def is_asked_for(self, tp: TopicPartition, node_id: int) -> bool:
        """Whether a fetch of the partition is on its way to the node, or goes in the next turn."""
        node = self._nodes.get(node_id)
        if node is None:
            return False
        in_session = (self._topic_ids.get(tp.topic), tp.partition) in node.session.partitions
        return in_session if node.is_fetching else node.is_wanted and node.carried is None

    def is_busy(self, node_id: int) -> bool:
        """Whether the node has a request that it did not answer."""
        node = self._nodes.get(node_id)
        return node is not None and node.carried is not None

    def _node(self, node_id: int) -> _ShareNode:
        node = self._nodes.get(node_id)
        if node is None:
            node = self._nodes[node_id] = _ShareNode(node_id)
            name = f"share_node[{node_id}]"
            node.loop = self._client.owner.spawn(name, self._run_node, node)
        return node

    # A node's requests…

    async def _run_node(self, node: _ShareNode) -> None:
        while True:
            await node.go.wait()
            while node.is_wanted or node.pending:
                wait_s = node.retry_at_s - self._client.clock.monotonic()
                if wait_s > 0:
                    await self._client.clock.sleep(wait_s)
                await self._exchange(node)
                self._signal.notify()

    async def _exchange(self, node: _ShareNode) -> None:
        """Send one request and take its answer over."""
        self._end_expired(node)
        if not (node.is_wanted or node.pending):
            return
        if not node.session.is_open:
            # Nothing is acquired before what was acknowledged of an earlier session is settled: it
            # would count for records that this one acquires anew.
            await self._fetch(node, AckGroup(), only_opens=bool(node.pending))
        elif node.pending.has_renewals:
            await self._acknowledge(node, node.pending.take_renewals(), is_renewal=True)
        elif node.is_wanted and node.pending.others <= set(self._led_partitions(node.node_id)):
            await self._fetch(node, node.pending.take_others())
        else:
            # A fetch adds what it acknowledges to the session. Of a partition that another member
            # has, records would be acquired again and again, given back, and archived at last.
            await self._acknowledge(node, node.pending.take_others(), is_renewal=False)

    def _end_expired(self, node: _ShareNode) -> None:
        """Send nothing for records whose locks have ended, as in a program that was stopped. Others
        may have accepted them: a node takes that in silence, or it refuses their neighbours, too.
        """
        error = InvalidRecordStateError(
            "the locks of records had ended before their acknowledgement was sent, so it does not "
            "count: the records are delivered again, or others have handled them; acknowledge or "
            "renew them in time, or raise the group's config share.record.lock.duration.ms"
        )
        for expired in node.pending.take_expired(self._client.clock.monotonic(), error):
            of_user = expired.of_user
            if of_user:
                named = names_of(sorted(of_user))
                logger.warning("%s: %s: %s", self._config.client_id, named, error.args[0])
            self._end(node, expired, expired.failed(error))

    async def _fetch(self, node: _ShareNode, group: AckGroup, *, only_opens: bool = False) -> None:
        wanted = [] if only_opens else self._led_by(node.node_id)
        if not only_opens:
            node.is_wanted = False
        change = node.session.change_to(wanted)
        request = self._requests.fetch(
            change, group.batches, self._topic_ids, waits=not only_opens, most=node.most
        )
        node.is_fetching = True
        try:
            await self._send(node, group, request, self._fetched)
        finally:
            node.is_fetching = False

    def _led_by(self, node_id: int) -> list[TopicIdPartition]:
        return [(self._topic_ids[tp.topic], tp.partition) for tp in self._led_partitions(node_id)]

    def _led_partitions(self, node_id: int) -> list[TopicPartition]:
        leader = self._client.metadata.snapshot.leader
        return [tp for tp in self._assigned if leader(tp).node_id == node_id]

    async def _acknowledge(self, node: _ShareNode, group: AckGroup, *, is_renewal: bool) -> None:
        if is_renewal and not self._can_renew(node.node_id):
            self._end(node, group, group.failed(UnsupportedVersionError(NO_RENEWAL)))
            return
        request = self._requests.acknowledge(
            node.session.epoch, group.batches, self._topic_ids, is_renewal=is_renewal
        )
        node.is_renewing = is_renewal
        try:
            await self._send(node, group, request, self._acknowledged)
        finally:
            node.is_renewing = False

    async def _send(
        self,
        node: _ShareNode,
        group: AckGroup,
        request: Request[Any],
        take: Callable[[_ShareNode, AckGroup, Any], object],
    ) -> None:
        """Send a request that carries `group`; `take` its response, or note why there is none."""
        network, node_id = self._client.network, node.node_id
        node.carried = group
        try:
            await network.connect(node_id, Lane.FETCH)
            group.sent_at_s = node.sent_at_s = self._client.clock.monotonic()
            node.is_sent = node.is_fetching
            if self._answer_wait is None:
                self._answer_wait = self._client.waits.of(
                    "answers to fetches of a share consumer (ShareFetch)",
                    "check those nodes, and the connections to them",
                    self._said_of_unanswered,
                    is_apart=True,
                    begun_s=self._unanswered_since_s,
                )
            response = await network.request(node_id, request, lane=Lane.FETCH)
        except KafkaError as error:
            self._failed(node, group, error)
        else:
            if response.error_code:
                self._refused(node, group, response.error_code, response.error_message)
            else:
                take(node, group, response)
        finally:
            node.carried = None
            node.is_sent = False

    def _unanswered(self) -> list[_ShareNode]:
        """Return the nodes that owe an answer, the longest first. Failures are told by `wait`."""
        nodes = [node for node in list(self._nodes.values()) if node.is_sent and node.wait is None]
        return sorted(nodes, key=attrgetter("sent_at_s"))

    def _unanswered_since_s(self) -> float | None:
        """Return since when the first of them owes it: a broker may keep a fetch for a while."""
        nodes = self._unanswered()
        return nodes[0].sent_at_s + self._config.fetch_max_wait_ms / 1000 if nodes else None

    def _said_of_unanswered(self) -> str:
        named = ", ".join(str(node.node_id) for node in self._unanswered())
        return f"nothing has come back from node {named}"

    def _can_renew(self, node_id: int) -> bool:
        version = self._client.network.max_version(node_id, ShareAcknowledgeRequest)
        return version is None or version >= ShareAcknowledgeRequest.renew_since

    # Answers…

    def _acknowledged(
        self, node: _ShareNode, group: AckGroup, response: ShareAcknowledgeResponse
    ) -> None:
        node.session.answered()
        self._succeeded(node)
        self._locks_last(response.acquisition_lock_timeout_ms)
        errors: dict[TopicPartition, KafkaError] = {}
        hints: Hints = []
        for topic in response.responses:
            for data in topic.partitions:
                tp = self._named(topic.topic_id, data.partition_index)
                if tp is not None and data.error_code:
                    errors[tp] = error_about(tp, data.error_code, data.error_message)
                    hints.append((tp, errors[tp], data.current_leader))
        self._follow_hints(hints, response.node_endpoints)
        self._end(node, group, {tp: errors.get(tp) for tp in group.batches})

    def _fetched(self, node: _ShareNode, group: AckGroup, response: ShareFetchResponse) -> None:
        node.session.answered()
        self._locks_last(response.acquisition_lock_timeout_ms)
        expires_at_s = self._ends_at_s(self._acquired_at_s(node))
        errors: dict[TopicPartition, KafkaError] = {}
        failed: dict[TopicPartition, KafkaError] = {}
        hints: Hints = []
        size = 0
        for topic in response.responses:
            for data in topic.partitions:
                tp = self._named(topic.topic_id, data.partition_index)
                if tp is None:
                    continue
                if data.acknowledge_error_code:
                    errors[tp] = error_about(
                        tp, data.acknowledge_error_code, data.acknowledge_error_message
                    )
                    hints.append((tp, errors[tp], data.current_leader))
                if data.error_code:
                    failed[tp] = error_about(tp, data.error_code, data.error_message)
                    hints.append((tp, failed[tp], data.current_leader))
                elif data.acquired_records:
                    size += len(data.records or b"")
                    self._acquired(node, tp, data, expires_at_s)
        self._client.observer.records_fetched(node.node_id, size)
        moved = self._follow_hints(hints, response.node_endpoints)
        for tp, error in failed.items():
            self._partition_failed(tp, error, has_moved=tp in moved)
        if failed.keys() - moved:
            self._back_off(node, error)
        else:
            self._succeeded(node)
        self._end(node, group, {tp: errors.get(tp) for tp in group.batches})

    def _locks_last(self, lock_ms: int) -> None:
        """Note for how long records are locked; 0 stands for a node that does not say it."""
        if lock_ms <= 0:
            return
        if self.lock_timeout_ms is None or lock_ms < self.lock_timeout_ms:
            self.locks_are_shorter.set()
        self.lock_timeout_ms = lock_ms

    def _ends_at_s(self, began_s: float) -> float:
        """Return when a lock ends that began then; infinite: no node has said it yet."""
        return math.inf if self.lock_timeout_ms is None else began_s + self.lock_timeout_ms / 1000

    def _acquired_at_s(self, node: _ShareNode) -> float:
        """Return when the node has acquired what it answers now, or some time earlier.

        A program that was stopped meanwhile reads an answer when its locks have long ended.
        """
        longest_s = self._config.fetch_max_wait_ms / 1000
        return min(self._client.clock.monotonic(), node.sent_at_s + longest_s)

    def _follow_hints(
        self, hints: Hints, endpoints: Iterable[NodeEndpoint]
    ) -> Collection[TopicPartition]:
        """Take over the leaders that a node names instead of itself; return what has moved."""
        named = leaders_named(hints)
        if not named:
            return frozenset()
        return self._client.metadata.update_leaders(named, hinted_nodes(endpoints))

    def _named(self, topic_id: UUID, partition: int) -> TopicPartition | None:
        name = self._names.get(topic_id)
        return None if name is None else TopicPartition(name, partition)

    def _acquired(
        self, node: _ShareNode, tp: TopicPartition, data: PartitionData, expires_at_s: float
    ) -> None:
        ranges = [
            (each.first_offset, each.last_offset, each.delivery_count)
            for each in data.acquired_records
        ]
        if tp not in self._assigned:
            gone = [(first, last) for first, last, _ in ranges]
            self._release(tp, node.node_id, gone, expires_at_s=expires_at_s)
            return
        self.has_acquired = True
        cursor = RecordCursor(
            data.records or b"",
            topic=tp.topic,
            partition=tp.partition,
            fetch_offset=ranges[0][0],
            check_crcs=self._config.check_crcs,
        )
        key, value = self._config.key_deserializer, self._config.value_deserializer
        deserializer = None
        if key is not None or value is not None:
            deserializer = ShareDeserializer(tp.topic, tp.partition, key, value, self.budget)
        self.buffer.append(
            AcquiredFetch(
                tp,
                node.node_id,
                cursor,
                ranges,
                deserializer,
                expires_at_s=expires_at_s,
                size_in_bytes=len(data.records or b""),
            )
        )

    def _partition_failed(self, tp: TopicPartition, error: KafkaError, *, has_moved: bool) -> None:
        self._client.observer.failed("fetch", error)
        if has_moved:
            return
        is_damaged = isinstance(error, CorruptRecordException)  # a retriable error by its class
        if error.invalid_metadata or (error.retriable and not is_damaged):
            logger.debug("fetching %s-%d: %s; asking again", *tp, error)
            self._client.metadata.request_update()
        elif isinstance(error, RECOVERING):
            logger.warning("fetching %s-%d: %s; asking again", *tp, error)
        else:
            self._error = error

    def _refused(self, node: _ShareNode, group: AckGroup, code: int, message: str | None) -> None:
        """Act on an error about the whole request: nothing of it was done."""
        kind = for_code(code)
        error = kind(f"share session with node {node.node_id}: {kind.explained(message)}")
        logger.info("%s", error)
        self._lose_session(node)
        if code in _SESSION_LOST and group.attempts + 1 < _ATTEMPTS:
            self._give_back([each for each in list(self.buffer) if each.node_id == node.node_id])
            if group:
                node.pending.put_back(group, is_renewal=node.is_renewing)
            if node.failures:
                self._back_off(node, error)
            node.failures += 1
            return
        self._back_off(node, error)
        if not error.retriable:
            self._error = error
        self._end(node, group, group.failed(error))
        self._fail_pending(node, error)

    def _failed(self, node: _ShareNode, group: AckGroup, error: KafkaError) -> None:
        """Act on a request without a response. The broker releases what this client has locked."""
        logger.info("share session with node %d: %s", node.node_id, error)
        self._client.observer.failed("fetch", error)
        self._lose_session(node)
        self._back_off(node, error)
        self._drop_buffered(lambda fetch: fetch.node_id == node.node_id)
        if error.invalid_metadata or error.retriable:
            self._client.metadata.request_update()
        else:
            self._error = error
        self._end(node, group, group.failed(error))
        self._fail_pending(node, error)

    def _fail_pending(self, node: _ShareNode, error: KafkaError) -> None:
        """End what would have followed in the session that does not exist any more."""
        for group in (node.pending.take_renewals(), node.pending.take_others()):
            self._end(node, group, group.failed(error))

    def _succeeded(self, node: _ShareNode) -> None:
        node.failures = 0
        if node.wait is not None:
            node.wait.end()
            node.wait = None

    def _end_wait_unless_asked(self, node: _ShareNode) -> None:
        """End the wait for a node that nothing is asked of any more."""
        if not (node.is_wanted or node.pending or node.is_fetching) and node.wait is not None:
            node.wait.end()
            node.wait = None

    def _lose_session(self, node: _ShareNode) -> None:
        """Open another session with the next request. The node has released what was locked."""
        node.session.reset()
        renewed = list(self.renewed)
        self.renewed = deque(each for each in renewed if each.node_id != node.node_id)
        self._on_session_lost(node.node_id)

    def _back_off(self, node: _ShareNode, error: KafkaError) -> None:
        if node.wait is None:
            node.wait = self._client.waits.of(
                f"node {node.node_id} to answer a share consumer (ShareFetch, ShareAcknowledge)",
                "check that node, and the connection to it",
                lambda: self._end_wait_unless_asked(node),
                is_apart=True,
            )
        node.wait.failed(error)
        delay_s = self._client.retry_backoff.delay(node.failures)
        node.retry_at_s = self._client.clock.monotonic() + delay_s
        node.failures += 1

    def _end(self, node: _ShareNode, group: AckGroup, outcome: Outcome) -> None:
        ends_at_s = self._ends_at_s(group.sent_at_s)
        for tp, error in outcome.items():
            if error is None:
                self.renewed += [
                    RenewedRecord(tp, node.node_id, record, ends_at_s)
                    for batch in group.batches[tp]
                    for record in batch.records
                ]
        if group:
            self._report(group, outcome)
        group.end(outcome)
        self._signal.notify()

    # The end…

    async def close(self, timeout_s: float) -> None:
        """Send what is acknowledged, release the rest and close the sessions, within `timeout_s`.

        What fails is logged. Cancelled: the loops end; the brokers release the records when the
        connections end.
        """
        self._is_closed = True
        began_s = self._client.clock.monotonic()
        await self._settle(timeout_s / 2)
        unsettled = [(node, node.carried) for node in list(self._nodes.values()) if node.carried]
        loops = [node.loop for node in list(self._nodes.values()) if node.loop is not None]
        for loop in loops:
            loop.cancel()
        for loop in loops:
            await loop.wait()
        for node, group in unsettled:
            self._end(node, group, group.failed(_stopped(node)))
        self.release_buffered()
        for node in list(self._nodes.values()):
            if not node.session.is_open:
                self._fail_pending(node, _stopped(node))
        left_s = timeout_s - (self._client.clock.monotonic() - began_s)
        try:
            async with deadline(self._client.clock, max(left_s, 0.0)):
                await side_by_side(
                    partial(self._close_session, node)
                    for node in list(self._nodes.values())
                    if node.session.is_open
                )
        except TimeoutError:
            logger.warning("share sessions were not closed within %.1f s", timeout_s)

    async def _settle(self, timeout_s: float) -> None:
        """Wait for the answers of requests that acknowledge: nothing may be sent twice."""
        clock = self._client.clock
        until_s = clock.monotonic() + timeout_s
        while (
            any(node.carried for node in list(self._nodes.values())) and clock.monotonic() < until_s
        ):
            await self._signal.wait(until_s)

    async def _close_session(self, node: _ShareNode) -> None:
        group = node.pending.take_others()
        request = self._requests.acknowledge(
            FINAL_EPOCH, group.batches, self._topic_ids, is_renewal=False
        )
        node.session.reset()
        try:
            response = await self._client.network.request(node.node_id, request, lane=Lane.FETCH)
        except asyncio.CancelledError:
            self._close_failed(node, group, _stopped(node))
            raise
        except KafkaError as error:
            self._close_failed(node, group, error)
            return
        if response.error_code:
            kind = for_code(response.error_code)
            self._close_failed(node, group, kind(kind.explained(response.error_message)))
        else:
            self._acknowledged(node, group, response)
            node.session.reset()

    def _close_failed(self, node: _ShareNode, group: AckGroup, error: KafkaError) -> None:
        logger.info("closing the share session with node %d: %s", node.node_id, error)
        self._end(node, group, group.failed(error))


def _stopped(node: _ShareNode) -> KafkaError:
    return KafkaTimeoutError(
        f"the consumer has stopped before node {node.node_id} answered; raise stop_timeout_ms"
    )


__all__ = ["NO_RENEWAL", "RenewedRecord", "ShareFetcher"]
