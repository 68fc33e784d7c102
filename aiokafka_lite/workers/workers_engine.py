"""Assembles the parts of one pool of workers, and runs them: intake, workers, commits, watch."""

import asyncio
import logging
import random
from functools import partial
from typing import Any

from aiokafka_lite.clock import Clock
from aiokafka_lite.concurrency.anyio_shield import anyio_shield
from aiokafka_lite.concurrency.backoff import ExponentialBackoff
from aiokafka_lite.concurrency.task_owner import OwnerState
from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.workers.connect_headers import LogIdentity
from aiokafka_lite.workers.dead_letter_topic import DeadLetters
from aiokafka_lite.workers.flow_bounds import FlowBounds
from aiokafka_lite.workers.handler_watch import HandlerWatch
from aiokafka_lite.workers.idle_workers import IdleWorkers
from aiokafka_lite.workers.offset_commits import OffsetCommits
from aiokafka_lite.workers.partition_handover import PartitionHandover
from aiokafka_lite.workers.partition_pauses import PartitionPauses
from aiokafka_lite.workers.pool_tasks import PoolTasks
from aiokafka_lite.workers.record_intake import RecordIntake
from aiokafka_lite.workers.record_outcomes import Origin, RecordOutcomes, handler_failed
from aiokafka_lite.workers.retry_plan import RetryPlan
from aiokafka_lite.workers.stop_request import StopRequest
from aiokafka_lite.workers.work_queues import WorkItem, WorkQueues
from aiokafka_lite.workers.worker_pool import Handler, WorkerPool
from aiokafka_lite.workers.workers_config import WorkersConfig

logger = logging.getLogger(__name__)


class WorkersEngine:
    """The parts of one pool."""

    def __init__(
        self,
        config: WorkersConfig,
        consumer: AIOKafkaConsumer[Any, Any],
        handle: Handler,
        dead_letters: DeadLetters | None,
        clock: Clock,
        rng: random.Random,
    ) -> None:
        self._config = config
        self._consumer = consumer
        self._clock = clock
        self.stop = StopRequest()
        self.queues = WorkQueues(config.key_of)
        self.bounds = FlowBounds(self.queues, config.max_records, config.max_bytes)
        backoff = ExponentialBackoff(
            config.retry_backoff_ms / 1000, config.retry_backoff_max_ms / 1000, rng=rng
        )
        self.plan = RetryPlan(config, backoff)
        idle = IdleWorkers()
        pauses = PartitionPauses(consumer, self.bounds)
        reads = consumer._config
        assert reads.group_id is not None
        name = getattr(handle, "__qualname__", repr(handle))
        origin = Origin(
            reads.group_id,
            reads.client_id,
            f"{handle.__module__}.{name}",
            partial(_log_of, consumer),
        )
        self.outcomes = RecordOutcomes(
            self.queues, self.plan, pauses, idle, self.stop, clock, dead_letters, origin
        )
        self.pool: WorkerPool[WorkItem] = WorkerPool(
            config.concurrency,
            handle,
            self.queues,
            self.outcomes,
            idle,
            self.stop,
            clock,
            handler_failed,
        )
        watch: HandlerWatch[WorkItem] = HandlerWatch(
            config.slow_handler_ms / 1000, config.handler_timeout_ms / 1000
        )
        self._tasks = PoolTasks(
            "KeyedWorkers", self.pool, watch, self.stop, clock, self._are_stuck, handler_failed
        )
        self._commits = OffsetCommits(
            consumer, self.queues, self.stop, clock, config.commit_interval_ms / 1000
        )
        self._intake = RecordIntake(
            consumer,
            self.queues,
            pauses,
            idle,
            self.stop,
            clock,
            is_paced=callable(config.order),
        )
        self.handover = PartitionHandover(
            self.queues,
            self.plan,
            self.pool,
            idle,
            self._commits,
            pauses,
            clock,
            config.drain_timeout_ms / 1000,
            consumer._listener,
        )

    async def run(self) -> None:
        """Run until `stop` is set, then end in order.

        Raises: what stopped the workers. Cancelled: handlers are cancelled, and what is finished is
        committed.
        """
        drain_s = 0.0
        try:
            await self._start()
            await self.stop.wait()
            drain_s = self._config.drain_timeout_ms / 1000
        finally:
            self.stop.set()
            with anyio_shield():
                await self._end(drain_s)
        self._tasks.owner.check()
        if self.stop.failure is not None:
            raise self.stop.failure

    async def _start(self) -> None:
        await self._tasks.start()
        if not self._consumer._subscription.is_subscribed:
            # Nobody calls the listener for partitions that the user has assigned.
            await self.handover.on_partitions_assigned(set(self._consumer.assignment()))
        owner = self._tasks.owner
        owner.spawn("commits", self._commits.run)
        owner.spawn("intake", self._intake.run)

    async def _end(self, drain_s: float) -> None:
        """Give all partitions back, then end the tasks.

        Cancelled: handlers are cancelled, and what is finished is committed. A further
        cancellation may end that commit.
        """
        self.outcomes.close()
        give_back, partitions = self.handover.give_back, tuple(self.queues.partitions)
        try:
            if self._tasks.owner.state is not OwnerState.RUNNING:  # a task has failed
                await give_back(partitions, drain_s)
                return
            # A child of its own: a cancellation of this task does not keep it from the commit.
            ending = self._tasks.owner.spawn("end", give_back, partitions, drain_s)
            try:
                await ending.wait()
            except asyncio.CancelledError:
                self.handover.hurry()
                await ending.wait()
                raise
        finally:
            await self._tasks.close()

    def _are_stuck(self, found: list[tuple[WorkItem, float]]) -> None:
        """Stop, and cancel the handlers: a record that never ends keeps its key waiting."""
        for item, age_s in found:
            logger.error("handler of %s is stuck since %.1f s: the workers stop", item, age_s)
        stuck, age_s = found[0]
        what = (
            f"has not ended within {age_s:.1f} s "
            f"(handler_timeout_ms={self._config.handler_timeout_ms:g})"
        )
        self.stop.set(handler_failed(stuck, what, TimeoutError(what)))
        self.pool.give_up({item for item, _ in found}.__contains__)


def _log_of(consumer: AIOKafkaConsumer[Any, Any], tp: TopicPartition) -> LogIdentity | None:
    """Return what is known of the log that the records in hand come from."""
    state = consumer._subscription.get(tp)
    return None if state is None else LogIdentity(state.topic_id, state.offset_epoch)


__all__ = ["WorkersEngine"]
