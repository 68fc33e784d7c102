"""A producer that prepares transactions under changing ids, and leaves their end to another
process.

Source: KIP-98; Flink's sinks do two-phase commit in the same way.
"""

from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.producer.transaction.transaction_coordinator import TransactionCoordinator
from aiokafka_lite.producer.transaction.transaction_manager import TransactionManager
from aiokafka_lite.producer.transaction.transaction_state import PreparedTransaction


class PreparingProducer(AIOKafkaProducer):
    """A transactional producer whose `start()` does not set the transactional id yet.

        await producer.become("orders-0")
        await producer.begin_transaction()
        ...
        prepared = await producer.prepare_transaction()    # for a `TransactionEnder`

    The argument `transactional_id` only makes it transactional. `stop()` aborts a transaction that
    was not prepared, and does not touch a prepared one.
    """

    async def _init_transactions(self, transactions: TransactionManager) -> None:
        """Leave it to `become`."""

    @property
    def coordinator(self) -> TransactionCoordinator:
        """The coordinator of the transactional id."""
        return self._in_transactions().coordinator

    async def become(self, transactional_id: str) -> None:
        """Write under this id from now on.

        An earlier producer with this id is fenced, and its open transaction is aborted.

        Raises: IllegalStateError in a transaction; as `start` of a transactional producer.
        After a KafkaTimeoutError the work goes on. Call again with the same id to wait for its end.
        Cancelled: the same.
        """
        transactions = self._in_transactions()
        transactions.rename(transactional_id)
        await transactions.init(self._max_block_s)

    async def prepare_transaction(self) -> PreparedTransaction | None:
        """Wait until all sent records are written, and return what ends the transaction.

        None if nothing was sent: then nothing has to be ended. Call `become` next.

        Raises: as `commit_transaction`. Cancelled: as `commit_transaction`.
        """
        return await self._in_transactions().prepare(self._max_block_s)


__all__ = ["PreparingProducer"]
