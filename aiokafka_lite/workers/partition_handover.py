"""Gives partitions back to the group: what runs may end in time, the rest is dropped uncommitted.

A handler that has not ended in time is cancelled, because the next owner may begin its record.
"""

import logging
from collections.abc import Collection
from inspect import isawaitable
from typing import Final

from aiokafka_lite.clock import Clock
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.consumer.group.rebalance_listener import ConsumerRebalanceListener
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.workers.idle_workers import IdleWorkers
from aiokafka_lite.workers.offset_commits import OffsetCommits
from aiokafka_lite.workers.partition_pauses import PartitionPauses
from aiokafka_lite.workers.retry_plan import RetryPlan
from aiokafka_lite.workers.work_queues import PartitionWork, WorkItem, WorkQueues
from aiokafka_lite.workers.worker_pool import WorkerPool

logger = logging.getLogger(__name__)

_LEAST_COMMIT_S: Final = 5.0
"""The least bound of a commit: while the group rebalances, it has to be repeated."""
_CANCEL_S: Final = 1.0
"""How long a handler has for its clean-up after it was cancelled."""


class PartitionHandover(ConsumerRebalanceListener):
    """Listens to the group for the workers, and then calls the user's listener."""

    def __init__(
        self,
        queues: WorkQueues,
        plan: RetryPlan,
        pool: WorkerPool[WorkItem],
        idle: IdleWorkers,
        commits: OffsetCommits,
        pauses: PartitionPauses,
        clock: Clock,
        drain_s: float,
        listener: ConsumerRebalanceListener | None,
    ) -> None:
        self._queues = queues
        self._plan = plan
        self._pool = pool
        self._idle = idle
        self._commits = commits
        self._pauses = pauses
        self._clock = clock
        self._drain_s = drain_s
        self._listener = listener
        self._drains: dict[deadline, None] = {}

    async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        for tp in assigned:
            self._queues.partition(tp)
        await self._commits.recall(assigned)
        if self._listener is not None:
            await _awaited(self._listener.on_partitions_assigned(assigned))

    async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        await self.give_back(revoked, self._drain_s)
        if self._listener is not None:
            await _awaited(self._listener.on_partitions_revoked(revoked))

    async def on_partitions_lost(self, lost: set[TopicPartition]) -> None:
        leaving = self._give_back(lost)
        await self._cancel(leaving)
        self._forget(leaving)
        if self._listener is not None:
            await _awaited(self._listener.on_partitions_lost(lost))

    async def give_back(self, partitions: Collection[TopicPartition], drain_s: float) -> None:
        """Let the running handlers of these partitions end, commit, and forget the partitions.

        Takes `drain_s` for the handlers, a second for cancelled handlers, and `drain_timeout_ms`,
        5 s at least, for the commit. Cancelled: handlers are cancelled as if the time were over;
        nothing is committed.
        """
        leaving = self._give_back(partitions)
        drain = deadline(self._clock, drain_s)
        self._drains[drain] = None
        try:
            try:
                async with drain:
                    await self._idle.until(lambda: not any(work.running for work in leaving))
            except TimeoutError:
                await self._cancel(leaving)
            finally:
                self._drains.pop(drain, None)
            await self._commit(leaving)
        finally:
            self._pool.give_up(lambda item: item.partition in leaving)
            self._forget(leaving)

    def log_changed(self, tp: TopicPartition, offset: int) -> None:
        """Forget the records from `offset` on: the partition has another log from there on.

        Its topic was created anew, or the log was truncated. Does not wait.
        """
        running = [worker.item for worker in self._pool.workers if worker.item is not None]
        dropped = self._queues.cut(tp, offset, {*running, *self._plan.waiting()})
        if not dropped:
            return
        self._plan.forget_gone()
        logger.warning(
            "%s-%d has another log from offset %d on: %d records of before are dropped, and the "
            "outcomes of their handlers do not count",
            *(*tp, offset, dropped),
        )
        self._pauses.finished(self._queues.partition(tp))

    def hurry(self) -> None:
        """Let handlers have no more time, in any `give_back` that runs. Does not wait."""
        for drain in list(self._drains):
            drain.expire()

    def _give_back(self, partitions: Collection[TopicPartition]) -> list[PartitionWork]:
        leaving = self._queues.give_back(partitions)
        self._plan.forget_gone()
        return leaving

    def _forget(self, leaving: list[PartitionWork]) -> None:
        self._pauses.gone(self._queues.forget(leaving))

    async def _cancel(self, leaving: list[PartitionWork]) -> None:
        given_up = self._pool.give_up(lambda item: item.partition in leaving)
        if not given_up:
            return
        logger.warning(
            "%d handlers are cancelled, their partitions go; the first is that of %s",
            len(given_up),
            given_up[0],
        )
        try:
            async with deadline(self._clock, _CANCEL_S):
                await self._idle.until(lambda: not any(work.running for work in leaving))
        except TimeoutError:
            self._tell_of_the_deaf(leaving)

    def _tell_of_the_deaf(self, leaving: list[PartitionWork]) -> None:
        def is_left(item: WorkItem) -> bool:
            return item.partition in leaving

        for worker in self._pool.workers:
            if worker.item is not None and is_left(worker.item):
                logger.error(
                    "handler of %s has not ended %g s after it was cancelled; another owner of "
                    "the partition may handle the record at the same time",
                    worker.item,
                    _CANCEL_S,
                )

    async def _commit(self, leaving: list[PartitionWork]) -> None:
        try:
            async with deadline(self._clock, max(self._drain_s, _LEAST_COMMIT_S)):
                await self._commits.commit_all(leaving)
        except TimeoutError:
            logger.warning("offsets were not committed in time, their records come again")


async def _awaited(result: object) -> None:
    if isawaitable(result):
        await result


__all__ = ["PartitionHandover"]
