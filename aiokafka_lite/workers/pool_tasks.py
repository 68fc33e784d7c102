"""Owns the tasks of one pool: its workers, the watch over them, and those of its engine."""

import logging
from collections.abc import Callable
from typing import Final, Generic

from aiokafka_lite.clock import Clock
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.task_owner import TaskOwner
from aiokafka_lite.errors import HandlerFailedError
from aiokafka_lite.workers.handler_watch import HandlerWatch
from aiokafka_lite.workers.pool_item import ItemT
from aiokafka_lite.workers.stop_request import StopRequest
from aiokafka_lite.workers.worker_pool import WorkerPool

logger = logging.getLogger(__name__)

_CLOSE_S: Final = 5.0
"""How long `run()` waits for handlers that ignore their cancellation."""


class PoolTasks(Generic[ItemT]):
    """The tasks of one run."""

    def __init__(
        self,
        name: str,
        pool: WorkerPool[ItemT],
        watch: HandlerWatch[ItemT],
        stop: StopRequest,
        clock: Clock,
        are_stuck: Callable[[list[tuple[ItemT, float]]], object],
        failure: Callable[[ItemT, str, BaseException], HandlerFailedError],
    ) -> None:
        """`are_stuck(found)` gets the stuck handlers with their age in seconds. `failure` makes the
        error of one that ignores its cancellation.
        """
        self.owner = TaskOwner(name, clock=clock)
        self._pool = pool
        self._watch = watch
        self._stop = stop
        self._clock = clock
        self._are_stuck = are_stuck
        self._failure = failure

    async def start(self) -> None:
        """Start the workers and the watch. A task that fails stops the workers."""
        await self.owner.start()
        self.owner.add_failure_callback(self._stop.set)
        for number, worker in enumerate(self._pool.workers):
            self.owner.spawn(f"worker {number}", self._pool.work, worker)
        self.owner.spawn("watch", self._watch_handlers)

    async def close(self) -> None:
        """End the tasks. A handler that ignores each cancellation is left to itself."""
        self._stop.set()  # so that a worker knows who cancels it
        try:
            async with deadline(self._clock, _CLOSE_S):
                await self.owner.close()
        except TimeoutError:
            left = [worker.item for worker in self._pool.workers if worker.item is not None]
            what = f"has not ended {_CLOSE_S:g} s after its worker was cancelled"
            for item in left:
                logger.error("handler of %s %s: it is left to itself", item, what)  # noqa: TRY400
            if left:
                self._stop.fail(self._failure(left[0], what, TimeoutError(what)))

    async def _watch_handlers(self) -> None:
        """Name slow handlers in the log, and tell of stuck ones. Until it is cancelled."""
        while True:
            self._watch.begin(self._clock.monotonic())
            await self._clock.sleep(self._watch.interval_s)
            found = self._watch.look(self._pool.workers, self._clock.monotonic())
            for item, age_s in found.slow:
                logger.warning("handler of %s works since %.1f s", item, age_s)
            for item, age_s in found.waiting:
                logger.warning(
                    "the dead letter of %s waits since %.1f s to be written", item, age_s
                )
            if found.stuck:
                self._are_stuck(found.stuck)


__all__ = ["PoolTasks"]
