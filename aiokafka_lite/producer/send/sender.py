"""Owns the sending of batches: it drains them from the accumulator and takes in the responses.

The task `sender` finds the nodes with a batch that is due, lets their `NodeSender` send it, and
sleeps until the next batch is due. A response is taken in where it is read, by its `ProduceRound`.
The task `send[node]` makes the connection, and sends what has to wait for one, in the order in
which it was drained. Draining and sending is one step, so requests leave in the order of their
sequence numbers. `record_accumulator` decides what is due, `sequence_numbers` what may be sent,
`batch_outcomes` what a response does to a batch.

No task waits for a Produce response, so the order of the sequence numbers holds by construction. A
record with linger 0 is sent one turn of the loop after `send`; a task per request needs two. With
the turns of the loop it costs 430 thousand instructions instead of 460. An unexpected error in such
a callback ends the client, as in a task.

A new batch wakes the task only if it is the first of its queue. A response wakes it only while
something waits. Any other wake-up changes nothing of what is due: under load it was half of the
turns of this task.
"""

import copy
import logging
import math
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVarTuple, Unpack

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.long_waits import TELL_AFTER_S, TELL_AGAIN_S
from aiokafka_lite.concurrency.task_owner import OwnedTask, OwnerState
from aiokafka_lite.concurrency.waiting_calls import WaitingCalls
from aiokafka_lite.concurrency.wakeup import Wakeup
from aiokafka_lite.errors import (
    AuthenticationFailedError,
    KafkaError,
    ProducerClosed,
    for_code,
)
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.producer.accumulator.record_accumulator import RecordAccumulator
from aiokafka_lite.producer.accumulator.sequence_numbers import SequenceNumbers
from aiokafka_lite.producer.batch.batch_wait import all_done
from aiokafka_lite.producer.partition.topic_routes import TopicRoutes
from aiokafka_lite.producer.producer_config import ProducerConfig
from aiokafka_lite.producer.send.batch_sender import BatchSender, NodeSender
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest

if TYPE_CHECKING:
    from aiokafka_lite.producer.transaction.transaction_manager import TransactionManager

logger = logging.getLogger(__name__)

_INT32_MAX = 2**31 - 1
_LEAST_TIMEOUT_S = 0.001
_Args = TypeVarTuple("_Args")


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
        self.batches = BatchSender(
            client, config, accumulator, routes, sequences, transactions, self, wakeup
        )
        """Decides what leaves when."""
        self._dispatch = self.batches.dispatch
        self.wake = wakeup.set
        """Make the sender look at what is due. Cheap, may be called any number of times."""
        self._wakeup = wakeup
        self._config = config
        self._clock = client.clock
        self._accumulator = accumulator
        self._routes = routes
        self._sequences = sequences
        self._transactions = transactions
        self._tasks: list[OwnedTask] = []
        self._asks_for_id = False
        self._has_asked_for_id = False
        self._is_closing = False
        self._refusal: AuthenticationFailedError | None = None
        self._flushes = WaitingCalls(client.clock, self._why_refused)
        self._told_late_at_s = self._late_at_s = -math.inf
        lingers_s = config.linger_ms / 1000
        self._until_told_s = config.delivery_timeout_ms / 1000 - TELL_AFTER_S - lingers_s
        """How long before its expiry a batch is told."""

    def start(self) -> None:
        """Start sending. The client must be running."""
        self.client.owner.add_failure_callback(self._client_failed)
        self.client.metadata.add_listener(self._metadata_changed)
        self._follow(self.client.metadata.snapshot)
        self._spawn("sender", self._run)

    async def flush(self) -> None:
        """Return when every record sent before this call is written or has failed.

        Raises: AuthenticationFailedError when a node does not accept the client any more; its
        records wait on.
        Cancelled: the records are sent all the same, and linger again unless another flush waits.
        """
        batches = self._accumulator.incomplete.begin_flush()
        self.wake()
        try:
            async with self._flushes.one():
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
        self._is_closing = True
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
        self.batches.has_ended = True
        for task in self._tasks:
            task.cancel()
        await self.client.close()

    def _client_failed(self, cause: BaseException) -> None:
        self.batches.has_ended = True
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
            while self.batches.fault is None:
                now_s = self._clock.monotonic()
                delay_s = self._dispatch(now_s)
                if delay_s is not None:  # there are records without outcome
                    if self._late_at_s <= now_s:
                        self._late_at_s = self._tell_of_late(now_s)
                    late_s = self._late_at_s - now_s
                    delay_s = late_s if late_s < delay_s else delay_s
                self.batches.look_again_in(delay_s, now_s)
                await self._wakeup.wait()
            raise self.batches.fault
        finally:
            self.batches.look_again_in(None, 0.0)

    def _tell_of_late(self, now_s: float) -> float:
        """Warn of records that wait for long; return when to look again, in monotonic seconds.

        Until then the task need not look: a record that is newer is not late before.
        """
        incomplete = self._accumulator.incomplete
        expiry_s = incomplete.next_expiry_s
        waits_for_id = self._sequences is not None and not self._sequences.has_producer_id
        if expiry_s is None or waits_for_id:  # that is told by itself
            return now_s + TELL_AFTER_S
        tell_at_s = max(expiry_s - self._until_told_s, self._told_late_at_s + TELL_AGAIN_S)
        if tell_at_s <= now_s:
            oldest = incomplete.batches[0]
            self._told_late_at_s = now_s
            tell_at_s = now_s + TELL_AGAIN_S
            tp = oldest.topic_partition
            said = self.batches.why_unsent(oldest)
            if oldest.last_error is not None:
                said = f"the last of {oldest.attempts} attempts has failed: "
                said += reason_of(oldest.last_error)
            logger.warning(
                "%s: has waited %.0f s for records of %s-%d to be written (Produce), of %d batches "
                "in all: %s; explain() says what each partition waits for",
                *(self._config.client_id, now_s - oldest.created_s, *tp, len(incomplete), said),
            )
        return tell_at_s

    # Sending…

    def look_after(self, node: NodeSender) -> None:
        """Let the task `send[node]` connect, or send the requests that wait for a connection."""
        node.go.set()
        if not node.has_task:
            node.has_task = True
            self._spawn(f"send[{node.node_id}]", self._send_to, node)

    async def _send_to(self, node: NodeSender) -> None:
        while True:
            await node.go.wait()
            if node.is_connecting:
                await self._connect(node)
            while node.at_gate:
                await self._send_first(node)

    async def _connect(self, node: NodeSender) -> None:
        """Connect to a node before anything is drained for it. Until then its batches go on filling
        and use up no attempt.
        """
        try:
            await self.client.network.connect(node.node_id)
        except KafkaError as error:
            logger.debug("node %d cannot be sent to: %s", node.node_id, error)
            if isinstance(error, AuthenticationFailedError):
                self.authentication_failed(node, error)
            node.failure = error
            node.disconnected()
        else:
            node.is_connected = True
            node.failure = None
            node.failures = 0
        finally:
            node.is_connecting = False
            self.wake()

    def authentication_failed(self, node: NodeSender, error: AuthenticationFailedError) -> None:
        """Tell a call that waits, or the next one. The batches wait for another attempt, until they
        expire; those of a producer that stops fail.
        """
        if not isinstance(node.failure, AuthenticationFailedError):
            logger.error("%s: %s", self._config.client_id, error)
        self._refusal = error
        if self._transactions is not None:
            self._transactions.authentication_failed(error)
        elif not self._flushes.end():
            self._routes.fail_next(error)
        if self._is_closing:
            self._give_up(node.node_id, error)

    def _give_up(self, node_id: int, error: AuthenticationFailedError) -> None:
        """Fail the batches of a node that does not accept the client, for nobody will mend it."""
        closed = ProducerClosed(
            f"the producer was stopped, and a node does not accept it any more, so that the record "
            f"was not acknowledged: {reason_of(error)}"
        )
        closed.__cause__ = error
        snapshot = self.client.metadata.snapshot
        for batch in self._accumulator.incomplete:
            if snapshot.leader(batch.topic_partition).node_id in (node_id, None):
                self._accumulator.give_up(batch, closed)

    def _why_refused(self) -> Exception:
        assert self._refusal is not None
        return copy.copy(self._refusal)

    async def _send_first(self, node: NodeSender) -> None:
        """Send the first request that waits for a connection, which was lost, for example."""
        exchange = node.at_gate[0]
        waited_s = self._clock.monotonic() - exchange.begun_at_s
        usual_s = self._config.request_timeout_ms / 1000
        exchange.timeout_s = max((exchange.timeout_s or usual_s) - waited_s, _LEAST_TIMEOUT_S)
        try:
            await self.client.network.send(node.node_id, exchange)
        except KafkaError as error:
            node.at_gate.popleft()
            exchange.fail(error)
        else:
            node.at_gate.popleft()

    # Who we are to the brokers…

    def ask_for_producer_id(self) -> None:
        if self._asks_for_id or (self._has_asked_for_id and not self._accumulator.incomplete):
            return
        self._asks_for_id = self._has_asked_for_id = True
        self._spawn("producer_id", self._get_producer_id)

    async def _get_producer_id(self) -> None:
        """Get a producer id, however long it takes; batches have their delivery_timeout_ms.

        An error that is not retriable fails the batches that wait for the id.
        """
        attempts = 0
        wait = self.client.waits.of(
            "a producer id (InitProducerId), without which nothing is sent",
            "check the brokers and the topic __transaction_state, or set enable_idempotence=False",
        )
        try:
            with wait:
                while True:
                    error = self.batches.id_failure = await self._init_producer_id()
                    if error is None:
                        return
                    if not error.retriable:
                        self._accumulator.fail_all(error)
                        return
                    wait.failed(error)
                    logger.log(
                        logging.DEBUG if attempts else logging.WARNING,
                        "%s: no producer id yet, asking again: %s",
                        *(self._config.client_id, error),
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


__all__ = ["Sender"]
