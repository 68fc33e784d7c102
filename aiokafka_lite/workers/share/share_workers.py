"""Offers `ShareWorkers`: handlers side by side over one member of a share group.

A group's members take records as from a queue, so there is no order to keep, and nothing to drain
when members come and go. What is left are the locks: they are renewed while handlers work.

Handlers are coroutines, as those of `KeyedWorkers`.
"""

import random
from typing import Any, Generic

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.model import KT, VT, AcknowledgeType
from aiokafka_lite.share.share_consumer import AIOKafkaShareConsumer
from aiokafka_lite.workers.share.share_workers_config import ShareWorkersConfig
from aiokafka_lite.workers.share.share_workers_engine import ShareWorkersEngine
from aiokafka_lite.workers.share.share_workers_statistics import ShareWorkersStatistics
from aiokafka_lite.workers.worker_pool import Handler
from aiokafka_lite.workers.workers_config import check_handler
from aiokafka_lite.workers.workers_run import WorkersRun


class ShareWorkers(WorkersRun, Generic[KT, VT]):
    """Handles the records of one share consumer by up to `concurrency` handlers at a time.

        async def handle(record: ConsumerRecord) -> None: ...

        async with ShareWorkers(consumer, handle, concurrency=50) as workers:
            workers.stop_on_signals()
            await workers.run()

    The consumer needs `share_acknowledgement_mode="explicit"`. It is not started: the workers start
    it, and stop it at the end of the block. Leave polls and acknowledgements to the workers.

    `handle` is an async function of one record. When it returns, the record is accepted; it may
    also return an `AcknowledgeType`: ACCEPT, RELEASE or REJECT. When it raises, the record is
    released after `retry_backoff_ms`, which doubles with each delivery up to
    `retry_backoff_max_ms`. The brokers deliver it again, here or elsewhere, as often as the group's
    `share.delivery.count.limit` allows. Errors of the classes `not_retried` reject it at once.
    That holds for RecordDeserializationError, too, by itself or by its cause.

    Locks are renewed while records wait or handlers work (KIP-1222). A lock that ends all the same
    is told in the log: its record comes again, and the outcome of its handler does not count. If it
    comes here while that handler works, no second one starts.

    Nothing is fetched while more than half of `max_records` are unfinished. With the consumer's
    `share_acquire_mode="record_limit"` about that many are locked at most, else whole batches more.
    What handlers decide is sent with the next poll, and every `commit_interval_ms`.

    A handler that works for `slow_handler_ms` is named in the log, and again whenever its age has
    doubled. After `handler_timeout_ms` it is cancelled and its record released, or rejected with
    TimeoutError in `not_retried`. At the end running handlers have `drain_timeout_ms`; then they
    are cancelled. What is not finished is released. `clock` and `rng` are for tests.

    Raises: KafkaConfigurationError for settings, or a consumer, with which this cannot work; the
    error names all of them.
    """

    _engine: ShareWorkersEngine

    def __init__(
        self,
        consumer: AIOKafkaShareConsumer[KT, VT],
        handle: Handler,
        *,
        concurrency: int = 50,
        max_records: int = 500,
        commit_interval_ms: float = 100,
        drain_timeout_ms: float = 10_000,
        slow_handler_ms: float = 30_000,
        handler_timeout_ms: float = 300_000,
        not_retried: tuple[type[Exception], ...] = (),
        retry_backoff_ms: float = 1000,
        retry_backoff_max_ms: float = 10_000,
        clock: Clock | None = None,
        rng: random.Random | None = None,
    ) -> None:
        super().__init__()
        _check(consumer)
        check_handler(handle)
        config = ShareWorkersConfig(
            concurrency=concurrency,
            max_records=max_records,
            commit_interval_ms=commit_interval_ms,
            drain_timeout_ms=drain_timeout_ms,
            slow_handler_ms=slow_handler_ms,
            handler_timeout_ms=handler_timeout_ms,
            not_retried=not_retried,
            retry_backoff_ms=retry_backoff_ms,
            retry_backoff_max_ms=retry_backoff_max_ms,
        )
        self.consumer = consumer
        self._engine = ShareWorkersEngine(
            config,
            consumer,
            handle,
            clock if clock is not None else SYSTEM_CLOCK,
            rng if rng is not None else random.Random(),
        )

    @property
    def _reader(self) -> AIOKafkaShareConsumer[KT, VT]:
        return self.consumer

    def _attach(self) -> None:
        self.consumer._life.holder = self._engine.outcomes

    async def run(self) -> None:
        """Handle records until `stop()`; then let running handlers end, and release the rest.

        That takes `drain_timeout_ms` at most, and as long for the last answers, which have 5 s at
        least. A handler that ignores its cancellation has a second, and 5 s more at the end. Then
        it is left to itself.

        Raises: HandlerFailedError for such a handler; as `getmany` for a poll, unless another poll
        may succeed; IllegalStateError when called twice or outside of the block. Cancelled:
        handlers are cancelled at once, and what is finished is acknowledged. A further cancellation
        may end that.
        """
        await self._run()

    def statistics(self) -> ShareWorkersStatistics:
        """Return what the workers have at this moment, and counts of what they have done.

        Does not wait.
        """
        engine = self._engine
        outcomes = engine.outcomes
        return ShareWorkersStatistics(
            unfinished_records=len(engine.queue.unfinished),
            running_handlers=engine.pool.running,
            waiting_releases=outcomes.waiting,
            accepted_records=outcomes.taken[AcknowledgeType.ACCEPT],
            released_records=outcomes.taken[AcknowledgeType.RELEASE],
            rejected_records=outcomes.taken[AcknowledgeType.REJECT],
            refused_acknowledgements=outcomes.refused,
            failed_attempts=outcomes.failed_attempts,
            renewed_locks=engine.renewed_locks,
            lost_locks=outcomes.lost_locks,
        )


def _check(consumer: AIOKafkaShareConsumer[Any, Any]) -> None:
    faults = []
    if not consumer._config.is_explicit:
        faults.append("the consumer accepts by itself; set share_acknowledgement_mode='explicit'")
    if consumer._life.engine is not None:
        faults.append("the consumer is started; leave that to the workers")
    if faults:
        raise KafkaConfigurationError(f"workers are not possible: {'; '.join(faults)}")


__all__ = ["ShareWorkers"]
