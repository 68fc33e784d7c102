"""Offers `KeyedWorkers`: handlers side by side over one consumer, in order per key.

Its rules are those of Confluent's parallel consumer. Records with one key are handled one after the
other. The committed offset never passes an unfinished record; what is finished behind it is noted
in the commit's metadata. Failed records are tried again with a backoff.

Handlers are coroutines. A plain function would keep the event loop from its heartbeats, and nothing
could cancel it when its partition goes. Blocking code belongs into a thread, which the handler
awaits.
"""

import random
from typing import Any, Generic

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.model import KT, VT
from aiokafka_lite.workers.dead_letter_topic import DeadLetters
from aiokafka_lite.workers.worker_pool import Handler
from aiokafka_lite.workers.workers_config import KeyOf, Order, WorkersConfig, check_handler
from aiokafka_lite.workers.workers_engine import WorkersEngine
from aiokafka_lite.workers.workers_run import WorkersRun
from aiokafka_lite.workers.workers_statistics import WorkersStatistics


class KeyedWorkers(WorkersRun, Generic[KT, VT]):
    """Handles the records of one consumer by up to `concurrency` handlers at a time.

        async def handle(record: ConsumerRecord) -> None: ...

        async with KeyedWorkers(consumer, handle, concurrency=50, order="key") as workers:
            workers.stop_on_signals()
            await workers.run()

    The consumer needs a `group_id` and `enable_auto_commit=False`. It is not started: the workers
    start it, and stop it at the end of the block. They replace its rebalance listener and call that
    one after their own work. Leave polls, commits, pauses and `subscribe()` to the workers.

    `handle` is an async function of one record. It may run again for a record: after it raised,
    after a crash, or after it did not end in time in a rebalance. `order` says what is handled one
    after the other, always within a partition. "key": records of one key, and those without a key;
    "partition": all of them; "unordered": none. A function of a record returns another key, which
    must be hashable.

    At most `max_records` are returned by polls and not finished, and about `max_bytes` of their
    keys and values. Each partition has an equal share, and is paused while it has more. Polls go
    on, so the group sees a living member however long handlers work.

    Offsets are committed every `commit_interval_ms`, and before a partition goes. In a rebalance,
    and at the end, running handlers have `drain_timeout_ms` to end. After that they are cancelled.
    What was not finished is not committed, and comes again.

    If a topic is created anew, or a log is truncated, records that are not there any more are
    dropped. Handlers that work on them go on, and their outcomes do not count.

    A handler that works for `slow_handler_ms` is named in the log, and again whenever its age has
    doubled. After `handler_timeout_ms` it is cancelled, and the workers stop.

    A record whose handler raised is handled again after `retry_backoff_ms`, which doubles up to
    `retry_backoff_max_ms`. Its key waits meanwhile, and other keys go on. `retries` None tries for
    ever. After so many retries, or at once for errors of the classes `not_retried`, the record goes
    to `dead_letters`. Without them the workers stop. `clock` and `rng` are for tests.

    Raises: KafkaConfigurationError for settings, or a consumer, with which this cannot work; the
    error names all of them.
    """

    _engine: WorkersEngine

    def __init__(
        self,
        consumer: AIOKafkaConsumer[KT, VT],
        handle: Handler,
        *,
        concurrency: int = 50,
        order: Order | KeyOf = "key",
        max_records: int = 10_000,
        max_bytes: int = 64 * 1024 * 1024,
        commit_interval_ms: float = 1000,
        drain_timeout_ms: float = 10_000,
        slow_handler_ms: float = 30_000,
        handler_timeout_ms: float = 300_000,
        retries: int | None = None,
        retry_backoff_ms: float = 1000,
        retry_backoff_max_ms: float = 60_000,
        not_retried: tuple[type[Exception], ...] = (),
        dead_letters: DeadLetters | None = None,
        clock: Clock | None = None,
        rng: random.Random | None = None,
    ) -> None:
        super().__init__()
        _check(consumer)
        check_handler(handle)
        config = WorkersConfig(
            concurrency=concurrency,
            order=order,
            max_records=max_records,
            max_bytes=max_bytes,
            commit_interval_ms=commit_interval_ms,
            drain_timeout_ms=drain_timeout_ms,
            slow_handler_ms=slow_handler_ms,
            handler_timeout_ms=handler_timeout_ms,
            retries=retries,
            retry_backoff_ms=retry_backoff_ms,
            retry_backoff_max_ms=retry_backoff_max_ms,
            not_retried=not_retried,
            has_dead_letters=dead_letters is not None,
            max_poll_interval_ms=consumer._config.max_poll_interval_ms,
        )
        self.consumer = consumer
        self._engine = WorkersEngine(
            config,
            consumer,
            handle,
            dead_letters,
            clock if clock is not None else SYSTEM_CLOCK,
            rng if rng is not None else random.Random(),
        )

    @property
    def _reader(self) -> AIOKafkaConsumer[KT, VT]:
        return self.consumer

    def _attach(self) -> None:
        self.consumer._listener = self._engine.handover
        self.consumer._subscription.log_changed = self._engine.handover.log_changed
        self.consumer._subscription.has_commits = True

    async def run(self) -> None:
        """Handle records until `stop()`; then let running handlers end, and commit.

        That takes `drain_timeout_ms` at most, and as long for the commit, which has 5 s at least.

        A handler that ignores its cancellation has a second in a rebalance, and 5 s more at the
        end. Then it is left to itself.

        Raises: HandlerFailedError for a record that failed for good, or whose handler is stuck; as
        `getmany` for a poll, unless another poll may succeed; as `commit` for missing rights and
        fatal errors; IllegalStateError when called twice or outside of the block. Cancelled:
        handlers are cancelled at once, and what is finished is committed. A further
        cancellation may end that commit.
        """
        await self._run()

    def statistics(self) -> WorkersStatistics:
        """Return what the workers have at this moment, and counts of what they have done.

        Does not wait.
        """
        engine = self._engine
        return WorkersStatistics(
            unfinished_records=engine.queues.records,
            unfinished_bytes=engine.queues.byte_count,
            running_handlers=engine.pool.running,
            waiting_retries=len(engine.plan),
            paused_partitions=sum(work.is_paused for work in engine.queues.partitions.values()),
            finished_records=engine.outcomes.finished_records,
            failed_attempts=engine.outcomes.failed_attempts,
            dead_letters=engine.outcomes.dead_letters_written,
        )


def _check(consumer: AIOKafkaConsumer[Any, Any]) -> None:
    if not isinstance(consumer, AIOKafkaConsumer):
        raise KafkaConfigurationError(f"workers need an AIOKafkaConsumer, not {quoted(consumer)}")
    faults = []
    if consumer._config.group_id is None:
        faults.append("the consumer has no group_id")
    if consumer._config.commits_by_itself:
        faults.append("the consumer commits by itself; set enable_auto_commit=False")
    if consumer._engine is not None:
        faults.append("the consumer is started; leave that to the workers")
    if faults:
        raise KafkaConfigurationError(f"workers are not possible: {'; '.join(faults)}")


__all__ = ["KeyedWorkers"]
