"""Decides when batches leave, sends their requests, and takes in the responses. Does not wait.

`BatchSender` finds the nodes with a batch that is due, and a `NodeSender` sends to one of them.
What waits is in `sender`: the task that calls `dispatch`, and the tasks `send[node]`.

A record that comes alone leaves in the call of `send`, if linger is 0 and nothing is in flight to
the node (`send_at_once`). Another turn of the loop would delay it by 23 us. A record has come alone
if the request before held one record, and no other was sent until its response. So a burst is split
once at most. Until a node's record has come alone again, its batches go as the task finds them.
"""

from collections import deque
from typing import TYPE_CHECKING, Protocol

from aiokafka_lite.clock import TimerHandle
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.concurrency.wakeup import Wakeup
from aiokafka_lite.errors import (
    AuthenticationFailedError,
    KafkaConnectionError,
    KafkaError,
    RequestTimedOutError,
)
from aiokafka_lite.producer.accumulator.partition_queue import NodePace, PartitionQueue
from aiokafka_lite.producer.accumulator.record_accumulator import RecordAccumulator
from aiokafka_lite.producer.accumulator.sequence_numbers import SequenceNumbers
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch
from aiokafka_lite.producer.partition.topic_routes import TopicRoutes
from aiokafka_lite.producer.producer_config import ProducerConfig
from aiokafka_lite.producer.send.batch_outcomes import BatchOutcomes
from aiokafka_lite.producer.send.batches_request import ProducedTopics, ProduceTerms, topics_of
from aiokafka_lite.producer.send.produce_bytes import Written
from aiokafka_lite.producer.send.produce_round import ProduceRound
from aiokafka_lite.protocol.messages.produce import ProduceResponse

if TYPE_CHECKING:
    from aiokafka_lite.producer.transaction.transaction_manager import TransactionManager

_SHORTEST_WAIT_S = 0.0001


class SenderTasks(Protocol):
    """What the sender's tasks do for it. Nothing here waits."""

    def ask_for_producer_id(self) -> None:
        """Ask for a producer id, and wake the sender when it is there."""

    def look_after(self, node: "NodeSender") -> None:
        """Let the task `send[node]` connect, or send the requests that wait for a connection."""

    def authentication_failed(self, node: "NodeSender", error: AuthenticationFailedError) -> None:
        """Tell the user's next call."""


class NodeSender:
    """Sends the batches of one node, and takes in what becomes of them."""

    __slots__ = (
        "_sender",
        "at_gate",
        "count",
        "failure",
        "failures",
        "go",
        "has_task",
        "is_connected",
        "is_connecting",
        "is_sparse",
        "node_id",
        "pace",
        "requests",
        "retry_at_s",
    )

    def __init__(self, node_id: int, pace: NodePace, sender: "BatchSender") -> None:
        self.node_id = node_id
        self.pace = pace
        self.count = 0
        """Produce requests without response."""
        self.at_gate: deque[ProduceRound] = deque()
        """Those of them that wait for a connection, in the task `send[node]`. New requests wait
        behind them.
        """
        self.is_connected = False
        """The last request did not fail, so several may be in flight."""
        self.is_connecting = False
        self.requests = 0
        """How many requests were sent so far, answered or not."""
        self.is_sparse = False
        """The newest record came alone, and has its response. Nothing was sent since."""
        self.failures = 0
        self.failure: KafkaError | None = None
        """Why the last attempt to connect failed."""
        self.retry_at_s = 0.0
        self.go = Wakeup()
        """Wakes the task `send[node]`, which is begun when there is something to wait for."""
        self.has_task = False
        self._sender = sender

    # Sending…

    def send(self) -> None:
        """Send what is due, while fewer requests are in flight than allowed. It drains and sends in
        one step, so requests leave in the order of their sequence numbers.
        """
        sender = self._sender
        self.is_sparse = False
        while (
            self.is_connected
            and self.count < sender._max_in_flight
            and sender._accumulator.has_more(self.node_id)
        ):
            batches = sender._drain(self.node_id)
            if not batches:
                return
            exchange = sender._exchange(self, batches)
            self.pace.bytes_on_their_way += exchange.size_in_bytes
            exchange.bytes_on_their_way = self.pace.bytes_on_their_way
            exchange.begun_at_s = sender._monotonic()
            self.requests += 1
            if not self.count and exchange.is_of_one_record:
                exchange.lone_number = self.requests
            self.count += 1
            try:
                is_sent = self._submit(exchange)
            except KafkaError as error:
                self._take_in(exchange, None, error)
                continue
            if not is_sent:
                self.at_gate.append(exchange)
                sender._tasks.look_after(self)

    def send_if_ready(self) -> None:
        """Send what is due, unless the node takes nothing now."""
        sender = self._sender
        if (
            sender._accumulator.has_more(self.node_id)
            and sender._network.ready_delay(self.node_id) <= 0
        ):
            self.send()

    def _submit(self, exchange: ProduceRound) -> bool:
        if self.at_gate:
            return False
        exchange.timeout_s = self._time_for(exchange)
        return self._sender._network.submit(self.node_id, exchange)

    def _time_for(self, exchange: ProduceRound) -> float | None:
        """Return the seconds that a request may take; None: the usual ones."""
        if exchange.size_in_bytes <= self.pace.most_bytes:
            return None
        config = self._sender._config
        batch = exchange.batches[0]
        factor = self.pace.time_factor(exchange.size_in_bytes)
        usual_s = config.request_timeout_ms / 1000
        left_s = batch.created_s + config.delivery_timeout_ms / 1000 - exchange.begun_at_s
        return max(min(factor * usual_s, left_s), usual_s)

    # Responses…

    def round_is_over(
        self,
        exchange: ProduceRound,
        response: ProduceResponse | Written | None,
        error: BaseException | None,
    ) -> None:
        """Take in the outcome of a request, and send what it has made due. Does not raise."""
        sender = self._sender
        if sender.has_ended:
            return
        if error is not None and not isinstance(error, KafkaError):
            sender._end_with(error)
            return
        self.is_sparse = False  # until this is taken in
        try:
            if isinstance(response, list):  # the usual case
                now_s = sender._monotonic()
                self.count -= 1
                self._was_answered(exchange, now_s)
                sender._outcomes.written(response, now_s)
            else:
                sender._network.note_throttle(self.node_id, response)
                self._take_in(exchange, response, error)
            self._go_on()
            self.is_sparse = error is None and exchange.lone_number == self.requests
        except Exception as fault:  # noqa: BLE001  the event loop would log it and go on
            sender._end_with(fault)

    def _take_in(
        self,
        exchange: ProduceRound,
        response: ProduceResponse | None,
        failure: KafkaError | None,
    ) -> None:
        sender = self._sender
        self.count -= 1
        now_s = sender._monotonic()
        if failure is None:
            self._was_answered(exchange, now_s)
            sender._outcomes.answered(exchange, response, now_s)
        else:
            self.pace.bytes_on_their_way -= exchange.size_in_bytes
            if isinstance(failure, RequestTimedOutError):
                sender._accumulator.was_late(self.node_id)
            if isinstance(failure, AuthenticationFailedError):
                sender._tasks.authentication_failed(self, failure)
                failure = _not_sent(failure)
            self.disconnected()
            sender._outcomes.lost(exchange, failure, now_s)

    def _was_answered(self, exchange: ProduceRound, now_s: float) -> None:
        """Learn the node's pace. That a request has left, with acks=0, says nothing of it."""
        self.pace.bytes_on_their_way -= exchange.size_in_bytes
        if self._sender._required_acks:
            self.pace.was_answered(exchange.bytes_on_their_way, now_s - exchange.begun_at_s)

    def _go_on(self) -> None:
        """Send what the end of a request has made due.

        The task looks at the rest: other nodes may be due, or the next batch may be due earlier. It
        need not if this node alone has batches, and as many requests in flight as allowed: then the
        next response comes here again.
        """
        sender = self._sender
        self.send_if_ready()
        if sender._accumulator.has_waiting and (
            self.count < sender._max_in_flight
            or sender._routes.patience.is_on
            or sender._accumulator.has_others(self.node_id)
        ):
            sender.wake()

    def disconnected(self) -> None:
        """Note that a connection was lost, or not made. The next attempt waits."""
        if not self.is_connected and not self.is_connecting:
            return  # another request of the same connection has said so
        sender = self._sender
        self.is_connected = False
        self.retry_at_s = sender._monotonic() + sender.client.retry_backoff.delay(self.failures)
        self.failures += 1


class BatchSender:
    """Sends what the accumulator holds, when it is due."""

    def __init__(
        self,
        client: KafkaClient,
        config: ProducerConfig,
        accumulator: RecordAccumulator,
        routes: TopicRoutes,
        sequences: SequenceNumbers | None,
        transactions: "TransactionManager | None",
        tasks: SenderTasks,
        wakeup: Wakeup,
    ) -> None:
        """`wakeup` lets the task look at what is due."""
        self.client = client
        self.wake = wakeup.set
        """Make the sender look at what is due. Cheap, may be called any number of times."""
        self.fault: BaseException | None = None
        """An unexpected error of a callback. It ends the client."""
        self.has_ended = False
        """Nothing is sent any more, and no outcome is taken in."""
        self.id_failure: KafkaError | None = None
        """Why the newest request for a producer id failed."""
        self._tasks = tasks
        self._config = config
        self._clock = client.clock
        self._monotonic = client.clock.monotonic
        self._network = client.network
        self._metadata = client.metadata
        self._observer = client.observer
        self._accumulator = accumulator
        self._routes = routes
        self._sequences = sequences
        self._transactions = transactions
        self._required_acks = config.required_acks
        self._terms = ProduceTerms(None, config.required_acks, config.request_timeout_ms)
        self._topics: dict[str, ProducedTopics] = {}
        """By topic, for the requests of one topic. From this snapshot of the metadata:"""
        self._topics_from: MetadataSnapshot | None = None
        self._max_in_flight = config.max_in_flight_requests_per_connection
        self._lingers = config.linger_ms > 0
        self._nodes: dict[int, NodeSender] = {}
        self._timer: TimerHandle | None = None
        self._timer_at_s = 0.0
        self._outcomes = BatchOutcomes(
            config,
            accumulator,
            sequences,
            on_stale_metadata=client.metadata.request_update,
            told_as=None if transactions is None else transactions.told_as,
            on_failed=None if transactions is None else transactions.batch_failed,
            update_leaders=client.metadata.update_leaders,
            why_unsent=self.why_unsent,
            observer=client.observer,
        )

    # What is due…

    def look_again_in(self, delay_s: float | None, now_s: float) -> None:
        """Let the timer wake the task in time. A timer that fires earlier is kept: under load every
        batch would move it.
        """
        # Not less: a delay that is rounded to 0 would never be over.
        at_s = None if delay_s is None else now_s + max(delay_s, _SHORTEST_WAIT_S)
        if self._timer is not None:
            if at_s is not None and self._timer_at_s <= at_s:
                return
            self._timer.cancel()
            self._timer = None
        if at_s is not None:
            self._timer_at_s = at_s
            self._timer = self._clock.call_at(at_s, self._time_has_come)

    def _time_has_come(self) -> None:
        self._timer = None
        self.wake()

    def dispatch(self, now_s: float) -> float | None:
        """Send what is due; return the seconds until the next look, None: until it is woken."""
        self._outcomes.expire(now_s)
        aged_delay_s = self._accumulator.close_aged(now_s)
        sequences = self._sequences
        if sequences is not None and sequences.settle() and self._transactions is not None:
            self._transactions.sequence_is_lost()
        delays = [] if aged_delay_s is None else [aged_delay_s]
        expiry_s = self._accumulator.incomplete.next_expiry_s
        if expiry_s is not None:
            delays.append(expiry_s - now_s)
        if sequences is not None and not sequences.has_producer_id:
            if self._transactions is not None:  # the transaction coordinator gives the id
                return min(delays, default=None)
            self._tasks.ask_for_producer_id()  # wakes this task when the id is there
            return min(delays, default=None)
        ready = self._accumulator.ready(now_s)
        if ready.leaderless_topics:
            for topic in ready.leaderless_topics:
                self._metadata.add_topic(topic)
            self._metadata.request_update()
        for node_id in ready.node_ids:
            delay_s = self._let_go(node_id, now_s)
            if delay_s:
                delays.append(delay_s)
        if ready.node_ids:
            ready = self._accumulator.ready(now_s)  # the batches behind those just sent
        if ready.delay_s is not None:
            delays.append(ready.delay_s)
        return min(delays, default=None)

    def _let_go(self, node_id: int, now_s: float) -> float:
        """Send what is due for a node; return the seconds until sending is allowed."""
        node = self._nodes.get(node_id)
        if node is None:
            pace = self._accumulator.pace_of(node_id)
            node = self._nodes[node_id] = NodeSender(node_id, pace, self)
        delay_s = max(self._network.ready_delay(node_id), node.retry_at_s - now_s)
        if self._routes.patience.is_on:
            has_room = node.count < self._max_in_flight
            can_send = delay_s <= 0 and node.is_connected and has_room
            self._routes.patience.note(node_id, now_s, can_send=can_send)
        if delay_s > 0:
            return delay_s
        if node.is_connected:
            node.send()
        elif not node.is_connecting:
            node.is_connecting = True
            self._tasks.look_after(node)
        return 0.0

    # Sending…

    def sends_at_once(self, queue: PartitionQueue) -> bool:
        """Whether `send_at_once` sends the batch of `queue`. Never with linger."""
        if self._lingers or queue.leader_id is None or self.has_ended:
            return False
        node = self._nodes.get(queue.leader_id)
        return node is not None and node.is_sparse

    def send_at_once(self, queue: PartitionQueue) -> None:
        """Send the batch of `queue`, which has got its first record, if records come alone.

        For producers without linger. It sends what the task would send one turn later, by the same
        rules, and wakes the task only for what is left. Does not raise.
        """
        if queue.leader_id is None or not self.sends_at_once(queue):
            return
        try:
            node = self._nodes[queue.leader_id]
            node.send_if_ready()
            if self._timer is None or self._accumulator.has_waiting:
                self.wake()  # the task sets the timer for the batch's expiry
        except Exception as fault:  # noqa: BLE001  not the fault of the caller's record
            self._end_with(fault)

    def _drain(self, node_id: int) -> list[ProducerBatch]:
        now_s = self._monotonic()
        batches = self._accumulator.drain(node_id, now_s)
        if batches and self._routes.patience.is_on:
            self._routes.patience.note(node_id, now_s, can_send=True)
        if batches and self._observer.is_heard:
            for batch in batches:
                self._observer.batch_sent(
                    batch.topic_partition, batch.next_index, now_s - batch.created_s
                )
        return batches

    def _exchange(self, node: NodeSender, batches: list[ProducerBatch]) -> ProduceRound:
        transactions = self._transactions
        max_version = None
        if transactions is not None:
            max_version = transactions.max_produce_version
            transactional_id = transactions.transactional_id
            if transactional_id != self._terms.transactional_id:
                self._terms = ProduceTerms(
                    transactional_id, self._required_acks, self._terms.timeout_ms
                )
        return ProduceRound(
            self._terms,
            self._topics_of(batches),
            batches,
            [self._accumulator.seal(batch) for batch in batches],
            max_version,
            node,
        )

    def _topics_of(self, batches: list[ProducerBatch]) -> ProducedTopics:
        """Return what tells the topics of the batches, by the newest metadata."""
        snapshot = self._metadata.snapshot
        if snapshot is not self._topics_from:
            self._topics = {}
            self._topics_from = snapshot
        topic = batches[0].topic_partition[0]
        for batch in batches:
            if batch.topic_partition[0] != topic:
                return topics_of(batches, snapshot)
        topics = self._topics.get(topic)
        if topics is None:
            topics = self._topics[topic] = topics_of(batches, snapshot)
        return topics

    def _end_with(self, fault: BaseException) -> None:
        self.fault = fault
        self.wake()

    def why_unsent(self, batch: ProducerBatch) -> str:
        """Return what keeps a batch from being sent, as far as it is known."""
        sequences, topic_partition = self._sequences, batch.topic_partition
        if sequences is not None and not sequences.has_producer_id:
            said = "" if self.id_failure is None else f": {self.id_failure}"
            return f"no broker has given a producer id{said}"
        leader_id, _ = self._metadata.snapshot.leader(topic_partition)
        if leader_id is None:
            return "no leader of the partition is known"
        whose = f"its leader, node {leader_id},"
        node = self._nodes.get(leader_id)
        if node is not None and node.failure is not None:
            return f"{whose} cannot be reached: {node.failure}"
        if node is not None and node.count:
            return f"{whose} has not answered what was sent before"
        if node is not None and not node.is_connected:
            return f"the connection to {whose[:-1]} is being made again"
        delay_s = self._network.ready_delay(leader_id)
        if delay_s > 0:
            return f"{whose} takes no request for {delay_s:.1f} s: a throttle or a backoff"
        if sequences is not None and not sequences.may_send(batch):
            if not sequences.is_in_transaction(topic_partition):
                return "the coordinator has not added the partition to the transaction"
            return "an earlier batch of the partition had no outcome"
        return (
            f"nothing is on its way to {whose[:-1]}: the event loop was blocked, or had too much "
            f"to do, for all of that time"
        )

    def state_of(self, node_id: int, now_s: float) -> tuple[int, float, KafkaError | None]:
        """Return how many requests are in flight to a node, the seconds until the next attempt to
        connect, and why the newest one failed.
        """
        node = self._nodes.get(node_id)
        if node is None:
            return 0, 0.0, None
        return node.count, 0.0 if node.is_connected else node.retry_at_s - now_s, node.failure


def _not_sent(failure: AuthenticationFailedError) -> KafkaConnectionError:
    """Return the error of batches whose node did not accept the client: they are sent again."""
    error = KafkaConnectionError(*failure.args)
    error.__cause__ = failure
    return error


__all__ = ["BatchSender", "NodeSender", "SenderTasks"]
