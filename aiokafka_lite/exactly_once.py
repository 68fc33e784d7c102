"""Owns the loop of a service that reads, processes and writes exactly once: a consumer and a
transactional producer as one thing.

A batch of records, what was written because of them, and the group's offsets behind them are one
transaction. Source: KIP-98, KIP-447.
"""

import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import Any, Generic, Self

import anyio

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import CommitFailedError, KafkaConfigurationError
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
    `isolation_level="read_committed"`, the producer a `transactional_id` of its own in each running
    instance. The session starts both, and stops both at the end of the block.

    Raises: KafkaConfigurationError for clients that are not so.
    """

    def __init__(self, consumer: AIOKafkaConsumer[KT, VT], producer: AIOKafkaProducer) -> None:
        _check(consumer, producer)
        self.consumer = consumer
        self.producer = producer
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            # Stopped in the other order: the consumer leaves its group behind the last transaction.
            await stack.enter_async_context(self.consumer)
            await stack.enter_async_context(self.producer)
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
        """Give a block the records of one poll, in a transaction of their own.

        At the end of the block the offsets behind them become part of the transaction, and it is
        committed. When the block raises, it is aborted, the records come again with the next batch,
        and the error goes on. When the group rebalanced meanwhile, it is aborted in the same way,
        without an error: the records are for their new owner. So nothing outside of the transaction
        should be done in the block, or counted as done behind it. {} and no transaction when no
        record came within `timeout_ms`.

        Raises: as `getmany`, `send_offsets_to_transaction` and `commit_transaction`; after
        ProducerFenced the session is of no use. Cancelled: aborted.
        """
        records = await self.consumer.getmany(timeout_ms=timeout_ms, max_records=max_records)
        if not records:
            yield {}
            return
        # As of the poll: a later generation may belong to partitions that others have by now.
        member = self.consumer.group_metadata()
        consumed = self.consumer.consumed_offsets()
        offsets = {tp: consumed[tp] for tp in records}
        try:
            async with self.producer.transaction():
                yield records
                await self._add_offsets(offsets, member)
        except CommitFailedError as error:
            logger.info("the group has rebalanced, a transaction was aborted: %s", error)
            await self._rewind(records)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self._rewind(records)
            raise

    async def _add_offsets(
        self, offsets: dict[TopicPartition, OffsetAndMetadata], member: ConsumerGroupMetadata
    ) -> None:
        if self.consumer.group_metadata().generation_id != member.generation_id:
            raise CommitFailedError
        await self.producer.send_offsets_to_transaction(offsets, member)

    async def _rewind(self, records: dict[TopicPartition, list[ConsumerRecord[KT, VT]]]) -> None:
        """Read again what was aborted, from where the group stands: another member may have had a
        partition meanwhile.
        """
        for tp, batch in records.items():
            if tp not in self.consumer.assignment():
                continue
            try:
                committed = await self.consumer.seek_to_committed(tp)
            except Exception as error:  # noqa: BLE001 - the error that led here is the one to raise
                logger.warning("%s-%d is read again from its batch: %s", *tp, error)
                committed = {tp: None}
            if committed[tp] is None and tp in self.consumer.assignment():
                self.consumer.seek(tp, batch[0].offset)


def _check(consumer: AIOKafkaConsumer[Any, Any], producer: AIOKafkaProducer) -> None:
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
