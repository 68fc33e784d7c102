"""Ties each call of `send` that may wait to the transaction that was open at the call."""

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from aiokafka_lite.producer.append.append_path import AppendPath
from aiokafka_lite.producer.append.producer_interceptors import InterceptedPath
from aiokafka_lite.producer.batch.record_ack import RecordAck

if TYPE_CHECKING:
    from aiokafka_lite.producer.transaction.transaction_sends import TransactionSends


class TransactionalPath:
    """Appends a record by another path, within the transaction of the call."""

    def __init__(
        self,
        path: AppendPath | InterceptedPath,
        sends: "TransactionSends",
        check_running: Callable[[], None],
    ) -> None:
        self._path = path
        self._sends = sends
        self._check_running = check_running
        self.send_nowait = path.send_nowait  # it never waits: its transaction is the open one

    def send(self, *record: Any, **options: Any) -> Coroutine[Any, Any, RecordAck]:
        """Send a record in the open transaction.

        Raises: as `AppendPath.send`; NoTransactionError if no transaction is open, or another one
        than at the call.
        """
        return self._send(self._sends.number, record, options)

    async def _send(
        self, number: int, record: tuple[Any, ...], options: dict[str, Any]
    ) -> RecordAck:
        self._check_running()
        with self._sends.call(number):
            return await self._path.send(*record, **options)


# What asyncio's warnings call a coroutine that was never awaited.
TransactionalPath._send.__qualname__ = "AIOKafkaProducer.send"

__all__ = ["TransactionalPath"]
