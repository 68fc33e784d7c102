"""Assembles the parts of one pool of share workers: intake, workers, locks and watch. Runs them."""

import asyncio
import contextlib
import logging
import random
from typing import Any, Final

from aiokafka_lite.clock import Clock
from aiokafka_lite.concurrency.anyio_shield import anyio_shield
from aiokafka_lite.concurrency.backoff import ExponentialBackoff
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.task_owner import OwnedTask, OwnerState
from aiokafka_lite.errors import ConsumerStoppedError, HandlerFailedError, KafkaError
from aiokafka_lite.share.share_consumer import AIOKafkaShareConsumer
from aiokafka_lite.workers.handler_watch import HandlerWatch
from aiokafka_lite.workers.idle_workers import IdleWorkers
from aiokafka_lite.workers.pool_tasks import PoolTasks
from aiokafka_lite.workers.share.share_intake import ShareIntake
from aiokafka_lite.workers.share.share_outcomes import ShareOutcomes
from aiokafka_lite.workers.share.share_queue import ShareItem, ShareQueue
from aiokafka_lite.workers.share.share_workers_config import ShareWorkersConfig
from aiokafka_lite.workers.stop_request import StopRequest
from aiokafka_lite.workers.worker_pool import Handler, WorkerPool

logger = logging.getLogger(__name__)

_LEAST_COMMIT_S: Final = 5.0
"""The least bound of the last acknowledgements."""
_CANCEL_S: Final = 1.0
"""How long a handler has for its clean-up after it was cancelled."""


class ShareWorkersEngine:
    """The parts of one pool."""

    def __init__(
        self,
        config: ShareWorkersConfig,
        consumer: AIOKafkaShareConsumer[Any, Any],
        handle: Handler,
        clock: Clock,
        rng: random.Random,
    ) -> None:
        self._config = config
        self._consumer = consumer
        self._clock = clock
        self.stop = StopRequest()
        self.queue = ShareQueue(config.max_records, self._look_if_late)
        self._idle = IdleWorkers()
        backoff = ExponentialBackoff(
            config.retry_backoff_ms / 1000, config.retry_backoff_max_ms / 1000, rng=rng
        )
        self.outcomes = ShareOutcomes(
            consumer, self.queue, backoff, config.not_retried, self.stop, clock
        )
        self.pool: WorkerPool[ShareItem] = WorkerPool(
            config.concurrency,
            handle,
            self.queue,
            self.outcomes,
            self._idle,
            self.stop,
            clock,
            _failure,
        )
        watch: HandlerWatch[ShareItem] = HandlerWatch(
            config.slow_handler_ms / 1000, config.handler_timeout_ms / 1000
        )
        self._tasks = PoolTasks(
            "ShareWorkers", self.pool, watch, self.stop, clock, self._are_stuck, _failure
        )
        self._intake = ShareIntake(
            consumer, self.queue, self.outcomes, self._idle, self.stop, clock
        )
        self._intake_task: OwnedTask | None = None
        self._drain = deadline(clock, None)

    @property
    def renewed_locks(self) -> int:
        """How many times the lock of a record was renewed."""
        engine = self._consumer._life.engine
        return 0 if engine is None or engine.locks is None else engine.locks.renewed

    async def run(self) -> None:
        """Run until `stop` is set, then end in order.

        Raises: what stopped the workers. Cancelled: handlers are cancelled, and what is finished is
        acknowledged.
        """
        drain_s = 0.0
        try:
            await self._tasks.start()
            owner = self._tasks.owner
            owner.spawn("acknowledgements", self._acknowledge)
            owner.spawn("locks", self._keep_locks)
            self._intake_task = owner.spawn("intake", self._intake.run)
            await self.stop.wait()
            drain_s = self._config.drain_timeout_ms / 1000
        finally:
            self.stop.set()
            with anyio_shield():
                await self._end(drain_s)
        self._tasks.owner.check()
        if self.stop.failure is not None:
            raise self.stop.failure

    # The tasks…

    async def _acknowledge(self) -> None:
        """Send what handlers have decided, in intervals. Polls that run send it, too."""
        while True:
            await self.outcomes.news.wait()
            await self._clock.sleep(self._config.commit_interval_ms / 1000)
            self._consumer._life.running().acknowledge_held()

    async def _keep_locks(self) -> None:
        """Renew locks, also while running handlers are waited for at the end."""
        engine = self._consumer._life.running()
        locks, are_shorter = engine.locks, engine.fetcher.locks_are_shorter
        assert locks is not None
        while True:
            with contextlib.suppress(TimeoutError):
                async with deadline(self._clock, locks.interval_s):
                    await are_shorter.wait()
            locks.look()

    def _look_if_late(self) -> None:
        engine = self._consumer._life.engine
        if engine is not None and engine.locks is not None:
            engine.locks.look_if_late()

    def _are_stuck(self, found: list[tuple[ShareItem, float]]) -> None:
        for item, age_s in found:
            if not item.is_stuck:
                self.outcomes.is_stuck(item, age_s)
        self.pool.give_up({item for item, _ in found}.__contains__)

    # The end…

    async def _end(self, drain_s: float) -> None:
        """Let running handlers end, acknowledge, release the rest, and end the tasks.

        Cancelled: handlers are cancelled, and what is finished is acknowledged.
        """
        self.outcomes.close()
        self.queue.close()
        try:
            if self._tasks.owner.state is not OwnerState.RUNNING:  # a task has failed
                await self._settle(drain_s)
                return
            # A child of its own: a cancellation of this task does not keep it from the answers.
            ending = self._tasks.owner.spawn("end", self._settle, drain_s)
            try:
                await ending.wait()
            except asyncio.CancelledError:
                self._drain.expire()
                await ending.wait()
                raise
        finally:
            await self._tasks.close()

    async def _settle(self, drain_s: float) -> None:
        """Takes `drain_s` for the handlers, a second for cancelled ones, and `drain_timeout_ms`,
        5 s at least, for the answers. Cancelled: brokers release what is not acknowledged.
        """
        if self._intake_task is not None:
            self._intake_task.cancel()
        self._drain = deadline(self._clock, drain_s)
        try:
            async with self._drain:
                await self._idle.until(self._is_idle)
        except TimeoutError:
            await self._cancel()
        try:
            engine = self._consumer._life.running()
            engine.release_everything()
            await engine.commit(max(self._config.drain_timeout_ms / 1000, _LEAST_COMMIT_S))
        except (KafkaError, ConsumerStoppedError) as error:
            logger.warning("the last acknowledgements were not sent: %s", error)

    def _is_idle(self) -> bool:
        return not self.pool.running

    async def _cancel(self) -> None:
        given_up = self.pool.give_up(lambda _: True)
        if not given_up:
            return
        logger.warning(
            "%d handlers are cancelled, the workers stop; the first is that of %s",
            len(given_up),
            given_up[0],
        )
        try:
            async with deadline(self._clock, _CANCEL_S):
                await self._idle.until(self._is_idle)
        except TimeoutError:
            for worker in self.pool.workers:
                if worker.item is not None:
                    logger.error(  # noqa: TRY400
                        "handler of %s has not ended %g s after it was cancelled; another member "
                        "may handle the record at the same time",
                        worker.item,
                        _CANCEL_S,
                    )


def _failure(item: ShareItem, what: str, cause: BaseException) -> HandlerFailedError:
    tp, offset = item.place
    error = HandlerFailedError(
        f"handler of {item} {what}; its record is released: let handlers end when they are "
        f"cancelled, and raise nothing but an Exception",
        topic_partition=tp,
        offset=offset,
    )
    error.__cause__ = cause
    return error


__all__ = ["ShareWorkersEngine"]
