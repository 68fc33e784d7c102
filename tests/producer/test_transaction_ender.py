"""Ends are asked for until it is known; what it ends comes from test_preparing_producer."""

import pytest

from aiokafka_lite.errors import KafkaTimeoutError, TransactionalIdAuthorizationFailed
from aiokafka_lite.producer.transaction_ender import TransactionEnder
from aiokafka_lite.producer.transaction_state import PreparedTransaction
from aiokafka_lite.protocol.messages.end_txn import EndTxnRequest
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from aiokafka_lite.testing.broker import EmbeddedBroker

UNKNOWN = PreparedTransaction("nobody", 7, 0, True)


async def test_no_answer_is_an_error_in_time() -> None:
    async with EmbeddedBroker() as broker:
        ender = TransactionEnder(bootstrap_servers=broker.bootstrap_servers)
        await ender.start()
        broker.faults.stall(EndTxnRequest, times=None)
        broker.faults.stall(InitProducerIdRequest, times=None)
        with pytest.raises(KafkaTimeoutError, match=r"the abort of .*'nobody' was not confirmed"):
            await ender.end(UNKNOWN, committed=False, timeout_s=0.05)
        with pytest.raises(KafkaTimeoutError, match=r"'nobody' could not be fenced within 0.05 s"):
            await ender.fence("nobody", timeout_s=0.05)
        broker.faults.release()
        await ender.stop()


async def test_a_refusal_is_raised_as_it_is() -> None:
    async with EmbeddedBroker() as broker:
        ender = TransactionEnder(bootstrap_servers=broker.bootstrap_servers)
        await ender.start()
        broker.faults.fail(EndTxnRequest, TransactionalIdAuthorizationFailed)
        with pytest.raises(TransactionalIdAuthorizationFailed, match="'nobody'"):
            await ender.end(UNKNOWN, committed=True, timeout_s=10)
        broker.faults.fail(InitProducerIdRequest, TransactionalIdAuthorizationFailed)
        with pytest.raises(TransactionalIdAuthorizationFailed, match="'nobody'"):
            await ender.fence("nobody", timeout_s=10)
        await ender.stop()
