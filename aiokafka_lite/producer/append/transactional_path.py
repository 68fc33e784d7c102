"""Owns the long way of a transactional producer's records: a call that waits on it belongs to the
transaction that was open when it was made.
"""

from collections.abc import Callable, Coroutine
from typing import Any

from aiokafka_lite.producer.append.append_path import AppendPath
from aiokafka_lite.producer.append.producer_interceptors import InterceptedPath
from aiokafka_lite.producer.batch.record_ack import RecordAck
from aiokafka_lite.producer.transaction.transaction_sends import TransactionSends


class TransactionalPath:
    """The way of a record into its transaction, then the usual one."""

    def __init__(
        self,
        way: AppendPath | InterceptedPath,
        sends: TransactionSends,
        check_running: Callable[[], None],
    ) -> None:
        self._way = way
        self._sends = sends
        self._check_running = check_running
        self.send_nowait = way.send_nowait  # it cannot wait, so it belongs to what is open

    def send(self, *record: Any, **options: Any) -> Coroutine[Any, Any, RecordAck]:
        """As `AppendPath.send`. Raises also NoTransactionError: none is open, or not its own."""
        return self._send(self._sends.number, record, options)

    async def _send(
        self, number: int, record: tuple[Any, ...], options: dict[str, Any]
    ) -> RecordAck:
        self._check_running()
        with self._sends.call(number):
            return await self._way.send(*record, **options)


# What asyncio's warnings call a coroutine that was never awaited.
TransactionalPath._send.__qualname__ = "AIOKafkaProducer.send"

__all__ = ["TransactionalPath"]
