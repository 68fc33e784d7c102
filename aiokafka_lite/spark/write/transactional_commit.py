"""The driver's half of a transactional write: ends the transactions that tasks have prepared.

All of them end in the same way, but each on its own. So a failure between two of them leaves some
committed. In a stream the batch then comes again, and its markers say which tasks are done. A batch
query reports what is committed.
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
from aiokafka_lite.spark.write.query_note import noted_query
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
"""The limit of an abort. After it, the coordinator's own timeout ends the transaction."""
_LOST: Final = (
    ProducerFenced,
    InvalidProducerEpoch,
    InvalidProducerIdMapping,
    InvalidTxnState,
)


class TransactionLostError(KafkaError):
    """A transaction could not be committed, because another process has ended it."""


def commit_transactions(
    messages: Sequence[TaskTransaction | None], options: SinkOptions, here: Worker | None = None
) -> None:
    """Commit the transactions of all tasks, and return once each is decided.

    The first commit goes alone. If another driver or the timeout was faster, it fails there, and
    nothing is committed. It is that of task 0, which has a transaction even without rows. So two
    drivers of a batch never commit parts of it each, also if they divide it otherwise.

    Raises: TransactionLostError, or KafkaTimeoutError after the transactions' own timeout, naming
    how many were committed; ReplayMismatchError if an earlier attempt with more tasks committed a
    part of the batch.
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
    """Abort the transactions of tasks. Committed ones stay so. Does not raise.

    An open transaction delays readers until its timeout. A killed task sent no message, and may
    have left one, so its id is fenced. Other messages tell the scope of the ids, or else `scope`
    does, or the note of the query. A later attempt that has the ids by then comes again.
    """
    written = [message for message in messages if message is not None and message.transaction]
    silent = [number for number, message in enumerate(messages) if message is None]
    if not written and not silent:
        return
    told = next((message.place.scope for message in messages if message is not None), scope)
    here = worker() if here is None else here
    try:
        with here.lend(TransactionEnder, options.transactional_client) as ender:
            here.run(lambda: _Ending(ender, options).abort(written, silent, told))
    except KafkaError as error:
        logger.warning("%d transactions were not aborted: %s", len(written) + len(silent), error)


def _task_number(task: TaskTransaction) -> int:
    return task.place.task


class _Ending:
    """The transactions of one write, in the loop."""

    def __init__(self, ender: TransactionEnder, options: SinkOptions) -> None:
        self._ender = ender
        self._options = options
        self._timeout_s = options.transaction_timeout_ms / 1000
        """After this moment, a coordinator has aborted by itself."""

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

    async def abort(
        self, written: Sequence[TaskTransaction], silent: Sequence[int], scope: str | None
    ) -> None:
        """Abort written transactions, and those that silent tasks may have left open."""
        failures = await self._end(written, committed=False)
        if silent and scope is None:
            name = self._options.transactional_id_prefix
            coordinator = TransactionCoordinator(self._ender.kafka_client, name)
            scope = await noted_query(coordinator, self._options)
            if scope is None:
                logger.warning(
                    "transactions of %d tasks may stay open, and delay readers with read_committed:"
                    " until the query starts again, or for transactionTimeoutMs=%d",
                    len(silent),
                    self._options.transaction_timeout_ms,
                )
                return

        async def fence(name: str) -> None:
            try:
                await self._ender.fence(name, min(_ABORT_S, self._timeout_s))
            except KafkaError as error:
                failures.append(error)

        async with anyio.create_task_group() as group:
            for number in silent:
                assert scope is not None, "or it has returned above"
                group.start_soon(fence, transactional_id(scope, number))
        for error in failures:
            logger.info("a transaction was not aborted: %s", error)

    async def _end(self, tasks: Sequence[TaskTransaction], *, committed: bool) -> list[KafkaError]:
        """End the transactions concurrently; return the errors of those that failed."""
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

    # A repeated batch with another number of tasks…

    async def _retire_tasks(self, task: TaskTransaction, task_count: int) -> None:
        """Handle the tasks that only an earlier attempt of the batch had.

        Their open transactions must not be committed, and their committed rows must not be written
        again. The number of tasks is stored before anything is ended, so that the next attempt
        knows it.
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
        coordinator = TransactionCoordinator(self._ender.kafka_client, scope)
        before = newest_count(await stored_offsets(coordinator, scope), scope)
        if before is not None and before.tasks == tasks:
            return
        for number in range(tasks, before.tasks if before is not None else 0):
            await self._retire(coordinator, transactional_id(scope, number), batch_id, topic)
        count = TaskCount(batch_id, tasks)
        await store_offset(coordinator, scope, TopicPartition(topic, 0), (batch_id, count.note))

    async def _retire(
        self, coordinator: TransactionCoordinator, name: str, batch_id: int, topic: str
    ) -> None:
        await self._ender.fence(name, self._timeout_s)
        found = newest_marker(await stored_offsets(coordinator, name, topic), name)
        if found is not None and found.batch_id >= batch_id:
            raise ReplayMismatchError(
                f"{name!r} has written {found.rows} rows of batch {found.batch_id}, and this"
                f" task does not exist now that batch {batch_id} comes again, so others would write"
                " them twice. Read with the earlier options (minPartitions, maxRecordsPerPartition,"
                " coalesce) until this batch is finished"
            )


__all__ = ["TransactionLostError", "abort_transactions", "commit_transactions"]
