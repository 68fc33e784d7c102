"""Transactions that nothing disturbs: what readers see of them, and what is asked of whom."""

import asyncio
import gc

import pytest

from aiokafka_lite.errors import (
    IllegalOperation,
    IllegalStateError,
    MessageSizeTooLargeError,
    ProducerClosed,
)
from aiokafka_lite.producer.transaction.transaction_state import TransactionState
from aiokafka_lite.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from aiokafka_lite.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest
from aiokafka_lite.protocol.messages.end_txn import EndTxnRequest
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from tests.producer.world import kafka, producing, written
from tests.scenarios.transacting import ID, ORDERS, commit_one, ends, state, transacting, visible

pytestmark = pytest.mark.parametrize("version", [1, 2])


async def test_what_is_committed_is_read_in_order(version: int) -> None:
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        await producer.begin_transaction()
        acks = [await producer.send("orders", b"%d" % n) for n in range(20)]
        await producer.commit_transaction()
        assert [ack.result().offset for ack in acks] == list(range(20))
        assert await visible(broker) == [b"%d" % n for n in range(20)]


async def test_what_is_aborted_is_not_read(version: int) -> None:
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        await commit_one(producer, b"1")
        await producer.begin_transaction()
        await producer.send_and_wait("orders", b"2")
        assert await visible(broker) == [b"1"]
        await producer.abort_transaction()
        await commit_one(producer, b"3")
        assert [value for value in written(broker) if value in (b"1", b"2", b"3")] == [
            b"1",
            b"2",
            b"3",
        ]
        assert await visible(broker) == [b"1", b"3"]
        assert ends(broker) == [True, False, True]


async def test_an_abort_fails_what_was_not_sent_yet(version: int) -> None:
    """An abort fails the records that were not sent yet (2d'-3)."""
    async with (
        kafka(transaction_version=version) as broker,
        transacting(broker, linger_ms=60_000) as producer,
    ):
        await producer.begin_transaction()
        ack = await producer.send("orders", b"v")
        await producer.abort_transaction()
        assert "aborted" in str(ack.exception())
        assert written(broker) == []
        assert state(producer) is TransactionState.READY
        await commit_one(producer, b"next")
        assert await visible(broker) == [b"next"]


async def test_an_abort_logs_no_complaint_about_what_it_drops(
    version: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Records that abort_transaction() drops unsent are no news to who has called it, so the log
    does not complain that nobody asked what became of them (2d'-3)."""
    async with (
        kafka(transaction_version=version) as broker,
        transacting(broker, linger_ms=60_000) as producer,
    ):
        await producer.begin_transaction()
        await producer.send("orders", b"v")
        await producer.abort_transaction()
        gc.collect()
    assert "nobody asked" not in caplog.text


async def test_several_partitions_count_together(version: int) -> None:
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        broker.create_topic("orders", 3)
        for is_kept in (True, False):
            await producer.begin_transaction()
            for partition in range(3):
                await producer.send("orders", b"%d" % is_kept, partition=partition)
            if is_kept:
                await producer.commit_transaction()
            else:
                await producer.abort_transaction()
        assert [await visible(broker, partition=n) for n in range(3)] == [[b"1"]] * 3


async def test_every_partition_that_records_without_key_move_on_to_takes_part(version: int) -> None:
    async with (
        kafka(transaction_version=version) as broker,
        transacting(broker, max_batch_size=200) as producer,
    ):
        broker.create_topic("orders", 3)
        await producer.begin_transaction()
        values = [b"%02d" % number + b"x" * 120 for number in range(20)]
        for value in values:
            await producer.send("orders", value)
        await producer.commit_transaction()
        seen = [await visible(broker, partition=number) for number in range(3)]
        assert sorted(value for values in seen for value in values if value) == values


async def test_an_empty_transaction_is_not_told_of(version: int) -> None:
    """A transaction with nothing in it sends no EndTxn (2d'-3)."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        await producer.begin_transaction()
        await producer.commit_transaction()
        await producer.begin_transaction()
        await producer.abort_transaction()
        assert ends(broker) == []
        await commit_one(producer, b"v")
        assert await visible(broker) == [b"v"]


async def test_a_record_that_was_never_queued_spoils_no_commit(version: int) -> None:
    """A record that was never queued does not keep the transaction from committing (2d'-3)."""
    async with (
        kafka(transaction_version=version) as broker,
        transacting(broker, max_request_size=1000) as producer,
    ):
        await producer.begin_transaction()
        with pytest.raises(MessageSizeTooLargeError):
            await producer.send("orders", b"x" * 2000)
        await producer.commit_transaction()
        await commit_one(producer, b"v")
        assert await visible(broker) == [b"v"]


async def test_the_protocol_is_that_of_the_feature(version: int) -> None:
    """The finalized transaction version decides which protocol the producer uses (2d'-7)."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        epochs = []
        for _ in range(2):
            await commit_one(producer, b"v")
            epochs.append(broker.transaction(ID).producer_epoch)
        versions = {
            type(received.request): received.api_version
            for received in broker.requests
            if type(received.request) in (ProduceRequest, EndTxnRequest)
        }
        added = broker.requests_of(AddPartitionsToTxnRequest)
        assert broker.requests_of(AddOffsetsToTxnRequest) == []
        assert len(broker.requests_of(InitProducerIdRequest)) == 1
        if version == 1:
            assert versions == {ProduceRequest: 11, EndTxnRequest: 4}
            assert epochs == [0, 0]
            assert len(added) == 2
        else:
            assert versions[ProduceRequest] >= 12
            assert versions[EndTxnRequest] == 5
            assert epochs == [1, 2]
            assert added == []


async def test_new_partitions_are_added_together(version: int) -> None:
    """New partitions are added to the transaction in one request (2d'-2)."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        broker.create_topic("orders", 5)
        await producer.begin_transaction()
        for partition in (0, 1, 2, 3, 4, 0):
            await producer.send("orders", b"v", partition=partition)
        await producer.commit_transaction()
        assert len(broker.requests_of(AddPartitionsToTxnRequest)) <= (2 if version == 1 else 0)


async def test_nothing_is_sent_before_its_partition_is_added(version: int) -> None:
    """No record leaves before its partition was added to the transaction (2d'-2)."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        await commit_one(producer, b"0")
        broker.faults.stall(AddPartitionsToTxnRequest, times=None)
        await producer.begin_transaction()
        ack = await producer.send("orders", b"1")
        if version == 1:
            await broker.wait_until(lambda: len(broker.requests_of(AddPartitionsToTxnRequest)) == 2)
            for _ in range(20):
                await asyncio.sleep(0)
            assert len(broker.requests_of(ProduceRequest)) == 1
        broker.faults.release()
        await ack
        await producer.commit_transaction()
        assert await visible(broker) == [b"0", b"1"]


async def test_nothing_is_sent_outside_of_a_transaction(version: int) -> None:
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        with pytest.raises(IllegalStateError, match="begin_transaction"):
            await producer.send("orders", b"v")
        await commit_one(producer, b"1")
        with pytest.raises(IllegalStateError, match="begin_transaction"):
            await producer.send("orders", b"v")
        with pytest.raises(IllegalStateError, match="begin_transaction"):
            await producer.send_offsets_to_transaction({ORDERS: 1}, "g")
        assert written(broker)[:1] == [b"1"]


async def test_calls_that_have_no_sense_change_nothing(version: int) -> None:
    """A call that the state does not allow raises and changes nothing (2d'-1)."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        for call in (producer.commit_transaction, producer.abort_transaction):
            with pytest.raises(IllegalStateError):
                await call()
            assert state(producer) is TransactionState.READY
        await producer.begin_transaction()
        with pytest.raises(IllegalStateError):
            await producer.begin_transaction()
        assert state(producer) is TransactionState.IN_TRANSACTION
        await producer.commit_transaction()


async def test_transactions_need_an_id_and_a_running_producer(version: int) -> None:
    async with kafka(transaction_version=version) as broker:
        async with producing(broker) as producer:
            for call in (
                producer.begin_transaction,
                producer.commit_transaction,
                producer.abort_transaction,
            ):
                with pytest.raises(IllegalOperation, match="transactional_id"):
                    await call()
        async with transacting(broker) as producer:
            pass
        with pytest.raises(ProducerClosed):
            await producer.begin_transaction()


async def test_a_block_commits_at_its_end(version: int) -> None:
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        async with producer.transaction() as same:
            assert same is producer
            await producer.send("orders", b"v")
        assert await visible(broker) == [b"v"]


async def test_a_block_that_raises_aborts(version: int) -> None:
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:

        async def fail() -> None:
            async with producer.transaction():
                await producer.send_and_wait("orders", b"v")
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await fail()
        assert ends(broker) == [False]
        assert await visible(broker) == []
        assert state(producer) is TransactionState.READY


async def test_many_transactions_one_after_the_other(version: int) -> None:
    """V2 has an epoch for each transaction, V1 has one for all (2d'-8)."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        for number in range(30):
            await producer.begin_transaction()
            for _ in range(3):
                await producer.send("orders", b"%d" % number)
            if number % 3:
                await producer.commit_transaction()
            else:
                await producer.abort_transaction()
        assert await visible(broker) == [b"%d" % n for n in range(30) if n % 3 for _ in range(3)]
