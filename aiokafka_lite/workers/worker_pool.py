"""Runs the handlers: a fixed number of worker tasks, each with one record at a time.

There is no task per record. A worker takes the next record without a turn of the event loop. All
of them together let the rest of the program run every two milliseconds.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from types import CoroutineType
from typing import Any, Final, Generic

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.clock import Clock
from aiokafka_lite.errors import HandlerFailedError, KafkaConfigurationError
from aiokafka_lite.model import ConsumerRecord
from aiokafka_lite.workers.idle_workers import IdleWorkers
from aiokafka_lite.workers.pool_item import ItemT, PoolOutcomes, PoolQueue
from aiokafka_lite.workers.stop_request import StopRequest

logger = logging.getLogger(__name__)

Handler = Callable[[ConsumerRecord[Any, Any]], Awaitable[object]]

TURN_S: Final = 0.002


class Worker(Generic[ItemT]):
    """One worker, and the record it works on."""

    __slots__ = ("_is_given_up", "_left_over", "began_s", "is_handling", "item", "task")

    def __init__(self) -> None:
        self.item: ItemT | None = None
        self.began_s = 0.0
        """When the handler of `item` began, or the write of what became of it (monotonic)."""
        self.is_handling = True
        """False while what became of `item` is being written."""
        self.task: asyncio.Task[Any] | None = None
        self._is_given_up = False
        self._left_over = 0

    def give_up(self) -> None:
        """Cancel the handler that runs. Does not wait."""
        if self.item is not None and self.task is not None and not self._is_given_up:
            self._is_given_up = True
            self._left_over = self.task.cancelling()  # by the handler itself
            self.task.cancel()

    def was_given_up(self) -> bool:
        """Say once whether the handler was cancelled, so that the worker itself goes on."""
        if not self._is_given_up:
            return False
        self._is_given_up = False
        assert self.task is not None
        return self.task.uncancel() <= self._left_over

    def has_cancellation(self) -> bool:
        """Say whether a cancellation is left over that did not come from `give_up`."""
        return self.task is not None and self.task.cancelling() > self._is_given_up


class WorkerPool(Generic[ItemT]):
    """The workers of one run."""

    def __init__(
        self,
        size: int,
        handle: Handler,
        queues: PoolQueue[ItemT],
        outcomes: PoolOutcomes[ItemT],
        idle: IdleWorkers,
        stop: StopRequest,
        clock: Clock,
        failure: Callable[[ItemT, str, BaseException], HandlerFailedError],
    ) -> None:
        """`failure(item, what, cause)` makes the error of a handler after which nothing goes on."""
        self.workers: tuple[Worker[ItemT], ...] = tuple(Worker() for _ in range(size))
        self._handle = handle
        self._queues = queues
        self._outcomes = outcomes
        self._idle = idle
        self._stop = stop
        self._clock = clock
        self._failure = failure
        self._turn_ends_s = 0.0
        self._turn_is_over = False

    @property
    def running(self) -> int:
        """How many handlers run."""
        return sum(worker.item is not None for worker in self.workers)

    async def work(self, worker: Worker[ItemT]) -> None:
        """Handle records until the workers stop.

        Cancelled: the handler is cancelled, and its record is not finished.
        """
        worker.task = task = asyncio.current_task()
        assert task is not None
        monotonic, queues, stop = self._clock.monotonic, self._queues, self._stop
        while not stop.is_set:
            now_s = monotonic()
            if now_s >= self._turn_ends_s:
                await self._others_run()
                now_s = monotonic()
            item = queues.take()
            if item is None:
                await self._idle.wait_for_work()
                continue
            worker.item, worker.began_s = item, now_s
            try:
                await self._process(worker, item)
                if task.cancelling() and worker.has_cancellation():
                    await self._clear(worker, item)
            finally:
                worker.item = None
                self._idle.ended()

    async def _others_run(self) -> None:
        """Let the event loop turn once. Workers that run before it has turned wait, too."""
        if not self._turn_is_over:
            self._turn_is_over = True
            asyncio.get_running_loop().call_soon(self._begin_turn)
        await asyncio.sleep(0)

    def _begin_turn(self) -> None:
        self._turn_is_over = False
        self._turn_ends_s = self._clock.monotonic() + TURN_S

    async def _process(self, worker: Worker[ItemT], item: ItemT) -> None:
        try:
            try:
                result: Any = self._handle(item.record)
                if type(result) is not CoroutineType and not isawaitable(result):
                    return self._refuse(item)
                result = await result
            except asyncio.CancelledError as error:
                if worker._is_given_up or worker.has_cancellation():
                    raise
                # Something that the handler awaited was cancelled.
                await self._failed(worker, item, error)
            except Exception as error:  # noqa: BLE001 - a retry, a dead letter or a stop follows
                if worker._is_given_up:
                    logger.warning(
                        "handler of %s raised when it was cancelled: %s",
                        item,
                        item.why(error),
                    )
                    self._queues.put_off(item)
                else:
                    await self._failed(worker, item, error)
            except BaseException as error:
                self._queues.put_off(item)
                self._stop.set(self._failure(item, f"raised {type(error).__name__}", error))
                if isinstance(error, KeyboardInterrupt | SystemExit):
                    raise  # it is meant for the whole program
            else:
                self._outcomes.finished(item, result)
            if worker.was_given_up():  # too late: the handler has ended before
                self._idle.wake(self._queues.ready)
        except asyncio.CancelledError as error:
            self._queues.put_off(item)
            if not worker.was_given_up():
                self._was_cancelled(worker, item, error)
            self._idle.wake(self._queues.ready)

    async def _failed(self, worker: Worker[ItemT], item: ItemT, error: BaseException) -> None:
        """Pass a failure on. That may write a dead letter, which is no time of the handler."""
        worker.is_handling, worker.began_s = False, self._clock.monotonic()
        try:
            await self._outcomes.failed(item, error)
        finally:
            worker.is_handling = True

    async def _clear(self, worker: Worker[ItemT], item: ItemT) -> None:
        """Take back cancellations that a handler has left behind. Old helpers for timeouts cancel
        their own task, and never call `uncancel`.

        One that was not delivered yet is delivered here, and stops the workers.
        """
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError as error:
            self._was_cancelled(worker, item, error)
        assert worker.task is not None
        while worker.has_cancellation():
            worker.task.uncancel()

    def _was_cancelled(
        self, worker: Worker[ItemT], item: ItemT, error: asyncio.CancelledError
    ) -> None:
        """Stop because the task of a worker was cancelled by others than the workers, most likely
        by its handler. Raises: `error`, if the workers stop already.
        """
        if self._stop.is_set:
            raise error
        self._stop.set(self._failure(item, "ended with its own task cancelled", error))
        assert worker.task is not None
        while worker.task.cancelling():
            worker.task.uncancel()

    def _refuse(self, item: ItemT) -> None:
        self._queues.put_off(item)
        self._stop.set(
            KafkaConfigurationError(
                f"the handler {quoted(self._handle)} returned no awaitable; make it an `async "
                "def`, and call blocking code by `await asyncio.to_thread(...)`"
            )
        )

    def give_up(self, is_meant: Callable[[ItemT], bool]) -> list[ItemT]:
        """Cancel handlers; return their items. Does not wait."""
        given_up = []
        for worker in self.workers:
            if worker.item is not None and is_meant(worker.item):
                given_up.append(worker.item)
                worker.give_up()
        return given_up


__all__ = ["Handler", "Worker", "WorkerPool"]
