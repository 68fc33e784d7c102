"""Owns the driver's half of a transactional write: ending the transactions that tasks have
prepared, all of them in the same way.

Each is ended on its own, so a failure between two of them leaves some committed. In a stream the
batch comes again then, and its markers tell which tasks are done; a batch query says what counts.
"""

import logging
from collections.abc import Sequence
from typing import Final

import anyio

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.errors import (
    InvalidProducerEpoch,
    InvalidProducerIdMapping,
    InvalidTxnState,
    KafkaError,
    KafkaTimeoutError,
    ProducerFenced,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.transaction.transaction_coordinator import TransactionCoordinator
from aiokafka_lite.producer.transaction.transaction_ender import TransactionEnder
from aiokafka_lite.producer.transaction.transaction_state import PreparedTransaction
from aiokafka_lite.spark.options.sink_options import SinkOptions
from aiokafka_lite.spark.process.worker import Worker, worker
from aiokafka_lite.spark.write.transactional_marker import (
    ReplayMismatchError,
    TaskCount,
    TaskTransaction,
    newest_count,
    newest_marker,
    transactional_id,
)
from aiokafka_lite.spark.write.transactional_store import store_offset, stored_offsets

logger = logging.getLogger(__name__)

_ABORT_S: Final = 30.0
"""An abort that takes longer is left to the coordinator, which has its timeout."""
_LOST: Final = (
    ProducerFenced,
    InvalidProducerEpoch,
    InvalidProducerIdMapping,
    InvalidTxnState,
)


class TransactionLostError(KafkaError):
    """A transaction could not be committed, as somebody else has ended it."""


def commit_transactions(
    messages: Sequence[TaskTransaction | None], options: SinkOptions, here: Worker | None = None
) -> None:
    """Commit what all tasks have written, and return once it is decided for each.

    The first goes alone. Who was overtaken by another driver, or by the timeout, hears it there,
    and has committed nothing.

    Raises: TransactionLostError, KafkaTimeoutError after the transactions' own timeout, naming how
    many were committed; ReplayMismatchError when the batch was committed in part, by more tasks
    than there are now.
    """
    tasks = [message for message in messages if message is not None]
    written = sorted((task for task in tasks if task.transaction), key=_task_number)
    if not written:
        return
    here = worker() if here is None else here
    with here.lend(TransactionEnder, options.transactional_client) as ender:
        here.run(lambda: _Ending(ender, options).commit(written, len(messages)))


def abort_transactions(
    messages: Sequence[TaskTransaction | None],
    options: SinkOptions,
    here: Worker | None = None,
    *,
    scope: str | None = None,
) -> None:
    """Abort what tasks have written. What is committed stays so. Does not raise: readers wait for
    what is left open until its timeout, and that is all.

    A task that was killed left no message, and may have left a transaction. With `scope`, that of a
    batch query, it is fenced; in a stream its next attempt does so.
    """
    written = [message for message in messages if message is not None and message.transaction]
    silent = _silent(messages, scope)
    if not written and not silent:
        return
    here = worker() if here is None else here
    try:
        with here.lend(TransactionEnder, options.transactional_client) as ender:
            here.run(lambda: _Ending(ender, options).abort(written, silent))
    except KafkaError as error:
        logger.warning("%d transactions were not aborted: %s", len(written) + len(silent), error)


def _silent(messages: Sequence[TaskTransaction | None], scope: str | None) -> list[str]:
    """Return the transactional ids of tasks without a message. Within foreachBatch the others'
    messages have the scope of the stream, whose ids a later attempt may have by now.
    """
    if scope is None or any(message and message.place.scope != scope for message in messages):
        return []
    return [transactional_id(scope, number) for number, each in enumerate(messages) if each is None]


def _task_number(task: TaskTransaction) -> int:
    return task.place.task


class _Ending:
    """The transactions of one write, in the loop."""

    def __init__(self, ender: TransactionEnder, options: SinkOptions) -> None:
        self._ender = ender
        self._timeout_s = options.transaction_timeout_ms / 1000
        """Past it, a coordinator has aborted by itself."""

    async def commit(self, written: Sequence[TaskTransaction], task_count: int) -> None:
        await self._retire_tasks(written[0], task_count)
        first, *others = written
        failures = await self._end([first], committed=True)
        if not failures:
            failures = await self._end(others, committed=True)
            done = len(written) - len(failures)
        else:
            done = 0
        if failures:
            raise self._failed(failures[0], f"{done} of {len(written)}")

    def _failed(self, error: KafkaError, done: str) -> KafkaError:
        if not isinstance(error, _LOST):
            error.add_note(f"{done} transactions of this write are known to be committed")
            return error
        lost = TransactionLostError(
            f"a transaction was ended by another before it was committed: it took longer than"
            f" transactionTimeoutMs={self._timeout_s * 1000:.0f}, or another attempt has taken"
            f" over, by speculation or a second driver ({error}). {done} transactions of this write"
            " are known to be committed; a stream that is started again writes what is missing"
        )
        lost.__cause__ = error
        return lost

    async def abort(self, written: Sequence[TaskTransaction], silent: Sequence[str]) -> None:
        """Abort what has been written, and what may be open under the ids of silent tasks."""
        failures = await self._end(written, committed=False)

        async def fence(name: str) -> None:
            try:
                await self._ender.fence(name, min(_ABORT_S, self._timeout_s))
            except KafkaError as error:
                failures.append(error)

        async with anyio.create_task_group() as group:
            for name in silent:
                group.start_soon(fence, name)
        for error in failures:
            logger.info("a transaction was not aborted: %s", error)

    async def _end(self, tasks: Sequence[TaskTransaction], *, committed: bool) -> list[KafkaError]:
        """End the transactions, side by side; return what went wrong with some of them."""
        timeout_s = self._timeout_s if committed else min(_ABORT_S, self._timeout_s)
        failures: list[KafkaError] = []

        async def end(transaction: PreparedTransaction) -> None:
            try:
                await self._ender.end(transaction, committed=committed, timeout_s=timeout_s)
            except KafkaError as error:
                failures.append(error)

        async with anyio.create_task_group() as group:
            for task in tasks:
                assert task.transaction is not None, "those without have nothing to end"
                group.start_soon(end, task.transaction)
        return failures

    # When a batch comes again, and the number of tasks has changed…

    async def _retire_tasks(self, task: TaskTransaction, task_count: int) -> None:
        """See to the tasks that a batch had more of before: what they have open must not be
        committed, and what they have committed must not be written again.

        Before anything is ended, the number of tasks is stored, so that the next attempt knows.
        """
        place, topic = task.place, task.topic
        if place.batch_id is None or topic is None:
            return
        try:
            async with deadline(SYSTEM_CLOCK, self._timeout_s):
                await self._retire_beyond(task_count, place.scope, place.batch_id, topic)
        except TimeoutError:
            raise KafkaTimeoutError(
                f"the coordinator of the group {place.scope!r} has not stored within"
                f" {self._timeout_s:g} s how many tasks there are; nothing is committed"
            ) from None

    async def _retire_beyond(self, tasks: int, scope: str, batch_id: int, topic: str) -> None:
        coordinator = TransactionCoordinator(self._ender.client, scope)
        before = newest_count(await stored_offsets(coordinator, scope), scope)
        if before is not None and before.tasks == tasks:
            return
        for number in range(tasks, before.tasks if before is not None else 0):
            await self._retire(coordinator, transactional_id(scope, number), batch_id)
        count = TaskCount(batch_id, tasks)
        await store_offset(coordinator, scope, TopicPartition(topic, 0), (batch_id, count.note))

    async def _retire(self, coordinator: TransactionCoordinator, name: str, batch_id: int) -> None:
        await self._ender.fence(name, self._timeout_s)
        found = newest_marker(await stored_offsets(coordinator, name), name)
        if found is not None and found.batch_id >= batch_id:
            raise ReplayMismatchError(
                f"{name!r} has written {found.rows} rows of batch {found.batch_id}, and there is no"
                f" such task now that batch {batch_id} comes again: it would write them twice."
                " Read with the options of the time before (minPartitions, maxRecordsPerPartition,"
                " coalesce), as long as it takes to finish this batch"
            )


__all__ = ["TransactionLostError", "abort_transactions", "commit_transactions"]
