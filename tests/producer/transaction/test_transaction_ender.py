"""Ends are asked for until it is known; what it ends comes from test_preparing_producer."""

import pytest

from aiokafka_lite.errors import KafkaTimeoutError, TransactionalIdAuthorizationFailed
from aiokafka_lite.producer.transaction.transaction_ender import TransactionEnder
from aiokafka_lite.producer.transaction.transaction_state import PreparedTransaction
from aiokafka_lite.protocol.messages.end_txn import EndTxnRequest
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from tests.producer.world import kafka

UNKNOWN = PreparedTransaction("nobody", 7, 0, True)


async def test_no_answer_is_an_error_in_time() -> None:
    async with kafka() as broker:
        ender = TransactionEnder(bootstrap_servers=broker.bootstrap_servers)
        await ender.start()
        broker.faults.stall(EndTxnRequest, times=None)
        broker.faults.stall(InitProducerIdRequest, times=None)
        for is_commit, what in ((True, "commit"), (False, "abort")):
            expected = f"the {what} of .*'nobody' was not confirmed"
            with pytest.raises(KafkaTimeoutError, match=expected):
                await ender.end(UNKNOWN, committed=is_commit, timeout_s=0.05)
        with pytest.raises(KafkaTimeoutError, match=r"'nobody' could not be fenced within 0.05 s"):
            await ender.fence("nobody", timeout_s=0.05)
        broker.faults.release()
        await ender.stop()


async def test_who_is_fenced_may_have_had_the_timeout_that_is_given() -> None:
    """A coordinator compares it with its own limit, so it is not made up."""
    async with kafka() as broker:
        ender = TransactionEnder(
            bootstrap_servers=broker.bootstrap_servers,
            client_id="sink",
            transactional_id="any",
            transaction_timeout_ms=7000,
        )
        await ender.start()
        await ender.fence("somebody", timeout_s=10)
        (request,) = broker.requests_of(InitProducerIdRequest)
        assert (request.transactional_id, request.transaction_timeout_ms) == ("somebody", 7000)
        assert ender.kafka_client.name == "sink"
        await ender.stop()


async def test_a_refusal_is_raised_as_it_is() -> None:
    async with kafka() as broker:
        ender = TransactionEnder(bootstrap_servers=broker.bootstrap_servers)
        await ender.start()
        broker.faults.fail(EndTxnRequest, TransactionalIdAuthorizationFailed)
        with pytest.raises(TransactionalIdAuthorizationFailed, match="'nobody'"):
            await ender.end(UNKNOWN, committed=True, timeout_s=10)
        broker.faults.fail(InitProducerIdRequest, TransactionalIdAuthorizationFailed)
        with pytest.raises(TransactionalIdAuthorizationFailed, match="'nobody'"):
            await ender.fence("nobody", timeout_s=10)
        await ender.stop()
