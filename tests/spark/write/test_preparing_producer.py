"""A transaction that is prepared is no business of its producer's any more."""

import asyncio

import pytest

from aiokafka_lite.errors import (
    IllegalOperation,
    IllegalStateError,
    InvalidRecordError,
    InvalidTxnState,
    KafkaTimeoutError,
    ProducerFenced,
    TransactionAbortableError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.transaction.transaction_ender import TransactionEnder
from aiokafka_lite.producer.transaction.transaction_state import PreparedTransaction
from aiokafka_lite.protocol.messages.end_txn import EndTxnRequest
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest
from aiokafka_lite.spark.write.preparing_producer import PreparingProducer
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import TxnState
from tests.scenarios.transacting import impatient

VERSIONS = [0, 2]


def preparing(broker: EmbeddedBroker) -> PreparingProducer:
    return PreparingProducer(
        bootstrap_servers=broker.bootstrap_servers,
        transactional_id="any",
        linger_ms=0,
        retry_backoff_ms=1,
    )


async def prepared(producer: PreparingProducer, name: str, value: bytes) -> PreparedTransaction:
    await producer.become(name)
    await producer.begin_transaction()
    await producer.send("t", value)
    found = await producer.prepare_transaction()
    assert found is not None
    return found


@pytest.mark.parametrize("version", VERSIONS)
async def test_one_producer_prepares_under_one_id_after_the_other(version: int) -> None:
    async with EmbeddedBroker(transaction_version=version) as broker:
        broker.create_topic("t")
        async with preparing(broker) as producer:
            assert broker.requests_of(InitProducerIdRequest) == []
            first = await prepared(producer, "a", b"1")
            second = await prepared(producer, "b", b"2")
        assert (first.transactional_id, second.transactional_id) == ("a", "b")
        assert first.is_v2 is (version == 2)
        assert broker.requests_of(EndTxnRequest) == []
        states = [broker.transaction(name).state for name in ("a", "b")]
        assert states == [TxnState.ONGOING] * 2
        used = {each.transactional_id for each in broker.requests_of(ProduceRequest)}
        assert used == {"a", "b"}
        found = broker.requests_of(FindCoordinatorRequest)
        assert [each.key for each in found] == ["a", "b"]


async def test_nothing_sent_is_nothing_to_end() -> None:
    """Whatever was sent in the transaction before."""
    async with EmbeddedBroker() as broker, preparing(broker) as producer:
        broker.create_topic("t")
        await prepared(producer, "a", b"1")
        await producer.become("b")
        await producer.begin_transaction()
        assert await producer.prepare_transaction() is None
        await producer.become("c")  # also without a transaction in between
        for _ in range(2):
            await producer.become("d")


async def test_another_id_may_be_taken_only_between_transactions() -> None:
    async with EmbeddedBroker() as broker, preparing(broker) as producer:
        with pytest.raises(IllegalStateError):
            await producer.begin_transaction()
        await producer.become("a")
        await producer.begin_transaction()
        with pytest.raises(IllegalStateError, match="has to end before another id can be taken"):
            await producer.become("b")


@pytest.mark.parametrize("is_cancelled", [True, False])
async def test_an_id_that_was_not_had_in_time_may_be_asked_for_again(is_cancelled: bool) -> None:
    """become() that timed out or was cancelled goes on, and the same call waits for its end."""
    async with EmbeddedBroker() as broker:
        broker.create_topic("t")
        async with preparing(broker) as producer:
            broker.faults.stall(InitProducerIdRequest)
            if is_cancelled:
                task = asyncio.create_task(producer.become("a"))
                await broker.wait_until(lambda: len(broker.requests_of(InitProducerIdRequest)) == 1)
                task.cancel()
                await asyncio.wait([task])
                assert task.cancelled()
            else:
                with impatient(producer), pytest.raises(KafkaTimeoutError):
                    await producer.become("a")
            with pytest.raises(IllegalStateError, match="has not ended"):
                await producer.become("b")
            broker.faults.release()
            assert (await prepared(producer, "a", b"1")).transactional_id == "a"
            assert (await prepared(producer, "b", b"2")).transactional_id == "b"


async def test_an_id_that_was_refused_once_may_be_asked_for_again() -> None:
    async with EmbeddedBroker() as broker, preparing(broker) as producer:
        broker.create_topic("t")
        broker.faults.fail(InitProducerIdRequest, TransactionAbortableError)
        with pytest.raises(TransactionAbortableError):
            await producer.become("a")
        assert (await prepared(producer, "a", b"1")).transactional_id == "a"


@pytest.mark.parametrize("version", VERSIONS)
async def test_what_failed_is_not_prepared_but_aborted_at_the_stop(version: int) -> None:
    async with EmbeddedBroker(transaction_version=version) as broker:
        broker.create_topic("t")
        async with preparing(broker) as producer:
            await producer.become("a")
            await producer.begin_transaction()
            await producer.send_and_wait("t", b"1")
            broker.faults.fail(ProduceRequest, InvalidRecordError)
            await producer.send("t", b"2")
            for _ in range(2):
                with pytest.raises(InvalidRecordError):
                    await producer.prepare_transaction()
        assert [each.committed for each in broker.requests_of(EndTxnRequest)] == [False]


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_preparation_waits_for_offsets_nobody_waits_for(version: int) -> None:
    async with EmbeddedBroker(transaction_version=version) as broker:
        broker.create_topic("t")
        async with preparing(broker) as producer:
            await producer.become("a")
            await producer.begin_transaction()
            broker.faults.stall(TxnOffsetCommitRequest)
            offsets = {TopicPartition("t", 0): 5}
            task = asyncio.create_task(producer.send_offsets_to_transaction(offsets, "g"))
            await broker.wait_until(lambda: len(broker.requests_of(TxnOffsetCommitRequest)) == 1)
            task.cancel()
            preparation = asyncio.create_task(producer.prepare_transaction())
            for _ in range(20):
                await asyncio.sleep(0)
            assert not preparation.done()
            broker.faults.release()
            assert await preparation is not None


@pytest.mark.parametrize("version", VERSIONS)
async def test_what_waits_for_metadata_ends_with_the_preparation(version: int) -> None:
    """It is in neither the prepared transaction nor the next one, of another id."""
    async with EmbeddedBroker(transaction_version=version) as broker:
        for topic in ("t", "late"):
            broker.create_topic(topic)
        async with preparing(broker) as producer:
            await producer.become("a")
            await producer.begin_transaction()
            await producer.send_and_wait("t", b"1")
            broker.faults.stall(MetadataRequest, times=None)
            late = asyncio.ensure_future(producer.send("late", b"2"))
            for _ in range(10):
                await asyncio.sleep(0)
            assert await producer.prepare_transaction() is not None
            with pytest.raises(IllegalOperation, match="the transaction ended while send"):
                await late
            broker.faults.clear()
            await producer.become("b")
            await producer.begin_transaction()
            assert await producer.prepare_transaction() is None


async def test_a_preparation_that_took_too_long_is_called_again_for_its_result() -> None:
    """What was prepared before is not given in its place."""
    async with EmbeddedBroker() as broker:
        broker.create_topic("t")
        async with preparing(broker) as producer:
            first = await prepared(producer, "a", b"1")
            await producer.become("b")
            await producer.begin_transaction()
            broker.faults.stall(ProduceRequest)
            await producer.send("t", b"2")
            with impatient(producer), pytest.raises(KafkaTimeoutError):
                await producer.prepare_transaction()
            with pytest.raises(IllegalStateError, match="has not ended"):
                await producer.become("c")
            broker.faults.release()
            second = await producer.prepare_transaction()
            assert second is not None
            assert (first.transactional_id, second.transactional_id) == ("a", "b")
            await producer.become("c")
            await producer.begin_transaction()
            assert await producer.prepare_transaction() is None


# Ending it…


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("committed", [True, False])
async def test_another_ends_it_once_however_often_it_asks(version: int, committed: bool) -> None:
    """A retry is told from a new end by the epoch (KIP-890), or by the state; so the request has to
    be in the protocol that the transaction was written in."""
    async with EmbeddedBroker(transaction_version=version) as broker:
        broker.create_topic("t")
        async with preparing(broker) as producer:
            transaction = await prepared(producer, "a", b"1")
        ender = TransactionEnder(bootstrap_servers=broker.bootstrap_servers)
        await ender.start()
        for _ in range(3):
            await ender.end(transaction, committed=committed, timeout_s=10)
        used = {r.api_version for r in broker.requests if isinstance(r.request, EndTxnRequest)}
        assert used == {5 if transaction.is_v2 else 4}
        done = TxnState.COMPLETE_COMMIT if committed else TxnState.COMPLETE_ABORT
        assert broker.transaction("a").state is done
        with pytest.raises(InvalidTxnState):
            await ender.end(transaction, committed=not committed, timeout_s=10)
        await ender.stop()


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_fenced_transaction_cannot_be_committed(version: int) -> None:
    async with EmbeddedBroker(transaction_version=version) as broker:
        broker.create_topic("t")
        async with preparing(broker) as producer:
            transaction = await prepared(producer, "a", b"1")
        ender = TransactionEnder(bootstrap_servers=broker.bootstrap_servers)
        await ender.start()
        await ender.fence("a", timeout_s=10)
        with pytest.raises(ProducerFenced):
            await ender.end(transaction, committed=True, timeout_s=10)
        await ender.stop()
