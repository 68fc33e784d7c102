"""Who else has the transactional id, where its coordinator is, and how long a transaction lasts."""

import asyncio

import pytest

from aiokafka_lite.errors import (
    InvalidProducerEpoch,
    InvalidTransactionTimeout,
    InvalidTxnState,
    KafkaTimeoutError,
    ProducerFenced,
)
from aiokafka_lite.producer.transaction.transaction_state import TransactionState
from aiokafka_lite.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest
from aiokafka_lite.protocol.messages.end_txn import EndTxnRequest
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import TxnState as Ending
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.producer.world import jumping_clock, kafka
from tests.scenarios.transacting import ID, ORDERS, commit_one, ends, state, transacting, visible

both_protocols = pytest.mark.parametrize("version", [1, 2])


@both_protocols
async def test_a_second_producer_aborts_what_the_first_left_open(version: int) -> None:
    """Another producer with the same transactional id aborts what the first left open (KIP-98)."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as first:
        await first.begin_transaction()
        await first.send_and_wait("orders", b"1")
        async with transacting(broker) as second:
            await commit_one(second, b"2")
            assert await visible(broker) == [b"2"]


@both_protocols
async def test_a_fenced_producer_hears_of_it_at_its_end(version: int) -> None:
    """A fenced producer learns of it when it ends its transaction (2d'-4)."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as first:
        await first.begin_transaction()
        await first.send_and_wait("orders", b"1")
        async with transacting(broker) as second:
            with pytest.raises(ProducerFenced, match="newer producer"):
                await first.commit_transaction()
            assert state(first) is TransactionState.FATAL_ERROR
            for call in (
                first.begin_transaction,
                first.commit_transaction,
                first.abort_transaction,
                lambda: first.send("orders", b"1"),
                lambda: first.send_offsets_to_transaction({ORDERS: 1}, "g"),
            ):
                with pytest.raises(ProducerFenced):
                    await call()
            await commit_one(second, b"2")
            assert await visible(broker) == [b"2"]


@both_protocols
async def test_a_fenced_producer_hears_of_it_when_it_writes(version: int) -> None:
    """A producer that another one has fenced raises ProducerFenced from whatever it was doing,
    whichever number the broker had for it; the verdict is the coordinator's (2d'-4).
    """
    async with kafka(transaction_version=version) as broker, transacting(broker) as first:
        await commit_one(first, b"0")
        async with transacting(broker) as second:
            await commit_one(second, b"1")
            await first.begin_transaction()
            with pytest.raises(ProducerFenced):
                await first.send_and_wait("orders", b"2")
            with pytest.raises(ProducerFenced):
                await first.commit_transaction()
            with pytest.raises(ProducerFenced):
                await first.abort_transaction()
            await commit_one(second, b"3")
        assert await visible(broker) == [b"0", b"1", b"3"]


@both_protocols
async def test_a_block_of_a_fenced_producer_raises(version: int) -> None:
    async with kafka(transaction_version=version) as broker, transacting(broker) as first:
        await commit_one(first, b"0")
        async with transacting(broker):

            async def work() -> None:
                async with first.transaction():
                    await first.send_and_wait("orders", b"2")

            with pytest.raises(ProducerFenced):
                await work()
            with pytest.raises(ProducerFenced):
                await work()
            assert state(first) is TransactionState.FATAL_ERROR


@both_protocols
async def test_a_fenced_producer_stops_at_once(version: int) -> None:
    async with kafka(transaction_version=version) as broker, transacting(broker) as first:
        await first.begin_transaction()
        await first.send_and_wait("orders", b"1")
        async with transacting(broker):
            await first.stop()
        assert broker.transaction(ID).state is not Ending.ONGOING


@both_protocols
async def test_the_coordinator_moves_in_mid_transaction(version: int) -> None:
    """A coordinator that moves is looked up again in the middle of a transaction (2d'-4)."""
    async with (
        kafka(nodes=3, transaction_version=version) as broker,
        transacting(broker) as producer,
    ):
        broker.create_topic("orders", 4)
        for node_id in (1, 2, 3):
            await producer.begin_transaction()
            await producer.send("orders", b"%d" % node_id, partition=0)
            broker.move_transaction_coordinator(ID, node_id)
            await producer.send("orders", b"v", partition=node_id)
            await producer.commit_transaction()
            assert broker.transaction(ID).state is Ending.COMPLETE_COMMIT
        assert await visible(broker) == [b"1", b"2", b"3"]


@both_protocols
async def test_the_coordinator_is_away_for_a_while(version: int) -> None:
    """A coordinator that is not available is looked up again until it is (2d'-4)."""
    async with (
        kafka(nodes=3, transaction_version=version) as broker,
        transacting(broker) as producer,
    ):
        await producer.begin_transaction()
        await producer.send_and_wait("orders", b"1")
        broker.move_transaction_coordinator(ID, None)
        commit = asyncio.create_task(producer.commit_transaction())
        for _ in range(50):
            await asyncio.sleep(0)
        assert not commit.done()
        broker.move_transaction_coordinator(ID, 2)
        await commit
        assert await visible(broker) == [b"1"]


@both_protocols
async def test_the_node_of_the_coordinator_dies(version: int) -> None:
    async with (
        kafka(nodes=3, transaction_version=version) as broker,
        transacting(broker) as producer,
    ):
        broker.create_topic("orders", replication_factor=3)
        await commit_one(producer, b"1")
        await producer.begin_transaction()
        await producer.send_and_wait("orders", b"2")
        coordinator = broker.transaction(ID).coordinator
        assert coordinator is not None
        broker.stop_node(coordinator)
        await producer.send_and_wait("orders", b"3")
        await producer.commit_transaction()
        broker.start_node(coordinator)
        await commit_one(producer, b"4")
        assert await visible(broker) == [b"1", b"2", b"3", b"4"]


@both_protocols
async def test_markers_that_are_still_being_written_are_waited_for(version: int) -> None:
    """CONCURRENT_TRANSACTIONS is retried until the markers are written (2d'-4)."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        await commit_one(producer, b"1")
        broker.hold_transaction_markers()
        await producer.begin_transaction()
        await producer.send("orders", b"2")
        await producer.commit_transaction()
        await producer.begin_transaction()
        ack = await producer.send("orders", b"3")
        asked = AddPartitionsToTxnRequest if version == 1 else ProduceRequest
        count = len(broker.requests_of(asked))
        await broker.wait_until(lambda: len(broker.requests_of(asked)) > count + 3)
        assert not ack.done()
        broker.release_transaction_markers()
        await producer.commit_transaction()
        assert await visible(broker) == [b"1", b"2", b"3"]


@both_protocols
async def test_a_transaction_that_takes_too_long_is_aborted_by_its_coordinator(
    version: int,
) -> None:
    """The coordinator aborts a transaction that outlives `transaction_timeout_ms` (2d'-4)."""
    clock = FakeClock()
    async with (
        kafka(clock=clock, transaction_version=version) as broker,
        transacting(broker, clock=clock, transaction_timeout_ms=10_000) as producer,
    ):
        assert broker.transaction(ID).timeout_ms == 10_000
        await producer.begin_transaction()
        await producer.send_and_wait("orders", b"1")
        await clock.advance(9)
        assert broker.transaction(ID).state is Ending.ONGOING
        await clock.advance(2)
        assert broker.transaction(ID).state is Ending.COMPLETE_ABORT
        # In V2 its epoch looks like that of a commit which is repeated, on Apache Kafka, too.
        error, text = (
            (ProducerFenced, "a transaction has timed out")
            if version == 1
            else (InvalidTxnState, "began 11.0 s ago, and its transaction_timeout_ms is 10000")
        )
        with pytest.raises(error, match=text):
            await producer.commit_transaction()
        assert state(producer) is TransactionState.FATAL_ERROR
        assert await visible(broker) == []
    assert ends(broker) == [True]


async def test_a_refused_state_within_the_time_has_another_reason() -> None:
    """INVALID_TXN_STATE is only put down to the timeout when that has passed."""
    clock = FakeClock()
    async with (
        kafka(clock=clock) as broker,
        transacting(broker, clock=clock, transaction_timeout_ms=10_000) as producer,
    ):
        await commit_one(producer, b"1")
        await clock.advance(60)  # what counts is the age of the transaction, not the producer's
        await producer.begin_transaction()
        await producer.send_and_wait("orders", b"2")
        await clock.advance(9)
        broker.faults.fail(EndTxnRequest, InvalidTxnState)
        with pytest.raises(InvalidTxnState) as raised:
            await producer.commit_transaction()
        assert "transaction_timeout_ms" not in str(raised.value)


async def test_an_abort_behind_the_timeout_lets_go_on_in_v2() -> None:
    """An abort after the transaction timeout counts as a repeated one in V2 (KIP-890)."""
    clock = FakeClock()
    async with (
        kafka(clock=clock) as broker,
        transacting(broker, clock=clock, transaction_timeout_ms=10_000) as producer,
    ):
        await producer.begin_transaction()
        await producer.send_and_wait("orders", b"1")
        await clock.advance(11)
        with pytest.raises(ProducerFenced, match="transaction_timeout_ms") as raised:
            await producer.send_and_wait("orders", b"2")
        assert isinstance(raised.value.__cause__, InvalidProducerEpoch)
        await producer.abort_transaction()
        await commit_one(producer, b"3")
        assert await visible(broker) == [b"3"]


async def test_a_timeout_that_is_too_long_is_told() -> None:
    async with kafka() as broker:
        with pytest.raises(InvalidTransactionTimeout):
            async with transacting(broker, transaction_timeout_ms=900_001):
                pass


@both_protocols
async def test_a_start_waits_for_the_end_of_an_older_transaction(version: int) -> None:
    """`start` waits for the end of an older transaction of its id (2d'-4)."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as first:
        await first.begin_transaction()
        await first.send_and_wait("orders", b"1")
        broker.hold_transaction_markers()
        second = transacting(broker)
        started = asyncio.create_task(second.__aenter__())
        await broker.wait_until(lambda: len(broker.requests_of(InitProducerIdRequest)) > 3)
        assert not started.done()
        broker.release_transaction_markers()
        await commit_one(await started, b"2")
        await second.__aexit__(None, None, None)
        assert await visible(broker) == [b"2"]


@both_protocols
async def test_producers_with_ids_of_their_own_do_not_meet(version: int) -> None:
    async with (
        kafka(transaction_version=version) as broker,
        transacting(broker, "a") as first,
        transacting(broker, "b") as second,
    ):
        await first.begin_transaction()
        await second.begin_transaction()
        await first.send_and_wait("orders", b"1")
        await second.send_and_wait("orders", b"2")
        await second.commit_transaction()
        assert await visible(broker) == []  # behind the last stable offset
        await first.abort_transaction()
        assert await visible(broker) == [b"2"]


async def test_epochs_that_are_used_up_begin_a_new_id() -> None:
    """After the last epoch the producer gets a new producer id (KIP-890)."""
    async with kafka(transaction_version=2) as broker, transacting(broker) as producer:
        await commit_one(producer, b"1")
        metadata = broker._transactions._by_id[ID]
        metadata.producer_epoch = 32_765
        manager = producer._engine.transactions
        assert manager is not None
        manager._sequences.begin_epoch(metadata.producer_id, 32_765)
        for number in range(2, 6):
            await commit_one(producer, b"%d" % number)
        assert await visible(broker) == [b"%d" % number for number in range(1, 6)]
        assert manager._sequences.producer.epoch < 10


@both_protocols
async def test_an_end_without_any_answer_is_asked_for_again(version: int) -> None:
    clock = jumping_clock()
    async with (
        kafka(clock=clock, transaction_version=version) as broker,
        transacting(broker, clock=clock, request_timeout_ms=5_000) as producer,
    ):
        await producer.begin_transaction()
        await producer.send_and_wait("orders", b"1")
        broker.faults.drop(EndTxnRequest)
        await producer.commit_transaction()
        broker.faults.clear()
        assert ends(broker) == [True, True]
        await commit_one(producer, b"2")
        assert await visible(broker) == [b"1", b"2"]


async def test_a_broker_that_goes_away_for_good_is_a_timeout() -> None:
    clock = jumping_clock()
    async with (
        kafka(clock=clock) as broker,
        transacting(broker, clock=clock, max_block_ms=20_000) as producer,
    ):
        await producer.begin_transaction()
        await producer.send_and_wait("orders", b"1")
        broker.stop_node(1)
        with pytest.raises(KafkaTimeoutError, match="call it again"):
            await producer.commit_transaction()
