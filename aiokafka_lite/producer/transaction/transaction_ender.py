"""Ends transactions that other processes have written: commit, abort, and fencing their producers.

It knows nothing of records. Source: KIP-98, KIP-360, KIP-890,
TransactionCoordinator.endTransaction.
"""

from typing import Any

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.errors import KafkaTimeoutError
from aiokafka_lite.producer.producer_config import ProducerConfig
from aiokafka_lite.producer.transaction.transaction_coordinator import (
    TransactionCoordinator,
    TransactionError,
)
from aiokafka_lite.producer.transaction.transaction_errors import END_ACTIONS, INIT_ACTIONS
from aiokafka_lite.producer.transaction.transaction_state import PreparedTransaction
from aiokafka_lite.protocol.messages.end_txn import EndTxnRequest
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest


class TransactionEnder:
    """Ends transactions of any transactional ids, also several at a time.

    The arguments are those of a producer. Pass `transactional_id` as well: only then is
    `transaction_timeout_ms` sent.
    """

    def __init__(self, **arguments: Any) -> None:
        self._config = ProducerConfig(**arguments)
        self.kafka_client = KafkaClient(
            self._config, name=self._config.client_id or "transaction_ender"
        )
        """The cluster, for other requests of the owner."""

    async def start(self) -> None:
        """Connect to the cluster. Raises: KafkaConnectionError naming each bootstrap address."""
        await self.kafka_client.start()

    async def stop(self) -> None:
        """Close everything. Idempotent. A transaction that is being ended may end or not."""
        await self.kafka_client.close()

    async def end(
        self, transaction: PreparedTransaction, *, committed: bool, timeout_s: float
    ) -> None:
        """Commit or abort the transaction, and return once that is decided.

        The request is sent again when the coordinator moves or does not respond. A coordinator that
        has already ended the transaction this way succeeds: it knows by the state in the first
        protocol, and by the next epoch in the second.

        Raises: ProducerFenced or InvalidProducerEpoch when another producer has the transactional
        id; InvalidTxnState when the coordinator has ended the transaction the other way, for
        example after its timeout; KafkaTimeoutError after `timeout_s`: it may be ended or not.
        Cancelled: it may be ended or not.
        """
        request = EndTxnRequest(
            transactional_id=transaction.transactional_id,
            producer_id=transaction.producer_id,
            producer_epoch=transaction.producer_epoch,
            committed=committed,
        )
        coordinator = TransactionCoordinator(self.kafka_client, transaction.transactional_id)
        what = "commit" if committed else "abort"
        try:
            async with deadline(self.kafka_client.clock, timeout_s):
                await coordinator.ask(
                    "EndTxn",
                    lambda: request,
                    lambda told: told.error_code,
                    END_ACTIONS,
                    max_version=None
                    if transaction.is_v2
                    else EndTxnRequest.transactions_v2_since - 1,
                )
        except TransactionError as refusal:
            raise refusal.error from None
        except TimeoutError:
            raise KafkaTimeoutError(
                f"the {what} of the transaction of {quoted(transaction.transactional_id)} was not"
                f" confirmed within {timeout_s:g} s; nobody knows whether it took place"
                f"{coordinator.last_failure}"
            ) from None

    async def fence(self, transactional_id: str, timeout_s: float) -> None:
        """Fence every producer of this id, and abort its open transaction.

        Raises: KafkaTimeoutError; an error of the coordinator that is not retriable.
        """
        request = InitProducerIdRequest(
            transactional_id=transactional_id,
            transaction_timeout_ms=self._config.transaction_timeout_ms,
            producer_id=-1,
            producer_epoch=-1,
        )
        coordinator = TransactionCoordinator(self.kafka_client, transactional_id)
        try:
            async with deadline(self.kafka_client.clock, timeout_s):
                await coordinator.ask(
                    "InitProducerId", lambda: request, lambda told: told.error_code, INIT_ACTIONS
                )
        except TransactionError as refusal:
            raise refusal.error from None
        except TimeoutError:
            raise KafkaTimeoutError(
                f"{quoted(transactional_id)} could not be fenced within {timeout_s:g} s: no "
                f"coordinator has done it{coordinator.last_failure}"
            ) from None


__all__ = ["TransactionEnder"]
