"""Errors within a transaction, whatever they call for: retried, abort and go on, or the end."""

import asyncio
from typing import Any

import pytest

from aiokafka_lite.errors import (
    BrokerResponseError,
    ClusterAuthorizationFailedError,
    ConcurrentTransactions,
    CoordinatorLoadInProgressError,
    DeliveryTimeoutError,
    GroupAuthorizationFailedError,
    GroupCoordinatorNotAvailableError,
    InvalidProducerEpoch,
    InvalidTxnState,
    KafkaError,
    MessageSizeTooLargeError,
    NotCoordinatorForGroupError,
    NotLeaderForPartitionError,
    OperationNotAttempted,
    OutOfOrderSequenceNumber,
    ProducerFenced,
    TopicAuthorizationFailedError,
    TransactionAbortableError,
    TransactionalIdAuthorizationFailed,
    UnknownProducerId,
)
from aiokafka_lite.producer.transaction.transaction_state import TransactionState
from aiokafka_lite.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from aiokafka_lite.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest
from aiokafka_lite.protocol.messages.end_txn import EndTxnRequest
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest
from aiokafka_lite.schema.message import Request
from tests.producer.world import jumping_clock, kafka, producing
from tests.scenarios.transacting import ORDERS, commit_one, ends, state, transacting, visible

both_protocols = pytest.mark.parametrize("version", [1, 2])

MENDED_BY_TIME = [
    GroupCoordinatorNotAvailableError,
    NotCoordinatorForGroupError,
    CoordinatorLoadInProgressError,
    ConcurrentTransactions,
]
FATAL = [
    ProducerFenced,
    InvalidProducerEpoch,
    TransactionalIdAuthorizationFailed,
    InvalidTxnState,
    ClusterAuthorizationFailedError,
]


@both_protocols
@pytest.mark.parametrize("error", MENDED_BY_TIME)
async def test_what_time_mends_is_asked_again(
    version: int, error: type[BrokerResponseError]
) -> None:
    """Errors of the coordinator that time mends are retried (2d'-4)."""
    async with kafka(transaction_version=version) as broker:
        asked: list[type[Request[Any]]] = [
            InitProducerIdRequest,
            TxnOffsetCommitRequest,
            EndTxnRequest,
        ]
        if version == 1:
            asked += [AddPartitionsToTxnRequest, AddOffsetsToTxnRequest]
        for request in asked:
            broker.faults.fail(request, error, times=2)
        broker.create_topic("orders")
        async with transacting(broker) as producer:
            await producer.begin_transaction()
            await producer.send("orders", b"v")
            await producer.send_offsets_to_transaction({ORDERS: 5}, "g")
            await producer.commit_transaction()
        assert await visible(broker) == [b"v"]
        assert {tp: o.offset for tp, o in broker.group("g").offsets.items()} == {ORDERS: 5}
        assert [len(broker.requests_of(request)) for request in asked] == [3] * len(asked)


@both_protocols
@pytest.mark.parametrize(
    "error",
    [
        TopicAuthorizationFailedError,
        TransactionAbortableError,
        InvalidProducerEpoch,
        OutOfOrderSequenceNumber,
        UnknownProducerId,
        MessageSizeTooLargeError,
        InvalidTxnState,
    ],
)
async def test_a_batch_that_fails_ends_its_transaction_not_the_producer(
    version: int, error: type[BrokerResponseError]
) -> None:
    """After a failed batch the producer can abort and go on (2d'-4)."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        expected = ProducerFenced if error is InvalidProducerEpoch else error
        await commit_one(producer, b"1")
        await producer.begin_transaction()
        broker.faults.fail(ProduceRequest, error)
        ack = await producer.send("orders", b"2")
        with pytest.raises(expected):
            await ack
        assert state(producer) is TransactionState.ABORTABLE_ERROR
        with pytest.raises(expected):
            await producer.send("orders", b"3")
        with pytest.raises(expected):
            await producer.send_offsets_to_transaction({ORDERS: 1}, "g")
        with pytest.raises(expected):
            await producer.commit_transaction()
        await producer.abort_transaction()
        assert state(producer) is TransactionState.READY
        await commit_one(producer, b"4")
        await commit_one(producer, b"5")
        assert await visible(broker) == [b"1", b"4", b"5"]


@both_protocols
@pytest.mark.parametrize(
    "error", [TransactionalIdAuthorizationFailed, ClusterAuthorizationFailedError, ProducerFenced]
)
async def test_some_errors_of_a_batch_are_fatal(
    version: int, error: type[BrokerResponseError]
) -> None:
    """Some errors of a batch are fatal to the producer (2d'-4)."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        await producer.begin_transaction()
        broker.faults.fail(ProduceRequest, error)
        with pytest.raises(error):
            await producer.send_and_wait("orders", b"2")
        assert state(producer) is TransactionState.FATAL_ERROR
        for call in (
            producer.begin_transaction,
            producer.commit_transaction,
            producer.abort_transaction,
            lambda: producer.send("orders", b"3"),
        ):
            with pytest.raises(error):
                await call()


@both_protocols
async def test_a_failed_batch_makes_the_commit_raise(version: int) -> None:
    """A failed batch makes the commit raise its error (2d'-4)."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        await producer.begin_transaction()
        broker.faults.fail(ProduceRequest, TopicAuthorizationFailedError)
        await producer.send("orders", b"lost")
        with pytest.raises(TopicAuthorizationFailedError):
            await producer.commit_transaction()
        assert True not in ends(broker)
        await producer.abort_transaction()
        await commit_one(producer, b"v")
        assert await visible(broker) == [b"v"]


@both_protocols
async def test_a_block_with_a_failed_batch_aborts_and_raises(version: int) -> None:
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        broker.faults.fail(ProduceRequest, TopicAuthorizationFailedError)

        async def work() -> None:
            async with producer.transaction():
                await producer.send("orders", b"lost")

        with pytest.raises(TopicAuthorizationFailedError):
            await work()
        assert state(producer) is TransactionState.READY
        await work()
        assert await visible(broker) == [b"lost"]


@both_protocols
async def test_batches_behind_a_failed_one_hold_no_abort_up(version: int) -> None:
    """Batches sent behind a failed one do not hold up the abort (2d-19)."""
    async with (
        kafka(transaction_version=version) as broker,
        transacting(broker, max_batch_size=200) as producer,
    ):
        await commit_one(producer, b"0")
        await producer.begin_transaction()
        await producer.send_and_wait("orders", b"1")
        broker.faults.fail(ProduceRequest, NotLeaderForPartitionError, times=3)
        broker.faults.stall(ProduceRequest, times=None)
        acks = [await producer.send("orders", b"x" * 120) for _ in range(4)]
        while sum(batch.is_in_flight for batch in producer._engine.accumulator.incomplete) < 4:
            await asyncio.sleep(0)
        broker.faults.release()
        await broker.wait_until(lambda: len(broker.requests_of(ProduceRequest)) >= 4)
        broker.faults.fail(ProduceRequest, TopicAuthorizationFailedError)
        await asyncio.gather(*acks, return_exceptions=True)
        await producer.abort_transaction()
        await commit_one(producer, b"2")
        assert await visible(broker) == [b"0", b"2"]


@both_protocols
async def test_another_failure_after_the_first_leaves_no_gap(version: int) -> None:
    """A batch that fails after its transaction failed also asks for a new epoch (2d-20)."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        broker.create_topic("orders", 2)
        await producer.begin_transaction()
        await producer.send_and_wait("orders", b"0", partition=1)
        await producer.send_offsets_to_transaction({ORDERS: 1}, "g")
        broker.faults.fail(TxnOffsetCommitRequest, GroupAuthorizationFailedError)
        broker.faults.fail(ProduceRequest, TopicAuthorizationFailedError)
        broker.faults.stall(ProduceRequest)
        ack = await producer.send("orders", b"1", partition=1)
        while not any(batch.is_in_flight for batch in producer._engine.accumulator.incomplete):
            await asyncio.sleep(0)
        with pytest.raises(GroupAuthorizationFailedError):
            await producer.send_offsets_to_transaction({ORDERS: 1}, "g")
        broker.faults.release()
        await asyncio.gather(ack, return_exceptions=True)
        with pytest.raises(GroupAuthorizationFailedError):
            await producer.commit_transaction()
        await producer.abort_transaction()
        for value in (b"2", b"3"):
            await producer.begin_transaction()
            await producer.send_and_wait("orders", value, partition=1)
            await producer.commit_transaction()
        assert await visible(broker, partition=1) == [b"2", b"3"]


@both_protocols
async def test_a_batch_that_expires_ends_its_transaction(version: int) -> None:
    """A batch that expires fails its transaction (2d-20)."""
    clock = jumping_clock()
    async with (
        kafka(clock=clock, transaction_version=version) as broker,
        transacting(
            broker, clock=clock, delivery_timeout_ms=12_000, request_timeout_ms=10_000
        ) as producer,
    ):
        await commit_one(producer, b"1")
        await producer.begin_transaction()
        broker.faults.drop(ProduceRequest, times=2)
        with pytest.raises(DeliveryTimeoutError):
            await producer.send_and_wait("orders", b"2")
        broker.faults.clear()
        with pytest.raises(DeliveryTimeoutError):
            await producer.commit_transaction()
        await producer.abort_transaction()
        await commit_one(producer, b"3")
        assert await visible(broker) == [b"1", b"3"]


@pytest.mark.parametrize(
    "error",
    [
        TopicAuthorizationFailedError,
        TransactionAbortableError,
        OperationNotAttempted,
        UnknownProducerId,
    ],
)
async def test_a_partition_that_is_not_added_lets_abort_and_go_on(
    error: type[BrokerResponseError],
) -> None:
    """A partition that the coordinator refuses lets the producer abort and go on (2d'-4, 2d'-5)."""
    async with kafka(transaction_version=1) as broker, transacting(broker) as producer:
        await commit_one(producer, b"1")
        await producer.begin_transaction()
        broker.faults.fail(AddPartitionsToTxnRequest, error)
        with pytest.raises(error):
            await producer.send_and_wait("orders", b"2")
        with pytest.raises(error):
            await producer.commit_transaction()
        await producer.abort_transaction()
        assert ends(broker) == [True]
        await commit_one(producer, b"3")
        assert await visible(broker) == [b"1", b"3"]
        bumps = len(broker.requests_of(InitProducerIdRequest)) - 1
        assert bumps == (error is UnknownProducerId)


@both_protocols
@pytest.mark.parametrize("error", [GroupAuthorizationFailedError, TransactionAbortableError])
async def test_offsets_that_are_refused_let_abort_and_go_on(
    version: int, error: type[BrokerResponseError]
) -> None:
    """Offsets that are refused let the producer abort and go on (2d'-4)."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        broker.create_topic("orders")
        await commit_one(producer, b"1")
        await producer.begin_transaction()
        refused = AddOffsetsToTxnRequest if version == 1 else TxnOffsetCommitRequest
        broker.faults.fail(refused, error)
        with pytest.raises(error):
            await producer.send_offsets_to_transaction({ORDERS: 1}, "g")
        with pytest.raises(error):
            await producer.commit_transaction()
        await producer.abort_transaction()
        await commit_one(producer, b"3")
        assert await visible(broker) == [b"1", b"3"]
        assert broker.group("g").offsets == {}


@both_protocols
@pytest.mark.parametrize("error", [TransactionAbortableError, UnknownProducerId])
async def test_a_commit_that_is_refused_may_be_aborted(
    version: int, error: type[BrokerResponseError]
) -> None:
    """A commit that was refused may be aborted (2d'-4)."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        await producer.begin_transaction()
        await producer.send("orders", b"1")
        broker.faults.fail(EndTxnRequest, error)
        with pytest.raises(error):
            await producer.commit_transaction()
        assert state(producer) is TransactionState.ABORTABLE_ERROR
        await producer.abort_transaction()
        await commit_one(producer, b"2")
        assert await visible(broker) == [b"2"]
        assert ends(broker) == [True, False, True]


@both_protocols
@pytest.mark.parametrize("error", FATAL)
@pytest.mark.parametrize("is_commit", [True, False])
async def test_an_end_that_is_refused_for_good_is_fatal(
    version: int, error: type[BrokerResponseError], is_commit: bool
) -> None:
    """A refusal for good by the coordinator is fatal (2d'-4)."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        await producer.begin_transaction()
        await producer.send_and_wait("orders", b"1")
        broker.faults.fail(EndTxnRequest, error)
        expected = ProducerFenced if error is InvalidProducerEpoch else error
        with pytest.raises(expected):
            await (producer.commit_transaction() if is_commit else producer.abort_transaction())
        assert state(producer) is TransactionState.FATAL_ERROR
        with pytest.raises(expected):
            await producer.abort_transaction()


@both_protocols
async def test_an_abort_that_is_refused_leaves_no_producer_stuck(version: int) -> None:
    """An abort that was refused is followed by a new epoch (2d'-5)."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        await commit_one(producer, b"1")
        await producer.begin_transaction()
        await producer.send_and_wait("orders", b"2")
        broker.faults.fail(InitProducerIdRequest, TransactionAbortableError)
        broker.faults.fail(EndTxnRequest, UnknownProducerId)
        with pytest.raises(TransactionAbortableError):
            await producer.abort_transaction()
        assert state(producer) is TransactionState.ABORTABLE_ERROR
        await producer.abort_transaction()
        await commit_one(producer, b"3")
        assert await visible(broker) == [b"1", b"3"]


async def test_an_abort_that_got_no_new_epoch_asks_only_for_that_again() -> None:
    """The coordinator has ended the transaction by then, and is not told of the end twice."""
    async with kafka(transaction_version=1) as broker, transacting(broker) as producer:
        await producer.begin_transaction()
        broker.faults.fail(ProduceRequest, OutOfOrderSequenceNumber)
        with pytest.raises(OutOfOrderSequenceNumber):
            await producer.send_and_wait("orders", b"1")
        broker.faults.fail(InitProducerIdRequest, TransactionAbortableError)
        with pytest.raises(TransactionAbortableError):
            await producer.abort_transaction()
        await producer.abort_transaction()
        assert ends(broker) == [False]
        await commit_one(producer, b"2")
        assert await visible(broker) == [b"2"]


async def test_where_each_end_brings_an_epoch_no_other_is_asked_for() -> None:
    """V2: also when what has failed needs a new epoch."""
    async with kafka(transaction_version=2) as broker, transacting(broker) as producer:
        await producer.begin_transaction()
        broker.faults.fail(ProduceRequest, OutOfOrderSequenceNumber)
        with pytest.raises(OutOfOrderSequenceNumber):
            await producer.send_and_wait("orders", b"1")
        await producer.abort_transaction()
        assert len(broker.requests_of(InitProducerIdRequest)) == 1
        await commit_one(producer, b"2")
        assert await visible(broker) == [b"2"]


@pytest.mark.parametrize("error", FATAL)
async def test_a_producer_that_may_not_be_does_not_start(error: type[BrokerResponseError]) -> None:
    """A producer that InitProducerId refuses does not start (2d'-4)."""
    async with kafka() as broker:
        broker.faults.fail(InitProducerIdRequest, error)
        expected = ProducerFenced if error is InvalidProducerEpoch else error
        with pytest.raises(expected):
            async with transacting(broker):
                pass


async def test_an_old_broker_without_transactions_is_told_of() -> None:
    """A broker without transactions is named in the error of `start` (2d'-4)."""
    async with kafka(max_versions={EndTxnRequest.api_key: None}) as broker:
        async with transacting(broker) as producer:
            await producer.begin_transaction()
            await producer.send("orders", b"v")
            with pytest.raises(KafkaError):
                await producer.commit_transaction()
            assert state(producer) is TransactionState.FATAL_ERROR
        async with producing(broker) as other:
            await other.send_and_wait("orders", b"w")


@both_protocols
async def test_lost_answers_do_no_harm(version: int) -> None:
    """Every transactional request may be served twice (KIP-98)."""
    async with kafka(transaction_version=version) as broker:
        broker.create_topic("orders")
        for request in (
            InitProducerIdRequest,
            AddPartitionsToTxnRequest,
            AddOffsetsToTxnRequest,
            TxnOffsetCommitRequest,
            ProduceRequest,
            EndTxnRequest,
        ):
            broker.faults.cut(request)
        async with transacting(broker) as producer:
            await producer.begin_transaction()
            await producer.send("orders", b"1")
            await producer.send_offsets_to_transaction({ORDERS: 7}, "g")
            await producer.commit_transaction()
            broker.faults.cut(EndTxnRequest)
            await producer.begin_transaction()
            await producer.send_and_wait("orders", b"2")
            await producer.abort_transaction()
            await commit_one(producer, b"3")
        assert await visible(broker) == [b"1", b"3"]
        assert {tp: o.offset for tp, o in broker.group("g").offsets.items()} == {ORDERS: 7}
