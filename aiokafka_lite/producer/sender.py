"""Owns the waiting on the way from the accumulator to the brokers and back.

One loop, `sender`, finds the nodes that have something due and sleeps until the next moment
anything is; for each node up to max_in_flight_requests_per_connection loops, `send_loop[node]`,
each drain, send and wait for their own answer. A loop drains and sends in one step, so requests
leave in the order of their sequence numbers. What is due is decided in `record_accumulator`, what a
sequence number means in `sequence_numbers`, what an answer does in `batch_outcomes`.
"""

import logging
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, TypeVarTuple, Unpack

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.task_owner import OwnedTask, OwnerState
from aiokafka_lite.concurrency.wakeup import Wakeup
from aiokafka_lite.errors import KafkaError, ProducerClosed, for_code
from aiokafka_lite.producer.batch_outcomes import BatchOutcomes
from aiokafka_lite.producer.batch_wait import all_done
from aiokafka_lite.producer.produce_exchange import ProduceExchange
from aiokafka_lite.producer.producer_batch import ProducerBatch
from aiokafka_lite.producer.producer_config import ProducerConfig
from aiokafka_lite.producer.record_accumulator import RecordAccumulator
from aiokafka_lite.producer.sequence_numbers import SequenceNumbers
from aiokafka_lite.producer.topic_routes import TopicRoutes
from aiokafka_lite.producer.transaction_manager import TransactionManager
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from aiokafka_lite.version import __version__

logger = logging.getLogger(__name__)

_INT32_MAX = 2**31 - 1
_DROPPED_CLOSE_S = 30.0
_SHORTEST_WAIT_S = 0.0001
_Args = TypeVarTuple("_Args")


class _SendLoops:
    """The send loops of one node."""

    __slots__ = (
        "count",
        "failures",
        "idle",
        "is_connected",
        "is_connecting",
        "node_id",
        "retry_at_s",
    )

    def __init__(self, node_id: int) -> None:
        self.node_id = node_id
        self.count = 0
        self.idle: deque[Wakeup] = deque()
        self.is_connected = False
        """A request was answered since the last one that was not: several may be on their way."""
        self.is_connecting = False
        self.failures = 0
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
        transactions: TransactionManager | None = None,
    ) -> None:
        self.client = client
        self._config = config
        self._clock = client.clock
        self._accumulator = accumulator
        self._routes = routes
        self._sequences = sequences
        self._wakeup = Wakeup()
        self._nodes: dict[int, _SendLoops] = {}
        self._tasks: list[OwnedTask] = []
        self._asks_for_id = False
        self._has_asked_for_id = False
        self._transactions = transactions
        if transactions is not None:
            transactions.wake_sender = self.wake
        self._outcomes = BatchOutcomes(
            config,
            accumulator,
            sequences,
            on_stale_metadata=client.request_metadata_update,
            on_failed=None if transactions is None else transactions.batch_failed,
            update_leaders=client.update_leaders,
        )

    def start(self) -> None:
        """Start sending. The client has to be running."""
        self.client.owner.add_failure_callback(self._client_failed)
        self.client.add_snapshot_listener(self._metadata_changed)
        self._routes.update(self.client.snapshot)
        self._spawn("sender", self._run)

    def wake(self) -> None:
        """Look again at what is due. Cheap, may be called any number of times."""
        self._wakeup.set()

    async def flush(self) -> None:
        """Return when every record sent before this call has its outcome.

        Cancelled: the records go on; whatever was hurried stays hurried only for other flushes.
        """
        batches = self._accumulator.begin_flush()
        self.wake()
        try:
            await all_done(batches)
        finally:
            self._accumulator.end_flush()

    async def close(self, timeout_s: float | None) -> None:
        """Send what is left, for `timeout_s` at most, fail the rest, end all loops and the client.

        An open transaction is aborted. Cancelled: what is left fails at once; another close() waits
        for the client's end.
        """
        self._routes.close()
        if self._transactions is not None:
            bound_s = self._config.max_block_ms / 1000
            began_s = self._clock.monotonic()
            try:
                await self._transactions.close(bound_s if timeout_s is None else timeout_s / 2)
            except BaseException:
                await self._end()
                raise
            if timeout_s is not None:
                timeout_s = max(0.0, timeout_s - (self._clock.monotonic() - began_s))
        self._accumulator.close(ProducerClosed("the producer is stopped"))
        self.wake()
        try:
            async with deadline(self._clock, timeout_s):
                await all_done(self._accumulator.incomplete)
        except TimeoutError:
            logger.warning(
                "the producer stops with %d batches not acknowledged within %.1f s",
                len(self._accumulator.incomplete),
                timeout_s,
            )
        finally:
            self._accumulator.fail_all(
                ProducerClosed(
                    "the producer was stopped before a broker acknowledged the record; it may have "
                    "been written. Give stop() a longer timeout_ms"
                )
            )
            await self._end()

    def close_soon(self) -> None:
        """Begin to close, for a producer that was dropped: what is left is sent first."""
        if self.client.owner.state is OwnerState.RUNNING:
            self.client.owner.spawn("stop", self.close, _DROPPED_CLOSE_S)

    async def _end(self) -> None:
        for task in self._tasks:
            task.cancel()
        await self.client.close()

    def _client_failed(self, cause: BaseException) -> None:
        error = KafkaError(f"a background task of the producer failed: {cause!r}")
        error.__cause__ = cause
        self._routes.close()
        self._accumulator.close(error)
        self._accumulator.fail_all(error)

    def _metadata_changed(self, snapshot: MetadataSnapshot) -> None:
        self._routes.update(snapshot)
        self.wake()

    # What is due…

    async def _run(self) -> None:
        while True:
            delay_s = self._dispatch(self._clock.monotonic())
            if delay_s is None:
                await self._wakeup.wait()
            else:
                # Not less: a difference of two times that rounds to nothing would never pass.
                await self._wakeup.wait_for(self._clock, max(delay_s, _SHORTEST_WAIT_S))

    def _dispatch(self, now_s: float) -> float | None:
        """Let the send loops of every node that has something due go; return when to look again."""
        self._accumulator.unseen_bytes = 0
        self._outcomes.expire(now_s)
        sequences = self._sequences
        if sequences is not None:
            sequences.settle()
        delays = []
        expiry_s = self._accumulator.next_expiry_s
        if expiry_s is not None:
            delays.append(expiry_s - now_s)
        if sequences is not None and not sequences.has_producer_id:
            if self._transactions is not None:  # its coordinator gives one
                return min(delays, default=None)
            self._ask_for_producer_id()  # which wakes this loop when it is there
            return min(delays, default=None)
        ready = self._accumulator.ready(now_s)
        if ready.delay_s is not None:
            delays.append(ready.delay_s)
        if ready.leaderless_topics:
            for topic in ready.leaderless_topics:
                self.client.add_topic(topic)
            self.client.request_metadata_update()
        for node_id in ready.node_ids:
            delay_s = self._let_go(node_id, now_s)
            if delay_s:
                delays.append(delay_s)
        return min(delays, default=None)

    def _let_go(self, node_id: int, now_s: float) -> float:
        """Wake, or start, one send loop of a node; return the seconds until that is allowed."""
        loops = self._nodes.get(node_id)
        if loops is None:
            loops = self._nodes[node_id] = _SendLoops(node_id)
        delay_s = max(self.client.ready_delay(node_id), loops.retry_at_s - now_s)
        if self._routes.patience.is_on:
            has_room = bool(loops.idle) or (
                loops.count < self._config.max_in_flight_requests_per_connection
            )
            can_send = delay_s <= 0 and loops.is_connected and has_room
            self._routes.patience.note(node_id, now_s, can_send=can_send)
        if delay_s > 0:
            return delay_s
        if loops.is_connecting:
            return 0.0
        if loops.idle:
            loops.idle.popleft().set()
        elif loops.count < self._config.max_in_flight_requests_per_connection:
            loops.count += 1
            self._spawn(f"send_loop[{node_id}]", self._send_loop, loops)
        return 0.0

    # Sending…

    async def _send_loop(self, loops: _SendLoops) -> None:
        while True:
            if self._may_connect(loops):
                await self._connect(loops)
            batches = self._drain(loops)
            if batches:
                await self._produce(loops, batches)
            else:
                wakeup = Wakeup()
                loops.idle.append(wakeup)
                await wakeup.wait()

    def _may_connect(self, loops: _SendLoops) -> bool:
        return not (
            loops.is_connected
            or loops.is_connecting
            or loops.retry_at_s > self._clock.monotonic()
            or self.client.ready_delay(loops.node_id) > 0
        )

    async def _connect(self, loops: _SendLoops) -> None:
        """See that the node answers before anything is drained for it: a batch that was not tried
        goes on filling up, and keeps its attempts.
        """
        loops.is_connecting = True
        try:
            await self.client.request(
                loops.node_id,
                ApiVersionsRequest(
                    client_software_name="aiokafka-lite", client_software_version=__version__
                ),
            )
        except KafkaError as error:
            logger.debug("node %d cannot be sent to: %s", loops.node_id, error)
            self._disconnected(loops)
        else:
            loops.is_connected = True
            loops.failures = 0
        finally:
            loops.is_connecting = False
            self.wake()

    def _disconnected(self, loops: _SendLoops) -> None:
        if not loops.is_connected and not loops.is_connecting:
            return  # another request of the same connection has said so
        loops.is_connected = False
        loops.retry_at_s = self._clock.monotonic() + self.client.retry_backoff.delay(loops.failures)
        loops.failures += 1
        self.client.request_metadata_update()

    def _drain(self, loops: _SendLoops) -> list[ProducerBatch]:
        if not loops.is_connected or self.client.ready_delay(loops.node_id) > 0:
            return []
        if self._sequences is not None:
            self._sequences.settle()
        now_s = self._clock.monotonic()
        batches = self._accumulator.drain(loops.node_id, now_s)
        if batches and self._routes.patience.is_on:
            self._routes.patience.note(loops.node_id, now_s, can_send=True)
        if batches and self._accumulator.has_more(loops.node_id):
            self.wake()  # another loop may go
        return batches

    async def _produce(self, loops: _SendLoops, batches: list[ProducerBatch]) -> None:
        required_acks = self._config.required_acks
        transactions = self._transactions
        exchange = ProduceExchange(
            batches,
            self.client.snapshot,
            required_acks=required_acks,
            timeout_ms=self._config.request_timeout_ms,
            wires=[self._accumulator.seal(batch) for batch in batches],
            transactional_id=self._config.transactional_id,
            max_version=None if transactions is None else transactions.max_produce_version,
        )
        try:
            response = await self.client.request(
                loops.node_id,
                exchange.request,
                max_version=exchange.max_version,
                expects_response=required_acks != 0,
            )
        except KafkaError as error:
            self._disconnected(loops)
            self._outcomes.lost(exchange, error, self._clock.monotonic())
        else:
            self._outcomes.answered(exchange, response, self._clock.monotonic())
        self.wake()

    # Who we are to the brokers…

    def _ask_for_producer_id(self) -> None:
        if self._asks_for_id or (self._has_asked_for_id and not self._accumulator.has_incomplete):
            return
        self._asks_for_id = self._has_asked_for_id = True
        self._spawn("producer_id", self._get_producer_id)

    async def _get_producer_id(self) -> None:
        """Get a producer id, however long it takes; the batches have their own time limit.

        A refusal that time does not mend fails what waits for the id.
        """
        attempts = 0
        try:
            while True:
                error = await self._init_producer_id()
                if error is None:
                    return
                if not error.retriable:
                    self._accumulator.fail_all(error)
                    return
                level = logging.DEBUG if attempts else logging.WARNING
                logger.log(level, "no producer id yet, asking again: %s", error)
                await self._clock.sleep(self.client.retry_backoff.delay(attempts))
                attempts += 1
        finally:
            self._asks_for_id = False
            self.wake()

    async def _init_producer_id(self) -> KafkaError | None:
        """Ask once; return what went wrong."""
        assert self._sequences is not None
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=_INT32_MAX)
        try:
            response = await self.client.request_any(request)
        except KafkaError as error:
            return error
        if response.error_code:
            return for_code(response.error_code)()
        self._sequences.set_producer(response.producer_id, response.producer_epoch)
        logger.info("producer id %d, epoch %d", response.producer_id, response.producer_epoch)
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
