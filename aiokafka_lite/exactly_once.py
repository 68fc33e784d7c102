"""Runs a service that reads, processes and writes exactly once.

A session joins a consumer and a transactional producer. Each transaction holds the results of one
batch of records and the group's offsets behind that batch. Source: KIP-98, KIP-447.
"""

import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import Any, Generic, Self

from aiokafka_lite.concurrency.anyio_shield import anyio_shield
from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import (
    CommitFailedError,
    FencedInstanceIdError,
    IllegalStateError,
    KafkaConfigurationError,
    KafkaError,
)
from aiokafka_lite.exactly_once_batch import NextStep, SessionBatch
from aiokafka_lite.model import (
    KT,
    VT,
    ConsumerGroupMetadata,
    ConsumerRecord,
    OffsetAndMetadata,
    TopicPartition,
)
from aiokafka_lite.producer.producer import AIOKafkaProducer

logger = logging.getLogger(__name__)


class ExactlyOnceSession(Generic[KT, VT]):
    """A consumer and a producer whose batches count as a whole or not at all.

        async with ExactlyOnceSession(consumer, producer) as session:
            while True:
                async with session.batch(timeout_ms=1000) as records:
                    for batch in records.values():
                        for record in batch:
                            await session.producer.send("out", work(record.value))

    The consumer needs a `group_id`, `enable_auto_commit=False` and
    `isolation_level="read_committed"`. The producer needs a `transactional_id` that no other
    running instance has. The session starts both clients, and stops them at the end of the block.

    The brokers need Kafka 2.5 (KIP-447). Entering the block raises UnsupportedVersionError if they
    are older.

    Raises: KafkaConfigurationError for clients without these options.
    """

    def __init__(
        self, consumer: AIOKafkaConsumer[KT, VT], producer: AIOKafkaProducer[Any, Any]
    ) -> None:
        _check(consumer, producer)
        self.consumer = consumer
        self.producer = producer
        self._stack = AsyncExitStack()
        self._batch: SessionBatch | None = None
        """The newest batch, until it is known to count or its records are to come again."""

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            # Stopped in reverse order: the consumer leaves its group after the last transaction has
            # ended.
            await stack.enter_async_context(self.consumer)
            await stack.enter_async_context(self.producer)
            self.producer._in_transactions().check_takes_members()
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stack.__aexit__(exc_type, exc, traceback)

    @asynccontextmanager
    async def batch(
        self, timeout_ms: float = 1000, max_records: int | None = None
    ) -> AsyncIterator[dict[TopicPartition, list[ConsumerRecord[KT, VT]]]]:
        """Pass the records of one poll to a block, in a transaction of their own.

        At the end of the block the offsets behind the records join the transaction, and the session
        commits it. If the block raises, the session aborts the transaction and the error goes on.
        The records then come again with the next batch. If the group rebalanced meanwhile, the
        session also aborts, but raises no error: the records belong to their new owner. With the
        consumer protocol it does so only if a partition of the batch has moved. So do nothing in
        the block that must happen once outside the transaction, and do not count records after the
        block. If no record came within `timeout_ms`, the block gets {} and no transaction
        begins.

        If a commit or abort did not end within `max_block_ms`, the next batch waits for its end
        before it polls. The records come again only if they do not count.

        Raises: as `getmany`, `seek_to_committed`, `send_offsets_to_transaction` and
        `commit_transaction`; IllegalStateError within the block of another batch. After
        ProducerFenced the session cannot be used any more. Cancelled: the transaction is aborted
        unless its commit was already requested. Call `batch` again to go on.
        """
        await self._settle()
        records = await self.consumer.getmany(timeout_ms=timeout_ms, max_records=max_records)
        if not records:
            yield {}
            return
        consumer = self.consumer
        member = consumer.group_metadata()
        batch = self._batch = SessionBatch(
            records,
            consumer.consumed_offsets(),
            member,
            consumer._tenures(records),
            is_subscribed=consumer._subscription.is_subscribed,
        )
        try:
            if batch.is_of(member):
                await self.producer.begin_transaction()
                batch.has_begun = True
                yield records
                await self._commit(batch)
            else:
                logger.info("the consumer has left its group: %d partitions wait", len(records))
                yield {}
        finally:
            try:
                if self._batch is batch:
                    with anyio_shield():
                        await self._give_up(batch)
            finally:
                batch.is_in_block = False

    async def _commit(self, batch: SessionBatch) -> None:
        member = self._committer(batch)
        if member is None:
            logger.info(
                "the group has rebalanced, a transaction is aborted: generation %d, which read the "
                "batch, is over; the next owners of the partitions read the batch again",
                batch.member.generation_id,
            )
            return
        offsets = batch.offsets_in(self.consumer._log_changes(batch.tenures))
        try:
            if offsets:
                await self.producer.send_offsets_to_transaction(offsets, member)
        except CommitFailedError as error:
            logger.info("the group has rebalanced, a transaction is aborted: %s", error)
            self.consumer._offsets_refused(member, error.__cause__)
            return
        except FencedInstanceIdError as error:
            self.consumer._offsets_refused(member, error)
            raise
        await self.producer.commit_transaction()
        self._batch = None

    def _committer(self, batch: SessionBatch) -> ConsumerGroupMetadata | None:
        """Return the ids in whose name the batch's offsets are sent; None: it must not count.

        With the consumer protocol the group may move on while the partitions stay (KIP-848).
        """
        member = self.consumer.group_metadata()
        if batch.is_of(member):
            return batch.member
        return self.consumer._goes_on(batch.member, batch.tenures)

    async def _give_up(self, batch: SessionBatch) -> None:
        """Abort the batch's transaction if possible.

        The next batch does the remaining work, and also what fails here.
        """
        try:
            if self._next_step(batch) is NextStep.ABORT:
                await self._take(NextStep.ABORT, batch)
            if self._next_step(batch) is NextStep.SEEK_TO_FIRST:
                await self._take(NextStep.SEEK_TO_FIRST, batch)
        except Exception as error:  # noqa: BLE001 - the error that led here is the one to raise
            logger.warning("the next batch has to settle this one first: %s", error)

    async def _settle(self) -> None:
        """Finish the last batch. After an error, call it again to continue. Cancelled: the same."""
        while (batch := self._batch) is not None:
            if batch.is_in_block:
                raise IllegalStateError("leave the block of the last batch before the next one")
            await self._take(self._next_step(batch), batch)

    def _next_step(self, batch: SessionBatch) -> NextStep:
        transactions = self.producer._in_transactions()
        return batch.next_step(
            transactions.status.state, transactions.unfinished, self.consumer.group_metadata()
        )

    async def _take(self, step: NextStep, batch: SessionBatch) -> None:
        transactions = self.producer._in_transactions()
        match step:
            case NextStep.COMMIT:
                await self._commit_again()
            case NextStep.ABORT:
                await self.producer.abort_transaction()
                batch.is_aborted = True
            case NextStep.RAISE:
                transactions.status.raise_error()
            case NextStep.SEEK_TO_FIRST:
                self._seek_to_first(batch, batch.first_offsets)
                self._batch = None
            case NextStep.SEEK_TO_COMMITTED:
                await self._seek_to_committed(batch)
                self._batch = None

    async def _commit_again(self) -> None:
        try:
            await self.producer.commit_transaction()
        except KafkaError as error:
            if self.producer._in_transactions().unfinished is not None:
                raise
            logger.warning("a batch was not committed, its records come again: %s", error)
        else:
            self._batch = None

    async def _seek_to_committed(self, batch: SessionBatch) -> None:
        assigned = self.consumer.assignment() & batch.first_offsets.keys()
        if assigned:
            committed = await self.consumer.seek_to_committed(*assigned)
            self._seek_to_first(batch, [tp for tp, offset in committed.items() if offset is None])

    def _seek_to_first(self, batch: SessionBatch, partitions: Iterable[TopicPartition]) -> None:
        changes = self.consumer._log_changes(batch.tenures)
        for tp in self.consumer.assignment().intersection(partitions):
            first = batch.first_offsets[tp]
            if first < changes.get(tp, first + 1):  # else the position has left it already
                # With the epoch, a truncation before that offset is still noticed (KIP-320).
                epoch = batch.offsets[tp].leader_epoch
                self.consumer.seek(tp, OffsetAndMetadata(first, "", epoch))


def _check(consumer: AIOKafkaConsumer[Any, Any], producer: AIOKafkaProducer[Any, Any]) -> None:
    reads, writes = consumer._config, producer._config
    faults = []
    if reads.group_id is None:
        faults.append("the consumer has no group_id")
    if reads.commits_by_itself:
        faults.append("the consumer commits by itself; set enable_auto_commit=False")
    if not reads.is_read_committed:
        faults.append("the consumer reads uncommitted; set isolation_level='read_committed'")
    if writes.transactional_id is None:
        faults.append("the producer has no transactional_id")
    if faults:
        raise KafkaConfigurationError(
            f"an exactly-once session is not possible: {'; '.join(faults)}"
        )


__all__ = ["ExactlyOnceSession"]
