"""Owns the producer that leaves the end of its transactions to another process, and takes one
transactional id after the other. Source: KIP-98; two-phase commit as sinks of Flink do it.
"""

from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.producer.transaction.transaction_coordinator import TransactionCoordinator
from aiokafka_lite.producer.transaction.transaction_manager import TransactionManager
from aiokafka_lite.producer.transaction.transaction_state import PreparedTransaction


class PreparingProducer(AIOKafkaProducer):
    """A transactional producer whose `start()` does not say yet as whom it writes.

        await producer.become("orders-0")
        await producer.begin_transaction()
        ...
        prepared = await producer.prepare_transaction()    # for a `TransactionEnder`

    The argument `transactional_id` only makes it transactional. `stop()` aborts a transaction that
    was not prepared, and has nothing to do with one that was.
    """

    async def _init_transactions(self, transactions: TransactionManager) -> None:
        """Wait with it for `become`."""

    @property
    def coordinator(self) -> TransactionCoordinator:
        """Whom to ask what belongs to the transactional id."""
        return self._in_transactions().coordinator

    async def become(self, transactional_id: str) -> None:
        """Write under this id from now on. Who did so before is fenced, and the transaction he has
        left open is aborted.

        Raises: IllegalStateError in a transaction; as `start` of a transactional producer.
        Cancelled, KafkaTimeoutError: it goes on; call again with the same id to wait for its end.
        """
        transactions = self._in_transactions()
        transactions.rename(transactional_id)
        await transactions.init(self._max_block_s)

    async def prepare_transaction(self) -> PreparedTransaction | None:
        """Wait until all that was sent is written, and return what ends the transaction; None if
        nothing was sent, for there is nothing to end. `become` is next.

        Raises, Cancelled: as `commit_transaction`.
        """
        return await self._in_transactions().prepare(self._max_block_s)


__all__ = ["PreparingProducer"]
