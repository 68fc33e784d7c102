"""What each error does to a transaction, by the requests that are sent; the public calls are in
tests/scenarios/transactions.
"""

import asyncio
import logging
from typing import Any

import pytest

from aiokafka_lite.errors import (
    BrokerResponseError,
    ClusterAuthorizationFailedError,
    CommitFailedError,
    ConcurrentTransactions,
    CoordinatorLoadInProgressError,
    FencedInstanceIdError,
    GroupAuthorizationFailedError,
    GroupCoordinatorNotAvailableError,
    IllegalGenerationError,
    IllegalStateError,
    InvalidProducerEpoch,
    InvalidProducerIdMapping,
    InvalidTxnState,
    KafkaError,
    NotCoordinatorForGroupError,
    OperationNotAttempted,
    ProducerFenced,
    RequestTimedOutError,
    TopicAuthorizationFailedError,
    TransactionAbortableError,
    TransactionalIdAuthorizationFailed,
    UnknownMemberIdError,
    UnknownProducerId,
    UnsupportedVersionError,
    kafka_errors,
)
from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.producer.transaction.transaction_manager import (
    TransactionManager,
)
from aiokafka_lite.producer.transaction.transaction_state import TransactionState
from aiokafka_lite.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from aiokafka_lite.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest
from aiokafka_lite.protocol.messages.end_txn import EndTxnRequest
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest
from aiokafka_lite.schema.message import Request
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.producer.batches import make_batch
from tests.producer.world import kafka
from tests.scenarios.transacting import ID, ORDERS, ends, transacting

ADD, GROUP, OFFSETS, END = (
    AddPartitionsToTxnRequest,
    AddOffsetsToTxnRequest,
    TxnOffsetCommitRequest,
    EndTxnRequest,
)
RETRIED, ABORTABLE, BUMPED, FATAL = "retried", "abortable", "bumped", "fatal"
EVERY_REQUEST: list[type[Request[Any]]] = [ADD, GROUP, OFFSETS, END]
Row = tuple[type[Request[Any]], type[BrokerResponseError], str]

ROWS: list[Row] = [
    (request, error, fate)
    for request in EVERY_REQUEST
    for error, fate in (
        (GroupCoordinatorNotAvailableError, RETRIED),
        (NotCoordinatorForGroupError, RETRIED),
        (CoordinatorLoadInProgressError, RETRIED),
        (ConcurrentTransactions, RETRIED),
        (ProducerFenced, FATAL),
        (InvalidProducerEpoch, FATAL),
        (TransactionalIdAuthorizationFailed, FATAL),
        (InvalidTxnState, FATAL),
        (UnsupportedVersionError, FATAL),
        (InvalidProducerIdMapping, FATAL),
        (TransactionAbortableError, ABORTABLE),
    )
] + [
    (ADD, ClusterAuthorizationFailedError, ABORTABLE),
    (ADD, OperationNotAttempted, ABORTABLE),
    (ADD, TopicAuthorizationFailedError, ABORTABLE),
    (ADD, UnknownProducerId, BUMPED),
    (GROUP, ClusterAuthorizationFailedError, FATAL),
    (GROUP, GroupAuthorizationFailedError, ABORTABLE),
    (GROUP, UnknownProducerId, BUMPED),
    (OFFSETS, ClusterAuthorizationFailedError, FATAL),
    (OFFSETS, UnknownProducerId, FATAL),
    (OFFSETS, FencedInstanceIdError, ABORTABLE),
    (OFFSETS, TopicAuthorizationFailedError, ABORTABLE),
    (OFFSETS, GroupAuthorizationFailedError, ABORTABLE),
    (OFFSETS, UnknownMemberIdError, ABORTABLE),
    (OFFSETS, IllegalGenerationError, ABORTABLE),
    (OFFSETS, RequestTimedOutError, RETRIED),
    (END, ClusterAuthorizationFailedError, FATAL),
    (END, UnknownProducerId, BUMPED),
]


def manager_of(producer: AIOKafkaProducer) -> TransactionManager:
    assert producer._engine.transactions is not None
    return producer._engine.transactions


async def one_transaction(producer: AIOKafkaProducer) -> None:
    """Every kind of request."""
    await producer.begin_transaction()
    await producer.send_and_wait("orders", b"v")
    await producer.send_offsets_to_transaction({ORDERS: 1}, "g")
    await producer.commit_transaction()


@pytest.mark.parametrize(("request_type", "error", "fate"), ROWS)
async def test_what_an_error_does_to_the_transaction(
    request_type: type[Request[Any]],
    error: type[BrokerResponseError],
    fate: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Each error of a transactional request has the consequence that the table gives (2d'-4)."""
    caplog.set_level(logging.CRITICAL)
    async with kafka(transaction_version=1) as broker:
        broker.create_topic("orders")
        async with transacting(broker) as producer:
            status = manager_of(producer).status
            broker.faults.fail(request_type, error)
            if fate is RETRIED:
                await one_transaction(producer)
                assert status.state is TransactionState.READY
                assert len(broker.requests_of(request_type)) == 2
                return
            with pytest.raises(KafkaError) as raised:
                await one_transaction(producer)
            assert isinstance(raised.value, told_as(error))
            if fate is FATAL:
                assert status.state is TransactionState.FATAL_ERROR
                return
            assert status.state is TransactionState.ABORTABLE_ERROR
            assert status.needs_epoch_bump == (fate is BUMPED)
            await producer.abort_transaction()
            assert len(broker.requests_of(InitProducerIdRequest)) == 1 + (fate is BUMPED)
            await one_transaction(producer)


def told_as(error: type[BrokerResponseError]) -> type[Exception]:
    if error is InvalidProducerEpoch:
        return ProducerFenced
    if error in (UnknownMemberIdError, IllegalGenerationError):
        return CommitFailedError
    return error


async def test_what_was_fenced_names_what_the_broker_said() -> None:
    """INVALID_PRODUCER_EPOCH in a transactional request is raised as ProducerFenced (2d'-4)."""
    async with kafka() as broker, transacting(broker) as producer:
        await producer.begin_transaction()
        await producer.send_and_wait("orders", b"v")
        broker.faults.fail(EndTxnRequest, InvalidProducerEpoch)
        with pytest.raises(ProducerFenced, match="another producer with transactional_id='t'") as e:
            await producer.commit_transaction()
        assert isinstance(e.value.__cause__, InvalidProducerEpoch)


async def test_a_bump_claims_the_epoch_at_hand() -> None:
    """InitProducerId with the present id and epoch returns the next epoch (2d'-5, KIP-360)."""
    async with kafka(transaction_version=1) as broker, transacting(broker) as producer:
        await producer.begin_transaction()
        broker.faults.fail(AddPartitionsToTxnRequest, UnknownProducerId)
        with pytest.raises(UnknownProducerId):
            await producer.send_and_wait("orders", b"v")
        sequences = manager_of(producer)._sequences
        before = sequences.producer
        await producer.abort_transaction()
        first, second = broker.requests_of(InitProducerIdRequest)
        assert (first.producer_id, first.producer_epoch) == (-1, -1)
        assert (second.producer_id, second.producer_epoch) == before
        assert sequences.producer == (before.producer_id, before.epoch + 1)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("has_begun", [True, False])
async def test_a_producer_that_its_coordinator_has_forgotten_is_at_its_end(
    version: int, has_begun: bool
) -> None:
    """Nobody can tell whether another one had taken over since, also if it is in a transaction
    (2d'-4, KAFKA-18019).
    """
    async with (
        kafka(transaction_version=version) as broker,
        transacting(broker) as producer,
    ):
        broker.create_topic("orders", 2)
        await one_transaction(producer)
        await producer.begin_transaction()
        if has_begun:
            await producer.send_and_wait("orders", b"v", partition=1)
        forget(broker)
        with pytest.raises(InvalidProducerIdMapping):
            await producer.send_and_wait("orders", b"v", partition=0)
        for call in (producer.abort_transaction, producer.begin_transaction):
            with pytest.raises(InvalidProducerIdMapping, match="another one may have taken over"):
                await call()
        assert len(broker.requests_of(InitProducerIdRequest)) == 1


async def test_an_abort_that_cannot_be_done_is_the_end() -> None:
    """Another abort would be answered in the same way (2d'-4, KIP-1050)."""
    async with kafka() as broker, transacting(broker) as producer:
        await producer.begin_transaction()
        await producer.send_and_wait("orders", b"v")
        broker.faults.fail(EndTxnRequest, TransactionAbortableError)
        with pytest.raises(TransactionAbortableError):
            await producer.abort_transaction()
        assert manager_of(producer).status.is_fatal


def forget(broker: EmbeddedBroker) -> None:
    """Let the transactional id expire, as it does after transactional.id.expiration.ms."""
    broker._transactions._by_id.clear()


@pytest.mark.parametrize(
    ("version", "bound"), [(0, ProduceRequest.transactions_v2_since - 1), (1, 11), (2, None)]
)
async def test_the_protocol_is_looked_up_at_each_begin(version: int, bound: int | None) -> None:
    """The producer looks at the transaction version at each begin (2d'-7)."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        manager = manager_of(producer)
        assert manager.max_produce_version == ProduceRequest.transactions_v2_since - 1
        await producer.begin_transaction()
        assert manager.max_produce_version == bound
        await producer.commit_transaction()


@pytest.mark.parametrize("version", [1, 2])
async def test_partitions_belong_to_one_transaction(version: int) -> None:
    """A partition belongs to a transaction until the transaction ends (2d'-2)."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        broker.create_topic("orders")
        manager = manager_of(producer)
        woken: list[int] = []
        wake = manager._wake_sender

        def count() -> None:
            woken.append(1)
            wake()

        manager._wake_sender = count
        assert not manager._scope.may_send(ORDERS)
        with pytest.raises(IllegalStateError):
            manager.add_partition(ORDERS)
        await producer.begin_transaction()
        assert not manager._scope.may_send(ORDERS)
        manager.add_partition(ORDERS)
        assert manager._scope.may_send(ORDERS) == (version == 2)
        if version == 1:
            async with asyncio.timeout(30):
                while not manager._scope.may_send(ORDERS):
                    await asyncio.sleep(0)
            assert woken
        await producer.commit_transaction()
        assert not manager._scope.may_send(ORDERS)


@pytest.mark.parametrize(
    ("state", "is_taken_in"),
    [
        (TransactionState.READY, False),
        (TransactionState.UNINITIALIZED, False),
        (TransactionState.IN_TRANSACTION, True),
        (TransactionState.COMMITTING, True),
        (TransactionState.ABORTING, True),
        (TransactionState.ABORTABLE_ERROR, True),
    ],
)
async def test_a_batch_with_numbers_that_fails_needs_a_new_epoch(
    state: TransactionState, is_taken_in: bool
) -> None:
    """A numbered batch that fails needs a new epoch, in a failed transaction too (2d-20)."""
    async with kafka() as broker, transacting(broker) as producer:
        manager = manager_of(producer)
        manager.status.state = state
        batch = make_batch()
        batch.set_sequence(1, 0, 0)
        manager.batch_failed(batch, TopicAuthorizationFailedError("x"))
        assert manager.status.needs_epoch_bump == is_taken_in
        manager.status.state = TransactionState.READY


async def test_a_lost_sequence_fails_the_transaction_with_a_bump() -> None:
    """A gap in the sequence numbers fails the transaction, and the next has a new epoch (2d-20)."""
    async with kafka() as broker, transacting(broker) as producer:
        await producer.begin_transaction()
        manager = manager_of(producer)
        manager.sequence_is_lost()
        with pytest.raises(KafkaError, match="nobody knows"):
            await producer.send("orders", b"v")
        await producer.abort_transaction()
        assert broker.transaction(ID).producer_epoch == 1
        await one_transaction(producer)


@pytest.mark.parametrize("is_begun", [True, False])
async def test_close_is_harmless_whenever_it_comes(is_begun: bool) -> None:
    """Closing the transaction manager is safe in every state (2d-22)."""
    async with kafka() as broker, transacting(broker) as producer:
        if is_begun:
            await producer.begin_transaction()
        for _ in range(2):
            await manager_of(producer).close(5)
        assert manager_of(producer).status.state is TransactionState.READY
        assert ends(broker) == []


async def test_a_close_that_fails_only_says_so(caplog: pytest.LogCaptureFixture) -> None:
    """An abort that fails while closing is logged and not raised (2d-22)."""
    async with kafka() as broker, transacting(broker) as producer:
        await producer.begin_transaction()
        await producer.send_and_wait("orders", b"v")
        broker.faults.fail(EndTxnRequest, ProducerFenced)
        await manager_of(producer).close(5)
    assert "was not aborted" in caplog.text


async def goes_on(producer: AIOKafkaProducer[Any, Any]) -> bool:
    """Whether a transaction succeeds after an abort."""
    try:
        if manager_of(producer).status.state is not TransactionState.READY:
            await producer.abort_transaction()
        await one_transaction(producer)
    except KafkaError:
        return False
    return True


@pytest.mark.parametrize(("version", "request_class"), [(1, ADD), (2, END), (2, ProduceRequest)])
async def test_an_error_says_whether_it_has_ended_the_producer(
    version: int, request_class: type[Request[Any]]
) -> None:
    """By its `fatal`, whatever the code (2d'-4)."""
    async with kafka(transaction_version=version) as broker:
        broker.create_topic("orders", 2)
        for code in sorted(kafka_errors):
            async with transacting(broker) as producer:
                broker.faults.fail(request_class, code)
                raised: KafkaError | None = None
                try:
                    await one_transaction(producer)
                except KafkaError as error:
                    raised = error
                if raised is not None:
                    assert raised.fatal != await goes_on(producer), repr(raised)
