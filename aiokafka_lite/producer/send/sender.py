"""Owns the sending of batches: it drains them from the accumulator and takes in the responses.

One task, `sender`, finds the nodes with a batch that is due, sends to them, and sleeps until the
next batch is due. Responses come as callbacks of the event loop. A request has a task only if it
has to wait for its connection. Draining and sending is one step, so requests leave in the order of
their sequence numbers. `record_accumulator` decides what is due, `sequence_numbers` what may be
sent, `batch_outcomes` what a response does to a batch.

One task serves all nodes. No task waits for a Produce response, so the order of the sequence
numbers holds by construction. A record with linger 0 is sent one turn of the loop after `send`; a
task per request needs two. With the turns of the loop it costs 430 thousand instructions instead of
460. An unexpected error in such a callback ends the client, as in a task.

A record that comes alone leaves in the call of `send`, if linger is 0 and nothing is in flight to
the node (`send_at_once`). Another turn of the loop would delay it by 23 us. A record has come alone
if the request before held one record, and no other was sent until its response. So a burst is split
once at most. Until a node's record has come alone again, its batches go as the task finds them.

A new batch wakes the task only if it is the first of its queue. A response wakes it only while
something waits. Any other wake-up changes nothing of what is due: under load it was half of the
turns of this task.
"""

import logging
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVarTuple, Unpack

from aiokafka_lite.clock import TimerHandle
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.task_owner import OwnedTask, OwnerState
from aiokafka_lite.concurrency.wakeup import Wakeup
from aiokafka_lite.errors import (
    AuthenticationFailedError,
    KafkaConnectionError,
    KafkaError,
    ProducerClosed,
    for_code,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.accumulator.partition_queue import PartitionQueue
from aiokafka_lite.producer.accumulator.record_accumulator import RecordAccumulator
from aiokafka_lite.producer.accumulator.sequence_numbers import SequenceNumbers
from aiokafka_lite.producer.batch.batch_wait import all_done
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch
from aiokafka_lite.producer.partition.topic_routes import TopicRoutes
from aiokafka_lite.producer.producer_config import ProducerConfig
from aiokafka_lite.producer.send.batch_outcomes import BatchOutcomes
from aiokafka_lite.producer.send.produce_bytes import Written
from aiokafka_lite.producer.send.produce_exchange import ProduceExchange
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from aiokafka_lite.protocol.messages.produce import ProduceResponse

if TYPE_CHECKING:
    from aiokafka_lite.producer.transaction.transaction_manager import TransactionManager

logger = logging.getLogger(__name__)

_INT32_MAX = 2**31 - 1
_SHORTEST_WAIT_S = 0.0001
_Args = TypeVarTuple("_Args")


class _NodeRequests:
    """The Produce requests in flight to one node, and its connection."""

    __slots__ = (
        "at_gate",
        "count",
        "failure",
        "failures",
        "is_connected",
        "is_connecting",
        "is_sparse",
        "node_id",
        "requests",
        "retry_at_s",
    )

    def __init__(self, node_id: int) -> None:
        self.node_id = node_id
        self.count = 0
        """Produce requests without response."""
        self.at_gate = 0
        """How many of them wait for a connection in a task of their own. New requests wait behind
        them.
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


class Sender:
    """Sends what the accumulator holds, until `close`."""

    def __init__(
        self,
        client: KafkaClient,
        config: ProducerConfig,
        accumulator: RecordAccumulator,
        routes: TopicRoutes,
        sequences: SequenceNumbers | None,
        transactions: "TransactionManager | None",
        wakeup: Wakeup,
    ) -> None:
        """`wakeup` is set whenever something may be due."""
        self.client = client
        self._config = config
        self._clock = client.clock
        self._accumulator = accumulator
        self._routes = routes
        self._sequences = sequences
        self._wakeup = wakeup
        self.wake = wakeup.set
        """Make the sender look at what is due. Cheap, may be called any number of times."""
        self._nodes: dict[int, _NodeRequests] = {}
        self._timer: TimerHandle | None = None
        self._timer_at_s = 0.0
        self._fault: Exception | None = None
        """An unexpected error of a callback. It ends the client."""
        self._has_ended = False
        self._tasks: list[OwnedTask] = []
        self._asks_for_id = False
        self._has_asked_for_id = False
        self.id_failure: KafkaError | None = None
        """Why the newest request for a producer id failed."""
        self._transactions = transactions
        self._outcomes = BatchOutcomes(
            config,
            accumulator,
            sequences,
            on_stale_metadata=client.metadata.request_update,
            told_as=None if transactions is None else transactions.told_as,
            on_failed=None if transactions is None else transactions.batch_failed,
            update_leaders=client.metadata.update_leaders,
            why_unsent=self._why_unsent,
            observer=client.observer,
        )

    def start(self) -> None:
        """Start sending. The client must be running."""
        self.client.owner.add_failure_callback(self._client_failed)
        self.client.metadata.add_listener(self._metadata_changed)
        self._follow(self.client.metadata.snapshot)
        self._spawn("sender", self._run)

    async def flush(self) -> None:
        """Return when every record sent before this call is written or has failed.

        Cancelled: the records are sent all the same, and linger again unless another flush waits.
        """
        batches = self._accumulator.incomplete.begin_flush()
        self.wake()
        try:
            await all_done(batches)
        finally:
            self._accumulator.incomplete.end_flush()

    async def close(self, timeout_s: float | None) -> None:
        """Send the queued batches, for `timeout_s` at most, fail the rest, and close the client.

        An open transaction is aborted. Cancelled: the batches that are left fail at once; another
        close() waits for the client to end.
        """
        self._routes.close()
        try:
            try:
                timeout_s = await self._close_transactions(timeout_s)
            finally:
                self._accumulator.close(ProducerClosed("the producer is stopped"))
            self.wake()
            await self._wait_for_all(timeout_s)
        finally:
            self._accumulator.fail_all(
                ProducerClosed(
                    "the producer was stopped before a broker acknowledged the record; it may have "
                    "been written. Give stop() a longer timeout_ms"
                )
            )
            await self._end()

    async def _close_transactions(self, timeout_s: float | None) -> float | None:
        """Abort an open transaction within half of `timeout_s`; return the time that is left."""
        if self._transactions is None:
            return timeout_s
        began_s = self._clock.monotonic()
        await self._transactions.close(
            self._config.max_block_ms / 1000 if timeout_s is None else timeout_s / 2
        )
        if timeout_s is None:
            return None
        return max(0.0, timeout_s - (self._clock.monotonic() - began_s))

    async def _wait_for_all(self, timeout_s: float | None) -> None:
        try:
            async with deadline(self._clock, timeout_s):
                await all_done(self._accumulator.incomplete.batches)
        except TimeoutError:
            logger.warning(
                "%s: stops with %d batches not acknowledged within %.1f s",
                self._config.client_id,
                len(self._accumulator.incomplete),
                timeout_s,
            )

    def close_soon(self) -> None:
        """Begin to close, for a producer that was dropped: the queued batches are sent first."""
        if self.client.owner.state is OwnerState.RUNNING:
            timeout_s = self._config.stop_timeout_ms / 1000
            self.client.owner.spawn("stop", self.close, timeout_s)

    async def _end(self) -> None:
        self._has_ended = True
        for task in self._tasks:
            task.cancel()
        await self.client.close()

    def _client_failed(self, cause: BaseException) -> None:
        self._has_ended = True
        what = cause.args[0] if type(cause) is KafkaError else repr(cause)
        error = KafkaError(f"a background task of the producer failed: {what}")
        error.__cause__ = cause
        self._routes.close()
        self._accumulator.close(error)
        self._accumulator.fail_all(error)

    def _metadata_changed(self, snapshot: MetadataSnapshot) -> None:
        self._follow(snapshot)
        self.wake()

    def _follow(self, snapshot: MetadataSnapshot) -> None:
        self._routes.update(snapshot)
        if self._sequences is not None:
            self._sequences.follow(snapshot.topic_id)

    # What is due…

    async def _run(self) -> None:
        try:
            while self._fault is None:
                now_s = self._clock.monotonic()
                self._look_again_in(self._dispatch(now_s), now_s)
                await self._wakeup.wait()
            raise self._fault
        finally:
            self._look_again_in(None, 0.0)

    def _look_again_in(self, delay_s: float | None, now_s: float) -> None:
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

    def _dispatch(self, now_s: float) -> float | None:
        """Send what is due; return the seconds until the next look, None: until it is woken."""
        self._outcomes.expire(now_s)
        sequences = self._sequences
        if sequences is not None and sequences.settle() and self._transactions is not None:
            self._transactions.sequence_is_lost()
        delays = []
        expiry_s = self._accumulator.incomplete.next_expiry_s
        if expiry_s is not None:
            delays.append(expiry_s - now_s)
        if sequences is not None and not sequences.has_producer_id:
            if self._transactions is not None:  # the transaction coordinator gives the id
                return min(delays, default=None)
            self._ask_for_producer_id()  # wakes this task when the id is there
            return min(delays, default=None)
        ready = self._accumulator.ready(now_s)
        if ready.leaderless_topics:
            for topic in ready.leaderless_topics:
                self.client.metadata.add_topic(topic)
            self.client.metadata.request_update()
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
            node = self._nodes[node_id] = _NodeRequests(node_id)
        delay_s = max(self.client.network.ready_delay(node_id), node.retry_at_s - now_s)
        if self._routes.patience.is_on:
            has_room = node.count < self._config.max_in_flight_requests_per_connection
            can_send = delay_s <= 0 and node.is_connected and has_room
            self._routes.patience.note(node_id, now_s, can_send=can_send)
        if delay_s > 0:
            return delay_s
        if node.is_connected:
            self._send(node)
        elif not node.is_connecting:
            node.is_connecting = True
            self._spawn(f"connect[{node_id}]", self._connect, node)
        return 0.0

    # Sending…

    async def _connect(self, node: _NodeRequests) -> None:
        """Connect to a node before anything is drained for it. Until then its batches go on filling
        and use up no attempt.
        """
        try:
            await self.client.network.connect(node.node_id)
        except KafkaError as error:
            logger.debug("node %d cannot be sent to: %s", node.node_id, error)
            if isinstance(error, AuthenticationFailedError):
                self._authentication_failed(node, error)
            node.failure = error
            self._disconnected(node)
        else:
            node.is_connected = True
            node.failure = None
            node.failures = 0
        finally:
            node.is_connecting = False
            self.wake()

    def _authentication_failed(self, node: _NodeRequests, error: AuthenticationFailedError) -> None:
        """Tell the user's next call. The batches wait for another attempt, until they expire."""
        if not isinstance(node.failure, AuthenticationFailedError):
            logger.error("%s: %s", self._config.client_id, error)
        if self._transactions is not None:
            self._transactions.authentication_failed(error)
        else:
            self._routes.fail_next(error)

    def _disconnected(self, node: _NodeRequests) -> None:
        if not node.is_connected and not node.is_connecting:
            return  # another request of the same connection has said so
        node.is_connected = False
        node.retry_at_s = self._clock.monotonic() + self.client.retry_backoff.delay(node.failures)
        node.failures += 1

    def _drain(self, node: _NodeRequests) -> list[ProducerBatch]:
        now_s = self._clock.monotonic()
        batches = self._accumulator.drain(node.node_id, now_s)
        if batches and self._routes.patience.is_on:
            self._routes.patience.note(node.node_id, now_s, can_send=True)
        if batches and self.client.observer.is_heard:
            for batch in batches:
                self.client.observer.batch_sent(
                    batch.topic_partition, batch.next_index, now_s - batch.created_s
                )
        return batches

    def _send(self, node: _NodeRequests) -> None:
        """Send what is due for a node, while fewer requests are in flight than allowed. It drains
        and sends in one step, so requests leave in the order of their sequence numbers.
        """
        node.is_sparse = False
        most = self._config.max_in_flight_requests_per_connection
        has_more = self._accumulator.has_more
        while (
            node.is_connected
            and node.count < most
            and has_more(node.node_id)
            and (batches := self._drain(node))
        ):
            exchange = self._exchange(batches)
            node.requests += 1
            if not node.count and exchange.is_of_one_record:
                exchange.lone_number = node.requests
            node.count += 1
            try:
                is_sent = self._submit(node, exchange)
            except KafkaError as error:
                self._take_in(node, exchange, None, error)
                continue
            if not is_sent:
                node.at_gate += 1
                self._spawn(f"produce[{node.node_id}]", self._produce, node, exchange)

    def _send_if_ready(self, node: _NodeRequests) -> None:
        if self.client.network.ready_delay(node.node_id) <= 0:
            self._send(node)

    def sends_at_once(self, queue: PartitionQueue) -> bool:
        """Whether `send_at_once` sends the batch of `queue`. Never with linger."""
        if queue.leader_id is None or self._config.linger_ms or self._has_ended:
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
            self._send_if_ready(self._nodes[queue.leader_id])
            if self._timer is None or self._accumulator.has_waiting:
                self.wake()  # the task sets the timer for the batch's expiry
        except Exception as fault:  # noqa: BLE001  not the fault of the caller's record
            self._end_with(fault)

    def _exchange(self, batches: list[ProducerBatch]) -> ProduceExchange:
        transactions = self._transactions
        return ProduceExchange(
            batches,
            self.client.metadata.snapshot,
            required_acks=self._config.required_acks,
            timeout_ms=self._config.request_timeout_ms,
            wires=[self._accumulator.seal(batch) for batch in batches],
            transactional_id=None if transactions is None else transactions.transactional_id,
            max_version=None if transactions is None else transactions.max_produce_version,
        )

    def _submit(self, node: _NodeRequests, exchange: ProduceExchange) -> bool:
        if node.at_gate:
            return False
        return self.client.network.submit(
            node.node_id,
            exchange.request,
            partial(self._answered, node, exchange),
            read_usual=exchange.read_written,
            max_version=exchange.max_version,
            expects_response=self._config.required_acks != 0,
        )

    async def _produce(self, node: _NodeRequests, exchange: ProduceExchange) -> None:
        """Send a request that has to wait for its connection, which was lost, for example."""
        response, failure = None, None
        try:
            network, version = self.client.network, exchange.max_version
            if self._config.required_acks:
                response = await network.request(
                    node.node_id, exchange.request, max_version=version
                )
            else:
                await network.post(node.node_id, exchange.request, max_version=version)
        except KafkaError as error:
            failure = error
        finally:
            node.at_gate -= 1
        self._take_in(node, exchange, response, failure)
        self._go_on(node)

    def _answered(
        self,
        node: _NodeRequests,
        exchange: ProduceExchange,
        response: ProduceResponse | Written | None,
        error: Exception | None,
    ) -> None:
        if self._has_ended:
            return
        if error is not None and not isinstance(error, KafkaError):
            self._end_with(error)
            return
        try:
            if isinstance(response, list):  # the usual case
                node.count -= 1
                self._outcomes.written(response, self._clock.monotonic())
            else:
                self.client.network.note_throttle(node.node_id, response)
                self._take_in(node, exchange, response, error)
            self._go_on(node)
            node.is_sparse = error is None and exchange.lone_number == node.requests
        except Exception as fault:  # noqa: BLE001  the event loop would log it and go on
            self._end_with(fault)

    def _end_with(self, fault: Exception) -> None:
        self._fault = fault
        self.wake()

    def _take_in(
        self,
        node: _NodeRequests,
        exchange: ProduceExchange,
        response: ProduceResponse | None,
        failure: KafkaError | None,
    ) -> None:
        node.count -= 1
        if failure is None:
            self._outcomes.answered(exchange, response, self._clock.monotonic())
        else:
            if isinstance(failure, AuthenticationFailedError):
                self._authentication_failed(node, failure)
                failure = _not_sent(failure)
            self._disconnected(node)
            self._outcomes.lost(exchange, failure, self._clock.monotonic())

    def _go_on(self, node: _NodeRequests) -> None:
        self._send_if_ready(node)
        if self._accumulator.has_waiting:
            self.wake()  # other nodes may be due, or the next batch may be due earlier

    def _why_unsent(self, topic_partition: TopicPartition) -> str:
        """Return what keeps the batches of a partition from being sent, as far as it is known."""
        if self._sequences is not None and not self._sequences.has_producer_id:
            said = "" if self.id_failure is None else f": {self.id_failure}"
            return f"no broker has given a producer id{said}"
        leader_id, _ = self.client.metadata.snapshot.leader(topic_partition)
        if leader_id is None:
            return "no leader of the partition is known"
        node = self._nodes.get(leader_id)
        if node is not None and node.failure is not None:
            return f"its leader, node {leader_id}, cannot be reached: {node.failure}"
        return f"its leader, node {leader_id}, has not answered what was sent before"

    def state_of(self, node_id: int, now_s: float) -> tuple[int, float, KafkaError | None]:
        """Return how many requests are in flight to a node, the seconds until the next attempt to
        connect, and why the newest one failed.
        """
        node = self._nodes.get(node_id)
        if node is None:
            return 0, 0.0, None
        return node.count, 0.0 if node.is_connected else node.retry_at_s - now_s, node.failure

    # Who we are to the brokers…

    def _ask_for_producer_id(self) -> None:
        if self._asks_for_id or (self._has_asked_for_id and not self._accumulator.incomplete):
            return
        self._asks_for_id = self._has_asked_for_id = True
        self._spawn("producer_id", self._get_producer_id)

    async def _get_producer_id(self) -> None:
        """Get a producer id, however long it takes; batches have their delivery_timeout_ms.

        An error that is not retriable fails the batches that wait for the id.
        """
        attempts = 0
        try:
            while True:
                error = self.id_failure = await self._init_producer_id()
                if error is None:
                    return
                if not error.retriable:
                    self._accumulator.fail_all(error)
                    return
                level = logging.DEBUG if attempts else logging.WARNING
                logger.log(
                    level,
                    "%s: no producer id yet, asking again: %s",
                    self._config.client_id,
                    error,
                )
                await self._clock.sleep(self.client.retry_backoff.delay(attempts))
                attempts += 1
        finally:
            self._asks_for_id = False
            self.wake()

    async def _init_producer_id(self) -> KafkaError | None:
        """Ask once; return the error, if any."""
        assert self._sequences is not None
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=_INT32_MAX)
        try:
            response = await self.client.network.request_any(request)
        except KafkaError as error:
            return error
        if response.error_code:
            error_class = for_code(response.error_code)
            return error_class(f"asking for a producer id: {error_class.description}")
        self._sequences.set_producer(response.producer_id, response.producer_epoch)
        logger.info(
            "%s: producer id %d, epoch %d",
            *(self._config.client_id, response.producer_id, response.producer_epoch),
        )
        return None

    def _spawn(
        self,
        name: str,
        body: Callable[[Unpack[_Args]], Coroutine[Any, Any, object]],
        *args: *_Args,
    ) -> None:
        self._tasks = [task for task in self._tasks if not task.done]
        self._tasks.append(self.client.owner.spawn(name, body, *args))


def _not_sent(failure: AuthenticationFailedError) -> KafkaConnectionError:
    """Return the error of batches whose node did not accept the client: they are sent again."""
    error = KafkaConnectionError(*failure.args)
    error.__cause__ = failure
    return error


__all__ = ["Sender"]
